"""Forms of the outputs of batches of requests to servers:
an answer or an error per request.

Layouts: https://platform.openai.com/docs/guides/batch (also vLLM, SGLang and others
that copy it), https://docs.anthropic.com/en/docs/build-with-claude/batch-processing,
https://ai.google.dev/gemini-api/docs/batch-api and
https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-gemini.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.contracts import Parameters, Values
from harness.errors import InputError
from harness.files.forms.form_kind import FormExample
from harness.files.forms.messages import content_text
from harness.files.forms.record_forms import (
    Conversion,
    has,
    items,
    mapping,
    record_kind,
    single,
)
from harness.files.records import Record

FAILED = "failed requests"
WITHOUT_TEXT = "answers without text"
FINISH_REASON = "finish_reason"
COMPLETION_TOKENS = "completion_tokens"
"""Columns of the reason why an answer ended and of its number of tokens,
where the server says so.
"""


def _answer(
    row: Record,
    key: object,
    conversion: Conversion,
    texts: list[str],
    end: object = None,
    tokens: object = None,
) -> Values:
    """Return the record of an answer; without texts it has none, which is counted."""
    if not texts:
        conversion.left_out[WITHOUT_TEXT] += 1
    values: Values = {name: value for name, value in row.fields.items() if name != "id"}
    values |= {} if key is None else {"id": key}
    values |= {FINISH_REASON: end} if isinstance(end, str) else {}
    values |= {COMPLETION_TOKENS: tokens} if isinstance(tokens, int) else {}
    return values | conversion.captions(single(texts))


def _failure(row: Record, key: object, conversion: Conversion) -> Values:
    """Return the record of a request that failed, which has no captions."""
    conversion.left_out[FAILED] += 1
    values: Values = {name: value for name, value in row.fields.items() if name != "id"}
    return values | ({} if key is None else {"id": key}) | conversion.captions(None)


# --------------------------------------------------------------------------- OpenAI
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
        return _failure(row, key, conversion)

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
        return _answer(
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
    return _answer(row, key, conversion, texts, end, usage.get("completion_tokens"))


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
    return _answer(
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


# --------------------------------------------------------------------------- Anthropic
def _convert_anthropic(row: Record, conversion: Conversion) -> Values:
    key = row.fields.get("custom_id")
    result = mapping(row.fields.get("result"))
    message = mapping(result.get("message"))
    if result.get("type", "succeeded") != "succeeded" or not message:
        return _failure(row, key, conversion)
    text = content_text(message.get("content"), "")
    tokens = mapping(message.get("usage")).get("output_tokens")
    return _answer(
        row,
        key,
        conversion,
        [] if text is None else [text],
        message.get("stop_reason"),
        tokens,
    )


ANTHROPIC = record_kind(
    "anthropic-batch",
    "results of message batches of Anthropic",
    lambda fields: "custom_id" in fields and isinstance(fields.get("result"), Mapping),
    _convert_anthropic,
    [
        FormExample.of_lines(
            [
                {
                    "custom_id": "42",
                    "result": {
                        "type": "succeeded",
                        "message": {
                            "role": "assistant",
                            "content": [{"type": "text", "text": "a dog"}],
                            "stop_reason": "end_turn",
                        },
                    },
                },
                {
                    "custom_id": "73",
                    "result": {
                        "type": "succeeded",
                        "message": {
                            "role": "assistant",
                            "content": [{"type": "text", "text": "a cat"}],
                            "stop_reason": "end_turn",
                        },
                    },
                },
            ],
            "`custom_id`",
        )
    ],
    reading="the texts of `content`; a request that failed, "
    "expired or was cancelled has no caption and is counted",
)


# --------------------------------------------------------------------------- Gemini
def _is_gemini(fields: Parameters) -> bool:
    response = fields.get("response")
    if isinstance(response, Mapping) and (
        "candidates" in response
        or "promptFeedback" in response
        or "usageMetadata" in response
    ):
        return "custom_id" not in fields
    failed = "key" in fields and isinstance(fields.get("error"), Mapping)
    refused = (
        isinstance(fields.get("request"), Mapping)
        and bool(fields.get("status"))
        and not response
    )
    return failed or refused


def _file_of_request(request: object) -> str | None:
    """Return the address of the only file that a request sends;
    None where there is none, or are several.
    """
    parts = [
        mapping(part)
        for content in items(mapping(request).get("contents"))
        for part in items(mapping(content).get("parts"))
    ]
    files = [
        mapping(part.get(name))
        for part in parts
        for name in ("fileData", "file_data")
        if name in part
    ]
    addresses = [
        address
        for file in files
        if isinstance(address := file.get("fileUri", file.get("file_uri")), str)
    ]
    return addresses[0] if len(addresses) == 1 else None


def _convert_gemini(row: Record, conversion: Conversion) -> Values:
    fields = row.fields
    key = fields.get("key", fields.get("id", _file_of_request(fields.get("request"))))
    response = mapping(fields.get("response"))
    answers = [mapping(answer) for answer in items(response.get("candidates"))]
    if fields.get("error") or (fields.get("status") and not answers) or not response:
        return _failure(row, key, conversion)
    contents = [
        content_text(mapping(answer.get("content")).get("parts"), "")
        for answer in answers
    ]
    texts = [text for text in contents if text is not None]
    usage = mapping(response.get("usageMetadata"))
    end = answers[0].get("finishReason") if answers else None
    return _answer(row, key, conversion, texts, end, usage.get("candidatesTokenCount"))


GEMINI = record_kind(
    "gemini-batch",
    "outputs of batches of Gemini (developer API and Vertex AI)",
    _is_gemini,
    _convert_gemini,
    [
        FormExample.of_lines(
            [
                {
                    "key": "42",
                    "response": {
                        "candidates": [
                            {
                                "content": {
                                    "parts": [{"text": "a dog"}],
                                    "role": "model",
                                },
                                "finishReason": "STOP",
                            }
                        ]
                    },
                },
                {
                    "key": "73",
                    "response": {
                        "candidates": [
                            {
                                "content": {
                                    "parts": [{"text": "a cat"}],
                                    "role": "model",
                                },
                                "finishReason": "STOP",
                            }
                        ]
                    },
                },
            ],
            "`key`, the file that the request sends, else by position",
        )
    ],
    reading="the texts of `candidates`, without thoughts; "
    "a request that failed has no caption and is counted",
)
