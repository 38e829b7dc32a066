"""The column of events of samples.parquet: the sets of events of a row as records, for
programs that do not know the texts of sets.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any, cast, overload

from harness.contracts import Event, EventSet, Geometry, Values, is_event_set
from harness.rundir.format import escape_surrogates

EVENTS = "events"
"""Column of the events of candidates and references, lists of records; only in runs
whose references are sets of events.
"""
CANDIDATE = "candidate"
ANNOTATOR = "annotator"
"""Values of the field ``side``: whose event it is."""
COORDINATES: dict[Geometry, tuple[str, ...]] = {
    "time": ("start", "end"),
    "box": ("left", "top", "right", "bottom"),
}
"""Geometry -> fields of its numbers; the eight corners of a box in a scene are a list,
``corners``.
"""
EVENT_FIELDS = (
    "side",
    "number",
    "position",
    "text",
    *COORDINATES["time"],
    *COORDINATES["box"],
    "corners",
    "score",
    "label",
)
"""Fields of a record."""


def event_records(candidates: Sequence[str], references: Sequence[str]) -> list[Values]:
    """Return the events of a row: those of each candidate, then those of each
    annotator. Texts that are no sets of events have none.

    ``number`` is the position of the candidate or annotator in its column and
    ``position`` that of the event in its set, both from 0. Fields of other geometries,
    and a score and a label that an event lacks, are None.

    >>> text = EventSet((Event("a dog", (0.0, 2.5)),)).to_text()
    >>> (record,) = event_records([text], [])
    >>> record["side"], record["number"], record["text"], record["end"]
    ('candidate', 0, 'a dog', 2.5)
    """
    records: list[Values] = []
    for side, texts in ((CANDIDATE, candidates), (ANNOTATOR, references)):
        for number, text in enumerate(texts):
            if not is_event_set(text):
                continue
            for position, event in enumerate(EventSet.from_text(text).events):
                key: Values = {"side": side, "number": number, "position": position}
                records.append({**key, **_event_fields(event)})
    return records


def _event_fields(event: Event) -> Values:
    """Return what an event holds by the names of the fields."""
    fields: Values = dict.fromkeys(EVENT_FIELDS[3:])
    fields["text"] = escape_surrogates(event.text)
    numbers = [float(value) for value in event.place]
    names = COORDINATES.get(event.geometry)
    if names is None:
        fields["corners"] = numbers
    else:
        fields |= dict(zip(names, numbers))
    fields["score"] = None if event.score is None else float(event.score)
    fields["label"] = escape_surrogates(event.label) or None
    return fields


class EventColumn(Sequence[object]):
    """The events of rows, each read from its texts when it is asked for, so that a run
    in memory does not hold its events twice.
    """

    def __init__(
        self,
        candidates: Sequence[object],
        references: Sequence[object],
    ) -> None:
        self._candidates = candidates
        self._references = references

    def __len__(self) -> int:
        return len(self._candidates)

    def __iter__(self) -> Iterator[object]:
        return (self[row] for row in range(len(self)))

    @overload
    def __getitem__(self, index: int) -> object: ...

    @overload
    def __getitem__(self, index: slice) -> list[object]: ...

    def __getitem__(self, index: int | slice) -> object | list[object]:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        return event_records(
            cast("Sequence[str]", self._candidates[index]),
            cast("Sequence[str]", self._references[index]),
        )


def event_type() -> Any:
    """Return the type of the column in Arrow."""
    arrow: Any = importlib.import_module("pyarrow")
    types = dict.fromkeys(EVENT_FIELDS, arrow.float64())
    types |= dict.fromkeys(("side", "text", "label"), arrow.string())
    types |= dict.fromkeys(("number", "position"), arrow.int64())
    types["corners"] = arrow.list_(arrow.float64())
    return arrow.list_(arrow.struct(list(types.items())))
