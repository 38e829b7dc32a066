"""The metric ``poll``, of level ``model``: yes-or-no questions about an image, answered
by likelihood, as in POPE and AMBER.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from harness.contracts import Interval, MetricSpec, Parameterised, TokenScores
from harness.contracts.parameters import check_arguments
from harness.errors import HarnessError, InputError
from harness_metrics.choice import intervals, parts
from harness_metrics.choice.choices import mark_correct, mark_unparsed
from harness_metrics.choice.layout import Layout, choices_of, totals

Scores = Sequence[Sequence[TokenScores]]
PAIR = Layout(options=2)
"""Layout of a poll: two answers per question."""
MARKS = "Ġ▁ \t\n"
"""Characters by which tokenisers mark the beginning of a word."""
COLUMNS = ("accuracy", "precision", "recall", "f1", "yes", "unparsed")
"""All columns of the whole task."""


def answer_is(tokens: Sequence[str], word: str) -> bool:
    """Return True for an answer that begins with a word,
    whatever its pieces and its case.

    >>> answer_is(("▁Y", "es", "</s>"), "yes"), answer_is(("no",), "yes")
    (True, False)
    """
    text = "".join(token.strip(MARKS) for token in tokens).lower()
    return text.startswith(word.lower())


def counts(truth: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return true positives, false positives, false negatives and true negatives of
    each question, shape (Q, 4).

    Parameters
    ----------
    truth : ndarray of bool
        True for questions whose correct answer is the positive one, shape (Q,).
    right : ndarray of bool
        True for questions that the model answers correctly, shape (Q,).
    """
    columns = [truth & right, ~truth & ~right, truth & ~right, ~truth & right]
    return np.stack(columns, axis=1).astype(np.float64)


def rates(sums: np.ndarray) -> dict[str, np.ndarray]:
    """Return accuracy, precision, recall,
    F1 and the share of positive answers from sums of :func:`counts`.

    Parameters
    ----------
    sums : ndarray
        Sums (..., 4), or (..., 6) with the answers that cannot be read: to questions
        whose correct answer is the positive one, which are false negatives too, and to
        others, which are none of the four.

    Returns
    -------
    dict of str to ndarray
        Rates (...), each in [0, 1]; NaN where the denominator is 0. With six sums also
        ``unparsed``.

    Examples
    --------
    >>> values = rates(np.array([3.0, 1.0, 1.0, 5.0]))
    >>> {name: round(float(value), 3) for name, value in values.items()}
    {'accuracy': 0.8, 'precision': 0.75, 'recall': 0.75, 'f1': 0.75, 'yes': 0.4}
    """
    tp, fp, fn, tn, *unparsed = np.moveaxis(np.asarray(sums, dtype=np.float64), -1, 0)
    total = tp + fp + fn + tn + sum(unparsed[1:])
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "accuracy": (tp + tn) / total,
            "precision": tp / (tp + fp),
            "recall": tp / (tp + fn),
            "f1": 2 * tp / (2 * tp + fp + fn),
            "yes": (tp + fp) / total,
            **({"unparsed": sum(unparsed) / total} if unparsed else {}),
        }


class Poll(parts.ByParts, Parameterised):
    """Accuracy, precision, recall and F1 of answers by likelihood to yes-or-no
    questions, in [0, 1]; higher is better.

    The references of an example are the two answers, the correct one first; its
    source is the question. The model gives the answer with the higher likelihood; a tie
    is a wrong answer. Which answer is the positive one is read from the tokens of the
    token scores. The column ``yes`` is the share of positive answers and has no
    direction: a model that says yes to everything has 1. Answers that cannot be read
    (adapter ``generated-answers``) are wrong and not positive; the column ``unparsed``
    is their share, where there are any.

    Parameters
    ----------
    yes, no : str, default "yes" and "no"
        First words of the two answers, in any case.
    positive : {"yes", "no"}
        Answer that counts as positive: ``yes`` as in POPE (an object is there), ``no``
        as in AMBER (a hallucination is rejected).
    score : {"sum", "mean"}
        Log-likelihood of an answer, or its mean per token.
    by : str, optional
        Field of the metadata, such as the type of question (AMBER). Every column then
        occurs for each value too, as ``accuracy, type=relation``. Works in runs, which
        have the metadata.

    Raises
    ------
    HarnessError
        For an unknown value, or answers of which one begins with the other.

    References
    ----------
    Li et al. 2023, *Evaluating Object Hallucination in Large Vision-Language Models*
    (POPE); Wang et al. 2023, *AMBER: An LLM-free Multi-dimensional Benchmark for MLLMs
    Hallucination Evaluation*. Both read the answers from generated text.
    """

    expected_check_failures: ClassVar[dict[str, str]] = dict.fromkeys(
        ("columns", "token-scores-unchanged"),
        "needs two answers, yes and no; the check has three random texts",
    )

    @check_arguments
    def __init__(
        self,
        *,
        yes: str = "yes",
        no: str = "no",
        positive: Literal["yes", "no"] = "yes",
        score: Literal["sum", "mean"] = "sum",
        by: str | None = None,
    ) -> None:
        if not yes or not no or answer_is([yes], no) or answer_is([no], yes):
            raise HarnessError(
                f"poll: the answers are {yes!r} and {no!r}; "
                "expected two words of which none begins with the other",
                parameter="yes",
                value=yes,
            )

        self.words = (yes, no)
        self.positive = positive
        self.mean = score == "mean"
        self.by = parts.check_key("poll", by)
        needs = frozenset({"references", "logprobs"})
        self.spec = MetricSpec(
            "poll",
            True,
            level="model",
            needs=needs,
            column_names=COLUMNS,
            undirected=("yes", "unparsed"),
        )

    def signature(self) -> str:
        """Return the settings as text, such as ``poll|sum|yes/no|positive:yes``."""
        score = "mean" if self.mean else "sum"
        words = "/".join(self.words)
        by = f"|by:{self.by}" if self.by else ""
        return f"poll|{score}|{words}|positive:{self.positive}{by}"

    def evaluate_scores(self, scores: Scores) -> dict[str, float]:
        """Return column -> number, NaN where no answer or no question is positive.

        Raises
        ------
        InputError
            For an example without exactly two answers, invalid scores, scores without
            tokens, or answers that are not yes and no.
        """
        rows = self._counts(scores)
        return {
            self._column(name, subset): float(value)
            for subset, members in self._parts(len(rows)).items()
            for name, value in rates(rows[members].sum(axis=0)).items()
        }

    def per_example(self, scores: Scores) -> dict[str, np.ndarray]:
        """Return ``accuracy`` and ``yes`` of each question, shape (B,)."""
        rows = self._counts(scores)
        return {"accuracy": rows[:, 0] + rows[:, 3], "yes": rows[:, 0] + rows[:, 1]}

    def intervals(self, scores: Scores, samples: int, seed: int) -> dict[str, Interval]:
        """Return column -> interval: Wilson's for shares of questions, a bootstrap over
        questions for the others.
        """
        rows = self._counts(scores)
        out = dict[str, Interval]()
        for subset, members in self._parts(len(rows)).items():
            for name, interval in _intervals(rows[members], samples, seed).items():
                out[self._column(name, subset)] = interval
        return out

    def _parts(self, count: int) -> dict[str | None, np.ndarray]:
        """Return the questions of the whole task (None) and of its parts:
        indices (q,) of ``count`` questions.
        """
        questions: dict[str | None, np.ndarray] = {None: np.arange(count)}
        if self.by is not None:
            questions.update(parts.units_of("poll", self._values, self.by, 1))
        return questions

    def _column(self, name: str, subset: str | None) -> str:
        """Return the name of a column of the whole task (None) or of a part."""
        if subset is None or self.by is None:
            return name
        return parts.column(name, self.by, subset)

    def _counts(self, scores: Scores) -> np.ndarray:
        """Return the counts of each question, shape (Q, 4), or (Q, 6) where answers
        cannot be read.
        """
        questions = choices_of("poll", scores, PAIR).seen
        values = totals("poll", questions, self.mean)
        right = mark_correct(values).astype(bool)
        unparsed = mark_unparsed(values).astype(bool)
        first_is_yes = [
            self._first_is_yes(number, pair) for number, pair in enumerate(questions)
        ]
        says_yes = np.array(first_is_yes, dtype=bool)

        truth = says_yes == (self.positive == "yes")
        rows = counts(truth, right)
        if not unparsed.any():
            return rows

        rows[unparsed, 1] = 0.0  # no answer is no positive answer
        return np.column_stack([rows, unparsed & truth, unparsed & ~truth])

    def _first_is_yes(self, number: int, pair: Sequence[TokenScores]) -> bool:
        """Return True when the correct answer of a question is yes."""
        if not all(item.tokens for item in pair):
            raise InputError(
                f"poll: the token scores of example {number} have no tokens; "
                "expected them, to tell yes from no "
                "(accuracy without them: the metric choice)"
            )

        yes, no = self.words
        if answer_is(pair[0].tokens, yes) and answer_is(pair[1].tokens, no):
            return True
        if answer_is(pair[0].tokens, no) and answer_is(pair[1].tokens, yes):
            return False
        texts = " and ".join(repr("".join(item.tokens)[:40]) for item in pair)
        raise InputError(
            f"poll: example {number} has the answers {texts}; "
            f"expected one that begins with {yes!r} and one with {no!r}"
        )


def _intervals(rows: np.ndarray, samples: int, seed: int) -> dict[str, Interval]:
    """Return column -> interval from the counts of questions, shape (Q, 4) or (Q,
    6).
    """
    shares = {
        "accuracy": rows[:, 0] + rows[:, 3],
        "yes": rows[:, 0] + rows[:, 1],
        "unparsed": rows[:, 4:].sum(axis=1),
    }
    out: dict[str, Interval] = {}
    for name in rates(rows.sum(axis=0)):
        if name in shares:
            out[name] = intervals.of_share(shares[name], samples, seed)
            continue

        def reduce(weights: np.ndarray, name: str = name) -> np.ndarray:
            return rates(weights @ rows)[name]

        out[name] = intervals.of_ratio(reduce, len(rows), samples, seed)
    return out
