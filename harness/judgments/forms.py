"""Forms of judgment files: rated captions, pairs with votes, captions beside foils, pairs under keys, best and worst."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import cast

import numpy as np

from harness.contracts import JudgedCaption, JudgedPair
from harness.errors import InputError
from harness.files.records import Record, kind
from harness.files.yaml_source import YamlValue
from harness.judgments.collection import Collection
from harness.judgments.fields import lookup, number, ratings, scalars, votes_of_mean
from harness.judgments.preferences import Preferences

CAPTION_COLUMNS = ("caption", "candidate", "hypothesis", "text", "decoded")
SCORE_COLUMNS = ("human_score", "human_mean", "score", "rating", "ratings", "label", "human")
NESTED_COLUMNS = ("candidates", "systems")
FIRST_AND_SECOND = {
    "first": ("caption_a", "first", "caption_1", "caption1", "output_1", "response_a"),
    "second": ("caption_b", "second", "caption_2", "caption2", "output_2", "response_b"),
}
PREFERENCE_COLUMNS = ("votes", "preference", "vote_sum", "label", "winner")


# --------------------------------------------------------------------------- rated captions
def read_captions(collection: Collection) -> None:
    """Collect rated captions: one per record, or all captions of an item in one record."""
    for number_of, record in enumerate(collection.records()):
        usual = [name for name in NESTED_COLUMNS if _holds_objects(record.fields.get(name))]
        nested = collection.name("captions", usual, record, needed=False)
        item = collection.item(record, number_of)
        if item is None:
            continue
        for inner, system in _inner(record, nested):
            collection.add(_read_rating(collection, inner, item, system, record if nested else None))


def _holds_objects(value: YamlValue) -> bool:
    if isinstance(value, Mapping):
        value = list(cast("Mapping[str, YamlValue]", value).values())
    if not isinstance(value, list):
        return False
    items = cast("list[YamlValue]", value)
    return bool(items) and all(isinstance(item, Mapping) for item in items)


def _inner(record: Record, nested: str | None) -> Iterator[tuple[Record, str | None]]:
    """Yield the caption records of a record with the systems that their keys name."""
    if nested is None:
        yield record, None
        return
    value = lookup(record.fields, nested)
    if isinstance(value, Mapping):
        pairs = [(str(name), item) for name, item in cast("Mapping[str, YamlValue]", value).items()]
    elif isinstance(value, list):
        pairs = [(None, item) for item in cast("list[YamlValue]", value)]
    else:
        raise InputError(f"'{nested}' is {kind(value)}; expected a list or an object of judged captions", record.where)
    for system, item in pairs:
        if not isinstance(item, Mapping):
            raise InputError(f"'{nested}' holds {kind(item)}; expected an object with a caption", record.where)
        yield Record(record.where, item), system


def _read_rating(collection: Collection, record: Record, item: int, system: str | None, outer: Record | None) -> JudgedCaption:
    columns = collection.source.columns
    caption = collection.name("caption", CAPTION_COLUMNS, record)
    score = collection.name("score", SCORE_COLUMNS, record, needed=False)
    of_system = collection.name("system", ("system", "model_id"), record, needed=False) if system is None else None
    mark = columns.own_reference or ("is_own_reference" if "is_own_reference" in record.fields else None)
    texts = collection.texts(lookup(record.fields, str(caption)), record.where, str(caption))
    used = [caption, score, of_system, *(collection.name(r, (), record, needed=False) for r in ("item", "references"))]
    meta = scalars(record.fields, [*used, "is_own_reference"])
    if outer is not None:
        nested = columns.captions or ""
        meta = {**scalars(outer.fields, [nested, *NESTED_COLUMNS, *used]), **meta}
    scores = {name: value for name, raw in record.fields.items() if (value := _plain(raw)) is not None}
    name = system if system is not None else str(lookup(record.fields, of_system) or "") if of_system else ""
    references = collection.own(texts, item, record.fields, mark, record.where)
    rated = ratings(lookup(record.fields, score), record.where, score) if score else ()
    if collection.source.mean_of is not None:
        rated = votes_of_mean(rated, collection.source.mean_of, record.where, str(score))
    return JudgedCaption(item, texts, name, rated, references, scores, meta)


def _plain(value: YamlValue) -> float | None:
    return number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


# --------------------------------------------------------------------------- pairs
def read_pairs(collection: Collection) -> None:
    """Collect pairs of captions with votes, one pair per record."""
    columns = collection.source.columns
    preferences = Preferences(collection.source.preference)
    for number_of, record in enumerate(collection.records()):
        first, second = (collection.name(role, FIRST_AND_SECOND[role], record) for role in ("first", "second"))
        votes = collection.name("preference", PREFERENCE_COLUMNS, record)
        fields = record.fields
        systems = [str(lookup(fields, name) or "") if name else "" for name in (columns.system_first, columns.system_second)]
        preference = preferences.read(lookup(fields, str(votes)), systems, record.where, str(votes))
        item = None if preference is None else collection.item(record, number_of)
        if preference is None or item is None:
            continue
        shared = columns.own_reference
        pair = [
            _side(collection, record, item, str(name), system, shared or mark)
            for name, system, mark in (
                (first, columns.system_first, columns.own_first),
                (second, columns.system_second, columns.own_second),
            )
        ]
        meta = scalars(fields, [first, second, votes, columns.item])
        collection.prefer(pair[0], pair[1], preference, meta)
    preferences.check()


def read_foils(collection: Collection) -> None:
    """Collect correct captions beside their foils, one pair per record; the correct caption is preferred."""
    columns = collection.source.columns
    for record, item in collection.records_of_items():
        correct = collection.name("correct", ("correct", "baseline", "caption"), record)
        foil = collection.name("foil", ("foil",), record)
        pair = [
            _side(collection, record, item, str(name), None, columns.own_reference if name == correct else None) for name in (correct, foil)
        ]
        if pair[0].texts == pair[1].texts:
            raise InputError(f"the foil equals the caption: {pair[0].texts[0]!r:.60}", record.where)
        collection.prefer(pair[0], pair[1], 1.0, scalars(record.fields, [correct, foil, columns.item]))


def _side(collection: Collection, record: Record, item: int, name: str, system: str | None, mark: YamlValue) -> JudgedCaption:
    texts = collection.texts(lookup(record.fields, name), record.where, name)
    references = collection.own(texts, item, record.fields, mark, record.where)
    return JudgedCaption(item, texts, str(lookup(record.fields, system) or "") if system else "", (), references)


def read_keyed_pairs(collection: Collection) -> None:
    """Collect pairs under keys: ``key: [caption 1, caption 2, source 1, source 2, votes]``; a record may lack keys.

    The votes are the last entry; entries between the sources and the votes are not used.
    """
    keys = collection.source.keys
    mark = collection.source.columns.own_reference
    preferences = Preferences(collection.source.preference)
    for number_of, record in enumerate(collection.records()):
        item = collection.item(record, number_of)
        for pattern in keys:
            for name, value in record.fields.items():
                if value is None or not _matches(name, pattern):
                    continue
                cells = _parts(value, name, record.where)
                preference = preferences.read(cells[-1], (str(cells[2]), str(cells[3])), record.where, name)
                if preference is None or item is None:
                    continue
                first, second = (
                    JudgedCaption(
                        item, texts := collection.texts(text, record.where, name), str(system), (),
                        collection.own(texts, item, record.fields, mark, record.where),
                    )
                    for text, system in ((cells[0], cells[2]), (cells[1], cells[3]))
                )  # fmt: skip
                meta = {"key": name, "category": pattern.removesuffix("*").rstrip("_-")}
                collection.prefer(first, second, preference, meta)
    preferences.check()


def _matches(name: str, pattern: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def _parts(value: YamlValue, name: str, location: str) -> Sequence[YamlValue]:
    if not isinstance(value, (list, tuple)) or len(cast("Sequence[YamlValue]", value)) < 5:
        raise InputError(f"'{name}' is {kind(value)}; expected [caption 1, caption 2, source 1, source 2, votes]", location)
    return cast("Sequence[YamlValue]", value)


# --------------------------------------------------------------------------- best and worst
def read_best_worst(collection: Collection) -> None:
    """Collect the captions of an item with the best and the worst of them; the votes of several raters are added up.

    A caption's rating is its votes as best minus its votes as worst, divided by the number of raters. A pair is preferred by the
    raters who chose one of its captions as best or the other as worst.
    """
    columns = collection.source.columns
    for record, item in collection.records_of_items():
        captions = collection.name("captions", ("captions", "candidates", "systems"), record)
        best, worst = (collection.name(role, (role,), record) for role in ("best", "worst"))
        texts, names = _list_captions(collection, record, str(captions))
        votes = np.stack([_choices(record, str(name), names) for name in (best, worst)])
        if votes.shape[1] == 0 or (votes[0] == votes[1]).any():
            raise InputError("best and worst are the same caption", record.where)
        wins = np.zeros((len(texts), len(texts)))
        for b, w in votes.T.tolist():
            wins[b, :] += 1
            wins[:, w] += 1
            wins[b, w] -= 1
        np.fill_diagonal(wins, 0)
        rating = (np.bincount(votes[0], minlength=len(texts)) - np.bincount(votes[1], minlength=len(texts))) / len(votes.T)
        positions = [
            collection.add(
                JudgedCaption(
                    item, text, names[k][0], (float(rating[k]),),
                    collection.own(text, item, record.fields, columns.own_reference, record.where),
                )
            )
            for k, text in enumerate(texts)
        ]  # fmt: skip
        meta = scalars(record.fields, [captions, best, worst, columns.item])
        for i, j in combinations(range(len(texts)), 2):
            collection.pairs.append(JudgedPair(positions[i], positions[j], float(wins[i, j] - wins[j, i]), meta))


def _list_captions(collection: Collection, record: Record, name: str) -> tuple[list[tuple[str, ...]], list[tuple[str, str, str]]]:
    """Return the captions of a record, and for each the texts by which ``best`` may name it: system, position, text."""
    value = lookup(record.fields, name)
    if isinstance(value, Mapping):
        entries = [(str(system), text) for system, text in cast("Mapping[str, YamlValue]", value).items()]
    elif isinstance(value, list):
        entries = [("", text) for text in cast("list[YamlValue]", value)]
    else:
        raise InputError(f"'{name}' is {kind(value)}; expected the captions of the item", record.where)
    if len(entries) < 2:
        raise InputError(f"'{name}' holds {len(entries)} captions; expected at least two", record.where)
    texts = [collection.texts(text, record.where, name) for _, text in entries]
    return texts, [(system, str(k), texts[k][0]) for k, (system, _) in enumerate(entries)]


def _choices(record: Record, name: str, names: Sequence[tuple[str, str, str]]) -> np.ndarray:
    """Return the positions (raters,) of the captions that the raters chose."""
    value = lookup(record.fields, name)
    values = cast("Sequence[YamlValue]", value) if isinstance(value, list) else [value]
    out: list[int] = []
    for item in values:
        if item is None:
            raise InputError(f"'{name}' is missing; expected the position, system or text of a caption", record.where)
        match = next((k for k, labels in enumerate(names) if str(item) in labels and str(item)), None)
        if match is None:
            raise InputError(f"'{name}' is {item!r:.40}; expected the position, system or text of a caption", record.where)
        out.append(match)
    return np.asarray(out, dtype=np.int64)


FORMS: Mapping[str, Callable[[Collection], None]] = {
    "captions": read_captions,
    "pairs": read_pairs,
    "foil": read_foils,
    "keyed-pairs": read_keyed_pairs,
    "best-worst": read_best_worst,
}
"""Form -> reader."""
