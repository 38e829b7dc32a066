"""Records of the outputs of batches of requests to servers: an answer or an error per
request.
"""

from __future__ import annotations

from typing import NamedTuple

from harness.contracts import Values
from harness.files.forms.record_forms import Conversion, single
from harness.files.records import Record

FAILED = "failed requests"
WITHOUT_TEXT = "answers without text"
FINISH_REASON = "finish_reason"
"""Column of the reason why an answer ended, where the server says so."""
COMPLETION_TOKENS = "completion_tokens"
"""Column of the number of tokens of an answer, where the server says so."""


class BatchAnswer(NamedTuple):
    """Answer of a server to a request."""

    texts: list[str]
    """Its texts; several where the request asked for several answers."""
    end: object = None
    """Reason why the first one ended, as the server has it."""
    tokens: object = None
    """Number of tokens, as the server has it."""


def answer_record(
    row: Record, key: object, answer: BatchAnswer, conversion: Conversion
) -> Values:
    """Return the record of an answer; without texts it has none, which is counted."""
    if not answer.texts:
        conversion.left_out[WITHOUT_TEXT] += 1
    values = _other_fields(row, key)
    if isinstance(answer.end, str):
        values[FINISH_REASON] = answer.end
    if isinstance(answer.tokens, int):
        values[COMPLETION_TOKENS] = answer.tokens
    return values | conversion.captions(single(answer.texts))


def failure_record(row: Record, key: object, conversion: Conversion) -> Values:
    """Return the record of a request that failed, which has no captions."""
    conversion.left_out[FAILED] += 1
    return _other_fields(row, key) | conversion.captions(None)


def _other_fields(row: Record, key: object) -> Values:
    """Return the fields of a record with the id of the request, where it has one; the
    server's own id of the answer is none.
    """
    values: Values = {name: value for name, value in row.fields.items() if name != "id"}
    if key is not None:
        values["id"] = key
    return values
