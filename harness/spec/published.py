"""Published values beside results: the key ``reference`` of a view, and the files of
papers' tables that it may read.

A file of published values has ``paper`` (``authors``, ``year``) and ``items``: each
with ``id``, ``labels`` (the keys that name a row) and ``rows``. A view refers to an
item as ``FILE#ID``, and its rows are replaced by the numbers when the spec is loaded,
so that a run directory holds them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from pydantic import BaseModel, ConfigDict, Field

from harness.contracts import Values
from harness.errors import InputError, did_you_mean
from harness.files.yaml_source import Key, Located, YamlValue, load

ITEM = "item"
"""Key of a reference to an item of a file."""
REFERENCE_KEYS = (ITEM, "columns", "rows", "source")
"""Keys of such a reference."""
EVERY = "*"
"""A ``label`` that stands for every row of the view."""
_BOUNDS = {"below": "<", "above": ">", "at_least": "≥"}
"""Key of a bound in place of a value -> its sign."""
_KINDS = {"table": "Table", "figure": "Figure", "text": "section"}
"""Kind of an item -> its name in a text."""


class PublishedRow(BaseModel):
    """Published values of one row."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    label: str | None = None
    """Row of the view that is compared with these values; ``*``: every row; None: a row
    of its own, without a difference.
    """
    title: str = ""
    """Name of the row in the publication."""
    task: str | None = None
    """Task of a suite in whose views the row is shown; None: all."""
    values: dict[str, float | str] = {}
    """Column of the view -> number, or a bound as text (``< 0.01``). Other columns are
    not published.
    """


class PublishedTable(BaseModel):
    """Published values per row, with their source."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    source: str = Field(min_length=1)
    """Publication and table, as printed below the view."""
    rows: list[PublishedRow] = Field(min_length=1)


def reference_kind(value: object) -> str:
    """Return ``table`` for a reference with rows, ``columns`` for a mapping of columns
    to numbers.
    """
    has_rows = isinstance(value, PublishedTable)
    if isinstance(value, Mapping):
        keys = set(cast("Mapping[YamlValue, YamlValue]", value))
        has_rows = bool({"rows", ITEM} & keys)
    return "table" if has_rows else "columns"


def resolve_references(tree: Located, folder: Path) -> None:
    """Replace every reference of a view to an item of a file by its source and numbers,
    in place.

    Parameters
    ----------
    tree : Located
        The content of a spec file.
    folder : Path
        Folder of the spec file; a path is looked up there, then in the working
        directory.

    Raises
    ------
    InputError
        For a missing file, item, row or column, with the place of the reference.
    """
    views: YamlValue = _mapping(tree.data).get("views")
    if not isinstance(views, list):
        return
    for index, view in enumerate(cast("list[YamlValue]", views)):
        reference: YamlValue = _mapping(view).get("reference")
        if isinstance(reference, dict) and ITEM in reference:
            key: Key = ("views", index, "reference")
            resolver = _Resolver(tree, key, cast("Values", reference), folder)
            view["reference"] = resolver.table()


class _Resolver:
    """One reference to an item of a file of published values."""

    def __init__(
        self, tree: Located, key: Key, reference: Values, folder: Path
    ) -> None:
        self.tree = tree
        self.key = key
        self.reference = reference
        unknown = sorted(set(reference) - set(REFERENCE_KEYS))
        if unknown:
            hint = did_you_mean(unknown[0], REFERENCE_KEYS)
            raise self.error(
                f"unknown key '{unknown[0]}'{hint}; keys here are item, columns, rows"
            )
        self.paper, self.item = self._read(str(reference[ITEM]), folder)
        self.labels = [str(name) for name in self.item.get("labels", [])]
        self.columns = _mapping(reference.get("columns"))

    def error(self, text: str, *below: str | int) -> InputError:
        """Return an error with the place of the reference, or of a key below it."""
        return InputError(text, self.tree.where((*self.key, *below)))

    def _read(self, address: str, folder: Path) -> tuple[Values, Values]:
        """Return the paper and the item of an address ``FILE#ID``."""
        name, _, item_id = address.partition("#")
        path = next((p for p in (folder / name, Path(name)) if p.is_file()), None)
        if path is None or not item_id:
            raise self.error(
                f"found '{address}'; expected FILE#ID of a file of published values",
                ITEM,
            )

        data = _mapping(load(path, name).data)
        entries: YamlValue = data.get("items")
        entries = cast("list[YamlValue]", entries) if isinstance(entries, list) else []
        items = {str(entry.get("id")): entry for entry in map(_mapping, entries)}
        if item_id not in items:
            raise self.error(
                f"no item '{item_id}' in {name}{did_you_mean(item_id, items)}", ITEM
            )
        return _mapping(data.get("paper")), items[item_id]

    def table(self) -> Values:
        """Return ``source`` and ``rows`` with the numbers."""
        rows = self.reference.get("rows")
        if not isinstance(rows, list) or not rows:
            raise self.error(
                "rows is a list of rows: {at: [LABELS], label: ROW OF THE VIEW}", "rows"
            )
        source = self.reference.get("source")
        if not source:
            source = f"{authors_text(self.paper)}, {item_text(self.item)}"
        numbered = enumerate(cast("list[YamlValue]", rows))
        return {
            "source": source,
            "rows": [self._row(row, index) for index, row in numbered],
        }

    def _row(self, row: YamlValue, index: int) -> Values:
        """Return a row with its values: of all columns at some labels, or of single
        cells.
        """
        entry = _mapping(row)
        at = entry.pop("at", None)
        cells = _mapping(entry.pop("cells", None))
        has_one = (at is None) == bool(cells)
        if not has_one or not entry.keys() <= {"label", "title", "task"}:
            raise self.error(
                "a row has 'at' or 'cells', and label, title, task; "
                f"found {sorted(_mapping(row))}",
                "rows",
                index,
            )
        if at is not None:
            cells = {
                column: _column(address, at) for column, address in self.columns.items()
            }
            entry.setdefault("title", ", ".join(map(str, at)))

        values: Values = {}
        for column, address in cells.items():
            value = self._cell(address, index)
            if value is not None:
                values[str(column)] = value
        return {**entry, "values": values}

    def _cell(self, address: YamlValue, index: int) -> float | str | None:
        """Return the value at ``[LABEL, ..., COLUMN]``, times ``factor`` of a mapping
        ``{at, factor}``; None for an empty cell.
        """
        factor = 1.0
        if isinstance(address, dict):
            factor = float(_mapping(address).get("factor", 1.0))
            address = _mapping(address).get("at")
        keys: list[str] = []
        if isinstance(address, list):
            keys = [str(key) for key in cast("list[YamlValue]", address)]
        if len(keys) != len(self.labels) + 1:
            names = ", ".join([*self.labels, "column"])
            raise self.error(
                f"found the cell {address!r}; expected [{names}]", "rows", index
            )

        *labels, column = keys
        by_labels: dict[tuple[str, ...], Values] = {}
        for row in cast("list[Values]", self.item.get("rows") or []):
            by_labels[tuple(str(row.get(name)) for name in self.labels)] = row
        row = by_labels.get(tuple(labels))
        if row is None:
            name = ", ".join(labels)
            hint = did_you_mean(name, [", ".join(options) for options in by_labels])
            raise self.error(f"no row '{name}'{hint}", "rows", index)
        if column not in row:
            hint = did_you_mean(column, row)
            raise self.error(f"no column '{column}'{hint}", "rows", index)
        return cell_value(row[column], factor)


def _column(address: YamlValue, at: Sequence[YamlValue]) -> YamlValue:
    """Return the address of the cell of a column in the row with some labels."""
    if isinstance(address, dict):
        return {
            "at": [*at, _mapping(address).get("column")],
            "factor": _mapping(address).get("factor", 1.0),
        }
    return [*at, address]


def _mapping(value: YamlValue) -> Values:
    """Return a copy of a mapping; empty for another value."""
    return dict(cast("Values", value)) if isinstance(value, dict) else {}


def cell_value(value: YamlValue, factor: float = 1.0) -> float | str | None:
    """Return a published value as a number, a bound as text, and an empty cell as None.

    >>> (
    ...     cell_value(0.5),
    ...     cell_value({"value": 2.0, "spread": 0.1}, 0.01),
    ...     cell_value({"below": 0.01}),
    ...     cell_value(None),
    ... )
    (0.5, 0.02, '< 0.01', None)
    """
    if isinstance(value, dict):
        entry = _mapping(value)
        for name, sign in _BOUNDS.items():
            if name in entry:
                return f"{sign} {entry[name] * factor:g}"
        value = entry.get("value")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None if value is None else str(value)
    return float(f"{value * factor:.12g}")


def authors_text(paper: Values) -> str:
    """Return the authors and the year of a paper.

    >>> authors_text({"authors": ["Ada Low", "Bo Key", "Cy May"], "year": 2020})
    'Low et al. 2020'
    """
    names = [
        str(name).split()[-1]
        for name in cast("list[YamlValue]", paper.get("authors") or ["unknown"])
    ]
    text = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
    return f"{text} {paper.get('year', '')}".strip()


def item_text(item: Values) -> str:
    """Return the name of an item: ``Table B1``, ``Figure 3``, ``section A.5``.

    >>> (
    ...     item_text({"id": "tableB1", "kind": "table"}),
    ...     item_text({"id": "text-A.5", "kind": "text"}),
    ... )
    ('Table B1', 'section A.5')
    """
    kind = str(item.get("kind", ""))
    number = re.sub(rf"^{kind}-?", "", str(item["id"]))
    return f"{_KINDS.get(kind, kind)} {number}".strip()
