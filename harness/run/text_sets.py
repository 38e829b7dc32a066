"""Caption sets of lists, mappings, rows or files of texts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from harness.contracts import CaptionSet, Reading
from harness.errors import InputError, counted
from harness.files.captions import by_text_id, matched_ids, texts_of, texts_per_example
from harness.files.rows import group_by_id, match_rows, rows_of, texts_of_rows
from harness.files.table_types import order_of_labels
from harness.run.advice_spelling import KEYWORD_SPELLING, respell
from harness.run.file_options import USUAL_OPTIONS, FileOptions
from harness.run.output_notes import clean_sets


def caption_sets(candidates: object, references: object) -> list[CaptionSet]:
    """Return lists of texts, lists of lists, or rows, as caption sets; raise
    :class:`InputError` for a mistake.

    The ids are ``0, 1, ...``. Rows (mappings, a data frame) have captions by the
    columns of their role; rows on both sides with columns of ids that agree are matched
    by these, and series and data frames with labels by the labels.
    """
    candidate_rows = rows_of(candidates)
    reference_rows = rows_of(references)
    labelled = candidates, references
    if candidate_rows is not None:
        candidates = texts_of_rows(candidate_rows, "candidates")
    if reference_rows is not None:
        references = texts_of_rows(reference_rows, "references")

    # Rows with ids on both sides are matched by them, whatever their order; series and
    # frames with labels by the labels.
    ids = None
    if candidate_rows and reference_rows:
        ids = match_rows(candidate_rows, reference_rows)
    if ids is not None and ids[0] != ids[1]:
        return _sets_of_mappings(
            group_by_id(ids[0], cast("list[object]", candidates)),
            group_by_id(ids[1], cast("list[object]", references)),
            allow_missing=False,
            allow_unknown=False,
        )
    order = order_of_labels(*labelled) if ids is None else None
    if order is not None:
        listed = list(cast("Sequence[object]", references))
        references = [listed[place] for place in order]

    hyps = texts_per_example(candidates, "candidates")
    refs = texts_per_example(references, "references")
    if len(hyps) != len(refs):
        hint = ""
        listed = list(cast("Sequence[object]", references))
        if len(hyps) == 1 < len(refs) and all(isinstance(x, str) for x in listed):
            hint = "; of the references of one example, pass [references]"
        # the form of some toolkits: a list for each reference, not for each example
        elif refs and all(len(texts) == len(hyps) for texts in refs):
            hint = (
                "; of lists with one reference of every example each, "
                "pass list(zip(*references))"
            )
        raise InputError(
            f"{counted(len(hyps), 'example', 'has/have')} candidates but {len(refs)} "
            f"have references{hint}"
        )
    if not hyps:
        raise InputError("there are no examples")
    return [
        CaptionSet(str(index), *texts) for index, texts in enumerate(zip(hyps, refs))
    ]


def _sets_of_mappings(
    candidates: Mapping[str, object],
    references: Mapping[str, object],
    *,
    allow_missing: bool,
    allow_unknown: bool,
) -> list[CaptionSet]:
    """Return the caption sets of the ids of two mappings."""
    keys = matched_ids(
        candidates, references, allow_missing=allow_missing, allow_unknown=allow_unknown
    )
    if not keys:
        raise InputError("there are no examples")
    return [
        CaptionSet(
            key,
            texts_of(candidates[key], f"candidates: '{key}'"),
            texts_of(references[key], f"references: '{key}'"),
        )
        for key in keys
    ]


def are_paths(value: object) -> bool:
    """Return True for a list of names of existing files."""
    items = cast("list[object]", value) if isinstance(value, (list, tuple)) else []
    return bool(items) and all(
        isinstance(item, (str, Path)) and os.path.isfile(item) for item in items
    )


def _has_ids_as_keys(value: object) -> bool:
    """Return True for a mapping id -> texts, unlike one of columns."""
    return (
        isinstance(value, Mapping)
        and rows_of(cast("Mapping[object, object]", value)) is None
    )


def sets_of(
    candidates: object,
    references: object,
    *,
    allow_missing: bool,
    allow_unknown: bool = False,
    allow_empty: bool = False,
    options: FileOptions = USUAL_OPTIONS,
    readings: list[Reading] | None = None,
) -> list[CaptionSet]:
    """Return the caption sets of two paths, two mappings id -> texts, or two lists;
    ``readings`` is filled with how files are read.

    Raises :class:`InputError` for a mistake.
    """
    is_path = isinstance(references, (str, Path))
    try:
        if isinstance(candidates, (str, Path)) and (is_path or are_paths(references)):
            from harness.run.file_pair import read_file_pair

            faults = {
                "missing": allow_missing,
                "unknown": allow_unknown,
                "empty": allow_empty,
            }
            allow = [name for name, accepted in faults.items() if accepted]
            return read_file_pair(
                candidates,
                cast("str | list[str]", references),
                allow=allow,
                options=options,
                readings=readings,
            )

        by_id = _has_ids_as_keys(candidates), _has_ids_as_keys(references)
        if all(by_id):
            hyps = by_text_id(cast("Mapping[object, object]", candidates), "candidates")
            refs = by_text_id(cast("Mapping[object, object]", references), "references")
            sets = _sets_of_mappings(
                hyps, refs, allow_missing=allow_missing, allow_unknown=allow_unknown
            )
        elif any(by_id) or is_path or isinstance(candidates, (str, Path)):
            raise InputError(
                "candidates and references are both paths, both mappings or both lists"
            )
        else:
            sets = caption_sets(candidates, references)

        if not allow_empty:
            _refuse_empty(sets)
        return clean_sets(sets, options.clean, allow_empty=allow_empty)
    except InputError as error:
        raise respell(error, KEYWORD_SPELLING) from error


def _refuse_empty(sets: Sequence[CaptionSet]) -> None:
    """Raise :class:`InputError` for the first blank text,
    as the readers of files do.
    """
    for item in sets:
        for noun, name, texts in (
            ("caption", "candidates", item.candidates),
            ("reference", "references", item.references),
        ):
            for text in texts:
                if not text.strip():
                    raise InputError(
                        f"empty {noun} {text!r} (allow_empty: true keeps it)",
                        f"{name}: '{item.id}'",
                    )
