"""Captions of the parts of a video as ActivityNet has them."""

from __future__ import annotations

import json

from harness.contracts import EventSet
from harness.files.forms import read_form
from harness_models.predictions.adapter import Predictions

PROPOSALS = [
    {"sentence": "a", "timestamp": [0, 2], "proposal_score": 0.75},
    {"sentence": "b", "timestamp": [1, 3]},
]


def test_results_keep_the_scores_of_proposals(tmp_path):
    path = tmp_path / "results.json"
    content = {"version": "1", "results": {"v": PROPOSALS, "w": []}}
    path.write_text(json.dumps(content), encoding="utf-8")
    captions = Predictions(path=str(path), events="sets").captions_by_id()
    events = EventSet.from_text(captions["v"][0]).events
    assert [event.score for event in events] == [0.75, None]


def test_results_without_scores_have_no_column_of_them(tmp_path):
    path = tmp_path / "results.json"
    content = {"results": {"v": PROPOSALS[1:]}}
    path.write_text(json.dumps(content), encoding="utf-8")
    (row,) = read_form(path, "candidates").rows
    assert "scores" not in row.fields
