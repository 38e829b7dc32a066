"""Form of the records of Argilla, versions 1 and 2.

Layout: https://docs.argilla.io/latest/how_to_guides/import_export.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    texts = choose_field(found, row, conversion)
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
        **conversion.captions(list_or_none(texts)),
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
