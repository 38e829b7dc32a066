"""Forms of logs: which fields are scores, and the directions that a log declares."""

from __future__ import annotations

import json

import pytest

from harness.analysis.score_forms import read_score_form
from harness.errors import InputError
from tests.support.score_logs import write_lines


def test_lines_without_a_document(tmp_path):
    with pytest.raises(InputError, match="s.jsonl:2: the line has no 'doc_id'"):
        read_score_form(
            write_lines(tmp_path / "s.jsonl", [{"doc_id": 0, "acc": 1}, {"acc": 1}])
        )
    (tmp_path / "l.json").write_text(json.dumps({"eval": {}, "samples": [7]}))
    with pytest.raises(
        InputError,
        match="samples: record 1: found the number 7; expected a sample of inspect",
    ):
        list(read_score_form(tmp_path / "l.json").samples)
