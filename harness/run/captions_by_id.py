"""Captions, and prompts beside them, of files by id, read without a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from harness.contracts import Reading
from harness.errors import InputError
from harness.files.columns import PROMPT_COLUMNS, id_columns
from harness.files.fields import get_field, has_field
from harness.registry import current
from harness.run.file_components import accept_faults, candidate_adapter, create_reader
from harness.run.file_options import USUAL_OPTIONS, FileOptions
from harness.run.readings import collect_readings


class HoldsCaptions(Protocol):
    """An adapter whose captions can be read without a task."""

    def captions_by_id(self) -> dict[str, tuple[str, ...]]:
        """Return the captions by id."""
        ...


def read_answers(
    file: str, options: FileOptions = USUAL_OPTIONS
) -> dict[str, tuple[str, ...]]:
    """Return the captions of a file of candidates by id, empty ones too; raise
    :class:`InputError` for a file that cannot be read.
    """
    system = options.systems[0] if options.systems else ""
    params = {
        "path": file,
        **accept_faults(["empty"]),
        **options.of_candidates(system, options.column),
    }
    adapter = current().create("adapters", candidate_adapter(), params)
    return cast(HoldsCaptions, adapter).captions_by_id()


def read_described(
    files: Sequence[str], options: FileOptions = USUAL_OPTIONS
) -> tuple[dict[str, tuple[str, ...]], list[Reading]]:
    """Return the captions by id of files of references, or of a file of candidates
    alone, and how they are read in each role.

    A role that takes the same captions as the first one is left out.

    Raises :class:`InputError` for files that cannot be read in either role.
    """
    caption_maps: list[dict[str, tuple[str, ...]]] = []
    readings: list[Reading] = []
    errors: list[InputError] = []
    try:
        reader = create_reader(files, ["empty"], options)
        examples = [example for example in reader if example.references]
        caption_maps.append({example.id: example.references for example in examples})
        readings += collect_readings([reader])
    except InputError as error:
        errors.append(error)

    # Several files are references alone: each has some of all examples.
    if len(files) == 1:
        params = {
            "path": files[0],
            **accept_faults(["empty"]),
            **options.of_candidates(),
        }
        try:
            adapter = current().create("adapters", candidate_adapter(), params)
            caption_maps.append(cast(HoldsCaptions, adapter).captions_by_id())
            if len(caption_maps) == 1 or caption_maps[1] != caption_maps[0]:
                readings += collect_readings([adapter])
        except InputError as error:
            errors.append(error)

    if not caption_maps:
        raise errors[0]
    return caption_maps[0], readings


def read_prompts(file: str, options: FileOptions = USUAL_OPTIONS) -> dict[str, str]:
    """Return the texts of the prompts by id, of a file whose records have them beside
    the answers; empty for any other file.

    Records that are matched by position (``options.id`` None) have their numbers as
    ids, as :func:`read_answers` gives them.
    """
    from harness.files.forms import existing_captions
    from harness.registry.file_forms import read_form

    prompts: dict[str, str] = {}
    rows = read_form(
        existing_captions(file, "file of answers"),
        "candidates",
        [name for name in (options.id, options.column) if name],
    ).rows
    for number, row in enumerate(rows):
        prompt = _prompt_of(row.fields)
        if prompt is None:
            return prompts

        if options.id is None:
            name = str(number)
        else:
            column = options.id or next(iter(id_columns(row.fields)), "")
            if not has_field(row.fields, column):
                return prompts
            name = str(get_field(row.fields, column))

        if prompts.setdefault(name, prompt) != prompt:
            raise InputError(
                f"the id '{name}' has different prompts: "
                f"{prompts[name]!r:.60} and {prompt!r:.60}",
                row.where,
            )
    return prompts


def _prompt_of(fields: Mapping[str, object]) -> str | None:
    """Return the text of the first column of prompts that a record has."""
    for name in PROMPT_COLUMNS:
        value = fields.get(name)
        if isinstance(value, str):
            return str(value)
    return None
