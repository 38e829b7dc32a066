"""Metrics of caption-harness as scorers of inspect: ``bleu4``, ``meteor``,
``rouge``, ``cider``.

A scorer keeps the answer of a sample as its value and the targets as metadata; the
number, with its 95 % interval, is computed over all samples at the end, because
document frequencies and BLEU depend on all of them.
"""

from __future__ import annotations

from collections.abc import Callable

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

import harness


@metric
def caption_metric(name: str) -> Metric:
    """Return the metric of inspect that computes a metric of the harness over all
    samples: its value and the ends of its interval.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        answers = [score.score.answer or "" for score in scores]
        references = [(score.score.metadata or {})["references"] for score in scores]
        result = harness.score(answers, references, name)[name]
        low, high = result.ci95 or (float("nan"), float("nan"))
        return {name: result.value, f"{name}_low": low, f"{name}_high": high}

    return compute


def _scorer(name: str) -> Callable[[], Scorer]:
    def create() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            answer = state.output.completion
            return Score(
                value=answer, answer=answer, metadata={"references": list(target)}
            )

        return score

    create.__name__ = name
    create.__doc__ = (
        f"Return the scorer of the harness's metric {name}; "
        "the targets of a sample are its references."
    )
    return scorer(metrics=[caption_metric(name)], name=f"caption_{name}")(create)


bleu4, meteor, rouge, cider = map(_scorer, ("bleu4", "meteor", "rouge", "cider"))
