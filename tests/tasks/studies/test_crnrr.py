"""The studies of the CR/NRR/CND paper, small, without data."""

import math

import pytest

from harness.reporting.views import view_table
from harness.run.execute import execute as run
from harness.run.plan import make_plan
from harness.spec.loading import load_specs

NAMES = ("crnrr-mixture", "crnrr-synthetic", "crnrr-frontiers", "crnrr-temperature")


@pytest.fixture(autouse=True)
def no_data(monkeypatch, tmp_path):
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


def done(name, *overrides, limit=None):
    (loaded,) = load_specs(
        f"tasks/harness_tasks/studies/{name}.yaml", overrides, limit=limit
    )
    return run(make_plan(loaded))


def values(made, metric):
    return {
        record["model"]: record["value"]
        for record in made.results
        if record["metric"] == metric
    }


def check_views(made):
    for view in made.provenance.views:
        assert view_table(view, made.records).rows


@pytest.mark.parametrize("name", NAMES)
def test_every_study_makes_a_plan_with_the_real_data(name, golden, monkeypatch):
    monkeypatch.setenv("HARNESS_DATA", str(golden / "data"))
    for loaded in load_specs(f"tasks/harness_tasks/studies/{name}.yaml"):
        assert not loaded.spec.notice
        make_plan(loaded)


def test_parts_of_a_suite_have_names_of_their_own(golden, monkeypatch):
    monkeypatch.setenv("HARNESS_DATA", str(golden / "data"))
    tasks = [
        loaded.spec.task
        for loaded in load_specs("tasks/harness_tasks/studies/crnrr-mixture.yaml")
    ]
    assert len(tasks) == len(set(tasks)) == 3


@pytest.mark.slow
def test_mixture_on_the_sample_prefers_copies_by_bleu():
    made = done("crnrr-mixture")
    assert made.manifest["spec"]["notice"]
    check_views(made)
    assert values(made, "qdisc(BLEU-NSBLEU 2)")["real text"] > 0.1
    assert values(made, "corpus-bleu2")["by heart, no noise"] == 1.0


@pytest.mark.slow
def test_temperature_on_the_sample():
    made = done(
        "crnrr-temperature",
        "models.0.rnnlm.train.epochs=5",
        "decoding.temperature=[0.3, 1.0]",
        limit=80,
    )
    check_views(made)
    nrr = [
        r["value"]
        for r in made.results
        if r["metric"] == "nrr2" and r["model"] == "RNNLM"
    ]
    assert nrr[0] < nrr[1] < 0


@pytest.mark.slow
def test_synthetic_table():
    made = done(
        "crnrr-synthetic",
        "metrics.0.text-space-qdisc.steps=60",
        "metrics.0.text-space-qdisc.starts=1",
    )
    check_views(made)
    assert all(
        value < 1e-9 for value in values(made, "text-space-qdisc(CN-2)").values()
    )
    assert max(values(made, "text-space-qdisc(BS-2)").values()) > 1e-3


@pytest.mark.slow
def test_the_real_distribution_lies_on_the_frontier_of_matched_pairs_only():
    made = done("crnrr-frontiers")
    check_views(made)
    quality = values(made, "text-space(CR)")
    diversity = values(made, "text-space(NRR)")
    better = [
        m
        for m in quality
        if m != "P"
        and diversity[m] >= diversity["P"]
        and quality[m] > quality["P"] + 1e-12
    ]
    assert better == []
    assert all(
        math.isfinite(value) for value in values(made, "text-space(LL)").values()
    )
