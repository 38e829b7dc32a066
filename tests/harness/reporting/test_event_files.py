"""Events for the evaluators of ActivityNet Captions: they read back to the same
numbers.
"""

from __future__ import annotations

import json

import pytest

import harness
from harness.contracts import Event, EventSet
from harness.errors import InputError

TRUTH = (
    {
        "a": {
            "duration": 30.0,
            "timestamps": [[0, 10], [10, 25]],
            "sentences": ["a dog runs", "it sits"],
        },
        "b": {"duration": 9.5, "timestamps": [[0, 9]], "sentences": ["a red car"]},
    },
    {"a": {"duration": 30.0, "timestamps": [[2, 24]], "sentences": ["a dog"]}},
)
RESULTS = {
    "version": "VERSION 1.0",
    "results": {
        "a": [
            {"sentence": "a dog", "timestamp": [0, 9], "proposal_score": 0.5},
            {"sentence": "rain «é»", "timestamp": [12, 20]},
        ]
    },
    "external_data": {},
}
PROTOCOLS = ["dense:text=rouge", "dense:protocol=vidchapters,text=rouge"]


def scored(folder, predictions, references, **options):
    return harness.score(
        [str(predictions)], [str(path) for path in references], PROTOCOLS, **options
    )


@pytest.fixture
def run(tmp_path):
    """A run of one system, which lacks a video, beside two annotators."""
    paths = [tmp_path / "p.json", tmp_path / "r1.json", tmp_path / "r2.json"]
    for path, content in zip(paths, (RESULTS, *TRUTH)):
        path.write_text(json.dumps(content), "utf-8")
    scored(tmp_path, paths[0], paths[1:], output=tmp_path / "run")
    return tmp_path / "run"


def test_events_read_back_to_the_same_numbers(run, tmp_path):
    results, *annotators = harness.export(run, "activitynet", tmp_path / "out")
    assert [path.name for path in annotators] == [
        "annotator_1.json",
        "annotator_2.json",
    ]
    assert json.loads(results.read_text("utf-8")) == RESULTS
    for path, expected in zip(annotators, TRUTH):
        assert json.loads(path.read_text("utf-8")) == expected
    (before,) = harness.score(
        [str(tmp_path / "p.json")],
        [str(tmp_path / f"r{k}.json") for k in (1, 2)],
        PROTOCOLS,
    ).values()
    (after,) = scored(tmp_path, results, annotators).values()
    assert {k: r.value for k, r in after.items()} == {
        k: r.value for k, r in before.items()
    }


@pytest.mark.parametrize("format", ["coco", "vdtk"])
def test_formats_of_captions_refuse_sets_of_events(run, tmp_path, format):
    with pytest.raises(InputError, match="expected the format activitynet"):
        harness.export(run, format, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def of_texts(tmp_path, texts, references, metric):
    """Return a run of one example in memory, written."""
    harness.score(
        {"ours": {"a": texts}},
        {"a": references},
        metric,
        output=tmp_path / "run",
    )
    return tmp_path / "run"


def test_captions_and_boxes_are_refused(tmp_path):
    run = of_texts(tmp_path / "1", ["a dog"], ["a dog"], "rouge")
    with pytest.raises(InputError, match="the captions have no times"):
        harness.export(run, "activitynet", tmp_path / "out")
    box = EventSet((Event("a dog", (0.0, 0.0, 2.0, 2.0)),)).to_text()
    run = of_texts(tmp_path / "2", [box], [box], "dense:text=rouge")
    with pytest.raises(InputError, match="the format activitynet has times alone"):
        harness.export(run, "activitynet", tmp_path / "out")
    one = EventSet((Event("a dog", (0.0, 2.0)),)).to_text()
    run = of_texts(tmp_path / "3", [one, one], [one], "dense:text=rouge")
    with pytest.raises(InputError, match="2 sets of events"):
        harness.export(run, "activitynet", tmp_path / "out")


def test_without_a_duration_it_is_the_last_end(tmp_path):
    one = EventSet((Event("a", (5.0, 9.0)), Event("b", (1.0, 4.0)))).to_text()
    run = of_texts(tmp_path, [one], [one], "dense:text=rouge")
    _, annotator = harness.export(run, "activitynet", tmp_path / "out")
    assert json.loads(annotator.read_text("utf-8"))["a"]["duration"] == 9.0
