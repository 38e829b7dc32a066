"""Records of the outputs of batches of requests to servers: an answer or an error per
request.
"""

from __future__ import annotations

from harness.contracts import Values
from harness.files.forms.record_forms import Conversion, single
from harness.files.records import Record

FAILED = "failed requests"
WITHOUT_TEXT = "answers without text"
FINISH_REASON = "finish_reason"
COMPLETION_TOKENS = "completion_tokens"
"""Columns of the reason why an answer ended and of its number of tokens,
where the server says so.
"""


def answer_record(
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


def failure_record(row: Record, key: object, conversion: Conversion) -> Values:
    """Return the record of a request that failed, which has no captions."""
    conversion.left_out[FAILED] += 1
    values: Values = {name: value for name, value in row.fields.items() if name != "id"}
    return values | ({} if key is None else {"id": key}) | conversion.captions(None)
