"""Forms of programs in which people write captions: Label Studio, Argilla,
Mechanical Turk.

Layouts: https://labelstud.io/guide/export,
https://docs.argilla.io/latest/how_to_guides/import_export and the batch results of
https://docs.aws.amazon.com/AWSMechTurk.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness.contracts import Parameters, Values
from harness.errors import InputError
from harness.files.captions import quote_list
from harness.files.columns import CANDIDATE_COLUMNS, REFERENCE_COLUMNS
from harness.files.forms.form_kind import FormExample
from harness.files.forms.record_forms import (
    Conversion,
    has,
    items,
    mapping,
    record_kind,
    single,
)
from harness.files.records import Record, decode_json
from harness.files.yaml_source import YamlValue

_USUAL = dict.fromkeys(
    (*REFERENCE_COLUMNS, *CANDIDATE_COLUMNS, "description", "answer")
)
"""Usual names of fields of captions, in order of preference."""


def _choose_field(
    found: Mapping[str, list[str]], row: Record, conversion: Conversion
) -> list[str]:
    """Return the captions of the only field with texts, of the one that the user names,
    or of the one with a usual name.

    Raises
    ------
    InputError
        Several fields have texts, and none of them is named or has a usual name.
    """
    if len(found) < 2:
        return next(iter(found.values()), [])
    for names in (conversion.names, _USUAL):
        chosen = next((name for name in names if name in found), None)
        if chosen is not None:
            return found[chosen]
    raise InputError(
        f"has texts in {len(found)} fields, {quote_list(found, 5)}; "
        "name one of them as the column of captions",
        row.where,
    )


# --------------------------------------------------------------------------- Label Studio
CANCELLED = "cancelled annotations"
WITHOUT_ANNOTATION = "tasks without an annotation"


def _is_label_studio(fields: Parameters) -> bool:
    lists = [
        fields[name]
        for name in ("annotations", "completions", "predictions")
        if isinstance(fields.get(name), list)
    ]
    results = all(
        isinstance(item, Mapping) and isinstance(item.get("result"), list)
        for entry in lists
        for item in entry
    )
    return isinstance(fields.get("data"), Mapping) and bool(lists) and results


def _texts_by_field(annotation: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return field (``from_name``) -> the texts that an annotation has in it."""
    out: dict[str, list[str]] = {}
    for region in map(mapping, items(annotation.get("result"))):
        texts = mapping(region.get("value")).get("text")
        texts = [texts] if isinstance(texts, str) else texts
        if isinstance(texts, list) and region.get("type", "textarea") == "textarea":
            out.setdefault(str(region.get("from_name", "caption")), []).extend(
                str(text) for text in texts if text is not None
            )
    return out


def _convert_label_studio(row: Record, conversion: Conversion) -> Values:
    fields = row.fields
    annotations = [
        mapping(item)
        for item in items(fields.get("annotations", fields.get("completions")))
    ]
    kept = [
        item
        for item in annotations
        if not (item.get("was_cancelled") or item.get("skipped"))
    ]
    predictions = [mapping(item) for item in items(fields.get("predictions"))]

    # The captions of a model lie beside those of people, and are what candidates are
    # sought for.
    sources = (
        [_collect(predictions), _collect(kept)]
        if conversion.role == "candidates"
        else [_collect(kept)]
    )
    found = next(filter(None, sources), {})
    if len(kept) < len(annotations):
        conversion.left_out[CANCELLED] += len(annotations) - len(kept)
    texts = _choose_field(found, row, conversion)
    if not texts:
        conversion.left_out[WITHOUT_ANNOTATION] += 1
    return {
        **mapping(fields.get("data")),
        **fields,
        **found,
        **conversion.captions(_as_list(texts)),
    }


def _collect(annotations: list[Mapping[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for annotation in annotations:
        for name, texts in _texts_by_field(annotation).items():
            found.setdefault(name, []).extend(texts)
    return found


def _as_list(texts: list[str]) -> YamlValue:
    """Return texts as a list, None for none:
    a record holds all captions of its item.
    """
    return list(texts) or None


LABEL_STUDIO = record_kind(
    "label-studio",
    "Label Studio, export as JSON: the texts of all annotations of a task",
    _is_label_studio,
    _convert_label_studio,
    [
        FormExample.of_json(
            [
                {
                    "id": 42,
                    "data": {"image": "/data/upload/1/a.jpg"},
                    "annotations": [
                        {
                            "id": 1,
                            "was_cancelled": False,
                            "result": [
                                {
                                    "type": "textarea",
                                    "from_name": "caption",
                                    "value": {"text": ["a dog"]},
                                }
                            ],
                        }
                    ],
                },
                {
                    "id": 73,
                    "data": {"image": "/data/upload/1/b.jpg"},
                    "annotations": [
                        {
                            "id": 2,
                            "was_cancelled": False,
                            "result": [
                                {
                                    "type": "textarea",
                                    "from_name": "caption",
                                    "value": {"text": ["a cat"]},
                                }
                            ],
                        }
                    ],
                },
            ],
            "`id` of the task, as in JSON-MIN; also the columns of `data`",
        )
    ],
    options="of several fields with texts the one of a usual name, "
    "or that the column names (`--column`, `--reference-column`)",
    reading="the texts of all annotations but cancelled ones, which are counted; "
    "as candidates those of `predictions` where there are some",
)


# --------------------------------------------------------------------------- Argilla
DISCARDED = "discarded responses"


def _flat_questions(fields: Parameters) -> list[str]:
    """Return the questions of a record of ``to_datasets`` of Argilla 2, whose columns
    are ``QUESTION.responses``, ``.status`` and so on.
    """
    names = [
        name.removesuffix(".responses")
        for name in fields
        if name.endswith(".responses")
    ]
    return [
        name
        for name in names
        if f"{name}.responses.status" in fields or f"{name}.responses.users" in fields
    ]


def _is_argilla(fields: Parameters) -> bool:
    if _flat_questions(fields):
        return True
    return isinstance(fields.get("fields"), Mapping) and any(
        isinstance(fields.get(name), (Mapping, list))
        for name in ("responses", "suggestions")
    )


def _responses(row: Record, conversion: Conversion) -> dict[str, list[str]]:
    """Return question -> the texts of the responses that were submitted."""
    out: dict[str, list[str]] = {}

    def add(question: str, response: Mapping[str, Any], status: object) -> None:
        if status in ("discarded", "draft"):
            conversion.left_out[DISCARDED] += 1
        elif isinstance(response.get("value"), str):
            out.setdefault(question, []).append(response["value"])

    for question in _flat_questions(row.fields):
        texts, states = (
            items(row.fields.get(f"{question}.{name}"))
            for name in ("responses", "responses.status")
        )
        for number, text in enumerate(texts):
            add(
                question,
                {"value": text},
                states[number] if number < len(states) else None,
            )
    responses = row.fields.get("responses")
    for question, answers in mapping(responses).items():
        for answer in map(mapping, items(answers)):
            add(str(question), answer, answer.get("status"))
    # Argilla 1: a response holds the values of all questions
    for answer in map(mapping, items(responses)):
        for question, value in mapping(answer.get("values")).items():
            add(str(question), mapping(value), answer.get("status"))
    return out


def _suggestions(row: Record) -> dict[str, list[str]]:
    """Return question -> the text that a model suggested."""
    suggestions = row.fields.get("suggestions")
    pairs = [
        (str(name), mapping(value)) for name, value in mapping(suggestions).items()
    ]
    pairs += [
        (str(mapping(item).get("question_name")), mapping(item))
        for item in items(suggestions)
    ]
    pairs += [
        (name, {"value": row.fields.get(f"{name}.suggestion")})
        for name in _flat_questions(row.fields)
    ]
    return {
        question: [item["value"]]
        for question, item in pairs
        if isinstance(item.get("value"), str)
    }


def _convert_argilla(row: Record, conversion: Conversion) -> Values:
    fields = row.fields
    sources = [_suggestions(row)] if conversion.role == "candidates" else []
    found = next(filter(None, [*sources, _responses(row, conversion)]), {})
    texts = _choose_field(found, row, conversion)
    if not texts:
        conversion.left_out["records without a response"] += 1
    key = next(
        (
            fields[name]
            for name in ("id", "external_id")
            if fields.get(name) is not None
        ),
        None,
    )
    nested = {**mapping(fields.get("metadata")), **mapping(fields.get("fields"))}
    return {
        **nested,
        **fields,
        **({} if key is None else {"id": key}),
        **found,
        **conversion.captions(_as_list(texts)),
    }


ARGILLA = record_kind(
    "argilla",
    "Argilla, records as JSON: submitted responses as references, "
    "suggestions (else responses) as candidates",
    _is_argilla,
    _convert_argilla,
    [
        FormExample.of_json(
            [
                {
                    "id": "42",
                    "fields": {"image": "a.jpg"},
                    "suggestions": {},
                    "responses": {"caption": [{"value": "a dog", "user_id": "u"}]},
                },
                {
                    "id": "73",
                    "fields": {"image": "b.jpg"},
                    "suggestions": {},
                    "responses": {"caption": [{"value": "a cat", "user_id": "u"}]},
                },
            ],
            "`id`, also `external_id` and the columns of `fields` and `metadata`",
        )
    ],
    others=("external_id", "_server_id"),
    options="as for label-studio",
    reading="references: responses that were submitted; candidates: suggestions, "
    "else responses; discarded ones are counted",
)


# --------------------------------------------------------------------------- Mechanical Turk
REJECTED = "rejected assignments"
_NUMBERED_ANSWER = re.compile(
    r"(?:caption|description|sentence|text|reference)s?[ _-]?\d+", re.IGNORECASE
)


def _is_turk(fields: Parameters) -> bool:
    return has(fields, "HITId") and any(name.startswith("Answer.") for name in fields)


def _convert_turk(row: Record, conversion: Conversion) -> Values | None:
    fields = row.fields
    if (
        str(fields.get("AssignmentStatus", "")).lower() == "rejected"
        or str(fields.get("Reject") or "").strip()
    ):
        conversion.left_out[REJECTED] += 1
        return None
    answers = {
        name.partition(".")[2]: value
        for name, value in fields.items()
        if name.startswith("Answer.")
    }
    answers = _task_answers(answers, row)
    inputs = {
        name.partition(".")[2]: value
        for name, value in fields.items()
        if name.startswith("Input.")
    }
    key = _input_id(inputs, fields)
    return {
        **inputs,
        **fields,
        "id": key,
        **conversion.captions(single(_answers(answers, row, conversion))),
    }


def _task_answers(answers: Values, row: Record) -> Values:
    """Return answers with the fields of the column ``taskAnswers``,
    a list of one JSON object, in its place.
    """
    text = answers.pop("taskAnswers", None)
    if not isinstance(text, str) or not text.strip():
        return answers
    value = decode_json(text.encode(), f"{row.where}: 'Answer.taskAnswers'")
    found = mapping(value[0] if isinstance(value, list) and value else value)
    return {
        **answers,
        **{name: item for name, item in found.items() if isinstance(item, str)},
    }


def _answers(
    answers: Mapping[str, YamlValue], row: Record, conversion: Conversion
) -> list[str]:
    """Return the captions among the answers: the only column, columns with numbers, the
    user's, or one of a usual name.
    """
    texts = {name: [str(value)] for name, value in answers.items()}
    named = {
        name: texts[name]
        for name in answers
        if f"Answer.{name}" in conversion.names or name in conversion.names
    }
    numbered = [name for name in texts if _NUMBERED_ANSWER.fullmatch(name)]
    if len(numbered) > 1 and not named:
        return [texts[name][0] for name in numbered if texts[name][0]]
    return _choose_field(named or texts, row, conversion)


def _input_id(inputs: Mapping[str, YamlValue], fields: Parameters) -> YamlValue:
    """Return the id of an assignment: the only input, one of a usual name,
    or the task (HIT).
    """
    if len(inputs) == 1:
        return next(iter(inputs.values()))
    usual = (
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
    return next(
        (inputs[name] for name in usual if inputs.get(name)), fields.get("HITId")
    )


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
