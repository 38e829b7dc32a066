"""Caption sets and specs from files of candidates, which have labels, and a file of
references, with the options of both files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from harness.contracts import (
    Adapter,
    CaptionSet,
    Decoding,
    ListsIds,
    Reading,
    TaskView,
)
from harness.files.columns import id_columns
from harness.files.id_choice import choose_example_column
from harness.files.user_path import user_path
from harness.registry import current
from harness.run.file_components import (
    accept_faults,
    candidate_adapter,
    create_reader,
    list_paths,
    system_params,
)
from harness.run.file_options import USUAL_OPTIONS, FileOptions
from harness.run.generate import generate, prepare
from harness.run.metric_plan import ModelPlan
from harness.run.output_notes import log_notes, record_remarks
from harness.run.readings import collect_readings, note_readings


def read_file_pair(
    candidates: str | Path,
    references: str | Path | Sequence[str | Path],
    *,
    allow: Sequence[str] = (),
    options: FileOptions = USUAL_OPTIONS,
    readings: list[Reading] | None = None,
) -> list[CaptionSet]:
    """Return the caption sets of two files (docs/data-formats.md lists the formats);
    ``allow`` as for :func:`score_spec`, ``readings`` is filled with how they are read.

    Raises :class:`~harness.errors.InputError` for files that cannot be read and ids
    that do not match.
    """
    options = resolve_columns([str(candidates)], references, options)
    reader = create_reader(references, allow, options)
    task = TaskView(list(reader), Decoding())

    # The adapter joins the systems of a file into one model.
    systems = {"system": list(options.systems)} if options.systems else {}
    params = {
        "path": str(candidates),
        **accept_faults(allow),
        **options.of_candidates(column=options.column),
        **systems,
    }
    adapter = cast(Adapter, current().create("adapters", candidate_adapter(), params))
    model = ModelPlan("candidates", candidate_adapter(), params, adapter)

    # Ids that do not match are reported before anything is said about the captions.
    prepare(model, task)
    log_notes(remark.text for remark in record_remarks(adapter))
    pair_readings = collect_readings([reader, adapter])
    note_readings(pair_readings)
    if readings is not None:
        readings += pair_readings
    return generate(model, task, seed=0, prepared=True).caption_sets()


def resolve_columns(
    files: Sequence[str],
    references: str | Path | Sequence[str | Path],
    options: FileOptions,
) -> FileOptions:
    """Return the options with the column of the ids of the references where files of
    candidates tell which one it is.

    Files of records without ids are matched by position where all sides are the same
    file, or where the user says so of the candidates.

    Raises :class:`~harness.errors.InputError` for files that cannot be read.
    """
    if options.reference_id != "":
        return options
    reader = create_reader(references, ["empty"], options)
    columns = reader.id_columns() if isinstance(reader, ListsIds) else None
    if columns is None:
        return options

    # Without a column of a usual name, any column whose values differ may be the ids.
    has_usual_column = bool(id_columns(dict.fromkeys(columns, "id")))
    if not has_usual_column:
        paths = {str(user_path(path).resolve()) for path in list_paths(references)}
        candidate_paths = {str(user_path(file).resolve()) for file in files}
        is_one_file = len(paths) == 1 and candidate_paths <= paths
        if options.id is None or (is_one_file and options.id == ""):
            return replace(options, id=None, reference_id=None)
        columns = {
            name: ids for name, ids in columns.items() if len(set(ids)) == len(ids)
        }

    # All systems of a file have the ids of its first one.
    name = options.names[0] if options.names else ""
    ids: list[Mapping[str, Sequence[str]]] = []
    for file in files:
        adapter = current().create(
            "adapters",
            candidate_adapter(),
            {"path": file, **accept_faults(["empty"]), **system_params(options, name)},
        )
        if isinstance(adapter, ListsIds):
            ids.append(adapter.id_columns() or {})
    column = choose_example_column(columns, ids, usual=has_usual_column)
    return options if column is None else replace(options, reference_id=column)
