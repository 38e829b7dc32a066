"""Forms of judgment files: rated captions, pairs with votes, captions beside foils,
pairs under keys, best and worst, rankings, MQM.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import combinations
from typing import cast

import numpy as np

from harness.contracts import JudgedCaption, JudgedPair, Parameters, Values
from harness.errors import InputError
from harness.files.record_files import holds_records
from harness.files.records import Record, kind
from harness.files.yaml_source import YamlValue
from harness.judgments.collection import Collection
from harness.judgments.fields import (
    column,
    lookup,
    number,
    ratings,
    scalars,
    votes_of_mean,
)
from harness.judgments.preferences import Preferences

CAPTION_COLUMNS = (
    "caption",
    "candidate",
    "hypothesis",
    "text",
    "decoded",
    "cand",
    "mt",
)
SCORE_COLUMNS = (
    "human_score",
    "human_mean",
    "score",
    "rating",
    "ratings",
    "label",
    "human",
    "human_scores",
)
NESTED_COLUMNS = ("candidates", "systems", "human_judgement")
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


# --------------------------------------------------------------------------- rated captions
def read_captions(collection: Collection) -> None:
    """Collect rated captions: one per record,
    or all captions of an item in one record.
    """
    for number_of, record in enumerate(collection.records()):
        usual = [
            name for name in NESTED_COLUMNS if holds_records(record.fields.get(name))
        ]
        nested = collection.name("captions", usual, record, needed=False)
        item = collection.item(record, number_of)
        if item is None:
            continue
        for inner, system in _iterate_captions(record, nested):
            collection.add(
                _read_rating(
                    collection, inner, item, system, record if nested else None
                )
            )


def _list_entries(record: Record, name: str) -> list[tuple[str | None, YamlValue]]:
    """Return the captions of a record, with the systems that the keys of an object
    name.
    """
    value = lookup(record.fields, name)
    if isinstance(value, Mapping):
        return [
            (str(system), item)
            for system, item in cast("Mapping[str, YamlValue]", value).items()
        ]
    if isinstance(value, list):
        return [(None, item) for item in cast("list[YamlValue]", value)]
    raise InputError(
        f"'{name}' is {kind(value)}; expected a list or an object of captions",
        record.where,
    )


def _iterate_captions(
    record: Record, nested: str | None
) -> Iterator[tuple[Record, str | None]]:
    """Yield the caption records of a record with the systems that their keys name."""
    for system, item in (
        _list_entries(record, nested) if nested else [(None, record.fields)]
    ):
        if not isinstance(item, Mapping):
            raise InputError(
                f"'{nested}' holds {kind(item)}; expected an object with a caption",
                record.where,
            )
        yield Record(record.where, item), system


def _read_rating(
    collection: Collection,
    record: Record,
    item: int,
    system: str | None,
    outer: Record | None,
) -> JudgedCaption:
    columns = collection.source.columns
    caption = collection.name("caption", CAPTION_COLUMNS, record)
    score = collection.name(
        "score", SCORE_COLUMNS, record, needed=collection.source.mean_of is not None
    )
    of_system = (
        collection.name("system", ("system", "model_id"), record, needed=False)
        if system is None
        else None
    )
    mark = columns.own_reference or (
        "is_own_reference" if "is_own_reference" in record.fields else None
    )
    texts = collection.texts(
        lookup(record.fields, str(caption)), record.where, str(caption)
    )
    used = [
        caption,
        score,
        of_system,
        *(collection.name(r, (), record, needed=False) for r in ("item", "references")),
    ]
    meta = scalars(record.fields, [*used, "is_own_reference"])
    if outer is not None:
        meta = {**scalars(outer.fields, [*NESTED_COLUMNS, *used]), **meta}
    plain = {
        name: raw
        for name, raw in record.fields.items()
        if isinstance(raw, (int, float)) and not isinstance(raw, bool)
    }
    scores = {
        name: value for name, raw in plain.items() if (value := number(raw)) is not None
    }
    name = (
        system
        if system is not None
        else str(lookup(record.fields, of_system) or "")
        if of_system
        else ""
    )
    references = collection.own(texts, item, record.fields, mark, record.where)
    rated = ratings(lookup(record.fields, score), record.where, score) if score else ()
    if collection.source.mean_of is not None:
        rated = votes_of_mean(
            rated, collection.source.mean_of, record.where, str(score)
        )
    return JudgedCaption(item, texts, name, rated, references, scores, meta)


# --------------------------------------------------------------------------- pairs
def read_pairs(collection: Collection) -> None:
    """Collect pairs of captions with votes, or correct captions beside their foils,
    one pair per record.
    """
    columns = collection.source.columns
    foils = collection.source.form == "foil"
    preferences = Preferences(collection.source.preference)
    for number_of, record in enumerate(collection.records()):
        names = [
            collection.name(r, PAIR_COLUMNS[r], record)
            for r in (("correct", "foil") if foils else ("first", "second"))
        ]
        systems = [
            str(lookup(record.fields, name) or "") if name else ""
            for name in (columns.system_first, columns.system_second)
        ]
        marks = (
            columns.own_reference or columns.own_first,
            None if foils else columns.own_reference or columns.own_second,
        )
        votes = (1.0,)
        if not foils:
            names.append(
                name := collection.name("preference", PREFERENCE_COLUMNS, record)
            )
            votes = preferences.read(
                lookup(record.fields, str(name)), systems, record.where, str(name)
            )
        item = collection.item(record, number_of) if votes else None
        if item is None:
            continue
        first, second = (
            _make_caption(
                collection,
                record,
                item,
                lookup(record.fields, str(name)),
                str(name),
                system,
                mark,
                meta=meta,
            )
            for name, system, mark, meta in zip(
                names, systems, marks, _read_scores_of_pair(collection, record)
            )
        )
        if foils and first.texts == second.texts:
            raise InputError(
                f"the foil equals the caption: {first.texts[0]!r:.60}", record.where
            )
        collection.prefer(
            first, second, votes, scalars(record.fields, [*names, columns.item])
        )
    preferences.check()


def _make_caption(
    collection: Collection,
    record: Record,
    item: int,
    value: YamlValue,
    role: str,
    system: str,
    mark: YamlValue,
    ratings: tuple[float, ...] = (),
    meta: Parameters | None = None,
) -> JudgedCaption:
    texts = collection.texts(value, record.where, role)
    return JudgedCaption(
        item,
        texts,
        system,
        ratings,
        collection.own(texts, item, record.fields, mark, record.where),
        {},
        meta or {},
    )


def _read_scores_of_pair(
    collection: Collection, record: Record
) -> tuple[Values, Values]:
    """Return the scores of other programs for the first and for the second caption of a
    pair.
    """
    columns = collection.source.columns.scores
    first, second = (
        {
            name: lookup(record.fields, str(column(pair[side], (), record, name)))
            for name, pair in columns.items()
        }
        for side in (0, 1)
    )
    return first, second


def read_keyed_pairs(collection: Collection) -> None:
    """Collect pairs under keys:
    ``key: [caption 1, caption 2, source 1, source 2, votes]``; a record may lack keys.

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
                votes = preferences.read(
                    cells[-1], (str(cells[2]), str(cells[3])), record.where, name
                )
                if not votes or item is None:
                    continue
                first, second = (
                    _make_caption(
                        collection,
                        record,
                        item,
                        cells[k],
                        name,
                        str(cells[2 + k]),
                        mark,
                    )
                    for k in (0, 1)
                )
                collection.prefer(
                    first,
                    second,
                    votes,
                    {"key": name, "category": pattern.removesuffix("*").rstrip("_-")},
                )
    preferences.check()


def _check_keyed_pair(
    value: YamlValue, name: str, location: str
) -> Sequence[YamlValue]:
    if (
        not isinstance(value, (list, tuple))
        or len(cast("Sequence[YamlValue]", value)) < 5
    ):
        raise InputError(
            f"'{name}' is {kind(value)}; expected [caption 1, caption 2, source 1, "
            "source 2, votes]",
            location,
        )
    return cast("Sequence[YamlValue]", value)


# --------------------------------------------------------------------------- best and worst
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
        ratings = (wins.sum(axis=1) - wins.sum(axis=0)) / (
            len(ranks) * (len(names) - 1)
        )
        positions = [
            collection.add(
                _make_caption(
                    collection,
                    record,
                    item,
                    value,
                    "captions",
                    labels[0],
                    columns.own_reference,
                    (float(rating),),
                )
            )
            for value, labels, rating in zip(values, names, ratings)
        ]
        meta = scalars(
            record.fields, [columns.item, "best", "worst", columns.best, columns.worst]
        )
        for i, j in combinations(range(len(positions)), 2):
            votes = tuple(np.sign(ranks[:, j] - ranks[:, i]).astype(float).tolist())
            collection.pairs.append(JudgedPair(positions[i], positions[j], votes, meta))


def _read_ranks(
    collection: Collection, record: Record, names: Sequence[tuple[str, str, str]]
) -> np.ndarray:
    """Return the rank of each caption by each rater, shape (raters, n),
    0 for the best.
    """
    if collection.source.form == "best-worst":
        columns = [
            str(collection.name(role, (role,), record)) for role in ("best", "worst")
        ]
        best, worst = (
            _find_captions(record, lookup(record.fields, column), column, names)
            for column in columns
        )
        if (
            not best
            or len(best) != len(worst)
            or any(b == w for b, w in zip(best, worst))
        ):
            raise InputError(
                "best and worst are the same caption, or not as many", record.where
            )
        return np.array(
            [
                [2 * (k == w) + (k != b) * (k != w) for k in range(len(names))]
                for b, w in zip(best, worst)
            ]
        )
    column = str(collection.name("ranking", ("ranking", "rankings"), record))
    value: YamlValue = lookup(record.fields, column)
    items = cast("list[YamlValue]", value) if isinstance(value, list) else []
    single = not items or any(not isinstance(item, list) for item in items)
    orders = (
        [_find_captions(record, value, column, names)]
        if single
        else [_find_captions(record, item, column, names) for item in items]
    )
    if not orders or any(sorted(order) != list(range(len(names))) for order in orders):
        raise InputError(
            f"'{column}' does not have each of the {len(names)} captions once",
            record.where,
        )
    return np.argsort(np.array(orders), axis=1)


def _list_captions(
    collection: Collection, record: Record
) -> tuple[list[YamlValue], list[tuple[str, str, str]]]:
    """Return the captions of a record, and for each the texts that may name it:
    system, position, text.
    """
    name = str(
        collection.name("captions", ("captions", "candidates", "systems"), record)
    )
    entries = _list_entries(record, name)
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
        match = next(
            (
                k
                for k, labels in enumerate(names)
                if item is not None and str(item) and str(item) in labels
            ),
            None,
        )
        if match is None:
            text = "missing" if item is None else f"{item!r:.40}"
            raise InputError(
                f"'{name}' is {text}; expected the position, "
                "system or text of a caption",
                record.where,
            )
        out.append(match)
    return out


# --------------------------------------------------------------------------- MQM
_WEIGHTS = {
    "critical": 25.0,
    "major": 5.0,
    "minor": 1.0,
    "neutral": 0.0,
    "no-error": 0.0,
    "no error": 0.0,
}


def read_mqm(collection: Collection) -> None:
    """Collect the segments of an MQM table, which has one error per record; the ratings
    are minus the sums of each rater's weights.

    Weights are those of Freitag et al. 2021: 25 for a non-translation, 5 for a major
    and 1 for a minor error, 0.1 for minor errors of punctuation. A critical error,
    which that scheme lacks, weighs 25.
    """
    sums: dict[tuple[int, str, str], dict[str, float]] = {}
    for record, item in collection.records_of_items():
        roles = (("caption", "target"), ("system", "system"), ("score", "severity"))
        names = [str(collection.name(role, (usual,), record)) for role, usual in roles]
        text, system, severity, category, rater = (
            str(lookup(record.fields, name) or "")
            for name in (*names, "category", "rater")
        )
        level = severity.lower()
        kind_of = category.lower()
        if level not in _WEIGHTS:
            raise InputError(
                f"'{names[2]}' is '{severity}'; expected one of {', '.join(_WEIGHTS)}",
                record.where,
            )
        weight = _WEIGHTS[level]
        if level == "major" and kind_of.startswith("non-translation"):
            weight = 25.0
        elif level == "minor" and kind_of == "fluency/punctuation":
            weight = 0.1
        raters = sums.setdefault((item, system, re.sub("</?v>", "", text)), {})
        raters[rater] = raters.get(rater, 0.0) - weight
    for (item, system, text), raters in sums.items():
        collection.add(JudgedCaption(item, (text,), system, tuple(raters.values())))


FORMS: Mapping[str, Callable[[Collection], None]] = {
    "captions": read_captions,
    "pairs": read_pairs,
    "foil": read_pairs,
    "keyed-pairs": read_keyed_pairs,
    "best-worst": read_orders,
    "ranking": read_orders,
    "mqm": read_mqm,
}
"""Form -> reader."""
