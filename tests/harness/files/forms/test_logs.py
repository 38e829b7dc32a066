"""Logs of other harnesses as forms."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.forms.logs import INSPECT, LM_EVAL, is_lm_eval
from tests.support.form_content import captions, lines, sample_of


def test_a_sample_of_lm_eval_has_a_document_and_responses():
    assert is_lm_eval({"doc_id": 0, "resps": []})
    assert is_lm_eval({"doc_id": 0, "filtered_resps": []})
    assert not is_lm_eval({"doc_id": 0, "caption": "a dog"})


def test_columns_of_the_document_are_ids(tmp_path):
    record = {
        "doc_id": 0,
        "doc": {"image_id": 42, "question": "?"},
        "target": "the dog",
        "resps": [["a dog"]],
        "filtered_resps": ["a dog"],
    }
    sample = sample_of(tmp_path, lines(record))
    assert LM_EVAL.recognise(sample)
    form = LM_EVAL.read(sample)
    assert form.ids == ("id", "doc.image_id")
    assert next(iter(form.rows)).fields["doc.image_id"] == 42


def test_a_log_of_inspect_with_a_score_that_is_nan(tmp_path):
    text = (
        '{"eval": {}, "status": "success", "samples": [{"id": 1, "target": "the dog", '
        '"output": {"completion": "a dog"}, "scores": {"x": {"value": NaN}}}]}'
    )
    sample = sample_of(tmp_path, text)
    assert INSPECT.recognise(sample)
    assert captions(INSPECT.read(sample)) == {"1": "a dog"}


def test_a_file_that_is_no_log_is_refused_by_name(tmp_path):
    with pytest.raises(InputError, match="is no log of inspect"):
        INSPECT.read(sample_of(tmp_path, {"a": 1}))
