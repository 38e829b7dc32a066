"""Real judgment sets: the digits of the protocols, where the data are there."""

import pytest

from harness import api

CLASSIC = ["bleu1", "bleu4", "meteor", "rouge", "cider"]
QUICK = {"bootstrap": {"samples": 0}, "tests": {"draws": 0}, "metrics": CLASSIC}
FENSE = {  # AudioCaps-Eval: HC, HI, HM, MM, all
    "bleu1": [58.6, 90.3, 77.4, 50.3, 62.4],
    "bleu4": [54.7, 85.8, 78.7, 50.6, 61.6],
    "meteor": [66.0, 96.4, 90.0, 60.1, 71.7],
    "rouge": [61.1, 91.5, 82.8, 52.1, 64.9],
    "cider": [56.2, 96.0, 90.4, 61.2, 71.0],
}


def beside_published(name):
    """Return measured minus published values times 100 by metric and group."""
    records = api.evaluate(f"judgments/{name}", **QUICK).records
    return {
        (r.metric, r.group): 100 * (r.value - r.details["published"])
        for r in records
        if "published" in (r.details or {})
    }


@pytest.mark.slow
@pytest.mark.large_sets("fense_audiocaps/judgments.jsonl.gz")
def test_the_table_of_audiocaps_eval(shared, monkeypatch):
    monkeypatch.setenv("HARNESS_DATA", str(shared / "data"))
    by = {
        (r.metric, r.group): 100 * r.value
        for r in api.evaluate("judgments/fense-audiocaps", **QUICK).records
    }
    for metric, row in FENSE.items():
        assert [
            by[metric, group] for group in ("HC", "HI", "HM", "MM", "all")
        ] == pytest.approx(row, abs=0.0501)


@pytest.mark.slow
@pytest.mark.large_sets("flickr8k_expert/judgments.jsonl.gz")
def test_flickr8k_expert_is_near_the_published_values(shared, monkeypatch, tmp_path):
    # the means alone, without the file of single votes
    (tmp_path / "flickr8k_expert").symlink_to(shared / "data/flickr8k_expert")
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))
    differences = beside_published("flickr8k-expert")
    assert len(differences) == 5 and all(0 < d < 0.7 for d in differences.values())


@pytest.mark.slow
@pytest.mark.large_sets("flickr8k/flickr8k.json")
def test_single_votes_of_flickr8k_expert_have_the_published_values(shared, monkeypatch):
    monkeypatch.setenv("HARNESS_DATA", str(shared / "data"))
    differences = beside_published("flickr8k-expert")
    assert len(differences) == 5 and all(abs(d) <= 0.1 for d in differences.values())


@pytest.mark.slow
@pytest.mark.large_sets("pascal50s/pascal_50s.json")
def test_the_consensus_of_pascal50s_has_the_published_values(shared, monkeypatch):
    monkeypatch.setenv("HARNESS_DATA", str(shared / "data"))
    differences = beside_published("pascal50s-consensus")
    assert len(differences) == 20 and all(
        abs(d) < 0.9 for (metric, _), d in differences.items() if metric != "bleu4"
    )
    # CLIPScore's BLEU-4 is a lower one
    assert (
        max(abs(differences["bleu4", group]) for group in ("HC", "HI", "HM", "MM"))
        < 4.6
    )


@pytest.mark.slow
@pytest.mark.large_sets("composite_flickr8k/judgments.jsonl.gz")
def test_the_own_reference_matters(shared, monkeypatch):
    monkeypatch.setenv("HARNESS_DATA", str(shared / "data"))
    taus = {}
    for own in ("item", "caption"):
        (record,) = api.evaluate(
            "judgments/composite-flickr8k",
            **{**QUICK, "metrics": ["bleu1"]},
            statistics=["kendall_c"],
            references={"own": own},
        ).records
        taus[own] = 100 * record.value
    assert taus["item"] == pytest.approx(23.31, abs=0.01)
    assert taus["item"] - taus["caption"] > 1
