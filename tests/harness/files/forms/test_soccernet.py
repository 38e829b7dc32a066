"""Commentaries of SoccerNet."""

from __future__ import annotations

import json
import shutil

import pytest

import harness
from harness.contracts import Event, EventSet
from harness.errors import InputError
from harness.files.forms import read_form
from harness.registry import current
from harness_models.predictions.adapter import Predictions

LABELS = {
    "UrlLocal": "league/2014/A - B/",
    "annotations": [
        {"gameTime": "1 - 00:05", "label": "corner", "anonymized": "a corner"},
        {"gameTime": "2 - 45:01", "label": "", "anonymized": "it ends"},
        {"gameTime": "1 - 10:00", "label": "whistle", "anonymized": "a foul"},
    ],
}
RESULTS = {"predictions": [{"gameTime": "1 - 00:20", "comment": "a corner"}]}
GAME = "league/2014/A - B"


@pytest.fixture
def folders(tmp_path):
    """A folder of labels and one of results."""
    files = {
        "labels": "Labels-caption.json",
        "results": "results_dense_captioning.json",
    }
    for (name, file), content in zip(files.items(), (LABELS, RESULTS)):
        game = tmp_path / name / GAME
        game.mkdir(parents=True)
        (game / file).write_text(json.dumps(content), encoding="utf-8")
        (game / "1_720p.mkv").write_bytes(b"")
    return tmp_path / "labels", tmp_path / "results"


def sets(path):
    """Return the references of a path by id."""
    params = {"path": str(path), "events": "sets"}
    examples = current().create("readers", "auto", params)
    return {item.id: EventSet.from_text(item.references[0]) for item in examples}


def test_each_half_is_a_video_and_a_comment_reaches_15_seconds(folders):
    found = sets(folders[0])
    assert list(found) == [f"{GAME}/1", f"{GAME}/2"]
    assert found[f"{GAME}/1"].events == (
        Event("a corner", (0.0, 20.0), label="corner"),
        Event("a foul", (585.0, 615.0), label="whistle"),
    )
    assert found[f"{GAME}/2"].events == (Event("it ends", (2686.0, 2716.0)),)
    assert sets(folders[0] / GAME / "Labels-caption.json") == found


def test_a_half_without_predictions_is_an_empty_set(folders):
    rows = list(read_form(folders[1], "candidates").rows)
    assert [row.fields["id"] for row in rows] == [f"{GAME}/1", f"{GAME}/2"]
    assert rows[1].fields["timestamps"] == []


def test_folders_and_archives_are_scored_alike(folders, tmp_path):
    labels, results = folders
    archive = shutil.make_archive(str(tmp_path / "zipped"), "zip", results)
    dense = {"dense": {"protocol": "soccernet"}}
    values = [
        next(iter(harness.score(str(path), str(labels), dense).values())).value
        for path in (results, archive)
    ]
    # the corner is found and the end is not; the foul is no prediction of its own
    assert values[0] == values[1] == pytest.approx(0.5)


def test_a_changed_game_is_another_file(folders):
    path = folders[1]
    before = Predictions(path=str(path), events="sets").fingerprint()
    (path / GAME / "results_dense_captioning.json").write_text('{"predictions": []}')
    assert Predictions(path=str(path), events="sets").fingerprint() != before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"predictions": [{"gameTime": "90", "comment": "a"}]}, "expected 'gameTime'"),
        ({"predictions": [{"gameTime": "1 - 00:01"}]}, "a text in 'comment'"),
        ({"other": []}, "expected an object with 'annotations'"),
    ],
)
def test_what_is_no_game_is_one_line(folders, content, message):
    file = folders[1] / GAME / "results_dense_captioning.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError, match=message) as raised:
        list(read_form(folders[1], "candidates").rows)
    assert str(raised.value).startswith(str(file))
