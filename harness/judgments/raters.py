"""People against people: one person's ratings as if they were scores of a metric, and
judges as raters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from harness.contracts import Judgments, Values
from harness.judgments.agreement import agreements
from harness.judgments.alternative_annotator import judge_against_people
from harness.judgments.judgment_models import (
    LABEL_STATISTICS,
    PAIR_STATISTICS,
    SYSTEM_STATISTICS,
)
from harness.judgments.metric_scores import COUNTS, Agreement, MetricScores, mean_of
from harness.judgments.rows import JudgmentRows

ONE_PERSON = "one person against the others"
"""Label of the row of people."""


def ratings_of_people(
    rows: JudgmentRows, *, of_pairs: bool = False
) -> np.ndarray | None:
    """Return the ratings of m people, shape (captions, m), NaN where there is none;
    None for a set without ratings of its raters.

    A person is a position in the ratings of a caption, or in the votes of a pair, shape
    (P, m). Ratings that are sorted everywhere, and votes that were reconstructed from a
    mean, name no person.
    """
    judgments = rows.judgments
    if of_pairs:
        ratings = [pair.votes for pair in judgments.pairs]
    else:
        ratings = [caption.ratings for caption in judgments.captions]
    if rows.spec.judgments.mean_of is not None or max(map(len, ratings), default=0) < 2:
        return None
    table = np.array(list(zip_longest(*ratings, fillvalue=np.nan))).T
    # Steps of one sign everywhere: the ratings of each caption are sorted.
    steps = np.diff(table, axis=1)
    return table if (steps > 0).any() == (steps < 0).any() else None


def person_agreements(rows: JudgmentRows, statistic: str) -> dict[str, Agreement]:
    """Return group -> mean agreement of each person with the others, who stand in for
    all people; empty where it cannot be formed.

    One rating of every caption with several (one vote of every pair) is left out of the
    human score and scored as that of a metric, for each person in turn.
    """
    of_pairs = bool(rows.judgments.pairs) and (
        statistic in PAIR_STATISTICS or not rows.has_ratings
    )
    table = ratings_of_people(rows, of_pairs=of_pairs)
    if table is None or (statistic in SYSTEM_STATISTICS and rows.judgments.systems):
        return {}

    sign = 1.0 if rows.spec.judgments.higher_is_better else -1.0
    of_people: list[dict[str, Agreement]] = []
    for person in range(table.shape[1]):
        others = JudgmentRows(_leave_out(rows.judgments, person), rows.spec)
        if statistic in LABEL_STATISTICS and len(np.unique(others.rated.human)) != 2:
            return {}
        several = np.isfinite(table).sum(axis=1) > 1
        own = np.where(several, table[:, person], np.nan)[:, None]
        if of_pairs:
            unscored = np.full((len(rows.judgments.captions), 1), np.nan)
            scores = MetricScores(unscored, of_pairs=own)
        else:
            scores = MetricScores(sign * own)
        of_people.append(agreements(others, scores, statistic))

    mean_of_groups: dict[str, Agreement] = {}
    for group in of_people[0]:
        of_group = [of_person[group] for of_person in of_people]
        mean_of_groups[group] = _mean_of_people(of_group, rows.items)
    return mean_of_groups


def _leave_out(judgments: Judgments, person: int) -> Judgments:
    """Return the judgments without one rating of each caption, and one vote of each
    pair, that has it and another one.
    """

    def others(values: tuple[float, ...]) -> tuple[float, ...]:
        return values[:person] + values[person + 1 :] if len(values) > 1 else values

    captions = [
        replace(caption, ratings=others(caption.ratings))
        for caption in judgments.captions
    ]
    return replace(
        judgments,
        captions=captions,
        pairs=[replace(pair, votes=others(pair.votes)) for pair in judgments.pairs],
    )


def _mean_of_people(of_people: Sequence[Agreement], items: int) -> Agreement:
    """Return the mean over the people whose agreement is defined, with the counts of
    the first of them.
    """
    ones = np.ones((1, items))
    defined = [
        agreement for agreement in of_people if not np.isnan(agreement.reduce(ones)[0])
    ]
    used = defined or of_people
    first = used[0]
    details: Values = {
        name: first.details[name] for name in COUNTS if name in first.details
    }
    return replace(
        first,
        reduce=mean_of([agreement.reduce for agreement in used]),
        details={**details, "people": len(defined)},
    )


def judge_as_person(
    rows: JudgmentRows, scores: np.ndarray, bounds: tuple[float, float] | None
) -> Values:
    """Return the result of the alternative annotator test of a metric; empty where the
    task does not ask for it.

    Parameters
    ----------
    rows : JudgmentRows
        The judgments. An instance is a rated caption.
    scores : ndarray
        Scores as the metric gives them, shape (captions,), NaN where undefined.
    bounds : tuple of float, optional
        Worst and best score. Scores within finite bounds are mapped to the scale of the
        ratings, others are taken as they are.
    """
    test = rows.spec.tests.alternative
    table = ratings_of_people(rows)
    if test is None or table is None:
        return {}

    # From the worst to the best rating.
    levels = np.unique(table[~np.isnan(table)])
    scale = (float(levels[0]), float(levels[-1]))
    if not rows.spec.judgments.higher_is_better:
        scale = scale[::-1]
    low, high = test.scale or scale
    if bounds is not None and np.isfinite(bounds).all():
        scores = low + (scores - bounds[0]) / (bounds[1] - bounds[0]) * (high - low)
    if test.alignment == "accuracy":
        # Equal annotations are counted: a score stands for the nearest rating.
        nearest = np.abs(np.nan_to_num(scores)[:, None] - levels).argmin(axis=1)
        scores = np.where(np.isnan(scores), np.nan, levels[nearest])

    result = judge_against_people(
        scores,
        table,
        epsilon=test.epsilon,
        level=rows.spec.tests.level,
        alignment=test.alignment,
    )
    values = {
        "winning_rate": result.winning_rate,
        "advantage": result.advantage,
        "epsilon": test.epsilon,
        "p": list(result.p_values),
    }
    return {"alternative": values if result.p_values else {}}
