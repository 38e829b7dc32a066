"""Form of the outputs of batches of OpenAI, and of servers that copy it (vLLM, SGLang and
others).

Layout: https://platform.openai.com/docs/guides/batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.contracts import Parameters, Values
from harness.errors import InputError
from harness.files.forms.batches import answer_record, failure_record
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


def _is_openai(fields: Parameters) -> bool:
    answered = "response" in fields and isinstance(
        fields["response"], (Mapping, type(None))
    )
    if "custom_id" not in fields:
        return _has_choices(fields) or any(
            _has_choices(mapping(fields.get(name))) for name in _ANSWERS
        )
    return (
        "custom_id" in fields
        and "result" not in fields
        and (answered or "error" in fields or "body" in fields)
    )


_ANSWERS = ("response", "completion", "output", "result")
"""Columns in which programs keep the answers of a server whole,
beside ids of their own.
"""


def _has_choices(answer: Mapping[str, Any]) -> bool:
    """Return True for an answer of chat completions, or of plain ones."""
    first = mapping(next(iter(items(answer.get("choices"))), None))
    return "message" in first or ("text" in first and "finish_reason" in first)


def _convert_openai(row: Record, conversion: Conversion) -> Values:
    if "custom_id" not in row.fields:
        return _convert_answer(row, conversion)
    key = row.fields.get("custom_id")
    if "body" in row.fields and not has(row.fields, "response"):
        raise InputError(
            "is a request; expected the answers that the server wrote (the output "
            "file of the batch)",
            row.where,
        )
    response = mapping(row.fields.get("response"))
    body = mapping(response.get("body", response))
    status = response.get("status_code", 200)
    if (
        row.fields.get("error")
        or not body
        or body.get("error")
        or (isinstance(status, int) and status >= 400)
    ):
        return failure_record(row, key, conversion)

    usage = mapping(body.get("usage"))
    if "output" in body:  # the responses API
        texts = [
            text
            for item in items(body["output"])
            if (text := _output_text(item)) is not None
        ]
        reason = mapping(body.get("incomplete_details")).get("reason")
        end = (
            "length" if reason == "max_output_tokens" else reason or body.get("status")
        )
        return answer_record(
            row,
            key,
            conversion,
            ["".join(texts)] if texts else [],
            end,
            usage.get("output_tokens"),
        )
    choices = [mapping(choice) for choice in items(body.get("choices"))]
    texts = [text for choice in choices if (text := _choice_text(choice)) is not None]
    end = choices[0].get("finish_reason") if choices else None
    return answer_record(
        row, key, conversion, texts, end, usage.get("completion_tokens")
    )


def _convert_answer(row: Record, conversion: Conversion) -> Values:
    """Return the record of an answer that a program keeps with an id of its own;
    the id of the answer is none.
    """
    fields = dict(row.fields)
    name = next(
        (name for name in _ANSWERS if _has_choices(mapping(fields.get(name)))), None
    )
    body = mapping(fields.pop(name)) if name else fields
    row = Record(row.where, fields)
    choices = [mapping(choice) for choice in items(body.get("choices"))]
    texts = [text for choice in choices if (text := _choice_text(choice)) is not None]
    end = choices[0].get("finish_reason") if choices else None
    key = fields.get("id") if name else None
    return answer_record(
        row,
        key,
        conversion,
        texts,
        end,
        mapping(body.get("usage")).get("completion_tokens"),
    )


def _choice_text(choice: Mapping[str, Any]) -> str | None:
    """Return the text of a choice of chat completions, or of plain completions."""
    return (
        choice["text"]
        if isinstance(choice.get("text"), str)
        else content_text(mapping(choice.get("message")).get("content"))
    )


def _output_text(item: object) -> str | None:
    """Return the text of a message in the output of the responses API; None for
    reasoning and calls of tools.
    """
    return (
        content_text(mapping(item).get("content"), "")
        if mapping(item).get("type", "message") == "message"
        else None
    )


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
