"""Form of the outputs of batches of OpenAI, and of servers that copy it (vLLM, SGLang
and others).

Layout: https://platform.openai.com/docs/guides/batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.contracts import Parameters, Values
from harness.errors import InputError
from harness.files.forms.batches import BatchAnswer, answer_record, failure_record
from harness.files.forms.form_kind import FormExample
from harness.files.forms.messages import content_text
from harness.files.forms.record_forms import (
    Conversion,
    has,
    items,
    mapping,
    record_kind,
)
from harness.files.records import Record

_ANSWERS = ("response", "completion", "output", "result")
"""Columns in which programs keep the answers of a server whole, beside ids of their
own.
"""


def _is_openai(fields: Parameters) -> bool:
    if "custom_id" not in fields:
        answers = [fields, *(mapping(fields.get(name)) for name in _ANSWERS)]
        return any(map(_has_choices, answers))

    # Batches of Anthropic have results.
    response = fields.get("response", "")
    is_answered = response is None or isinstance(response, Mapping)
    return "result" not in fields and (
        is_answered or "error" in fields or "body" in fields
    )


def _has_choices(answer: Mapping[str, Any]) -> bool:
    """Return True for an answer of chat completions, or of plain ones."""
    first = mapping(next(iter(items(answer.get("choices"))), None))
    return "message" in first or ("text" in first and "finish_reason" in first)


def _convert_openai(row: Record, conversion: Conversion) -> Values:
    if "custom_id" not in row.fields:
        return _convert_answer(row, conversion)
    if "body" in row.fields and not has(row.fields, "response"):
        raise InputError(
            "is a request; expected the answers that the server wrote (the output "
            "file of the batch)",
            row.where,
        )

    # Some servers write the body alone.
    key = row.fields.get("custom_id")
    response = mapping(row.fields.get("response"))
    body = mapping(response.get("body", response))
    status = response.get("status_code", 200)
    is_refused = isinstance(status, int) and status >= 400
    if row.fields.get("error") or not body or body.get("error") or is_refused:
        return failure_record(row, key, conversion)

    answer = _answer_of_output(body) if "output" in body else _answer_of_choices(body)
    return answer_record(row, key, answer, conversion)


def _convert_answer(row: Record, conversion: Conversion) -> Values:
    """Return the record of an answer that a program keeps with an id of its own; the id
    of the answer is none.
    """
    fields = dict(row.fields)
    for name in _ANSWERS:
        if _has_choices(mapping(fields.get(name))):
            answer = _answer_of_choices(mapping(fields.pop(name)))
            key = fields.get("id")
            return answer_record(Record(row.where, fields), key, answer, conversion)
    return answer_record(row, None, _answer_of_choices(fields), conversion)


def _answer_of_choices(body: Mapping[str, Any]) -> BatchAnswer:
    """Return the answer of chat completions, or of plain ones."""
    choices = [mapping(choice) for choice in items(body.get("choices"))]
    texts = [text for text in map(_choice_text, choices) if text is not None]
    end = choices[0].get("finish_reason") if choices else None
    return BatchAnswer(texts, end, mapping(body.get("usage")).get("completion_tokens"))


def _answer_of_output(body: Mapping[str, Any]) -> BatchAnswer:
    """Return the answer of the responses API: the messages of its output are one
    text.
    """
    pieces = [
        text for text in map(_output_text, items(body["output"])) if text is not None
    ]
    reason = mapping(body.get("incomplete_details")).get("reason")
    end = reason or body.get("status")
    if reason == "max_output_tokens":
        end = "length"  # as chat completions name it
    tokens = mapping(body.get("usage")).get("output_tokens")
    return BatchAnswer(["".join(pieces)] if pieces else [], end, tokens)


def _choice_text(choice: Mapping[str, Any]) -> str | None:
    """Return the text of a choice of chat completions, or of plain completions."""
    if isinstance(choice.get("text"), str):
        return choice["text"]
    return content_text(mapping(choice.get("message")).get("content"))


def _output_text(item: object) -> str | None:
    """Return the text of a message in the output of the responses API; None for
    reasoning and calls of tools.
    """
    if mapping(item).get("type", "message") != "message":
        return None
    return content_text(mapping(item).get("content"), "")


OPENAI = record_kind(
    "openai-batch",
    "outputs of batches of OpenAI (chat completions, responses), "
    "vLLM and servers like them",
    _is_openai,
    _convert_openai,
    [
        FormExample.of_lines(
            [
                {
                    "id": "batch_req_1",
                    "custom_id": "42",
                    "response": {
                        "status_code": 200,
                        "body": {
                            "choices": [
                                {
                                    "message": {"content": "a dog"},
                                    "finish_reason": "stop",
                                }
                            ]
                        },
                    },
                    "error": None,
                },
                {
                    "id": "batch_req_2",
                    "custom_id": "73",
                    "response": {
                        "status_code": 200,
                        "body": {
                            "output": [
                                {
                                    "type": "message",
                                    "content": [
                                        {"type": "output_text", "text": "a cat"}
                                    ],
                                }
                            ]
                        },
                    },
                    "error": None,
                },
            ],
            "`custom_id`",
        )
    ],
    reading="`choices` or `output` of the answer; a request that failed has no caption "
    "and is counted",
)
