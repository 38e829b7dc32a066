"""Results of message batches of Anthropic."""

from __future__ import annotations

from harness.files.forms.anthropic_batches import ANTHROPIC
from tests.support.form_content import captions, lines, sample_of


def result(key, kind="succeeded", **message):
    return {"custom_id": key, "id": "r", "result": {"type": kind, "message": message}}


def test_failed_requests_and_answers_without_text_are_counted(tmp_path):
    sample = sample_of(
        tmp_path,
        lines(
            result("1", content=[{"type": "text", "text": "a "}, {"text": "dog"}]),
            result("2", kind="expired"),
            result("3", content=[{"type": "thinking", "thinking": "hm"}]),
        ),
    )
    assert ANTHROPIC.recognise(sample)
    form = ANTHROPIC.read(sample)
    assert captions(form) == {"1": "a dog", "2": None, "3": None}
    assert form.left_out == {"failed requests": 1, "answers without text": 1}


def test_the_reason_of_the_end_and_the_tokens_are_columns(tmp_path):
    answer = result(
        "1", content="a dog", stop_reason="max_tokens", usage={"output_tokens": 9}
    )
    (row,) = ANTHROPIC.read(sample_of(tmp_path, lines(answer))).rows
    assert row.fields["finish_reason"] == "max_tokens"
    assert row.fields["completion_tokens"] == 9
    assert row.fields["id"] == "1", "the id of the request, not of the answer"


def test_other_records_with_an_id_of_a_request_are_none(tmp_path):
    assert not ANTHROPIC.recognise(
        sample_of(tmp_path, lines({"custom_id": "1", "result": "a dog"}))
    )
