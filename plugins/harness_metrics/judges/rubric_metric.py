"""Metric ``rubric``: a language model grades each caption by criteria."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from harness.contracts import Batch, CaptionSet, Features
from harness.errors import HarnessError
from harness_metrics.judges import prompts
from harness_metrics.judges.answers import (
    Verdict,
    count_answers,
    read_numbers,
    verdict_of,
)
from harness_metrics.judges.judge import JudgeSpec, resolve_judge
from harness_metrics.judges.judge_metric import JudgeMetric, Unanswered

CRITERIA = {
    "correctness": "everything that the caption says is true of the image",
    "completeness": "the caption says what matters in the image",
    "fluency": "the caption is grammatical and reads well",
}
"""Default criteria: name and description."""


class Rubric(JudgeMetric):
    """Mean grade of the candidates over all criteria, scaled to [0, 1];
    higher is better.

    One request per candidate. ``details`` adds the mean of each criterion. A candidate
    without a valid answer is left out of the mean of its example
    (``unanswered: undefined``) or graded lowest.

    Parameters
    ----------
    judge : mapping, Backend or Judge
        Server or local model; see :func:`~harness_metrics.judges.judge.resolve_judge`.
    criteria : mapping, optional
        Name and description of each criterion; default: :data:`CRITERIA`.
    scale : sequence of two numbers, default (1, 5)
        Lowest and highest grade.
    references : bool, default True
        If true, the judge sees the references.
    source : bool, default True
        If true, the judge sees the source text of an example that has one.
    prompt : str, optional
        Template with ``{candidate}``, ``{criteria}`` and, optionally, ``{context}``,
        ``{low}``, ``{high}``, ``{form}``.
    unanswered : {'undefined', 'lowest'}
        Score of a candidate without a valid answer: none, or 0.

    Raises
    ------
    HarnessError
        For a judge that cannot be created, no criteria, a scale that is not ascending,
        and a prompt without its places.

    References
    ----------
    Liu et al. 2023, *G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment*,
    for grades by form filling.
    """

    def __init__(
        self,
        *,
        judge: JudgeSpec,
        criteria: Mapping[str, str] | None = None,
        scale: Sequence[float] = (1, 5),
        references: bool = True,
        source: bool = True,
        prompt: str | None = None,
        unanswered: Unanswered = "undefined",
    ) -> None:
        self.criteria = _criteria(CRITERIA if criteria is None else criteria)
        self.low, self.high = _scale(scale)
        self.references = references
        self.source = source

        judge = resolve_judge(judge, "rubric")
        self.prompt = prompts.check_template(
            prompt or judge.default_prompt(prompts.RUBRIC),
            ("candidate", "criteria"),
            "rubric",
        )

        needs = frozenset({"references"} if references else ())
        settings = [
            f"scale:{self.low:g}-{self.high:g}",
            f"criteria:{json.dumps(self.criteria, sort_keys=True)}",
        ]
        if not source:
            settings.append("no-source")
        if not references:
            settings.append("no-references")
        super().__init__(
            "rubric",
            judge,
            unanswered,
            needs,
            *settings,
            prompts.prompt_key(self.prompt),
        )

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return score, mean of each of k criteria, and counts of each example,
        shape (B, 1 + k + 9).
        """
        read = read_numbers(list(self.criteria), self.low, self.high)
        of_examples = self.ask_each(
            batch, self._prompt, lambda reply: verdict_of(reply, read)
        )
        rows = [
            np.concatenate([self._scores(verdicts), count_answers(verdicts)])
            for verdicts in of_examples
        ]
        return np.stack(rows)

    def _scores(self, verdicts: Sequence[Verdict[tuple[float, ...]]]) -> np.ndarray:
        """Return the mean over criteria and the mean of each criterion,
        shape (1 + k,), on [0, 1].
        """
        values: list[tuple[float, ...]] = [
            verdict.value for verdict in verdicts if verdict.value is not None
        ]
        if self.unanswered == "lowest":
            lowest = (self.low,) * len(self.criteria)
            values += [lowest] * (len(verdicts) - len(values))
        if not values:
            return np.full(1 + len(self.criteria), np.nan)

        # sorted: the sums do not depend on the order of the candidates
        grades: np.ndarray = np.asarray(sorted(values)).mean(axis=0)
        means = (grades - self.low) / (self.high - self.low)
        return np.concatenate([[means.mean()], means])

    def _prompt(self, item: CaptionSet, caption: str) -> str:
        references = item.references if self.references else ()
        source = item.source if self.source else None
        criteria = [f"- {name}: {text}" for name, text in self.criteria.items()]
        fields = [
            f"{json.dumps(name, ensure_ascii=False)}: ..." for name in self.criteria
        ]
        values = {
            "candidate": prompts.quote_caption(caption),
            "context": prompts.context(references, source),
            "criteria": "\n".join(criteria),
            "low": f"{self.low:g}",
            "high": f"{self.high:g}",
            "form": "{" + ", ".join(fields) + "}",
        }
        return prompts.fill(self.prompt, values)

    def details(self, stats: np.ndarray) -> dict[str, object]:
        """Return the mean of each criterion on [0, 1], and the counts, from statistics
        (B, d) of the defined examples.
        """
        columns = stats[:, 1 : 1 + len(self.criteria)]
        counts = stats[:, 1 + len(self.criteria) :]
        grades = columns[~np.isnan(stats[:, 0])]
        means: list[float] = grades.mean(axis=0).tolist() if len(grades) else []
        note = self.scale_note(columns, counts, self.low, self.high)
        return {
            "criteria": dict(zip(self.criteria, means)),
            **super().details(stats),
            **note,
        }


def _criteria(criteria: object) -> dict[str, str]:
    texts: Mapping[str, str] = {}
    if isinstance(criteria, Mapping):
        texts = cast("Mapping[str, str]", criteria)
    names = {str(name).strip().casefold() for name in texts}
    if not names or "" in names or len(names) < len(texts):
        raise HarnessError(
            f"rubric: criteria is {criteria!r:.80}; expected a mapping of different "
            "names to descriptions",
            parameter="criteria",
            value=texts,
        )
    return {str(name).strip(): str(text) for name, text in texts.items()}


def _scale(scale: object) -> tuple[float, float]:
    values: list[object] = []
    if isinstance(scale, (list, tuple)):
        values = list(cast("Sequence[object]", scale))
    numbers = [
        float(v)
        for v in values
        if isinstance(v, (int, float)) and not isinstance(v, bool)
    ]

    if len(numbers) != 2 or len(values) != 2 or not numbers[0] < numbers[1]:
        raise HarnessError(
            f"rubric: scale is {scale!r}; expected two ascending numbers, "
            "such as [1, 5]",
            parameter="scale",
            value=values,
        )
    return numbers[0], numbers[1]
