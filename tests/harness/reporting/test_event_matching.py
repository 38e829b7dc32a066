"""Pairs of events are those of the scores."""

from __future__ import annotations

import numpy as np
import pytest

from harness.reporting.event_matching import event_sets, find_matches, readable_metrics
from harness_metrics.dense.matched import MatchedProtocol
from tests.support.event_runs import run_of, small_run, times


@pytest.mark.parametrize("metric", ["dense", "dense:measure=precision"])
def test_the_pairs_add_to_the_score(metric):
    run = small_run([metric])
    matches = find_matches(run, ["v", "w"])
    assert matches.label == run.provenance.metrics[0].label and not matches.note
    for system, of_system in zip(run.samples.systems, matches.systems):
        scores = system.scores(matches.label)
        for item in event_sets(system):
            (pairs,) = of_system[item.id]
            sums = [
                sum(pair.score for pair in pairs if pair.annotator == annotator)
                for annotator in (0, 1)
            ]
            for pair in pairs:
                assert pair.score == pytest.approx(pair.overlap * pair.text)
            predictions = {"v": 2, "w": 1}[item.id] if system.model == "good" else 1
            precision = np.array(sums) / predictions
            recall = np.array(sums) / [2, 1]
            f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
            expected = precision if "precision" in metric else f1
            assert scores[system.row_of[item.id]] == pytest.approx(expected.mean())


@pytest.mark.parametrize("annotators", ["best", "merged"])
def test_other_treatments_of_annotators_have_their_own_pairs(annotators):
    matches = find_matches(small_run([f"dense:annotators={annotators}"]), ["v"])
    (pairs,) = matches.systems[0]["v"]
    if annotators == "best":
        assert {pair.annotator for pair in pairs} == {0}
    assert {(pair.annotator, pair.reference) for pair in pairs} <= {
        (0, 0),
        (0, 1),
        (1, 0),
    }
    assert len({pair.prediction for pair in pairs}) == len(pairs) == 2


def test_an_annotator_without_events_keeps_the_places_of_the_others():
    events = times(("a dog", 0.0, 4.0))
    run = run_of({"s": {"v": [events]}}, {"v": [times(), events]})
    ((pair,),) = find_matches(run, ["v"]).systems[0]["v"]
    assert (pair.annotator, pair.score) == (1, 1.0)


def test_scores_that_changed_since_the_run_have_no_pairs(monkeypatch):
    run = small_run()
    changed = MatchedProtocol.scores_of
    monkeypatch.setattr(MatchedProtocol, "scores_of", lambda *a: changed(*a) + 0.01)
    matches = find_matches(run, ["v"])
    assert not matches.systems and not matches.name
    assert "computes other scores than those of the run" in matches.note


def test_a_run_without_such_a_metric_has_no_pairs():
    run = small_run(["dense:protocol=soda-c"])
    matches = find_matches(run, ["v"])
    assert not matches.systems and "matches events one to one" in matches.note
    assert [entry.name for entry, _ in readable_metrics(run)] == ["dense"]


def test_captions_are_no_sets_of_events():
    run = run_of({"s": {"v": ["a dog"]}}, {"v": ["a dog"]}, ["rouge"])
    (system,) = run.samples.systems
    assert event_sets(system) == []
