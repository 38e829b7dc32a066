"""Form of the results of batches of Mechanical Turk.

Layout: https://docs.aws.amazon.com/AWSMechTurk.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.contracts import Parameters, Values
from harness.files.forms.field_choice import choose_field
from harness.files.forms.form_kind import FormExample
from harness.files.forms.record_forms import (
    Conversion,
    has,
    mapping,
    record_kind,
    single,
)
from harness.files.records import Record
from harness.files.strict_json import decode_json
from harness.files.yaml_source import YamlValue

REJECTED = "rejected assignments"
_NUMBERED_ANSWER = re.compile(
    r"(?:caption|description|sentence|text|reference)s?[ _-]?\d+", re.IGNORECASE
)
"""Answers of one task for several captions."""
_INPUT_IDS = (
    "image_id",
    "video_id",
    "audio_id",
    "id",
    "image",
    "video",
    "audio",
    "image_url",
    "video_url",
    "audio_url",
    "file_name",
    "url",
)
"""Usual names of the input that says what is described, in order of preference."""


def _is_turk(fields: Parameters) -> bool:
    return has(fields, "HITId") and any(name.startswith("Answer.") for name in fields)


def _convert_turk(row: Record, conversion: Conversion) -> Values | None:
    # The page of Mechanical Turk adds a column Reject, for the requester to fill in.
    fields = row.fields
    status = str(fields.get("AssignmentStatus", "")).lower()
    if status == "rejected" or str(fields.get("Reject") or "").strip():
        conversion.left_out[REJECTED] += 1
        return None

    answers = _task_answers(_fields_below("Answer.", fields), row)
    captions = single(_answers(answers, row, conversion))
    inputs = _fields_below("Input.", fields)
    key = _input_id(inputs, fields)
    return {**inputs, **fields, "id": key, **conversion.captions(captions)}


def _fields_below(prefix: str, fields: Parameters) -> Values:
    """Return the fields whose names have a prefix, without it."""
    return {
        name.removeprefix(prefix): value
        for name, value in fields.items()
        if name.startswith(prefix)
    }


def _task_answers(answers: Values, row: Record) -> Values:
    """Return answers with the fields of the column ``taskAnswers``, a list of one JSON
    object, in its place.
    """
    text = answers.pop("taskAnswers", None)
    if not isinstance(text, str) or not text.strip():
        return answers

    value = decode_json(text.encode(), f"{row.where}: 'Answer.taskAnswers'")
    fields = mapping(value[0] if isinstance(value, list) and value else value)
    texts = {name: item for name, item in fields.items() if isinstance(item, str)}
    return {**answers, **texts}


def _answers(
    answers: Mapping[str, YamlValue], row: Record, conversion: Conversion
) -> list[str]:
    """Return the captions among the answers: the only column, columns with numbers, the
    user's, or one of a usual name.
    """
    texts = {name: [str(value)] for name, value in answers.items()}
    of_user = {
        name: value
        for name, value in texts.items()
        if f"Answer.{name}" in conversion.names or name in conversion.names
    }
    numbered = [name for name in texts if _NUMBERED_ANSWER.fullmatch(name)]
    if len(numbered) > 1 and not of_user:
        return [texts[name][0] for name in numbered if texts[name][0]]
    return choose_field(of_user or texts, row, conversion)


def _input_id(inputs: Mapping[str, YamlValue], fields: Parameters) -> YamlValue:
    """Return the id of an assignment: the only input, one of a usual name, or the task
    (HIT).
    """
    if len(inputs) == 1:
        return next(iter(inputs.values()))
    for name in _INPUT_IDS:
        if inputs.get(name):
            return inputs[name]
    return fields.get("HITId")


MECHANICAL_TURK = record_kind(
    "mechanical-turk",
    "results of Mechanical Turk as csv: one row per assignment",
    _is_turk,
    _convert_turk,
    [
        FormExample(
            "HITId,AssignmentId,AssignmentStatus,Input.image_id,Answer.caption\n"
            "3X,A1,Approved,42,a dog\n3Y,A2,Approved,73,a cat",
            "`Input.X`",
        )
    ],
    others=("HITId",),
    options="of several columns `Answer.X` the one of a usual name, "
    "or that the column names (`--column X`)",
    reading="`Answer.X`, or all of `Answer.caption1`, `Answer.caption2`, ...; "
    "rejected assignments are counted and left out",
)
