"""References with which each judged caption is scored: own reference removed, a sample
in several draws, rotation, or all.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness.contracts import CaptionSet, JudgedCaption, Judgments
from harness.errors import InputError
from harness.judgments.judgment_models import ReferencePolicy
from harness.judgments.own_references import list_removed_references


@dataclass(frozen=True)
class Corpus:
    """Sets that are scored with one corpus state."""

    start: int
    """First set."""
    stop: int
    """End of the sets."""
    references: Sequence[Sequence[str]]
    """References on which metrics fit their corpus state."""


@dataclass(frozen=True)
class ScoringSets:
    """The distinct caption sets to score, and the sets of each judged caption."""

    sets: tuple[CaptionSet, ...]
    index: np.ndarray
    """Positions of a caption's sets, shape (captions, draws, rotations); -1 where a
    caption has fewer rotations.
    """
    corpora: tuple[Corpus, ...]
    """Corpora of consecutive sets, which together hold every set once."""

    def scores(self, per_set: np.ndarray) -> np.ndarray:
        """Return the score of each caption in each draw, the mean over rotations,
        shape (captions, draws).

        ``per_set`` has shape (sets,), NaN where undefined.
        """
        used = self.index >= 0
        values = np.where(used, per_set[np.maximum(self.index, 0)], 0.0)
        return values.sum(axis=2) / used.sum(axis=2)


def rival_sets(judgments: Judgments) -> ScoringSets:
    """Return a set for each pair, with the second caption in place of the references;
    the index has shape (P, 1, 1).
    """
    items = judgments.items
    texts: list[tuple[int, tuple[str, ...], tuple[str, ...]]] = []
    for pair in judgments.pairs:
        first = judgments.captions[pair.first]
        second = judgments.captions[pair.second]
        texts.append((first.item, first.texts, second.texts))

    # Pairs of the same texts are scored once.
    position = {key: k for k, key in enumerate(dict.fromkeys(texts))}
    sets = tuple(
        CaptionSet(items[k].id, first, second, items[k].media, items[k].source)
        for k, first, second in position
    )
    index = np.array([position[key] for key in texts])[:, None, None]
    corpus = Corpus(0, len(sets), [item.references for item in sets])
    return ScoringSets(sets, index, (corpus,))


def scoring_sets(
    judgments: Judgments,
    policy: ReferencePolicy,
    seed: int,
    by: str = "category",
    columns: Sequence[str] = (),
) -> ScoringSets:
    """Return the caption sets of all judged captions under a reference policy.

    Parameters
    ----------
    judgments : Judgments
        The judgment set.
    policy : ReferencePolicy
        The policy.
    seed : int
        Seed of the samples. A sample depends on the seed, the draw and the item, not on
        the other items.
    by : str
        Column of the categories by which ``policy.own`` chooses, when it is a mapping.
    columns : sequence of str
        Columns that tell captions of one text apart, beside their references;
        ``system`` is one.

    Raises
    ------
    InputError
        No reference is left for a caption, or a category has no entry in
        ``policy.own``.
    """
    removed = list(list_removed_references(judgments, policy, by))
    distinct = _DistinctSets(judgments, columns)
    ordinals = [0] * len(judgments.captions)
    if policy.sample is not None:
        ordinals = _ordinals(judgments)
    corpus_of = _corpus_numbers(judgments, policy, by)
    index: list[list[list[int]]] = []
    for caption, left_out, ordinal, corpus in zip(
        judgments.captions, removed, ordinals, corpus_of
    ):
        item = judgments.items[caption.item]
        remaining = tuple(k for k in range(len(item.references)) if k not in left_out)
        if not remaining and item.references:
            raise InputError(
                f"no reference is left for the caption {caption.texts[0]!r:.60} of "
                f"the item '{item.id}' "
                "(references: {own: keep} keeps its own)",
                judgments.source,
            )
        draws: list[list[int]] = []
        for draw in range(policy.draws):
            key = (seed, draw, zlib.crc32(item.id.encode()), ordinal)
            sample = _sample_positions(remaining, policy.sample, key)
            draws.append(
                [
                    distinct.add(caption, corpus, rotation)
                    for rotation in _rotations(sample, policy.rotate)
                ]
            )
        index.append(draws)

    # The sets of a corpus stand together, in the order of their captions.
    order = np.argsort(np.array(distinct.corpora, dtype=np.int64), kind="stable")
    # Rank of each set; the last one stands for no set, -1.
    rank = np.append(np.argsort(order), -1)
    sets = [distinct.sets[int(k)] for k in order]
    array = rank[_pad_rotations(index)]
    corpora = _corpora(judgments, policy, sets, array, corpus_of)
    return ScoringSets(tuple(sets), array, corpora)


class _DistinctSets:
    """Caption sets that differ in their texts, their corpus, or in some columns."""

    def __init__(self, judgments: Judgments, columns: Sequence[str]) -> None:
        self._judgments = judgments
        self._columns = columns
        self._positions: dict[tuple[object, ...], int] = {}
        self.sets: list[CaptionSet] = []
        self.corpora: list[int] = []
        """Number of the corpus of each set."""

    def add(
        self, caption: JudgedCaption, corpus: int, references: tuple[int, ...]
    ) -> int:
        """Return the position of the set of a caption with references of its item, new
        or seen before.
        """
        item = self._judgments.items[caption.item]
        meta = {**caption.meta, "item": item.id, "system": caption.system}
        columns = [meta.get(name) for name in self._columns]
        key = (corpus, caption.item, caption.texts, references, *columns)
        position = self._positions.setdefault(key, len(self.sets))
        if position == len(self.sets):
            name = f"{item.id}/{caption.system}" if caption.system else item.id
            texts = tuple(item.references[k] for k in references)
            self.sets.append(
                CaptionSet(name, caption.texts, texts, item.media, item.source, meta)
            )
            self.corpora.append(corpus)
        return position


def _corpora(
    judgments: Judgments,
    policy: ReferencePolicy,
    sets: Sequence[CaptionSet],
    index: np.ndarray,
    corpus_of: Sequence[int],
) -> tuple[Corpus, ...]:
    """Return the corpora of sets: the references of all items, or those of the scored
    sets with one number.
    """
    if policy.corpus == "items":
        return (Corpus(0, len(sets), [item.references for item in judgments.items]),)
    corpora: list[Corpus] = []
    for number in sorted(set(corpus_of)):
        members = index[np.asarray(corpus_of) == number].ravel()
        members = members[members >= 0]
        references = [sets[int(k)].references for k in members]
        corpora.append(Corpus(int(members.min()), int(members.max()) + 1, references))
    return tuple(corpora)


def _corpus_numbers(
    judgments: Judgments, policy: ReferencePolicy, by: str
) -> list[int]:
    """Return the number of the corpus of each caption; 0 for all unless the policy
    lists categories.
    """
    out = [0] * len(judgments.captions)
    if isinstance(policy.corpus, str):
        return out
    numbers = {
        category: 2 * k for k, names in enumerate(policy.corpus) for category in names
    }
    for pair in judgments.pairs:
        category = str(pair.meta.get(by, ""))
        if category not in numbers:
            raise InputError(
                f"references.corpus has no list with {by} '{category}'; "
                f"found {', '.join(numbers)}",
                judgments.source,
                value=category,
            )
        # First and second captions are two corpora.
        out[pair.first] = numbers[category]
        out[pair.second] = numbers[category] + 1
    return out


def _pad_rotations(index: Sequence[Sequence[Sequence[int]]]) -> np.ndarray:
    width = max((len(rotations) for draws in index for rotations in draws), default=1)
    padded = [
        [[*rotations, *[-1] * (width - len(rotations))] for rotations in draws]
        for draws in index
    ]
    return np.asarray(padded, dtype=np.int64)


def _sample_positions(
    positions: tuple[int, ...], count: int | None, key: Sequence[int]
) -> tuple[int, ...]:
    if count is None or count >= len(positions):
        return positions
    rng = np.random.default_rng(list(key))
    sample = rng.choice(len(positions), size=count, replace=False)
    return tuple(positions[int(k)] for k in np.sort(sample))


def _rotations(
    positions: tuple[int, ...], count: int | None
) -> Iterator[tuple[int, ...]]:
    """Yield the selections of ``count`` positions, each without as many consecutive
    ones as there are too many.

    >>> list(_rotations((0, 1, 2), 2))
    [(1, 2), (0, 2), (0, 1)]
    >>> list(_rotations((4, 7), 3))
    [(4, 7, 4)]
    """
    size = len(positions)
    if count is None or count == size or size == 0:
        yield positions
    elif count > size:
        yield tuple(positions[k % size] for k in range(count))
    else:
        for start in range(size):
            left_out = {(start + k) % size for k in range(size - count)}
            yield tuple(
                position for k, position in enumerate(positions) if k not in left_out
            )


def _ordinals(judgments: Judgments) -> list[int]:
    """Return for each caption the number of its pair among the pairs of its item; 0 for
    captions that are rated alone.
    """
    out = [0] * len(judgments.captions)
    # Where each pair has captions of its own, both are scored with one sample.
    seen: dict[int, int] = {}
    single = len(judgments.pairs) * 2 == len(judgments.captions)
    for pair in judgments.pairs if single else ():
        item = judgments.captions[pair.first].item
        seen[item] = seen.get(item, 0) + 1
        out[pair.first] = out[pair.second] = seen[item]
    return out
