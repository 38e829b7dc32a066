"""Parts of a task by a field of its metadata, such as the kind of foil,
for numbers of each part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np

from harness.contracts import MetricSpec
from harness.errors import HarnessError, InputError, did_you_mean

MOST_PARTS = 100
"""Largest number of parts."""


class ByParts:
    """Mixin of metrics with numbers of each part of a task
    (:class:`harness.contracts.ReadsMeta`).
    """

    spec: MetricSpec
    by: str | None = None
    """Metadata field whose values are the parts; None: no parts."""
    _values: tuple[str, ...] | None = None

    def of_meta(self, meta: Iterable[Mapping[str, Any]]) -> Self:
        """Return the metric for the parts of a run that ``by`` names;
        without ``by`` the metric itself.

        Raises :class:`InputError` as :func:`values_of`.
        """
        if self.by is None:
            return self
        bound = copy(self)
        bound._values = values_of(self.spec.name, meta, self.by)
        return bound

    def column_sizes(self) -> dict[str, int]:
        """Return the number of examples of each column of a part."""
        return sizes(self.spec.column_names, self._values, self.by)


def check_key(metric: str, by: object) -> str | None:
    """Return the name of a metadata field, or None;
    raise :class:`HarnessError` for anything else.
    """
    if by is None or (isinstance(by, str) and by):
        return by
    raise HarnessError(
        f"{metric}: by is {by!r:.60}; expected the name of a metadata field, "
        "such as kind",
        parameter="by",
        value=by,
    )


def values_of(
    metric: str, meta: Iterable[Mapping[str, Any]], by: str
) -> tuple[str, ...]:
    """Return the value of a field for each example.

    Parameters
    ----------
    metric : str
        Name of the metric in messages.
    meta : iterable of mapping
        Metadata of the examples, in the order of their token scores.
    by : str
        Name of the field.

    Raises
    ------
    InputError
        For an example without the field, a value that is no text, number or truth
        value, and more than :data:`MOST_PARTS` values.
    """
    values: list[str] = []
    for number, fields in enumerate(meta):
        value = fields.get(by)
        if value is None:
            names = sorted(map(str, fields))
            listed = "; it has no metadata"
            if names:
                listed = f"; its fields are {', '.join(names[:5])}"
            raise InputError(
                f"{metric}: example {number} has no '{by}' in its "
                f"metadata{did_you_mean(by, names) or listed}",
                parameter="by",
                value=by,
            )
        if not isinstance(value, (str, int, float)):
            raise InputError(
                f"{metric}: the '{by}' of example {number} is {value!r:.40}; "
                "expected a text",
                parameter="by",
                value=by,
            )
        values.append(str(value))

    count = len(set(values))
    if count > MOST_PARTS:
        raise InputError(
            f"{metric}: '{by}' has {count} values; expected at most {MOST_PARTS} parts",
            parameter="by",
            value=by,
        )
    return tuple(values)


def units_of(
    metric: str, values: Sequence[str] | None, by: str, unit: int
) -> dict[str, np.ndarray]:
    """Return the independent units of each part, by its value in the order of first
    appearance: indices (u,) of U units.

    Parameters
    ----------
    metric : str
        Name of the metric in messages.
    values : sequence of str or None
        Value of each example, U * unit in number; None where no run has given them.
    by : str
        Name of the field.
    unit : int
        Number of consecutive examples of a unit; they have one value.

    Raises
    ------
    HarnessError
        Without values: the metric does not run on a data set.
    InputError
        For a unit whose examples differ in their value.

    Examples
    --------
    >>> values = ["a", "a", "b", "b", "a", "a"]
    >>> units = units_of("choice", values, "kind", 2)
    >>> {value: rows.tolist() for value, rows in units.items()}
    {'a': [0, 2], 'b': [1]}
    """
    if values is None:
        raise HarnessError(
            f"{metric}: by: {by} reads the metadata of examples; it works in runs, "
            "not on token scores alone"
        )

    units: dict[str, list[int]] = {}
    for number in range(len(values) // unit):
        members = values[number * unit : (number + 1) * unit]
        if len(set(members)) > 1:
            raise InputError(
                f"{metric}: examples {number * unit} to {(number + 1) * unit - 1} "
                f"belong together and have '{by}' "
                f"{' and '.join(dict.fromkeys(members))}; expected one value"
            )
        units.setdefault(members[0], []).append(number)
    return {value: np.array(rows) for value, rows in units.items()}


def sizes(
    columns: Iterable[str], values: Sequence[str] | None, by: str | None
) -> dict[str, int]:
    """Return the number of examples behind each column of each part;
    none without parts.

    >>> sizes(["accuracy"], ["a", "b", "a"], "kind")
    {'accuracy, kind=a': 2, 'accuracy, kind=b': 1}
    """
    if by is None or values is None:
        return {}
    names = tuple(columns)
    return {
        column(name, by, value): count
        for value, count in Counter(values).items()
        for name in names
    }


def column(name: str, by: str, subset: str) -> str:
    """Return the name of a column of one part.

    >>> column("accuracy", "kind", "swap_att")
    'accuracy, kind=swap_att'
    """
    return f"{name}, {by}={subset}"
