"""Form of the outputs of batches of Gemini, of the developer API and of Vertex AI.

Layouts: https://ai.google.dev/gemini-api/docs/batch-api and
https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-gemini.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.contracts import Parameters, Values
from harness.files.forms.batches import BatchAnswer, answer_record, failure_record
from harness.files.forms.form_kind import FormExample
from harness.files.forms.messages import content_text
from harness.files.forms.record_forms import Conversion, items, mapping, record_kind
from harness.files.records import Record

_ANSWER_FIELDS = ("candidates", "promptFeedback", "usageMetadata")
"""Fields of a response, one of which every response has."""


def _is_gemini(fields: Parameters) -> bool:
    response = fields.get("response")
    if any(name in mapping(response) for name in _ANSWER_FIELDS):
        return "custom_id" not in fields

    # A request that failed has no answer: the developer API says so by an error, Vertex
    # AI by a status.
    has_error = "key" in fields and isinstance(fields.get("error"), Mapping)
    has_status = isinstance(fields.get("request"), Mapping) and bool(
        fields.get("status")
    )
    return has_error or (has_status and not response)


def _file_of_request(request: object) -> str | None:
    """Return the address of the only file that a request sends; None where there is
    none, or are several.
    """
    # The names are those of the REST interface and those of the Python client.
    addresses: list[str] = []
    for content in items(mapping(request).get("contents")):
        for piece in map(mapping, items(mapping(content).get("parts"))):
            for name in ("fileData", "file_data"):
                file = mapping(piece.get(name))
                address = file.get("fileUri", file.get("file_uri"))
                if isinstance(address, str):
                    addresses.append(address)
    return addresses[0] if len(addresses) == 1 else None


def _convert_gemini(row: Record, conversion: Conversion) -> Values:
    fields = row.fields
    key = fields.get("key", fields.get("id", _file_of_request(fields.get("request"))))
    response = mapping(fields.get("response"))
    answers = [mapping(answer) for answer in items(response.get("candidates"))]
    if fields.get("error") or (fields.get("status") and not answers) or not response:
        return failure_record(row, key, conversion)

    contents = [
        content_text(mapping(answer.get("content")).get("parts"), "")
        for answer in answers
    ]
    answer = BatchAnswer(
        [text for text in contents if text is not None],
        answers[0].get("finishReason") if answers else None,
        mapping(response.get("usageMetadata")).get("candidatesTokenCount"),
    )
    return answer_record(row, key, answer, conversion)


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
