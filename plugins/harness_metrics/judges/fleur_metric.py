"""Metrics ``fleur`` and ``ref-fleur``: a grade by a model that sees the image,
smoothed by the probabilities of its digits.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import exp
from typing import Any

import numpy as np

from harness.contracts import Batch, CaptionSet, Features
from harness.errors import HarnessError
from harness_metrics.bases.example_values import mean_of_defined
from harness_metrics.judges import prompts
from harness_metrics.judges.answers import Verdict, count_answers, verdict_of_text
from harness_metrics.judges.judge import JudgeSpec, resolve_judge
from harness_metrics.judges.judge_metric import JudgeMetric, Unanswered
from harness_metrics.judges.local import LocalModel
from harness_metrics.judges.replies import Reply
from harness_metrics.judges.server import Server

DECIMALS = 2
"""Decimals of a grade that count."""
TEXTS_OF_TOKEN = 20
"""Likeliest texts of a token that are asked for: as many as servers report."""


class Fleur(JudgeMetric):
    """Grade of each candidate by a judge that sees the image, in [0, 1];
    higher is better.

    One request per candidate. The grade is not the printed number, but the expectation
    of its digits under the probabilities that the judge reports, so that grades tie
    less. The score of an example is the mean over its candidates.

    Parameters
    ----------
    judge : mapping, Backend or Judge
        Server or local model that sees the image (``image: true``); see
        :func:`~harness_metrics.judges.judge.resolve_judge`.
    references : bool, default False
        If true, the judge sees the references too (RefFLEUR).
    prompt : str, optional
        Template with ``{candidate}`` and, optionally, ``{context}``.
    unanswered : {'undefined', 'lowest'}
        Score of a candidate without a grade between 0 and 1, or without the
        probabilities of its digits: none, or 0.

    Raises
    ------
    HarnessError
        For a judge that cannot be created or sees no image, and a prompt without its
        place.

    References
    ----------
    Lee, Park and Kang 2024, *FLEUR: An Explainable Reference-Free Evaluation Metric for
    Image Captioning Using a Large Multimodal Model*, section 3.2.
    """

    label = "fleur"
    """Registered name."""

    def __init__(
        self,
        *,
        judge: JudgeSpec,
        references: bool = False,
        prompt: str | None = None,
        unanswered: Unanswered = "undefined",
    ) -> None:
        judge = copy.copy(resolve_judge(judge, self.label))
        if not judge.image:
            raise HarnessError(
                f"{self.label}: the judge sees the image; "
                "expected judge: {image: true, ...}",
                parameter="judge",
            )

        judge.repeats = 0  # the reminder of a repetition speaks of JSON
        if isinstance(judge.backend, Server):
            judge.backend = copy.copy(judge.backend)
            log_probs = {"logprobs": True, "top_logprobs": TEXTS_OF_TOKEN}
            judge.backend.extra = {**log_probs, **judge.backend.extra}
        elif isinstance(judge.backend, LocalModel):
            judge.backend = copy.copy(judge.backend)
            judge.backend.top_log_probs = TEXTS_OF_TOKEN

        self.references = references
        self.prompt = prompts.check_template(
            prompt or prompts.FLEUR, ("candidate",), self.label
        )
        needs = frozenset({"references"} if references else ())
        super().__init__(
            self.label,
            judge,
            unanswered,
            needs,
            *(["references"] * references),
            prompts.prompt_key(self.prompt),
        )

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the score and the counts of each example, shape (B, 10)."""
        of_examples = self.ask_each(batch, self._prompt, read_grade)
        rows: list[list[float]] = []
        for verdicts in of_examples:
            grades = [
                self.default if verdict.value is None else verdict.value
                for verdict in verdicts
            ]
            # sorted: the sum does not depend on the order of the candidates
            mean = mean_of_defined(sorted(grades))
            rows.append([mean, *count_answers(verdicts)])
        return np.array(rows)

    def _prompt(self, item: CaptionSet, caption: str) -> str:
        context = prompts.context(item.references if self.references else (), None)
        return prompts.fill(
            self.prompt,
            {"candidate": prompts.quote_caption(caption), "context": context},
        )


class RefFleur(Fleur):
    """FLEUR by a judge that sees the references too, in [0, 1]; higher is better.

    Parameters
    ----------
    judge : mapping, Backend or Judge
        Server or local model that sees the image (``image: true``).
    prompt : str, optional
        Template with ``{candidate}`` and ``{context}``, which are the references.
    unanswered : {'undefined', 'lowest'}
        As for :class:`Fleur`.

    Raises
    ------
    HarnessError
        For a judge that cannot be created or sees no image, and a prompt without one
        of its places.

    References
    ----------
    Lee, Park and Kang 2024 (see :class:`Fleur`), RefFLEUR.
    """

    label = "ref-fleur"

    def __init__(
        self,
        *,
        judge: JudgeSpec,
        prompt: str | None = None,
        unanswered: Unanswered = "undefined",
    ) -> None:
        if prompt is not None:
            prompts.check_template(prompt, ("candidate", "context"), self.label)
        super().__init__(
            judge=judge, references=True, prompt=prompt, unanswered=unanswered
        )


def read_grade(reply: Reply) -> Verdict[float]:
    """Return the verdict on a reply with the grade of its digits; ``invalid`` without a
    grade or the probabilities of its digits.
    """
    text = verdict_of_text(reply)
    grade = None if text.value is None else smooth_grade(reply.tokens)
    status = "invalid" if text.value is not None and grade is None else text.status
    return Verdict(status, grade, 1, reply.prompt_tokens, reply.completion_tokens)


def smooth_grade(tokens: Sequence[Mapping[str, float]]) -> float | None:
    """Return the expected value of the first number in [0, 1] that tokens spell;
    None without one.

    Each digit behind the point is replaced by its expectation. For 1 it is 0.9 P(0) +
    P(1), since 0 would begin a grade below 1.

    Parameters
    ----------
    tokens : sequence of mapping
        Log-probabilities of the likeliest texts of each token, the chosen one first.

    Examples
    --------
    >>> from math import log
    >>> digits = {"8": log(0.5), "9": log(0.25), "7": log(0.25)}
    >>> round(smooth_grade([{"0": 0.0}, {".": 0.0}, digits]), 3)
    0.8
    """
    # The tokens by the position of their text in the answer, blanks left out.
    texts = [next(iter(token)) for token in tokens]
    starts = [
        start + len(text) - len(text.lstrip())
        for start, text in zip(accumulate(map(len, texts), initial=0), texts)
    ]
    token_at = dict(zip(starts, tokens))
    number = re.search(r"\d*\.\d+|\d+", "".join(texts))
    if number is None or float(number[0]) > 1:
        return None

    if float(number[0]) == 1:
        values = {"0": 0.9, "1": 1.0}
        options = token_at.get(number.start(), {})
        grade = sum(
            exp(value) * values.get(text.strip(), 0.0)
            for text, value in options.items()
        )
        return grade or None

    decimals = number[0].partition(".")[2]
    grade = 0.0
    position = 0
    while position < min(len(decimals), DECIMALS):
        token = token_at.get(number.end() - len(decimals) + position, {"": 0.0})
        answer = next(iter(token)).strip()
        if not answer.isdigit():
            return None

        # A token may spell several digits: those beyond the decimals are cut.
        expected: list[float] = []
        for text, value in token.items():
            digits = text.strip()
            if digits.isdigit():
                digits = digits[: DECIMALS - position]
                expected.append(exp(value) * float(f"0.{'0' * position}{digits}"))
        grade += sum(expected)
        position += len(answer)
    return grade
