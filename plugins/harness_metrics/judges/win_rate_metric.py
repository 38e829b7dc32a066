"""Metric ``win-rate``: a language model compares each candidate with references."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from harness.contracts import Batch, CaptionSet, Features
from harness.contracts.parameters import Count, check_arguments
from harness_metrics.judges import prompts
from harness_metrics.judges.answers import count_answers
from harness_metrics.judges.duels import CRITERION, Duel, Outcome, fight, mean_points
from harness_metrics.judges.judge import JudgeSpec, resolve_judge
from harness_metrics.judges.judge_metric import JudgeMetric, Unanswered


class WinRate(JudgeMetric):
    """Share of duels with references that a candidate wins before a judge, ties one
    half, in [0, 1]; higher is better.

    Each candidate meets ``opponents`` references, in both orders; an order-dependent
    decision counts as a tie. The judge sees the other references. 0.5 is the level of
    people. ``details`` adds the share of decisions for the caption in the first place,
    and the share of duels whose two orders contradict each other.

    Parameters
    ----------
    judge : mapping, Backend or Judge
        Server or local model; see :func:`~harness_metrics.judges.judge.resolve_judge`.
    opponents : int, default 1
        References that each candidate meets: the first ones in sorted order.
    criterion : str, optional
        Meaning of *better* in the prompt.
    prompt : str, optional
        Template with ``{first}``, ``{second}`` and, optionally, ``{context}``,
        ``{criterion}``.
    unanswered : {'undefined', 'lowest'}
        Points of a duel without a valid answer in one order: none, or 0.
    rival : bool, default False
        In tasks of judged pairs: the two captions of a pair are compared with each
        other, and the judge sees no references.

    Raises
    ------
    HarnessError
        For a judge that cannot be created, a count below 1, and a prompt without its
        places.

    References
    ----------
    Zheng et al. 2023, *Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena*, section
    3.4, for the swap of positions.
    """

    @check_arguments
    def __init__(
        self,
        *,
        judge: JudgeSpec,
        opponents: Count = 1,
        criterion: str | None = None,
        prompt: str | None = None,
        unanswered: Unanswered = "undefined",
        rival: bool = False,
    ) -> None:
        self.opponents = opponents
        self.criterion = criterion or CRITERION
        judge = resolve_judge(judge, "win-rate")
        self.prompt = prompts.check_template(
            prompt or judge.default_prompt(prompts.ARENA),
            ("first", "second"),
            "win-rate",
        )
        key = prompts.prompt_key(f"{self.prompt}\n{self.criterion}")

        needs = frozenset({"references"})
        settings = f"opponents:{opponents}"
        if rival:
            needs = frozenset[str]()
            settings = "rival"
        super().__init__("win-rate", judge, unanswered, needs, settings, key)
        self.spec = replace(self.spec, rival=rival)

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return points, first places, contradictions, duels, and counts of each
        example, shape (B, 4 + 9).
        """
        # All duels of the batch are asked together, and divided by example afterwards.
        duels = [self._duels(item) for item in batch.sets]
        all_duels = [duel for example_duels in duels for duel in example_duels]
        outcomes = iter(fight(self.judge, all_duels, self.criterion, self.prompt))

        rows = [
            self._row([next(outcomes) for _ in example_duels])
            for example_duels in duels
        ]
        return np.stack(rows)

    def _duels(self, item: CaptionSet) -> list[Duel]:
        # sorted: the duels do not depend on the order of the texts
        references = sorted(item.references)
        n_opponents = min(self.opponents, len(references))
        duels: list[Duel] = []
        for caption in sorted(item.candidates):
            for k in range(n_opponents):
                others = tuple(references[:k] + references[k + 1 :])
                duel = Duel(caption, references[k], others, item.source, item.media)
                duels.append(duel)
        return duels

    def _row(self, outcomes: list[Outcome]) -> np.ndarray:
        defined = [outcome for outcome in outcomes if not np.isnan(outcome.points)]
        score = mean_points(outcomes)
        if self.unanswered == "lowest":
            score = sum(outcome.points for outcome in defined) / len(outcomes)

        first_places = sum(outcome.for_first_place for outcome in defined)
        contradictions = sum(outcome.contradicts for outcome in defined)
        verdicts = [
            verdict
            for outcome in outcomes
            for verdict in (outcome.forward, outcome.backward)
            if verdict.requests
        ]
        numbers = [score, first_places, contradictions, len(defined)]
        return np.concatenate([numbers, count_answers(verdicts)])

    def details(self, stats: np.ndarray) -> dict[str, object]:
        """Return bias of position, contradictions, and counts, from statistics (B, 13)
        of the defined examples.
        """
        first_places, contradictions, duels = stats[:, 1:4].sum(axis=0).tolist()
        shares: dict[str, object] = {}
        if duels:
            shares["first place"] = first_places / duels
            shares["contradictions"] = contradictions / duels
        return {**shares, **super().details(stats)}
