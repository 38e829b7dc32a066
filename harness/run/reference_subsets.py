"""Set sizes of a run: the references that count where it uses fewer than an example
has, and the smallest common size.

Each example has one random order of its references, from the seed of the run and its
id. A cut keeps the first of this order, so that sets of different sizes are nested and
all models see the same ones; held-out people come from its other end
(:mod:`harness_models.human`). People and references are then exchangeable, whatever the
order of the data set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from harness.contracts import CaptionSet, Example
from harness.registry import current
from harness.run.score import score_sets
from harness.stats.seeds import derive

AGREEMENT = "agreement-of-references"
"""Role of the metrics by which a reference is compared with the others of its example.
"""
LEVEL = 0.001
"""Largest p-value of a test that is noted."""
MAX_EXAMPLES = 500
"""Number of examples that are tested, evenly spaced in the data set."""
MAX_POSITIONS = 20
"""Number of references of an example that are tested, from the first."""
MAX_WORDS = 50
"""Number of words of a reference that are compared, from the first."""
DRAWS = 1000
"""Number of permutations; the smallest p-value is 1 / (DRAWS + 1)."""


@dataclass(frozen=True, slots=True)
class ReferenceSubset:
    """Choice of the references of every example."""

    size: int | None = None
    """Number of references that count; None: all."""
    seed: int | None = None
    """Seed of the run, with which they are drawn; None: the first ones count."""

    def arrange(
        self,
        example: Example,
        own: Sequence[str] | None,
        held_out: Sequence[int] | None,
    ) -> tuple[str, ...]:
        """Return the references that an answer leaves, those that count first.

        They keep the order of the data set where the first ones count, and where there
        are no more than count.

        Parameters
        ----------
        example : Example
            The example.
        own : sequence of str or None
            The references that the answer of a model left; None: all.
        held_out : sequence of int or None
            The positions of the others, where the answer says so.
        """
        remaining = example.references if own is None else tuple(own)
        if self.seed is None or self.size is None or len(remaining) <= self.size:
            return remaining
        if own is None or held_out is not None:
            return tuple(
                example.references[i]
                for i in drawn_order(self.seed, example, held_out or ())
            )
        # An adapter that does not say which references it removed: an order of those
        # that remain, independent of its own draws.
        order = _permutation(
            derive(self.seed, example.id, "references"), len(remaining)
        )
        return tuple(remaining[i] for i in order)


def drawn_order(
    seed: int, example: Example, held_out: Collection[int] = ()
) -> list[int]:
    """Return the positions of an example's references in the order in which they are
    drawn, without those that are held out.

    >>> drawn_order(0, Example("image-1", tuple("abcde")))
    [4, 1, 0, 3, 2]
    >>> drawn_order(0, Example("image-1", tuple("abcde")), held_out=[2, 3])
    [4, 1, 0]
    """
    order = _permutation(derive(seed, example.id), len(example.references))
    removed = set(held_out)
    return [position for position in reversed(order) if position not in removed]


def _permutation(seed: int, count: int) -> list[int]:
    return np.random.default_rng(seed).permutation(count).tolist()


def position_note(examples: Sequence[Example], sizes: Sequence[int | None]) -> str:
    """Return a note where references depend on their position and fewer than all count;
    empty otherwise.

    Length in words, and ROUGE-L against the other references where it is installed, are
    tested, with values permuted within examples.

    Parameters
    ----------
    examples : sequence of Example
        Examples of the run.
    sizes : sequence of int or None
        Numbers of references that are used, from the first; None: all.
    """
    size = min((count for count in sizes if count is not None), default=None)
    sample = (
        examples[i] for i in range(0, len(examples), -(-len(examples) // MAX_EXAMPLES))
    )
    texts = [
        [" ".join(text.split()[:MAX_WORDS]) for text in item.references[:MAX_POSITIONS]]
        for item in sample
    ]
    texts = [references for references in texts if len(references) > 1]
    if size is None or not any(len(references) > size for references in texts):
        return ""
    values = {
        "length": [
            [float(len(text.split())) for text in references] for references in texts
        ]
    }
    values |= {
        entry.display or entry.name: _agreement(entry.name, texts)
        for entry in current().all_with_role("metrics", AGREEMENT)
    }
    p_values = {name: position_p_value(_padded(rows)) for name, rows in values.items()}
    effects = [f"{name} p = {p:.3f}" for name, p in p_values.items() if p <= LEVEL]
    if not effects:
        return ""
    return (
        f"references depend on their position ({', '.join(effects)}; "
        f"{len(texts)} examples): the first {size} are no random subset, "
        f"so people differ from people; references: {size} draws them at random"
    )


def _agreement(metric: str, texts: Sequence[Sequence[str]]) -> list[list[float]]:
    """Return the score of each reference against the others of its example by a
    registered metric.
    """
    sets = [
        CaptionSet(f"{row} {k}", (text,), (*references[:k], *references[k + 1 :]))
        for row, references in enumerate(texts)
        for k, text in enumerate(references)
    ]
    component = current().create("metrics", metric)
    (scored,) = score_sets([component], sets)
    scores = iter(scored.per_example(component).tolist())
    return [[next(scores) for _ in references] for references in texts]


def _padded(rows: Sequence[Sequence[float]]) -> np.ndarray:
    values = np.full((len(rows), max(map(len, rows))), np.nan)
    for target, row in zip(values, rows):
        target[: len(row)] = row
    return values


def position_p_value(values: np.ndarray, draws: int = DRAWS, seed: int = 0) -> float:
    """Return the p-value of the hypothesis that the values of each example are
    exchangeable.

    The statistic is the sum over positions of the number of values times the square of
    their mean deviation from the means of their examples.

    Parameters
    ----------
    values : ndarray
        One row per example, shape (examples, positions); NaN after the last value of an
        example with fewer.
    draws : int
        Number of random permutations within all examples.
    seed : int
        Seed of the permutations.

    Examples
    --------
    >>> rising = np.arange(4.0) + np.zeros((20, 1))
    >>> position_p_value(rising) < 0.001, position_p_value(np.ones((20, 4)))
    (True, 1.0)
    """
    absent = np.isnan(values)
    filled = np.where(absent, 0.0, values)
    counts = np.maximum(1, (~absent).sum(axis=1, keepdims=True))
    deviations = np.where(
        absent, 0.0, filled - filled.sum(axis=1, keepdims=True) / counts
    )
    present = np.maximum(1, (~absent).sum(axis=0))

    def statistic(rows: np.ndarray) -> float:
        return float((rows.sum(axis=0) ** 2 / present).sum())

    observed = statistic(deviations)
    rng = np.random.default_rng(seed)
    as_extreme = 0
    for _ in range(draws):
        keys = rng.random(values.shape)
        keys[absent] = 2.0
        permuted = np.take_along_axis(deviations, np.argsort(keys, axis=1), axis=1)
        # sums in another order
        as_extreme += statistic(permuted) >= observed * (1 - 1e-12)
    return (1 + as_extreme) / (1 + draws)


@dataclass(frozen=True, slots=True)
class CommonSize:
    """Largest numbers of candidates and references that every caption set of a run
    has.
    """

    n: int
    """Number of candidates."""
    m: int
    """Number of references."""
    note: str = ""
    """Description of the cut with the models that determine it;
    empty where all sets have this size.
    """


def common_size(counts: Iterable[tuple[str, np.ndarray, np.ndarray]]) -> CommonSize:
    """Return the common size of caption sets.

    Parameters
    ----------
    counts : iterable of (str, array, array)
        Label of a model, and the numbers of candidates and of references of its
        examples, shapes (B,). A model may occur several times; entries without examples
        do not count.

    Raises
    ------
    ValueError
        No entry has examples.

    Examples
    --------
    >>> one, two = np.array([1]), np.array([2])
    >>> common_size([("a", two, one), ("b", one, two)]).note
    'sizes: equal cuts all sets to 1 candidate (the fewest, of b) and 1 reference (the fewest, of a)'
    """
    entries = [(label, sizes) for label, *sizes in counts if len(sizes[0])]
    phrases: list[str] = []
    smallest_sizes: list[int] = []
    for axis, noun in enumerate(("candidate", "reference")):
        smallest: dict[str, int] = {}
        for label, sizes in entries:
            least_here = int(sizes[axis].min())
            smallest[label] = min(smallest.get(label, least_here), least_here)
        label = min(smallest, key=lambda name: smallest[name])
        size = int(smallest[label])
        smallest_sizes.append(size)
        if any((sizes[axis] > size).any() for _, sizes in entries):
            phrases.append(
                f"{size} {noun}{'s' if size > 1 else ''} (the fewest, of {label})"
            )
    n, m = smallest_sizes
    return CommonSize(
        n,
        m,
        f"sizes: equal cuts all sets to {' and '.join(phrases)}" if phrases else "",
    )


class SizeNote(NamedTuple):
    """Remark on one size of the grid."""

    text: str
    covered: bool
    """True when a smaller size of the grid already uses all the data,
    so that this size is left out.
    """


def size_note(
    model: str, noun: str, size: int | None, largest: int, grid: Sequence[int | None]
) -> SizeNote | None:
    """Return a note for a size beyond the data, None for a size within it.

    Parameters
    ----------
    model : str
        Label of the model.
    what : str
        ``candidates`` or ``references``.
    size : int, optional
        Size of the grid; None: all.
    most : int
        Largest number in the data.
    grid : sequence of int or None
        All sizes of the grid.
    """
    if size is None or size <= largest:
        return None
    covered = any(
        grid_size is not None and largest <= grid_size < size for grid_size in grid
    )
    effect = (
        "left out, a smaller size shows all of them"
        if covered
        else "scored with what there is"
    )
    return SizeNote(
        f"{model} has at most {largest} {noun}, not {size}: {effect}", covered
    )
