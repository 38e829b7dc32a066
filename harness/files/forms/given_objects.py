"""Form of captions of given objects, one row each, as Video-3D-LLM and 3DRS write them:
``sample_id``, ``pred_response``, ``gt_response``.

The objects are given, so that there is nothing to match: the rows are captions. Marks
such as ``sos`` and ``eos`` are words of the texts and stay as they are written.
"""

from __future__ import annotations

from harness.contracts import Parameters, Values
from harness.files.forms.form_kind import FormExample
from harness.files.forms.record_forms import Conversion, has, record_kind
from harness.files.records import Record


def _is_given_object(fields: Parameters) -> bool:
    return has(fields, "sample_id", "pred_response", "gt_response")


def _convert(row: Record, conversion: Conversion) -> Values:
    column = "pred_response" if conversion.role == "candidates" else "gt_response"
    return {
        "sample_id": row.fields["sample_id"],
        **conversion.captions(row.fields[column]),
    }


GIVEN_OBJECTS = record_kind(
    "given-objects",
    "Video-3D-LLM, 3DRS: `pred_response` beside `gt_response` of given objects",
    _is_given_object,
    _convert,
    [
        FormExample.of_lines(
            [
                {"sample_id": "42", "pred_response": "a dog", "gt_response": ["a dog"]},
                {"sample_id": "73", "pred_response": "a cat", "gt_response": ["a cat"]},
            ],
            "`sample_id`",
        )
    ],
    reading="candidates: `pred_response`; references: `gt_response`; marks such as "
    "`sos` and `eos` are words",
)
