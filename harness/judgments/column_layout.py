"""Judgment files with systems as columns, brought into the usual layout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from harness.errors import InputError
from harness.files.records import Record, kind
from harness.files.strict_json import decode_json
from harness.files.yaml_source import YamlValue
from harness.judgments.fields import column, lookup
from harness.judgments.judgment_models import JudgmentColumns


def gather_columns(record: Record, columns: JudgmentColumns) -> Record:
    """Return a record with the texts of ``reference_columns`` as ``references`` and
    those of ``caption_columns`` as ``candidates``.
    """
    names = [*columns.reference_columns, *columns.caption_columns]
    if not names:
        return record

    values = {
        name: lookup(record.fields, str(column(name, (), record, "text")))
        for name in names
    }
    fields: dict[str, YamlValue] = {
        name: value for name, value in record.fields.items() if name not in values
    }
    if columns.reference_columns:
        # A cell without a text is no reference.
        texts = [values[name] for name in columns.reference_columns]
        fields["references"] = [text for text in texts if text]
    if columns.caption_columns:
        name = str(columns.score or "score")
        scores = fields.pop(name, None)
        # Tables have an object of scores as its text.
        if isinstance(scores, str):
            scores = decode_json(scores.encode(), record.where, complete=True)
        if not isinstance(scores, Mapping):
            raise InputError(
                f"'{name}' is {kind(scores)}; expected an object with the score of "
                "each system",
                record.where,
            )
        of_system = cast("Mapping[str, YamlValue]", scores)
        fields["candidates"] = {
            system: {"caption": values[system], name: of_system.get(system)}
            for system in columns.caption_columns
        }
    return Record(record.where, fields)
