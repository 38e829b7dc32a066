"""Form of the results of message batches of Anthropic.

Layout: https://docs.anthropic.com/en/docs/build-with-claude/batch-processing.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.contracts import Values
from harness.files.forms.batches import BatchAnswer, answer_record, failure_record
from harness.files.forms.form_kind import FormExample
from harness.files.forms.messages import content_text
from harness.files.forms.record_forms import Conversion, mapping, record_kind
from harness.files.records import Record


def _convert_anthropic(row: Record, conversion: Conversion) -> Values:
    key = row.fields.get("custom_id")
    result = mapping(row.fields.get("result"))
    message = mapping(result.get("message"))
    if result.get("type", "succeeded") != "succeeded" or not message:
        return failure_record(row, key, conversion)

    text = content_text(message.get("content"), "")
    answer = BatchAnswer(
        [] if text is None else [text],
        message.get("stop_reason"),
        mapping(message.get("usage")).get("output_tokens"),
    )
    return answer_record(row, key, answer, conversion)


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
