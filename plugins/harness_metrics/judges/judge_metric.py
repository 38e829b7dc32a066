"""Base class of metrics whose scores are answers of a judge model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

import numpy as np

from harness.contracts import Batch, CaptionSet, MeanMetric, MetricSpec
from harness.contracts.parameters import check_arguments
from harness.errors import HarnessError
from harness_metrics.judges.answers import COLUMNS, STATUSES, Verdict, describe_counts
from harness_metrics.judges.judge import Judge, JudgeSpec, resolve_judge
from harness_metrics.judges.replies import Reply

T = TypeVar("T")
Unanswered = Literal["undefined", "lowest"]
LARGE_SCALE = 10
"""Highest grade from which on answers between 0 and 1 with fractions are probably on
another scale.
"""
WHOLE = 1e-6
"""Distance from a whole number that rounding may make."""


class JudgeMetric(MeanMetric):
    """Base of a metric with scores in [0, 1] by a judge; a subclass defines ``stats``
    with the counts in its last columns.

    Parameters
    ----------
    name : str
        Name of the metric.
    judge : mapping, Backend or Judge
        See :func:`~harness_metrics.judges.judge.resolve_judge`.
    unanswered : {'undefined', 'lowest'}
        Score of a caption or set without a valid answer: none, or 0.
    needs : frozenset of str
        Needs of the metric's ``spec``.
    settings : str
        Further settings for the signature.

    Attributes
    ----------
    of_all_candidates : bool
        True for a metric whose judge reads all candidates of an example together, so
        that the score depends on their number.
    """

    of_all_candidates = False

    @check_arguments
    def __init__(
        self,
        name: str,
        judge: JudgeSpec,
        unanswered: Unanswered,
        needs: frozenset[str],
        *settings: str,
    ) -> None:
        self.judge: Judge = resolve_judge(judge, name)
        if self.judge.image and self.of_all_candidates:
            raise HarnessError(
                f"{name}: compares texts; image: true is for the judges of rubric, "
                "win-rate and fleur",
                parameter="judge",
            )

        self.unanswered = unanswered
        self.settings = settings

        if self.judge.image:
            needs |= {"images"}
        depends_on = needs & {"references"}
        if self.of_all_candidates:
            depends_on |= {"candidates"}
        references = int("references" in needs)
        self.spec = MetricSpec(
            name,
            True,
            needs=needs,
            bounds=(0.0, 1.0),
            min_references=references,
            min_texts=1 + references,
            untestable="asks a judge model",
            details_of_undefined=True,
            depends_on=depends_on,
        )

    def ask_each(
        self,
        batch: Batch,
        prompt_of: Callable[[CaptionSet, str], str],
        read: Callable[[Reply], Verdict[T]],
    ) -> list[list[Verdict[T]]]:
        """Return the verdicts on the candidates of each example; ``prompt_of`` maps an
        example and a candidate to the prompt.
        """
        texts: list[str] = []
        media: list[str | None] = []
        for item in batch.sets:
            for caption in item.candidates:
                texts.append(prompt_of(item, caption))
                media.append(item.media)
        verdicts = self.judge.ask(texts, read, media)
        return [
            verdicts[start : start + batch.n]
            for start in range(0, len(verdicts), batch.n)
        ]

    @property
    def default(self) -> float:
        """Score without a valid answer: NaN or 0."""
        return float("nan") if self.unanswered == "undefined" else 0.0

    def signature(self) -> str:
        """Return the name, the settings and the signature of the judge."""
        settings = list(self.settings)
        if self.unanswered != "undefined":
            settings.append(f"unanswered:{self.unanswered}")
        return "|".join([self.spec.name, *settings, self.judge.signature()])

    def scale_note(
        self, grades: np.ndarray, counts: np.ndarray, low: float, high: float
    ) -> dict[str, object]:
        """Return ``scale_note`` where all answers lie from 0 to 1, with fractions,
        although the judge was asked for 0 to ``high``.

        Parameters
        ----------
        grades : ndarray
            Means of the grades of each example, one column per criterion, scaled to [0,
            1], shape (B, k); NaN where there are none.
        counts : ndarray
            Counts of the answers
            (:func:`~harness_metrics.judges.answers.count_answers`), shape (B, 9).
        low, high : float
            Lowest and highest grade.
        """
        is_graded = ~np.isnan(grades[:, 0])
        if low != 0 or high < LARGE_SCALE or not is_graded.any():
            return {}

        means = (grades * high)[is_graded]
        n_answers = counts[is_graded, 0]
        if self.unanswered == "lowest":
            n_answers = counts[is_graded, : len(STATUSES)].sum(axis=1)
        # A sum of whole grades is whole, whatever their mean is.
        sums: np.ndarray = means * n_answers[:, None]
        has_fractions = bool((np.abs(sums - np.round(sums)) > WHOLE).any())
        if (means > 1 + WHOLE).any() or not has_fractions:
            return {}
        return {
            "scale_note": "all answers lie from 0 to 1, with fractions, "
            f"on a scale of 0 to {high:g}: "
            "if the judge answers on a scale of 0 to 1, "
            f"its scores are {high:g} times too low"
        }

    def details(self, stats: np.ndarray) -> dict[str, object]:
        """Return counts of the answers by status, requests, tokens and cost, from
        statistics (B, d) of all judged examples.
        """
        return describe_counts(stats[:, -len(COLUMNS) :], self.judge.prices)
