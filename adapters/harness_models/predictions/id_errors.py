"""Errors of files of predictions whose ids are not those of the data set."""

from __future__ import annotations

from collections.abc import Sequence

from harness.contracts import TaskView
from harness.errors import InputError, counted
from harness.files import captions
from harness.files.running_numbers import is_running
from harness_models.predictions.table import Table


def no_ids_error(
    table: Table,
    other: tuple[str, int] | None,
    names: Sequence[str],
    unknown: Sequence[str],
) -> InputError:
    """Return the error for a file none of whose ids is in the data set.

    Parameters
    ----------
    table : Table
        Captions of the file.
    other : tuple of (str, int) or None
        The column that has most ids of the data set, and their number.
    names : sequence of str
        Ids of the data set.
    unknown : sequence of str
        Ids of the file.
    """
    if other:
        advice = f"'{other[0]}' has {other[1]:,} of them: id: {other[0]}"
    else:
        advice = "choose the column with id: ..."
        if len(unknown) == len(set(names)):
            advice += (
                "; id: null matches records and examples by position, "
                "if their order is the same"
            )

    return InputError(
        f"its {counted(len(unknown), 'id', 'is/are')} not in the data set: "
        f"it has {captions.quote_list(unknown)}, "
        f"the data set {captions.quote_list(names)} ({advice})",
        str(table.path),
    )


def unknown_error(table: Table, unknown: Sequence[str]) -> InputError:
    """Return the error for predictions of examples that the data set does not have; for
    ids that may count the records of the file it has both readings.
    """
    advice = "allow_unknown: true ignores them"
    if is_running(list(table.captions)) and all(
        len(texts) == 1 for texts in table.captions.values()
    ):
        advice += (
            f", if '{table.id}' numbers the examples; if it counts the records of the "
            "file, choose a column that both files share: id: 'COLUMN' with columns: "
            "{id: 'COLUMN'} of the references"
        )
    return InputError(
        f"predictions for {counted(len(unknown), 'example')} that the data set does "
        f"not contain: {captions.quote_list(unknown)} ({advice})",
        str(table.path),
    )


def missing_error(table: Table, task: TaskView, missing: Sequence[str]) -> InputError:
    """Return the error for examples without predictions;
    it names a split that would leave none.
    """
    null = sum(name in table.null for name in missing)
    detail = f", {null} of them null" if null else ""
    message = (
        f"{len(missing)} of {counted(len(task.examples), 'example', 'has/have')} "
        f"no predictions{detail}: {captions.quote_list(missing)}"
    )

    covered, absent = _splits(task, set(missing))
    ids = [*table.captions, *table.null]
    names = [example.id for example in task.examples]
    alike = captions.count_alike(ids, names)
    numbered = names == [str(k) for k in range(len(names))]

    if covered and absent and not covered & absent:
        message += (
            f"; the file has the predictions of {_named_splits(covered)}, "
            f"not of {_named_splits(absent)} (split: {min(covered)})"
        )
    elif numbered and len(ids) == len(names):
        message += (
            "; the examples are numbered from 0 (id: "
            "null matches records and examples by position)"
        )
    elif alike > len(set(ids) & set(names)):
        message += (
            f"; by file name or number {counted(alike, 'id')} would match, "
            f"but not all: {captions.quote_list(ids)}"
        )
    elif len(missing) < len(names):
        message += " (allow_missing: true scores the others)"
    return InputError(message, str(table.path))


def _splits(task: TaskView, missing: set[str]) -> tuple[set[str], set[str]]:
    """Return the splits of the examples with predictions, and of those without; empty
    where examples have no splits.
    """
    splits: tuple[set[str], set[str]] = (set(), set())
    for example in task.examples:
        split = example.meta.get("split")
        if isinstance(split, str) and split:
            splits[example.id in missing].add(split)
    return splits


def _named_splits(names: set[str]) -> str:
    return f"the split{'s' if len(names) > 1 else ''} {', '.join(sorted(names))}"
