"""Metrics of sets of events: labelings of whole sets, empty sets, the ceiling."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import harness
from harness.contracts import CaptionSet, Event, EventSet
from harness.errors import HarnessError
from harness.registry import current
from harness.run.features import FeatureCache
from harness.run.score import score_sets
from harness.spec.models import SignificanceSpec
from harness.testing import check_metric
from harness_metrics.events.metric import TESTABLE_FROM, MmdEvents, TrmEvents
from tests.support import dense_rules

METRICS = [
    TrmEvents(distance="rouge"),
    TrmEvents(distance="rouge", statistic="q"),
    MmdEvents(embedding="bow"),
    MmdEvents(embedding="bow", kernel="gaussian"),
]
NO_EVENTS = [
    "bounds",
    "direction",
    "odd-texts",
    "odd-references",
    "declared-cost",
    "equal-labels",
    "one-source",
]
"""Checks of the kit that write texts of their own."""
SUMMED = SignificanceSpec(method="exact", aggregate="summed", draws=199)


def by_name(metric):
    return metric.spec.name


def drawn_set(rng):
    return EventSet(tuple(dense_rules.random_video(rng).annotators[0]), 100.0).to_text()


def drawn_examples(n, m, count, seed=0):
    rng = random.Random(seed)
    return [
        CaptionSet(
            str(k),
            tuple(drawn_set(rng) for _ in range(n)),
            tuple(drawn_set(rng) for _ in range(m)),
        )
        for k in range(count)
    ]


def values_of(metric, examples):
    features = FeatureCache([item.references for item in examples])
    return metric.scores(features.batch(examples), features, None)


@pytest.mark.parametrize("metric", METRICS, ids=by_name)
def test_a_labeling_of_whole_sets_is_the_score_of_the_exchanged_sets(metric):
    examples = drawn_examples(2, 3, 4)
    features = FeatureCache([item.references for item in examples])
    labels = np.array([[1, 1, 0, 0, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 1]], dtype=bool)
    null = metric.null(features.batch(examples), features, None, labels)
    for column, row in enumerate(labels):
        exchanged = []
        for item in examples:
            texts = np.array([*item.candidates, *item.references], dtype=object)
            exchanged.append(CaptionSet(item.id, tuple(texts[row]), tuple(texts[~row])))
        assert null[:, column] == pytest.approx(values_of(metric, exchanged), abs=1e-9)


@pytest.mark.parametrize("metric", METRICS, ids=by_name)
def test_the_conformance_kit_passes(metric):
    outcomes = check_metric(metric, sets=drawn_examples(3, 3, 5), skip=NO_EVENTS)
    assert [outcome for outcome in outcomes if outcome.status == "fail"] == []


@pytest.mark.parametrize("metric", METRICS, ids=by_name)
def test_silence_is_worse_than_what_people_say(metric):
    rng = random.Random(1)
    said, nothing = drawn_set(rng), EventSet((), missing=True).to_text()
    examples = [
        CaptionSet(name, (text,), (said, said))
        for name, text in [("same", said), ("silent", nothing)]
    ]
    same, silent = values_of(metric, examples)
    assert silent > same
    largest = metric.spec.bounds[1] / (1 + isinstance(metric, MmdEvents))
    assert silent == pytest.approx(largest)


def test_equal_sets_have_no_discrepancy():
    said = drawn_set(random.Random(1))
    examples = [CaptionSet("v", (said,), (said, said))]
    assert values_of(MmdEvents(embedding="bow"), examples) == pytest.approx([0])
    assert values_of(TrmEvents(distance="rouge"), examples) == pytest.approx([0])


def test_one_annotator_gives_no_evidence():
    scored = score_sets(METRICS, drawn_examples(1, 1, 6), SUMMED)
    for metric, result in zip(METRICS, scored):
        assert result.p_values is not None
        undefined = isinstance(metric, TrmEvents)
        assert (
            np.isnan(result.p_values).all()
            if undefined
            else (result.p_values.tolist() == [1] * 6)
        )


@pytest.mark.parametrize(("count", "tested"), [(4, False), (5, True)])
def test_few_videos_have_no_p_value(count, tested):
    for result in score_sets(METRICS, drawn_examples(1, 2, count), SUMMED):
        assert (result.p_values is not None) == tested
        assert result.p_note == (
            ""
            if tested
            else "is tested on 4 examples: its p-values have their size from 5 on"
        )


def test_what_is_fitted_on_references_is_refused():
    with pytest.raises(HarnessError, match="'cider' is fitted on the references"):
        TrmEvents(distance="cider")
    with pytest.raises(HarnessError, match="no-such-overlap"):
        TrmEvents(overlap="no-such-overlap")


def test_names_and_signatures_tell_the_options():
    names = [metric.spec.name for metric in METRICS]
    assert names[:2] == ["trm-events(rouge)", "trm-events(rouge, q)"]
    assert names[2:] == ["mmd-events(bow)", "mmd-events(bow, gaussian)"]
    other = MmdEvents(embedding="bow", overlap="tiou")
    assert other.spec.name == "mmd-events(bow, tiou)"
    assert len({metric.signature() for metric in [*METRICS, other]}) == 5
    assert METRICS[0].spec.testable_from == TESTABLE_FROM
    entry = current().get("metrics", "mmd-events")
    assert set(entry.needs) == MmdEvents(embedding="bow").spec.needs


def boxes(text, left):
    return EventSet((Event(text, (left, 0.0, left + 2, 2.0)),)).to_text()


@pytest.mark.parametrize("metric", [METRICS[0], *METRICS[2:]], ids=by_name)
def test_boxes_have_their_own_overlap(metric):
    examples = [
        CaptionSet(
            name, (boxes("a dog", left),), (boxes("a dog", 0), boxes("a dog", 1))
        )
        for name, left in [("near", 0.5), ("far", 9)]
    ]
    near, far = values_of(metric, examples)
    assert near < far


def write_annotators(folder, sets):
    """Write the files of a system and of three people; return their paths."""
    paths = []
    for name, videos in sets.items():
        content = {
            video: {
                "duration": 100.0,
                "timestamps": [list(event.place) for event in events],
                "sentences": [event.text for event in events],
            }
            for video, events in videos.items()
        }
        path = folder / f"{name}.json"
        path.write_text(json.dumps(content))
        paths.append(str(path))
    return paths


def test_a_run_tests_a_system_and_the_ceiling_with_as_many_references(tmp_path):
    rng = random.Random(3)
    names = [f"v{k}" for k in range(8)]
    people = {"a": {}, "b": {}, "c": {}}
    for name in names:
        scenes = [(f"a dog {rng.choice('xyz')} {k}", 10.0 * k) for k in range(4)]
        for own in people.values():
            own[name] = [
                Event(text, (start + rng.random(), start + 10 - rng.random()))
                for text, start in scenes
            ]
    system = {
        name: [Event("a man cooks", (60.0, 70.0 + k)) for k in range(3)]
        for name in names
    }
    path, *references = write_annotators(tmp_path, {"system": system, **people})
    spec = {
        "task": "events",
        "dataset": {"reader": "auto", "path": references, "events": "sets"},
        "references": 2,
        "models": [{"predictions": {"path": path, "events": "sets"}}, "human"],
        "metrics": [
            {"trm-events": {"distance": "rouge"}},
            {"mmd-events": {"embedding": "bow"}},
        ],
        "significance": {"method": "exact", "aggregate": "summed", "draws": 199},
        "bootstrap": {"samples": 0},
    }
    records = harness.evaluate(spec).records
    assert {record.decoding["references"] for record in records} == {2}
    for metric in ("trm-events(rouge)", "mmd-events(bow)"):
        of_system, ceiling = (r for r in records if r.metric == metric)
        assert of_system.p_value <= 0.01 < 0.05 < ceiling.p_value
        assert ceiling.value < of_system.value
