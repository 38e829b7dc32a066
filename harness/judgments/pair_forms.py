"""Pairs of captions with votes, captions beside foils, and pairs under keys."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import cast

from harness.contracts import Values
from harness.errors import InputError
from harness.files.records import Record, kind
from harness.files.yaml_source import YamlValue
from harness.judgments.collection import CaptionCell, Collection
from harness.judgments.fields import column, lookup, scalars
from harness.judgments.preferences import Preferences

PAIR_COLUMNS = {
    "first": ("caption_a", "first", "caption_1", "caption1", "output_1", "response_a"),
    "second": (
        "caption_b",
        "second",
        "caption_2",
        "caption2",
        "output_2",
        "response_b",
    ),
    "correct": ("correct", "baseline", "chosen", "caption"),
    "foil": ("foil", "rejected"),
}
PREFERENCE_COLUMNS = ("votes", "preference", "vote_sum", "label", "winner")


def read_pairs(collection: Collection) -> None:
    """Collect pairs of captions with votes, or correct captions beside their foils, one
    pair per record.
    """
    columns = collection.source.columns
    foils = collection.source.form == "foil"
    roles = ("correct", "foil") if foils else ("first", "second")
    marks = (
        columns.own_reference or columns.own_first,
        None if foils else columns.own_reference or columns.own_second,
    )
    preferences = Preferences(collection.source.preference)
    for number_of, record in enumerate(collection.records()):
        names = [
            str(collection.name(role, PAIR_COLUMNS[role], record)) for role in roles
        ]
        systems = [
            str(lookup(record.fields, name) or "") if name else ""
            for name in (columns.system_first, columns.system_second)
        ]
        votes = (1.0,)
        if not foils:
            name = str(collection.name("preference", PREFERENCE_COLUMNS, record))
            names.append(name)
            value = lookup(record.fields, name)
            votes = preferences.read(value, systems, record.where, name)

        # A pair that is left out makes no item.
        item = collection.item(record, number_of) if votes else None
        if item is None:
            continue
        scores = _read_scores_of_pair(collection, record)
        cells = [
            CaptionCell(lookup(record.fields, name), name, system, mark)
            for name, system, mark in zip(names, systems, marks)
        ]
        first, second = (
            collection.make_caption(record, item, cell, meta=meta)
            for cell, meta in zip(cells, scores)
        )
        if foils and first.texts == second.texts:
            raise InputError(
                f"the foil equals the caption: {first.texts[0]!r:.60}", record.where
            )
        meta = scalars(record.fields, [*names, columns.item])
        collection.prefer(first, second, votes, meta)
    preferences.check()


def _read_scores_of_pair(
    collection: Collection, record: Record
) -> tuple[Values, Values]:
    """Return the scores of other programs for the first and for the second caption of a
    pair.
    """
    scores: tuple[Values, Values] = ({}, {})
    for side, of_side in enumerate(scores):
        for name, pair in collection.source.columns.scores.items():
            path = str(column(pair[side], (), record, name))
            of_side[name] = lookup(record.fields, path)
    return scores


def read_keyed_pairs(collection: Collection) -> None:
    """Collect pairs under keys: ``key: [caption 1, caption 2, source 1, source 2,
    votes]``; a record may lack keys.

    The votes are the last entry; entries between the sources and the votes are not
    used.
    """
    mark = collection.source.columns.own_reference
    preferences = Preferences(collection.source.preference)
    for number_of, record in enumerate(collection.records()):
        item = collection.item(record, number_of)
        for pattern in collection.source.keys:
            for name, value in record.fields.items():
                if value is None or not fnmatchcase(name, pattern):
                    continue
                cells = _check_keyed_pair(value, name, record.where)
                sources = (str(cells[2]), str(cells[3]))
                votes = preferences.read(cells[-1], sources, record.where, name)
                if not votes or item is None:
                    continue
                first, second = (
                    collection.make_caption(
                        record, item, CaptionCell(caption, name, system, mark)
                    )
                    for caption, system in zip(cells, sources)
                )
                category = pattern.removesuffix("*").rstrip("_-")
                meta: Values = {"key": name, "category": category}
                collection.prefer(first, second, votes, meta)
    preferences.check()


def _check_keyed_pair(
    value: YamlValue, name: str, location: str
) -> Sequence[YamlValue]:
    """Return the entries of a pair under a key."""
    if isinstance(value, (list, tuple)):
        cells = cast("Sequence[YamlValue]", value)
        if len(cells) >= 5:
            return cells
    raise InputError(
        f"'{name}' is {kind(value)}; expected [caption 1, caption 2, source 1, "
        "source 2, votes]",
        location,
    )
