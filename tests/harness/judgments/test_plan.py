"""Plans and manifests of judgment tasks."""

import pytest

from harness.errors import InputError
from harness.judgments.plan import make_judgment_plan, manifest
from harness.spec.loading import load_specs

RECORDS = [{"id": str(i), "caption": f"c{i}", "human_score": i, "references": ["r"]} for i in range(3)]


def content(jsonl, **more):
    base = {
        "task": "judgments/t",
        "judgments": {"form": "captions", "path": jsonl(RECORDS)},
        "metrics": ["novelty"],
        "statistics": ["pearson"],
    }
    return {**base, **more}


def planned(task):
    (loaded,) = load_specs(task)
    return make_judgment_plan(loaded)


def test_the_digest_is_of_what_is_scored(jsonl):
    one = planned(content(jsonl))
    digests = [
        manifest(plan, plan.read())["digest"]
        for plan in (
            one, planned(content(jsonl, statistics=["spearman"], ties="skip", metrics=["novelty", "vocabulary"])),
            planned(content(jsonl, references={"own": "keep"})), planned(content(jsonl, limit=2)),
        )
    ]  # fmt: skip
    assert digests[0] == digests[1] and len(set(digests)) == 3
    described = manifest(one, one.read())
    assert described["kind"] == "judgments" and described["data"]["captions"] == 3
    assert described["signature"].startswith("judgments/t|pearson|own:caption|seed:0|harness:")


def test_metrics_of_models_judge_no_captions(jsonl):
    with pytest.raises(InputError, match="judges token scores of a model, not captions"):
        planned(content(jsonl, metrics=["pregen"]))


def test_published_values_of_a_statistic_that_is_not_computed(jsonl):
    table = {"reference": "R", "values": {"bleu1": 30}, "statistic": "kendall_c"}
    with pytest.raises(InputError, match="published values of kendall_c.*, which the task does not compute"):
        planned(content(jsonl, published=table))
