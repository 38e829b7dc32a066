"""Metric ``clair``: a language model says whether two sets of captions describe the
same image.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.contracts import Batch, Features
from harness_metrics.judges import prompts
from harness_metrics.judges.answers import count_answers, read_number, verdict_of
from harness_metrics.judges.judge import JudgeSpec
from harness_metrics.judges.judge_metric import JudgeMetric, Unanswered

HIGHEST = 100.0
_READ = read_number("score", 0.0, HIGHEST)


class Clair(JudgeMetric):
    """Likelihood that candidates and references describe one image, by a judge model,
    in [0, 1]; higher is better.

    One request per example, with all its candidates and references, each list sorted.
    The judge answers a JSON object with a score from 0 to 100.

    Parameters
    ----------
    judge : mapping, Backend or Judge
        Server or local model; see :func:`~harness_metrics.judges.judge.resolve_judge`.
    prompt : str, optional
        Template with ``{candidates}`` and ``{references}``.
    unanswered : {'undefined', 'lowest'}
        Score of an example without a valid answer: none, or 0.

    Raises
    ------
    HarnessError
        For a judge that cannot be created, and a prompt without these places.

    References
    ----------
    Chan et al. 2023, *CLAIR: Evaluating Image Captions with Large Language Models*,
    section 3.
    """

    of_all_candidates = True

    def __init__(
        self,
        *,
        judge: JudgeSpec,
        prompt: str | None = None,
        unanswered: Unanswered = "undefined",
    ) -> None:
        self.prompt = prompts.check_template(
            prompt or prompts.CLAIR, ("candidates", "references"), "clair"
        )
        super().__init__(
            "clair",
            judge,
            unanswered,
            frozenset({"references"}),
            prompts.prompt_key(self.prompt),
        )

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the score and the counts of each example, shape (B, 10)."""
        texts: list[str] = []
        for item in batch.sets:
            values = {
                "candidates": prompts.listing(item.candidates),
                "references": prompts.listing(item.references),
            }
            texts.append(prompts.fill(self.prompt, values))
        verdicts = self.judge.ask(texts, lambda reply: verdict_of(reply, _READ))

        rows: list[np.ndarray] = []
        for verdict in verdicts:
            score = self.default
            if verdict.value is not None:
                score = verdict.value / HIGHEST
            rows.append(np.concatenate([[score], count_answers([verdict])]))
        return np.stack(rows)

    def details(self, stats: np.ndarray) -> dict[str, object]:
        """Return the counts of the answers, and whether they seem to be on another
        scale, from statistics (B, 10).
        """
        return {
            **super().details(stats),
            **self.scale_note(stats[:, :1], stats[:, 1:], 0.0, HIGHEST),
        }
