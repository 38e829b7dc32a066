"""Formats of files of predictions, and their detection by content."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from harness.errors import InputError
from harness.files import forms
from harness.files.columns import FILE_ID_COLUMNS, find_name
from harness.files.lm_eval_samples import RESPONSES
from harness.files.records import Record, list_items, records
from harness.files.strict_json import load_json
from harness.files.user_files import is_parquet
from harness.registry.file_forms import read_form
from harness_models.predictions.table import Choice

FORMATS = tuple(
    dict.fromkeys(("auto", "coco", "jsonl", "parquet", "vdtk", *forms.FORMS))
)
_log = logging.getLogger(__name__)


def note_other_responses(path: Path, rows: Iterable[Record]) -> Iterator[Record]:
    """Yield the documents of lm-eval; note at the end how many responses they have
    where not all are scored.
    """
    scored: list[int] = []
    responses: list[int] = []

    for row in rows:
        if RESPONSES in row.fields:
            texts = row.fields["candidates"]
            if isinstance(texts, Mapping):
                texts = next(iter(texts.values()))
            scored.append(len(texts))
            responses.append(len(row.fields[RESPONSES]))
        yield row

    if responses:
        _log.warning(
            "note: %s: %s responses per document in resps; filtered_resps has %s, "
            "and these are scored (all of them: --column resps, "
            "or candidates: resps in a spec)",
            path,
            _range_text(responses),
            _range_text(scored),
        )


def _range_text(counts: Sequence[int]) -> str:
    """Return the smallest and the largest of some numbers, or the only one."""
    if len(set(counts)) == 1:
        return f"{min(counts)}"
    return f"{min(counts)} to {max(counts)}"


def detect(path: Path) -> str:
    """Return the format of a file, detected from its content.

    - ``parquet``: a Parquet file;
    - ``coco``: a list of objects with ``image_id`` and ``caption``, or an object with
      the list ``annotations``;
    - ``vdtk``: a list of objects with ``candidates`` and without ids;
    - ``mapping``: an object of ids and captions;
    - ``jsonl``: any other list of objects, and JSON Lines;
    - the names of :data:`harness.files.forms.FORMS`.

    Raises :class:`InputError` for an empty file.
    """
    return read_rows(path, "auto", Choice())[0]


def read_rows(path: Path, form: str, choice: Choice) -> tuple[str, forms.Form]:
    """Return the name of the format and the records of a file."""
    if form == "parquet" and not is_parquet(path):
        raise InputError("not a Parquet file", str(path))
    if form in ("coco", "jsonl", "vdtk", "parquet"):
        rows = _coco_records(path) if form == "coco" else records(path)
        return form, forms.Form(form, rows)

    # Other forms are detected by their first records.
    names = [name for name in (choice.id, choice.candidates) if name]
    expected = None if form == "auto" else form
    first, form_rows = read_form(path, "candidates", names, expected).head()
    if form_rows.name not in ("json", "jsonl"):
        return form_rows.name, form_rows

    fields = first.fields if first is not None else {}
    if form_rows.key == "annotations" or (
        form_rows.name == "json" and "image_id" in fields and "caption" in fields
    ):
        return "coco", form_rows
    if "candidates" in fields and find_name(FILE_ID_COLUMNS, fields) is None:
        return "vdtk", form_rows
    return "jsonl", form_rows


def _coco_records(path: Path) -> Iterable[Record]:
    value = load_json(path)
    if isinstance(value, dict) and "annotations" in value:
        return list_items(value["annotations"], f"{path}: annotations")
    return list_items(value, str(path))
