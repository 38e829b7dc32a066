"""Captions of an item in an order: the best and the worst of them, or a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import cast

import numpy as np

from harness.contracts import JudgedPair
from harness.errors import InputError
from harness.files.records import Record
from harness.files.yaml_source import YamlValue
from harness.judgments.caption_form import list_entries
from harness.judgments.collection import CaptionCell, Collection
from harness.judgments.fields import lookup, scalars


def read_orders(collection: Collection) -> None:
    """Collect the captions of an item with the best and the worst of them, or with a
    ranking, the best first, by one or several raters.

    A pair is preferred by the raters who place one caption before the other. A
    caption's rating is the mean difference of the captions behind it and before it,
    divided by the number of the others: of best and worst, its votes as best minus its
    votes as worst.
    """
    columns = collection.source.columns
    for record, item in collection.records_of_items():
        values, names = _list_captions(collection, record)
        ranks = _read_ranks(collection, record, names)
        wins = (ranks[:, :, None] < ranks[:, None, :]).sum(axis=0)
        others = len(ranks) * (len(names) - 1)
        ratings = (wins.sum(axis=1) - wins.sum(axis=0)) / others

        positions: list[int] = []
        for value, labels, rating in zip(values, names, ratings):
            cell = CaptionCell(value, "captions", labels[0], columns.own_reference)
            caption = collection.make_caption(record, item, cell, (float(rating),))
            positions.append(collection.add(caption))

        used = [columns.item, "best", "worst", columns.best, columns.worst]
        meta = scalars(record.fields, used)
        for i, j in combinations(range(len(positions)), 2):
            votes = tuple(np.sign(ranks[:, j] - ranks[:, i]).astype(float).tolist())
            collection.pairs.append(JudgedPair(positions[i], positions[j], votes, meta))


def _read_ranks(
    collection: Collection, record: Record, names: Sequence[tuple[str, str, str]]
) -> np.ndarray:
    """Return the rank of each caption by each rater, shape (raters, n), 0 for the
    best.
    """
    if collection.source.form == "best-worst":
        return _read_best_and_worst(collection, record, names)
    column = str(collection.name("ranking", ("ranking", "rankings"), record))
    value: YamlValue = lookup(record.fields, column)
    items = cast("list[YamlValue]", value) if isinstance(value, list) else []
    single = not items or any(not isinstance(item, list) for item in items)
    rankings: list[YamlValue] = [value] if single else items
    orders = [_find_captions(record, item, column, names) for item in rankings]
    if not orders or any(sorted(order) != list(range(len(names))) for order in orders):
        raise InputError(
            f"'{column}' does not have each of the {len(names)} captions once",
            record.where,
        )
    # An order has the caption at each rank; its inverse has the rank of each caption.
    return np.argsort(np.array(orders), axis=1)


def _read_best_and_worst(
    collection: Collection, record: Record, names: Sequence[tuple[str, str, str]]
) -> np.ndarray:
    """Return the ranks by raters who name the best and the worst caption: all others
    stand between these.
    """
    columns = [
        str(collection.name(role, (role,), record)) for role in ("best", "worst")
    ]
    best, worst = (
        _find_captions(record, lookup(record.fields, column), column, names)
        for column in columns
    )
    is_same = any(b == w for b, w in zip(best, worst))
    if not best or len(best) != len(worst) or is_same:
        raise InputError(
            "best and worst are the same caption, or not as many", record.where
        )
    ranks = np.ones((len(best), len(names)), dtype=np.int64)
    raters = np.arange(len(best))
    ranks[raters, best] = 0
    ranks[raters, worst] = 2
    return ranks


def _list_captions(
    collection: Collection, record: Record
) -> tuple[list[YamlValue], list[tuple[str, str, str]]]:
    """Return the captions of a record, and for each the texts that may name it: system,
    position, text.
    """
    usual = ("captions", "candidates", "systems")
    name = str(collection.name("captions", usual, record))
    entries = list_entries(record, name)
    if len(entries) < 2:
        raise InputError(
            f"'{name}' holds {len(entries)} captions; expected at least two",
            record.where,
        )
    names = [
        (system or "", str(k), collection.texts(text, record.where, name)[0])
        for k, (system, text) in enumerate(entries)
    ]
    return [text for _, text in entries], names


def _find_captions(
    record: Record, value: YamlValue, name: str, names: Sequence[tuple[str, str, str]]
) -> list[int]:
    """Return the positions of the captions that a value names."""
    values = cast("Sequence[YamlValue]", value) if isinstance(value, list) else [value]
    out: list[int] = []
    for item in values:
        label = "" if item is None else str(item)
        matches = [k for k, labels in enumerate(names) if label and label in labels]
        if not matches:
            text = "missing" if item is None else f"{item!r:.40}"
            raise InputError(
                f"'{name}' is {text}; expected the position, system or text of a "
                "caption",
                record.where,
            )
        out.append(matches[0])
    return out
