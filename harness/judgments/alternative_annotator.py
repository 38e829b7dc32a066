"""The alternative annotator test: a judge in place of a person, against the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

Alignment = Literal["rmse", "accuracy"]
FEWEST = 30
"""Smallest number of instances of a person who takes part."""


@dataclass(frozen=True)
class AlternativeAnnotator:
    """Result of the test of one judge."""

    winning_rate: float
    """Share of the people whom the judge replaces (omega); at least 0.5 passes. NaN
    where no person has enough instances.
    """
    advantage: float
    """Average advantage probability (rho): probability that the judge is as close to
    the others as a person, or closer.
    """
    p_values: tuple[float, ...]
    """P-value of each person who takes part, not corrected."""


def judge_against_people(
    judge: np.ndarray,
    ratings: np.ndarray,
    *,
    epsilon: float = 0.2,
    level: float = 0.05,
    alignment: Alignment = "rmse",
    fewest: int = FEWEST,
) -> AlternativeAnnotator:
    """Return the winning rate and the average advantage probability of a judge.

    Each person in turn is left out. On every instance of this person the judge wins
    where its annotation is at least as close to those of the remaining people as the
    annotation of the person, and the person wins where the reverse holds; both win a
    tie. The null hypothesis is that the person wins more often by ``epsilon`` or more,
    which Student's one-sided t test of the differences decides. P-values are corrected
    by Benjamini and Yekutieli's procedure.

    Parameters
    ----------
    judge : ndarray
        Annotations of the judge on the scale of the people, shape (n,), NaN where there
        is none.
    ratings : ndarray
        Annotations of m people, shape (n, m), NaN where there is none.
    epsilon : float
        Advantage that is given to the judge, which costs less; the paper suggests 0.2
        for experts, 0.15 for skilled annotators and 0.1 for crowd workers.
    level : float
        False discovery rate.
    alignment : {"rmse", "accuracy"}
        Closeness to the remaining people: minus the root of the mean squared distance,
        or the share of equal annotations.
    fewest : int
        Smallest number of instances of a person who takes part.

    References
    ----------
    Calderon, Reichart and Dror, "The Alternative Annotator Test for LLM-as-a-Judge: How
    to Statistically Justify Replacing Human Annotators with LLMs" (ACL 2025), section
    3.
    """
    from scipy.special import stdtr  # pyright: ignore[reportMissingTypeStubs]

    p_values: list[float] = []
    advantages: list[float] = []
    for person in range(ratings.shape[1]):
        remaining = np.delete(ratings, person, axis=1)
        instances = (
            ~np.isnan(judge)
            & ~np.isnan(ratings[:, person])
            & ~np.isnan(remaining).all(axis=1)
        )
        n = int(instances.sum())
        if n < max(2, fewest):
            continue

        others = remaining[instances]
        of_judge = _align(judge[instances], others, alignment)
        of_person = _align(ratings[instances, person], others, alignment)
        # A tie is won by both, so that it adds nothing to the difference.
        difference = (of_person >= of_judge).astype(float) - (of_judge >= of_person)
        error = difference.std(ddof=1) / np.sqrt(n)
        if error:
            with np.errstate(divide="ignore"):
                t = (difference.mean() - epsilon) / error
            p_values.append(float(stdtr(n - 1, t)))
        else:
            # Differences that do not vary leave no doubt.
            p_values.append(float(difference.mean() >= epsilon))
        advantages.append(float((of_judge >= of_person).mean()))

    if not p_values:
        return AlternativeAnnotator(float("nan"), float("nan"), ())

    return AlternativeAnnotator(
        _count_rejected(p_values, level) / len(p_values),
        float(np.mean(advantages)),
        tuple(p_values),
    )


def _count_rejected(p_values: list[float], level: float) -> float:
    """Return the number of hypotheses that Benjamini and Yekutieli's procedure rejects;
    its harmonic sum allows for any dependence of the tests.
    """
    ranks = np.arange(1, len(p_values) + 1)
    below = np.sort(p_values) <= ranks * level / (len(p_values) * np.sum(1 / ranks))
    return float(ranks[below].max(initial=0))


def _align(
    values: np.ndarray, remaining: np.ndarray, alignment: Alignment
) -> np.ndarray:
    """Return the closeness of annotations (n,) to those of the remaining people
    (n, m - 1), shape (n,).
    """
    if alignment == "rmse":
        return -np.sqrt(np.nanmean((remaining - values[:, None]) ** 2, axis=1))
    equal = remaining == values[:, None]
    return np.nanmean(np.where(np.isnan(remaining), np.nan, equal), axis=1)
