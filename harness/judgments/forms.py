"""Forms of judgment files: rated captions, pairs with votes, captions beside foils, pairs under keys, best and worst, rankings, MQM."""

from __future__ import annotations

import re
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

CAPTION_COLUMNS = ("caption", "candidate", "hypothesis", "text", "decoded", "cand", "mt")
SCORE_COLUMNS = ("human_score", "human_mean", "score", "rating", "ratings", "label", "human", "human_scores")
NESTED_COLUMNS = ("candidates", "systems", "human_judgement")
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
        correct = collection.name("correct", ("correct", "baseline", "chosen", "caption"), record)
        foil = collection.name("foil", ("foil", "rejected"), record)
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
    for record, item in collection.records_of_items():
        texts, names = _list_captions(collection, record)
        best, worst = (collection.name(role, (role,), record) for role in ("best", "worst"))
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
        _add_compared(collection, record, item, (texts, names), rating, wins, [best, worst])


def read_rankings(collection: Collection) -> None:
    """Collect the captions of an item with a ranking, the best first, or the rankings of several raters.

    A caption's rating is the mean share of the other captions behind it. A pair is preferred by the raters who rank it so.
    """
    for record, item in collection.records_of_items():
        texts, names = _list_captions(collection, record)
        column_name = collection.name("ranking", ("ranking", "rankings"), record)
        value = lookup(record.fields, str(column_name))
        rankings = cast("list[YamlValue]", value) if isinstance(value, list) else [value]
        wins = np.zeros((len(texts), len(texts)))
        for ranking in rankings if all(isinstance(ranking, list) for ranking in rankings) else [rankings]:
            order = _choices(Record(record.where, {"ranking": ranking}), "ranking", names)
            if sorted(order) != list(range(len(texts))):
                raise InputError(f"the ranking has {len(set(order.tolist()))} of the {len(texts)} captions", record.where)
            wins[np.ix_(order, order)] += np.triu(np.ones_like(wins), 1)
        rating = wins.sum(axis=1) / wins.sum() * len(texts) / 2
        _add_compared(collection, record, item, (texts, names), rating, wins, [column_name])


_Named = tuple[list[tuple[str, ...]], list[tuple[str, str, str]]]
"""Captions of a record, and for each the texts that may name it: system, position, text."""


def _add_compared(
    collection: Collection, record: Record, item: int, captions: _Named, rating: np.ndarray, wins: np.ndarray, used: list[str | None]
) -> None:  # fmt: skip
    """Add the captions of an item with ratings (n,), and their pairs with the raters who prefer one to the next, (n, n)."""
    mark = collection.source.columns.own_reference
    positions = [
        collection.add(
            JudgedCaption(item, text, names[0], (float(value),), collection.own(text, item, record.fields, mark, record.where))
        )
        for text, names, value in zip(*captions, rating)
    ]  # fmt: skip
    columns = collection.source.columns
    meta = scalars(record.fields, [columns.captions, *NESTED_COLUMNS, *used, columns.item])
    for i, j in combinations(range(len(positions)), 2):
        collection.pairs.append(JudgedPair(positions[i], positions[j], float(wins[i, j] - wins[j, i]), meta))


def _list_captions(collection: Collection, record: Record) -> _Named:
    name = str(collection.name("captions", ("captions", "candidates", "systems"), record))
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


# --------------------------------------------------------------------------- MQM
_WEIGHTS = {"critical": 25.0, "major": 5.0, "minor": 1.0, "neutral": 0.0, "no-error": 0.0, "no error": 0.0}


def read_mqm(collection: Collection) -> None:
    """Collect the segments of an MQM table, which has one error per record; the ratings are minus the sums of each rater's weights.

    Weights are those of Freitag et al. 2021: 25 for a non-translation, 5 for a major and 1 for a minor error, 0.1 for punctuation.
    """
    sums: dict[tuple[int, str], dict[str, float]] = {}
    texts: dict[tuple[int, str], str] = {}
    for record, item in collection.records_of_items():
        fields = record.fields
        roles = (("caption", "target"), ("system", "system"), ("score", "severity"))
        caption, system, severity = (str(collection.name(role, (usual,), record)) for role, usual in roles)
        key = item, str(lookup(fields, system))
        texts.setdefault(key, re.sub("</?v>", "", str(lookup(fields, caption) or "")))
        raters = sums.setdefault(key, {})
        rater = str(fields.get("rater", ""))
        raters[rater] = raters.get(rater, 0.0) - _weight(record, severity)
    for (item, system), raters in sums.items():
        collection.add(JudgedCaption(item, (texts[item, system],), system, tuple(raters.values())))


def _weight(record: Record, severity: str) -> float:
    level, category = (str(lookup(record.fields, name) or "").lower() for name in (severity, "category"))
    if level not in _WEIGHTS:
        raise InputError(f"'{severity}' is '{level}'; expected one of {', '.join(_WEIGHTS)}", record.where)
    if level == "major" and category.startswith("non-translation"):
        return 25.0
    return 0.1 if level == "minor" and category == "fluency/punctuation" else _WEIGHTS[level]


FORMS: Mapping[str, Callable[[Collection], None]] = {
    "captions": read_captions,
    "pairs": read_pairs,
    "foil": read_foils,
    "keyed-pairs": read_keyed_pairs,
    "best-worst": read_best_worst,
    "ranking": read_rankings,
    "mqm": read_mqm,
}
"""Form -> reader."""
