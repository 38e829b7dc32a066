"""Form of the outputs of pipelines of transformers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from harness.contracts import Values
from harness.errors import InputError
from harness.files.columns import PIPELINE_COLUMNS
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.messages import is_conversation, last_answer
from harness.files.forms.record_forms import Conversion, convert_records, single
from harness.files.forms.sample import HEAD, Sample
from harness.files.records import Record, kind
from harness.files.yaml_source import YamlValue


def _pipeline_column(fields: YamlValue) -> str:
    """Return the column of the answer of a record; empty for any other value."""
    if not isinstance(fields, dict):
        return ""
    for name in PIPELINE_COLUMNS:
        if isinstance(fields.get(name), str) or is_conversation(fields.get(name)):
            return name
    return ""


def _is_pipeline(sample: Sample) -> bool:
    # A list of answers per input.
    document = sample.document
    if isinstance(document, list) and document:
        head = document[:HEAD]
        if all(isinstance(item, list) and item for item in head):
            return all(_pipeline_column(fields) for fields in chain(*head))

    # One object per input: a record with an id and a text is a record of the usual
    # columns.
    for fields in sample.records:
        name = _pipeline_column(fields)
        if not name:
            return False
        if not isinstance(fields[name], list) and sample.id_columns(fields):
            return False
    return bool(sample.records)


def _pipeline_text(fields: YamlValue, where: str) -> str | None:
    """Return the text of an answer: a text, or the last turn of a conversation."""
    name = _pipeline_column(fields)
    if not name:
        raise InputError(
            f"found {kind(fields)}; expected an object with 'generated_text'", where
        )
    if isinstance(fields[name], str):
        return fields[name]
    return last_answer(fields[name], where)


def _convert_answer(row: Record, conversion: Conversion) -> Values:
    return {**row.fields, **conversion.captions(_pipeline_text(row.fields, row.where))}


def _read_pipeline(sample: Sample) -> Form:
    document = sample.document
    if not (isinstance(document, list) and document and isinstance(document[0], list)):
        return convert_records(sample, "pipeline", _convert_answer)

    def rows() -> Iterator[Record]:
        for number, answers in enumerate(document, 1):
            where = f"{sample.location}: record {number}"
            if not isinstance(answers, list):
                raise InputError(
                    f"found {kind(answers)}; "
                    "expected a list of the answers to one input",
                    where,
                )
            texts = [_pipeline_text(answer, where) for answer in answers]
            present = [text for text in texts if text is not None]
            yield Record(where, {sample.role: single(present)})

    return Form("pipeline", rows(), numbered=True)


PIPELINE = FormKind(
    "pipeline",
    "pipelines of transformers: one list of answers, or one answer, per input",
    _is_pipeline,
    _read_pipeline,
    [
        FormExample(
            '[[{"generated_text": "a dog"}], [{"generated_text": "a cat"}]]',
            "by position",
        ),
        FormExample.of_json(
            [
                {"generated_text": "a dog"},
                {
                    "generated_text": [
                        {"role": "user", "content": "describe"},
                        {"role": "assistant", "content": "a cat"},
                    ]
                },
            ],
            "by position",
            "pipelines, one answer per input",
        ),
        FormExample(
            '[{"generated_text": "a dog"}]\n[{"generated_text": "a cat"}]',
            "by position",
            "pipelines, one list per line",
        ),
    ],
    reading="`generated_text`, `summary_text` or `translation_text`; "
    "of a conversation its last turn",
)
