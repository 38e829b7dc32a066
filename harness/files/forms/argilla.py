"""Form of the records of Argilla, versions 1 and 2.

Layout: https://docs.argilla.io/latest/how_to_guides/import_export.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from harness.contracts import Parameters, Values
from harness.files.forms.field_choice import choose_field, list_or_none
from harness.files.forms.form_kind import FormExample
from harness.files.forms.record_forms import Conversion, items, mapping, record_kind
from harness.files.records import Record

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

    # Argilla 2, as columns, and as an object.
    for question in _flat_questions(row.fields):
        texts = items(row.fields.get(f"{question}.responses"))
        states = items(row.fields.get(f"{question}.responses.status"))
        for text, state in zip_longest(texts, states[: len(texts)]):
            add(question, {"value": text}, state)
    responses = row.fields.get("responses")
    for question, answers in mapping(responses).items():
        for answer in map(mapping, items(answers)):
            add(str(question), answer, answer.get("status"))

    # Argilla 1: a response holds the values of all questions.
    for answer in map(mapping, items(responses)):
        for question, value in mapping(answer.get("values")).items():
            add(str(question), mapping(value), answer.get("status"))
    return out


def _suggestions(row: Record) -> dict[str, list[str]]:
    """Return question -> the text that a model suggested."""
    # As an object, as a list, and as columns.
    suggestions = row.fields.get("suggestions")
    values: list[tuple[object, object]] = [
        (name, mapping(value).get("value"))
        for name, value in mapping(suggestions).items()
    ]
    for item in map(mapping, items(suggestions)):
        values.append((item.get("question_name"), item.get("value")))
    for name in _flat_questions(row.fields):
        values.append((name, row.fields.get(f"{name}.suggestion")))
    return {str(name): [text] for name, text in values if isinstance(text, str)}


def _convert_argilla(row: Record, conversion: Conversion) -> Values:
    # Responses are looked at in any case, for the count of discarded ones.
    by_question = _responses(row, conversion)
    if conversion.role == "candidates":
        by_question = _suggestions(row) or by_question
    texts = choose_field(by_question, row, conversion)
    if not texts:
        conversion.left_out["records without a response"] += 1

    fields = row.fields
    values = {
        **mapping(fields.get("metadata")),
        **mapping(fields.get("fields")),
        **fields,
    }
    for name in ("id", "external_id"):
        if fields.get(name) is not None:
            values["id"] = fields[name]
            break
    return {**values, **by_question, **conversion.captions(list_or_none(texts))}


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
