"""Data frames and series of other libraries, recognised by their names and methods:
none of these libraries is imported.
"""

from __future__ import annotations

from typing import Any, cast

from harness.contracts import Parameters
from harness.errors import InputError
from harness.files.captions import quote_list
from harness.files.yaml_source import YamlValue


def frame_records(value: object) -> list[Parameters] | None:
    """Return the rows of a data frame of pandas or polars as mappings; None for
    anything else.

    The labels of the rows of pandas are a column where they have a name, as after
    ``set_index``.
    """
    library = type(value).__module__.partition(".")[0]
    if type(value).__name__ != "DataFrame" or library not in ("pandas", "polars"):
        return None
    frame = cast(Any, value)
    if library == "polars":
        return frame.to_dicts()

    # Labels without a name are row numbers, and those of a name that a column has would
    # be refused by pandas.
    names = frame.index.names
    if all(name is not None and name not in frame.columns for name in names):
        frame = frame.reset_index()
    return frame.to_dict("records")


def plain_value(value: Any) -> YamlValue:
    """Return a cell without the types of other libraries: an array as a list, NaN and
    other marks of an absent cell as None.

    >>> plain_value(float("nan")) is None
    True
    """
    if isinstance(value, float) and value != value:
        return None
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return cast(Any, value).tolist() if type(value).__module__ == "numpy" else value


def row_labels(value: object) -> list[object] | None:
    """Return the labels of the rows of a series or a data frame of pandas; None for
    anything else.
    """
    library = type(value).__module__.partition(".")[0]
    if library != "pandas" or type(value).__name__ not in ("Series", "DataFrame"):
        return None
    return cast(Any, value).index.tolist()


def order_of_labels(candidates: object, references: object) -> list[int] | None:
    """Return the place of the references of each candidate where both sides have labels
    in another order; else None.

    Raises
    ------
    InputError
        Both sides have labels, and these differ, or repeat in another order.
    """
    labels = row_labels(candidates)
    others = row_labels(references)
    if labels is None or others is None or labels == others:
        return None

    # Labels that repeat in another order have no one place.
    are_distinct = len(set(labels)) == len(labels) and len(set(others)) == len(others)
    if not are_distinct or set(labels) != set(others):
        raise InputError(
            "the labels of candidates and references differ: "
            f"{quote_list(labels)} and {quote_list(others)}; expected the same labels "
            "(candidates.tolist() and references.tolist() are paired by position)"
        )
    position = {label: k for k, label in enumerate(others)}
    return [position[label] for label in labels]
