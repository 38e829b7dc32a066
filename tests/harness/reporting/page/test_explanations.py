"""Explanations of the largest scores, for metrics that can and whose scores are those of the run."""

from __future__ import annotations

import json

import pytest

from harness.reporting import page
from harness.reporting.page import PageOptions
from harness.reporting.page.explanations import explanations
from harness.reporting.page.groups import groups_of, open_run
from harness.run import score as scoring

TRM = {"metrics": ["mine/length", {"trm": {"distance": {"chars": {}}}}], "views": []}


@pytest.fixture
def group(finished):
    (only,) = groups_of([("r", open_run(finished(**TRM)))])
    return only


def test_the_largest_scores_are_explained(group):
    ids = [f"e{k}" for k in range(6)]
    result = explanations(group, ids, (), 2)
    assert len(result.data) == 2 and result.note.endswith("TRM (chars) (2).")
    systems = next(iter(result.data.values()))
    assert len(systems) == 4 and systems[0][0]["title"].startswith("TRM (chars): Heaviest triangle: two ")
    assert all(0 <= place < 4 for place, _ in systems[0][0]["texts"])
    assert not explanations(group, ids, (), 0).data


def test_without_the_data_set_the_references_of_the_run_are_the_corpus(finished):
    (group,) = groups_of([("r", open_run(finished(metrics=[{"trm": {"distance": "cider"}}], views=[])))])
    assert explanations(group, [f"e{k}" for k in range(6)], (), 2).data


def test_metrics_that_explain_nothing_are_not_fitted_again(group, monkeypatch):
    fitted, fit_once = [], scoring.fit_once
    monkeypatch.setattr(scoring, "fit_once", lambda metric, features: (fitted.append(metric.spec.name), fit_once(metric, features))[1])
    assert explanations(group, ["e0", "e1"], ()).data
    assert len(group.metrics) == 2 and "length" not in fitted and fitted


def test_metrics_with_embeddings_are_explained_where_it_is_asked_for(finished):
    (group,) = groups_of([("r", open_run(finished(metrics=[{"mmd": {"embedding": "bow"}}], views=[])))])
    assert not explanations(group, ["e0", "e1"], ()).data
    assert explanations(group, ["e0", "e1"], (), 2).data


def test_scores_of_another_metric_are_not_explained(group):
    class Shifted:
        def __init__(self, metric):
            self.metric = metric

        def __getattr__(self, name):
            return getattr(self.metric, name)

        def per_example(self, stats):
            return self.metric.per_example(stats) + 1

        def explain(self, batch, features, state):
            raise AssertionError("the scores differ")

    from harness.registry import current
    from harness.reporting.page.explanations import _explain

    metric = Shifted(current().create("metrics", "trm", {"distance": "chars"}))
    data: dict = {}
    assert _explain(group, metric, "trm(chars)", ["e0", "e2"], (), data) is False
    assert data == {}


@pytest.mark.slow
def test_the_page_shows_them(finished, blocks, browse):
    file = page.write([finished(**TRM)], options=PageOptions(explain=6))
    assert json.loads(blocks(file.read_text())["g0-explain"])
    with browse(file) as view:
        view.click('.tabs a[href="#examples"]')
        view.wait_for_selector(".explanation >> nth=0")
        assert "Heaviest triangle" in view.inner_text(".explanation >> nth=0")
