"""Outputs of batches of requests: failures, and what ended an answer."""

from __future__ import annotations

import pytest

from harness.files.forms import read_form
from tests.support.form_content import captions, gemini, lines, message_of

FAILED = [
    (
        "openai-batch",
        [
            {"custom_id": "1", "response": message_of("a dog"), "error": None},
            {"custom_id": "2", "response": None, "error": {"code": "batch_expired"}},
            {
                "custom_id": "3",
                "response": {
                    "status_code": 429,
                    "body": {"error": {"message": "slow down"}},
                },
                "error": None,
            },
        ],
    ),
    (
        "anthropic-batch",
        [
            {
                "custom_id": "1",
                "result": {
                    "type": "succeeded",
                    "message": {"content": [{"type": "text", "text": "a dog"}]},
                },
            },
            {
                "custom_id": "2",
                "result": {"type": "errored", "error": {"type": "invalid_request"}},
            },
            {"custom_id": "3", "result": {"type": "expired"}},
        ],
    ),
    (
        "gemini-batch",
        [
            {"key": "2", "error": {"code": 4, "message": "too late"}},
            {"key": "3", "response": {}, "error": {"code": 13}},
            {"key": "1", "response": gemini("a dog")},
        ],
    ),
]


@pytest.mark.parametrize(("name", "records"), FAILED, ids=[name for name, _ in FAILED])
def test_failed_requests_are_counted_and_are_no_captions(tmp_path, name, records):
    (tmp_path / "f").write_text(lines(*records))
    form = read_form(tmp_path / "f", "candidates")
    assert (form.name, captions(form)) == (name, {"1": "a dog", "2": None, "3": None})
    assert form.left_out == {"failed requests": 2}
    form = read_form(tmp_path / "f", "references")
    assert (captions(form, "references"), form.left_out) == (
        {"1": "a dog"},
        {"failed requests": 2},
    )


def test_what_ended_an_answer_is_kept(tmp_path):
    def first(*records):
        (tmp_path / "f").write_text(lines(*records))
        fields = next(iter(read_form(tmp_path / "f", "candidates").rows)).fields
        return fields.get("finish_reason"), fields.get("completion_tokens")

    cut = message_of("a", finish_reason="length")
    cut["body"]["usage"] = {"completion_tokens": 16}
    assert first(
        {"custom_id": "1", "response": cut}, {"custom_id": "2", "response": cut}
    ) == ("length", 16)
    body = {
        "output": [{"type": "message", "content": [{"text": "a"}]}],
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
    }
    assert first({"custom_id": "1", "response": {"body": body}}) == ("length", None)
    assert first(
        {
            "custom_id": "1",
            "result": {
                "message": {
                    "content": "a",
                    "stop_reason": "max_tokens",
                    "usage": {"output_tokens": 3},
                }
            },
        }
    ) == ("max_tokens", 3)
    assert first(
        {"key": "1", "response": gemini("a", usageMetadata={"candidatesTokenCount": 4})}
    ) == ("STOP", 4)
