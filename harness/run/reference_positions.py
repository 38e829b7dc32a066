"""A test whether references depend on their position among those of an example."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.contracts import CaptionSet, Example
from harness.registry import current
from harness.run.score import score_sets

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
    if size is None:
        return ""

    # A sample is enough to see an effect, and scoring all references would take longer
    # than the run.
    texts: list[list[str]] = []
    step = -(-len(examples) // MAX_EXAMPLES)
    for position in range(0, len(examples), step):
        references = examples[position].references[:MAX_POSITIONS]
        texts.append([" ".join(text.split()[:MAX_WORDS]) for text in references])
    texts = [references for references in texts if len(references) > 1]
    if not any(len(references) > size for references in texts):
        return ""

    values = {"length": [_numbers_of_words(references) for references in texts]}
    for entry in current().all_with_role("metrics", AGREEMENT):
        values[entry.display or entry.name] = _agreement(entry.name, texts)

    effects: list[str] = []
    for name, rows in values.items():
        p_value = position_p_value(_padded(rows))
        if p_value <= LEVEL:
            effects.append(f"{name} p = {p_value:.3f}")
    if not effects:
        return ""
    return (
        f"references depend on their position ({', '.join(effects)}; "
        f"{len(texts)} examples): the first {size} are no random subset, "
        f"so people differ from people; references: {size} draws them at random"
    )


def _numbers_of_words(texts: Sequence[str]) -> list[float]:
    return [float(len(text.split())) for text in texts]


def _agreement(metric: str, texts: Sequence[Sequence[str]]) -> list[list[float]]:
    """Return the score of each reference against the others of its example by a
    registered metric.
    """
    sets: list[CaptionSet] = []
    for row, references in enumerate(texts):
        for k, text in enumerate(references):
            others = (*references[:k], *references[k + 1 :])
            sets.append(CaptionSet(f"{row} {k}", (text,), others))

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
    means = filled.sum(axis=1, keepdims=True) / counts
    deviations = np.where(absent, 0.0, filled - means)
    present = np.maximum(1, (~absent).sum(axis=0))

    def statistic(rows: np.ndarray) -> float:
        return float((rows.sum(axis=0) ** 2 / present).sum())

    observed = statistic(deviations)
    rng = np.random.default_rng(seed)
    as_extreme = 0
    for _ in range(draws):
        # random keys below 1 permute the values of each example; 2 leaves the gaps at
        # its end
        keys = rng.random(values.shape)
        keys[absent] = 2.0
        permuted = np.take_along_axis(deviations, np.argsort(keys, axis=1), axis=1)
        # sums in another order
        as_extreme += statistic(permuted) >= observed * (1 - 1e-12)
    return (1 + as_extreme) / (1 + draws)
