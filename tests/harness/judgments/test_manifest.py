"""Manifests of judgment tasks: digest, signature, what is judged."""

from harness import __version__
from harness.judgments.manifest import manifest
from tests.support.judged_sets import content, planned


def test_the_digest_is_of_what_is_scored(jsonl):
    one = planned(content(jsonl))
    digests = [
        manifest(plan, plan.read())["digest"]
        for plan in (
            one,
            planned(
                content(
                    jsonl,
                    statistics=["spearman"],
                    ties="skip",
                    metrics=["novelty", "vocabulary"],
                )
            ),
            planned(content(jsonl, references={"own": "keep"})),
            planned(content(jsonl, limit=2)),
        )
    ]
    assert digests[0] == digests[1] and len(set(digests)) == 3
    described = manifest(one, one.read())
    assert described["kind"] == "judgments" and described["data"]["captions"] == 3
    assert described["signature"].startswith(
        "judgments/t|pearson|own:caption|seed:0|harness:"
    )


def test_the_manifest_counts_what_is_judged(jsonl):
    records = [
        {"id": item, "caption": text, "human_score": score, "references": references}
        for item, text, score, references in (
            ("0", "a", [1, 2], ["r"]),
            ("0", "a", 3, ["r"]),
            ("1", "b", 4, ["r", "s", "t"]),
            ("2", "c", 5, ["r"]),
        )
    ]
    plan = planned(
        content(
            jsonl,
            judgments={"form": "captions", "path": jsonl(records, "m.jsonl")},
            limit=3,
            seed=7,
        )
    )
    described = manifest(plan, plan.read())
    data = described["data"]
    assert (data["reader"], data["source"]) == (
        "judgments (captions)",
        plan.spec.judgments.path,
    )
    assert (
        data["examples"],
        data["captions"],
        data["ratings"],
        data["pairs"],
        data["references"],
    ) == (3, 3, 5, 0, [1, 3])
    assert (
        described["signature"]
        == f"judgments/t|pearson|own:caption|limit:3|seed:7|harness:{__version__}"
    )
    assert plan.describe() == {
        "reader": "judgments (captions)",
        "statistics": ["pearson"],
        "missing": "",
    }


def test_the_signature_of_pairs_has_the_tie_policy(jsonl):
    pairs = [
        {
            "id": str(k),
            "first": "a",
            "second": "b",
            "votes": 1 - 2 * k,
            "references": ["r"],
        }
        for k in range(2)
    ]
    judged = {"form": "pairs", "path": jsonl(pairs, "pairs.jsonl")}
    plan = planned(
        content(
            jsonl,
            judgments=judged,
            statistics=["pearson_system", "accuracy"],
            ties="wrong",
        )
    )
    described = manifest(plan, plan.read())
    assert described["signature"] == (
        "judgments/t|pearson_system+accuracy|own:caption|ties:wrong|seed:0|"
        f"harness:{__version__}"
    )
    assert described["data"]["pairs"] == 2 and described["data"]["ratings"] == 0
