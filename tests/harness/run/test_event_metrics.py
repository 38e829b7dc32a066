"""Files with times before metrics of events and metrics of captions."""

from __future__ import annotations

import json

import pytest

import harness
from harness.errors import HarnessError, InputError
from harness.run.event_metrics import options_by_need, options_for
from harness.run.execute import Options
from harness.run.executor import ExecutorOptions
from harness.run.file_options import FileOptions

FIRST = {"v": {"duration": 9.0, "timestamps": [[0, 5]], "sentences": ["a dog runs"]}}
SECOND = {
    "v": {"duration": 9.0, "timestamps": [[0, 5]], "sentences": ["a dog runs"]},
    "w": {"duration": 9.0, "timestamps": [[0, 5], [5, 9]], "sentences": ["a", "b"]},
}
PREDICTIONS = {
    "version": "1",
    "results": {
        "v": [{"sentence": "a dog runs", "timestamp": [0, 5]}],
        "x": [{"sentence": "a cat", "timestamp": [0, 5]}],
    },
}


@pytest.fixture
def files(tmp_path):
    """Predictions and two files of references."""
    paths = []
    for name, content in (("p", PREDICTIONS), ("r1", FIRST), ("r2", SECOND)):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        paths.append(str(path))
    return paths[0], paths[1:]


def test_files_are_read_as_sets_for_metrics_of_events():
    assert options_for(["dense"], FileOptions()).events == "sets"
    assert options_for(["bleu"], FileOptions()).events == ""
    assert options_for(["no-such-metric"], FileOptions()).events == ""


@pytest.mark.parametrize(
    ("of_events", "events", "message"),
    [
        ({"dense": True, "bleu": False}, "", "score them in two runs"),
        ({"dense": True}, "paragraph", "makes captions of them"),
        ({"bleu": False}, "sets", "scores captions, not sets of events"),
    ],
)
def test_two_readings_are_refused(of_events, events, message):
    with pytest.raises(HarnessError, match=message):
        options_by_need(of_events, FileOptions(events=events))


@pytest.mark.parametrize("several", [False, True])
def test_annotators_missing_and_unknown_videos_need_no_option(files, several):
    prediction, references = files
    given = [prediction, prediction] if several else prediction
    params = {"dense": {"protocol": "activitynet-2018", "text": "rouge"}}
    result = harness.score(given, references, params)
    records = result.run.records if several else result.values()
    assert [record.value for record in records] == [0.5] * (1 + several)


def test_a_metric_of_captions_refuses_as_before(files):
    prediction, references = files
    with pytest.raises(InputError, match="2 texts with times"):
        harness.score(prediction, references[1], "rouge")


def test_a_spec_says_how_its_files_are_read(files, tmp_path):
    prediction, references = files
    spec = {
        "task": "t",
        "dataset": {"reader": "auto", "path": references},
        "models": [{"predictions": {"path": prediction, "events": "sets"}}],
        "metrics": [{"dense": {"text": "rouge"}}],
    }
    with pytest.raises(InputError, match="expected events: sets in the data set"):
        harness.evaluate(spec)
    spec["dataset"]["events"] = "sets"
    (record,) = harness.evaluate(spec).records
    assert record.value == pytest.approx(0.5)
    with pytest.raises(InputError, match="scores captions, not sets"):
        harness.evaluate({**spec, "metrics": ["rouge"]})


def test_shards_give_the_digits_of_one_pass(files, tmp_path):
    prediction, references = files
    spec = {
        "task": "t",
        "dataset": {"reader": "auto", "path": references, "events": "sets"},
        "models": [{"predictions": {"path": prediction, "events": "sets"}}],
        "metrics": [
            {"dense": {"protocol": "paragraph", "text": "cider"}},
            {"dense": {"protocol": "vidchapters", "measure": "f1"}},
        ],
    }
    shards = Options(shard_size=1)
    workers = Options(ExecutorOptions("process", 2), shard_size=1)
    values = [
        [record.value for record in harness.evaluate(spec, **options).records]
        for options in (
            {},
            {"output": tmp_path / "shards", "options": shards},
            {"output": tmp_path / "workers", "options": workers},
        )
    ]
    assert values[0] == values[1] == values[2]
