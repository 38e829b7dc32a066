"""Data frames and series of other libraries, recognised by their methods: none of these libraries is imported."""

from __future__ import annotations

from typing import Any, cast

from harness.contracts import Parameters
from harness.errors import InputError
from harness.files.captions import quote_list


def frame_records(value: object) -> list[Parameters] | None:
    """Return the rows of a data frame of pandas or polars as mappings; None for anything else."""
    library = type(value).__module__.partition(".")[0]
    if type(value).__name__ != "DataFrame" or library not in ("pandas", "polars"):
        return None
    frame = cast(Any, value)
    return frame.to_dicts() if library == "polars" else frame.to_dict("records")


def series_labels(value: object) -> list[object] | None:
    """Return the labels of a series of pandas; None for anything else."""
    if type(value).__name__ != "Series" or type(value).__module__.partition(".")[0] != "pandas":
        return None
    return cast(Any, value).index.tolist()


def align_series(candidates: object, references: object) -> object:
    """Return the references in the order of the candidates where both are series with the same labels; else as they are.

    Raises
    ------
    InputError
        Both are series whose labels differ, or repeat in another order.
    """
    labels, others = series_labels(candidates), series_labels(references)
    if labels is None or others is None or labels == others:
        return references
    if len(set(labels)) == len(labels) and len(set(others)) == len(others) and set(labels) == set(others):
        return cast(Any, references).reindex(labels)
    raise InputError(
        f"the labels of candidates and references differ: {quote_list(labels)} and {quote_list(others)}; expected the same labels "
        "(candidates.tolist() and references.tolist() are paired by position)"
    )
