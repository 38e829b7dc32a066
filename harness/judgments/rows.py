"""Judgments as arrays: rated captions and judged pairs with their items and groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.contracts import JudgedCaption, Judgments, Parameters, Values
from harness.errors import InputError, did_you_mean
from harness.judgments.judgment_models import (
    LABEL_STATISTICS,
    PAIR_STATISTICS,
    SYSTEM_STATISTICS,
    GroupsSpec,
    JudgmentSpec,
    looks_like_number,
)
from harness.stats.name_order import ranks_of_names
from harness.stats.weighted_correlation import pairs_within

ALL = "all"
"""Name of the group of all judgments."""
MEAN = "mean"
"""Name of the mean over the other groups."""


@dataclass(frozen=True)
class RatedRows:
    """Rated captions, one row per caption or per rating."""

    caption: np.ndarray
    """Position of the caption, shape (n,)."""
    human: np.ndarray
    """Human score, higher is better, shape (n,)."""
    item: np.ndarray
    """Position of the item, shape (n,)."""
    groups: np.ndarray
    """Group of each row as text, shape (n,)."""
    ratings: np.ndarray
    """Number of ratings behind each row, shape (n,)."""


@dataclass(frozen=True)
class PairRows:
    """Judged pairs of captions."""

    first: np.ndarray
    """Position of the first caption, shape (P,)."""
    second: np.ndarray
    human: np.ndarray
    """Preference, positive for the first caption, shape (P,)."""
    item: np.ndarray
    groups: np.ndarray


def distinct_captions(judgments: Judgments) -> np.ndarray:
    """Return the number of the distinct caption (item, system and texts) that each
    judged caption is, shape (captions,).

    Files with one record per rating hold a caption several times.
    """
    numbers: dict[object, int] = {}
    of_captions: list[int] = []
    for caption in judgments.captions:
        key = (caption.item, caption.system, caption.texts)
        of_captions.append(numbers.setdefault(key, len(numbers)))
    return np.array(of_captions, dtype=np.int64)


@dataclass(frozen=True)
class JudgmentRows:
    """Rows of a judgment set for the statistics of a task."""

    judgments: Judgments
    spec: JudgmentSpec

    @property
    def items(self) -> int:
        """Number of items: the clusters of the bootstrap."""
        return len(self.judgments.items)

    @cached_property
    def item_ranks(self) -> np.ndarray:
        """Rank of each item in the order of the ids, in which items are resampled and
        exchanged, shape (items,).
        """
        return ranks_of_names([item.id for item in self.judgments.items])

    @property
    def has_ratings(self) -> bool:
        """True where captions are rated, False where they are judged in pairs alone."""
        return any(caption.ratings for caption in self.judgments.captions[:1])

    @cached_property
    def distinct(self) -> np.ndarray:
        """Number of the distinct caption of each judged caption, shape (captions,)."""
        return distinct_captions(self.judgments)

    def counts(self, captions: np.ndarray, ratings: np.ndarray | None = None) -> Values:
        """Return the numbers of items, of distinct captions and of ratings of rows with
        the captions of positions (n,).
        """
        items = {self.judgments.captions[int(k)].item for k in captions}
        counts: Values = {
            "items": len(items),
            "captions": len(np.unique(self.distinct[captions])),
        }
        return counts if ratings is None else {**counts, "ratings": int(ratings.sum())}

    @cached_property
    def rated(self) -> RatedRows:
        """Rated captions; raises :class:`InputError` when the captions have no
        ratings.
        """
        captions = self.judgments.captions
        if not self.has_ratings:
            raise InputError(
                f"the captions have no ratings, which {self.spec.statistics[0]} "
                "needs; pairs have the statistic accuracy",
                self.judgments.source,
            )

        per_rater = self.spec.judgments.raters == "each"
        sign = 1.0 if self.spec.judgments.higher_is_better else -1.0
        positions: list[int] = []
        human: list[float] = []
        for position, caption in enumerate(captions):
            ratings = caption.ratings
            if not per_rater:
                ratings = (float(np.mean(ratings)),)
            positions += [position] * len(ratings)
            human += [sign * rating for rating in ratings]

        rows = np.array(positions, dtype=np.int64)
        items = np.array([caption.item for caption in captions], dtype=np.int64)
        labels = self._labels([_fields_to_group_by(caption) for caption in captions])
        counts = np.array([1 if per_rater else len(item.ratings) for item in captions])
        return RatedRows(rows, np.array(human), items[rows], labels[rows], counts[rows])

    @cached_property
    def pairs(self) -> PairRows:
        """Judged pairs; those within an item where the file has ratings alone."""
        if self.judgments.pairs:
            pairs = self.judgments.pairs
            first = np.array([pair.first for pair in pairs], dtype=np.int64)
            second = np.array([pair.second for pair in pairs], dtype=np.int64)
            human = np.array([pair.preference for pair in pairs], dtype=np.float64)
            of_caption = [caption.item for caption in self.judgments.captions]
            items = np.array(of_caption, dtype=np.int64)[first]
            labels = self._labels([pair.meta for pair in pairs])
            return PairRows(first, second, human, items, labels)

        rated = self.rated
        i, j = pairs_within(rated.item)
        # Two ratings of one caption are no pair.
        keep = rated.caption[i] != rated.caption[j]
        i = i[keep]
        j = j[keep]
        human = rated.human[i] - rated.human[j]
        return PairRows(
            rated.caption[i], rated.caption[j], human, rated.item[i], rated.groups[i]
        )

    @cached_property
    def group_names(self) -> tuple[str, ...]:
        """Names of the groups: ``all``, each group in order of appearance, and their
        ``mean``.
        """
        if self.spec.groups is None:
            return (ALL,)
        pairs_only = not self.has_ratings or all(
            name in PAIR_STATISTICS for name in self.spec.statistics
        )
        judged = self.pairs if pairs_only else self.rated
        names = list(dict.fromkeys(judged.groups.tolist()))
        # Groups with labels stand in the order of these.
        ordered = [name for name in self.spec.groups.labels.values() if name in names]
        return (ALL, *dict.fromkeys([*ordered, *names]), MEAN)

    def _labels(self, metas: Sequence[Parameters]) -> np.ndarray:
        """Return the name of the group of each judgment with these fields, as text."""
        groups = self.spec.groups
        if groups is None:
            return np.full(len(metas), ALL)
        values = [meta.get(groups.by) for meta in metas]
        absent = next((k for k, value in enumerate(values) if value is None), None)
        if absent is not None:
            others = sorted({name for meta in metas for name in meta} - {groups.by})
            hint = did_you_mean(groups.by, others)
            raise InputError(
                f"a judgment has no '{groups.by}' to group by{hint}; "
                f"it has {', '.join(metas[absent]) or 'no fields'}",
                self.judgments.source,
                value=groups.by,
            )

        source = self.judgments.source
        names = {value: _label(value, groups, source) for value in set(values)}
        return np.array([names[value] for value in values])

    def check(self) -> None:
        """Raise :class:`InputError` for judgments that no metric can agree with
        (constant scores, ties everywhere) and for groups without names.
        """
        _ = self.group_names
        for name in self.spec.statistics:
            of_pairs = name in SYSTEM_STATISTICS and not self.has_ratings
            if of_pairs or name in PAIR_STATISTICS:
                self._check_pairs()
            else:
                self._check_ratings(name)

    def _check_pairs(self) -> None:
        if not len(self.pairs.human):
            raise InputError(
                "no item has two judged captions; accuracy needs pairs",
                self.judgments.source,
            )
        if not self.pairs.human.any():
            raise InputError(
                "every pair is a tie: no preference to agree with",
                self.judgments.source,
            )

    def _check_ratings(self, statistic: str) -> None:
        human = self.rated.human
        if (human == human[0]).all():
            raise InputError(
                f"all {len(human)} human scores are {abs(human[0]):g}: "
                f"{statistic} is undefined",
                self.judgments.source,
            )
        levels = len(np.unique(human))
        if statistic in LABEL_STATISTICS and levels > 2:
            raise InputError(
                f"{statistic} needs labels of two values; "
                f"the human scores have {levels}",
                self.judgments.source,
            )


def _fields_to_group_by(caption: JudgedCaption) -> Parameters:
    """Return the kept fields of a caption with its system, where it has one."""
    if not caption.system:
        return caption.meta
    return {"system": caption.system, **caption.meta}


def _label(value: object, groups: GroupsSpec, location: str) -> str:
    """Return the name of a group; raise :class:`InputError` for a number without a name
    and for a label without an entry.
    """
    text = str(value)
    if isinstance(value, float) and value.is_integer():
        # Tables read whole numbers as floats.
        text = str(int(value))
    if groups.labels:
        if text not in groups.labels:
            raise InputError(
                f"groups.labels has no name for {groups.by} '{text}'; "
                f"found {', '.join(groups.labels)}",
                location,
                value=text,
            )
        return groups.labels[text]
    if looks_like_number(text):
        raise InputError(
            f"the groups of '{groups.by}' are numbers ('{text}'); "
            f"name them with groups: {{by: {groups.by}, labels: {{{text}: NAME}}}}",
            location,
            value=text,
        )
    return text
