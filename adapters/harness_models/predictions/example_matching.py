"""Examples of the records of a file of predictions: by ids, by position, by the names
of files.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence

from harness.contracts import TaskView
from harness.errors import InputError, counted
from harness.files import captions
from harness.files.columns import MEDIA_COLUMNS, find_name
from harness_models.predictions.table import Table

_LINE_START = re.compile(r"[:,;|]?\s|[,;|]|#\d+\s|(?<=\w):(?=\w)")
"""End of an id at the beginning of a line."""

_log = logging.getLogger(__name__)


def match_examples(
    table: Table, task: TaskView, names: Sequence[str], *, by_position: bool
) -> None:
    """Give the captions of a file the ids of the examples that they belong to; those of
    no example keep theirs.

    The ids of a file that has several columns of them are those of the column that
    agrees with the examples.

    Parameters
    ----------
    table : Table
        Captions of the file.
    task : TaskView
        The examples.
    names : sequence of str
        Their ids.
    by_position : bool
        True where the user says that records are matched by position, which is then no
        advice.

    Raises
    ------
    InputError
        For two possible readings, and for records without ids that are not one for each
        example.
    """
    if table.undecided:
        table.choose(names, _fields_of_examples(task, table.possible_ids))
    _check_running_numbers(table, task, names)

    if table.numbered:
        _match_by_position(table, task, is_chosen=by_position)
        return
    _match_by_file_name(table, names)
    ids = set(names)
    if ids.isdisjoint(table.captions) and ids.isdisjoint(table.null):
        _match_by_media(table, task)


def _fields_of_examples(task: TaskView, columns: Iterable[str]) -> dict[str, list[str]]:
    """Return the fields of the examples that have names of some columns -> value of
    each example as a text.
    """
    out: dict[str, list[str]] = {name: [] for name in columns}
    for example in task.examples:
        for name, values in out.items():
            values.append(str(example.meta[name]) if name in example.meta else "")
    return {name: values for name, values in out.items() if all(values)}


def _check_running_numbers(table: Table, task: TaskView, names: Sequence[str]) -> None:
    """Raise :class:`InputError` for records with running numbers that a column of the
    examples pairs in another order.
    """
    records = table.numbered_records
    if records is None or not records.columns:
        return
    columns = _fields_of_examples(task, records.columns)
    media: dict[str, list[str]] = {}
    media_column = find_name(MEDIA_COLUMNS, records.columns)
    if media_column and media_column not in columns:
        files = [example.media or "" for example in task.examples]
        media = {media_column: files} if all(files) else {}

    pairing = records.find_other_pairing(table.id, names, columns | media)
    if pairing is not None:
        other = pairing.other
        # the references may have another name for their column of media
        otherwise = ", or their name of that column" if other in media else ""
        raise InputError(
            f"{pairing.describe()}; choose id: '{table.id}', or id: '{other}' with "
            f"columns: {{id: '{other}'}} of the references{otherwise}",
            str(table.path),
            parameter="id",
        )


def _match_by_position(table: Table, task: TaskView, *, is_chosen: bool) -> None:
    """Give the k-th record of a file without ids the id of the k-th example; raise
    :class:`InputError` for other numbers of them.
    """
    number = len(table.captions) + len(table.null)
    ids = [example.id for example in task.examples]
    if number < len(ids) or (number > len(ids) and not task.partial):
        advice = ""
        if is_chosen:
            advice = " (or name the column of ids with id: ...)"
        elif all(len(example.references) == number for example in task.examples):
            advice = (
                f" (each example has {number:,} references: a list of references "
                "has one list per example, not one per annotator)"
            )
        raise InputError(
            f"holds {counted(number, 'record')} without ids for "
            f"{counted(len(ids), 'example')}; records are matched by position, "
            f"so expected one per example{advice}",
            str(table.path),
        )

    if ids == [str(k) for k in range(len(ids))]:  # the data set is numbered too
        return
    _check_lines(table, ids)
    if ids != [str(k) for k in range(1, len(ids) + 1)]:
        _log.warning(
            "note: %s has no ids; its records are matched with the examples by "
            "position",
            table.path,
        )

    table.captions = {
        name: table.captions[str(k)]
        for k, name in enumerate(ids)
        if str(k) in table.captions
    }
    table.null = {name: None for k, name in enumerate(ids) if str(k) in table.null}
    table.numbered = False


def _check_lines(table: Table, ids: Sequence[str]) -> None:
    """Raise :class:`InputError` for lines of text, or lists of two texts, each of which
    begins with an id of the examples.
    """
    example_keys = {key for name in ids for key in (name, *captions.name_keys(name))}
    texts = list(table.captions.values())
    if not texts or table.form not in ("txt", "list"):
        return

    if table.form == "list":
        starts = [item[0] for item in texts if len(item) == 2]
        what = "lists are pairs of an id of the data set and a caption"
        right = "an object of ids and captions"
    else:
        starts = [
            _LINE_START.split(item[0].strip(), maxsplit=1)[0] for item in texts if item
        ]
        what = "lines begin with the ids of the data set"
        right = "captions alone, or each id, a tab and its caption"

    if len(starts) < len(texts) or len(set(starts)) < len(starts):
        return
    if all(
        not example_keys.isdisjoint((name, *captions.name_keys(name)))
        for name in starts
    ):
        raise InputError(
            f"its {what} ({' '.join(texts[0])!r:.60}); expected {right}",
            str(table.path),
        )


def _match_by_file_name(table: Table, names: Sequence[str]) -> None:
    """Give the captions of a file the ids of the data set where these are its file
    names, or theirs; else leave them as they are.
    """
    ids = [*table.captions, *table.null]
    example_ids = set(names)

    matched = sum(key in example_ids for key in ids)
    if matched == len(ids) or matched == len(example_ids):
        return
    matches = captions.match_file_names(ids, names)
    if sum(name in example_ids for name in matches.values()) > matched:
        renamed = (pair for pair in matches.items() if pair[0] != pair[1])
        key, name = next(renamed, ("", ""))
        table.remarks.append(f"its ids are matched by file name: '{key}' is '{name}'")
        table.rename(matches)


def _match_by_media(table: Table, task: TaskView) -> None:
    """Give the captions of a file the ids of the examples whose media have its ids as
    names, if every match is the only one.
    """
    ids = [*table.captions, *table.null]
    names: dict[str, str] = {}
    for example in task.examples:
        if not example.media or example.media in names:
            return

        # Media of several examples cannot tell them apart.
        names[example.media] = example.id

    matches = {
        key: names[media]
        for key, media in captions.match_file_names(ids, names).items()
        if media in names
    }
    if not matches:
        return
    key, name = next(iter(matches.items()))
    table.remarks.append(
        f"its ids are matched by the names of the media: '{key}' is '{name}'"
    )
    table.rename({key: matches.get(key, key) for key in ids})
