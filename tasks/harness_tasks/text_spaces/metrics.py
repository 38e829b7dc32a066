"""Exact quality, diversity and discrepancies of models with a known distribution over
all texts of one length.

The distribution comes from the token scores of every text (reader ``synthetic-texts``);
no caption is drawn, and expectations are sums over all texts. Source: Li et al. (ICML
2020), sections 4 and 6.1, Table 1, Figures 1 and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from harness.contracts import MetricSpec, TokenScores
from harness.contracts.parameters import Count, Positive, check_arguments
from harness.errors import HarnessError, InputError, require
from harness_tasks.text_spaces.frontier import PAIRS
from harness_tasks.text_spaces.qdisc import Discrepancy, ascend, qdisc
from harness_tasks.text_spaces.spaces import (
    bleu_table,
    check_sigma,
    expected_bleu,
    expected_nsbleu,
    ngram_distribution,
    oracle,
    sigma_text,
)

TensorFunction = Callable[[Any], Any]
"""Torch tensor ``(M,)`` -> scalar tensor."""


def distribution_of(
    scores: Sequence[Sequence[TokenScores]],
) -> tuple[np.ndarray, int, int]:
    """Return the probabilities of shape ``(V**L,)`` of all texts in the order of base-V
    numbers, V, and L.

    Parameters
    ----------
    scores : sequence of sequences of TokenScores
        Token scores, with tokens, of every text of length L, in any order.

    Raises
    ------
    InputError
        When texts are missing or repeated, differ in length, or their probabilities do
        not sum to 1.
    """
    items = [item for group in scores for item in group]
    lengths = {len(item.log_probs) for item in items}
    # w2 before w10
    words = sorted(
        {word for item in items for word in item.tokens},
        key=lambda word: (len(word), word),
    )
    if (
        len(lengths) != 1
        or not words
        or any(len(item.tokens) != len(item.log_probs) for item in items)
    ):
        raise InputError("expected token scores with tokens, of texts of one length")

    size = len(words)
    length = lengths.pop()
    number = {word: k for k, word in enumerate(words)}
    powers = size ** np.arange(length - 1, -1, -1)
    p = np.full(size**length, np.nan)
    for item in items:
        digits = np.array([number[word] for word in item.tokens])
        p[int(digits @ powers)] = np.exp(item.log_probs.sum())

    # a text that is missing, or was given in place of another, leaves a gap
    if len(items) != len(p) or np.isnan(p).any():
        raise InputError(
            f"found the scores of {len(items)} texts; "
            f"{size} words and length {length} make {len(p)} distinct texts, and the "
            "distribution needs all of them: leave out --limit (limit: in a spec), "
            "which keeps the first examples"
        )
    if abs(p.sum() - 1) > 1e-6:
        raise InputError(
            f"the probabilities of all texts sum to {p.sum():.6g}; expected 1"
        )
    return p / p.sum(), size, length


class _TextSpaceMetric:
    """Base class of metrics of level ``model`` without values per example."""

    spec: MetricSpec

    def per_example(
        self, scores: Sequence[Sequence[TokenScores]]
    ) -> dict[str, np.ndarray]:
        """Return no values."""
        return {}


class ExactDiscrepancy(_TextSpaceMetric):
    """QDisc and DRate of a known distribution P for several pairs of measures.

    Lower is better.

    A QDisc of 0 means that P is Pareto optimal: the pair agrees with distribution
    fitting. ``BS-n`` (BLEU-NSBLEU) and ``CN-n`` (CR-NRR of n-grams) are lower bounds
    from constrained ascent, with one candidate, two references and expectations by
    enumeration. ``LL-SE``, ``CR-NRR``, ``LL-NRR`` and ``CR-SE`` of whole texts are
    exact, by bisection along the frontier. DRate is reported as ``NAME rate``.

    Parameters
    ----------
    orders : sequence of int, default (1, 2, 3)
        Orders n.
    starts, steps, penalty, seed
        Parameters of the ascent (:func:`harness_tasks.text_spaces.qdisc.ascend`).
    curve : sequence of int, default ()
        Steps of the ascent, multiples of 25 up to ``steps``: columns ``BS-n step K``
        with the gain after K steps (Figure 5).

    Raises
    ------
    HarnessError
        For a parameter out of range.

    References
    ----------
    Li et al., "On the Relation between Quality-Diversity Evaluation and
    Distribution-Fitting Goal in Text Generation" (ICML 2020), section 6.1, Table 1.
    """

    @check_arguments
    def __init__(
        self,
        *,
        orders: Sequence[Count] = (1, 2, 3),
        starts: Count = 3,
        steps: Count = 2000,
        penalty: Positive = 2.0,
        seed: int = 0,
        curve: Sequence[int] = (),
    ) -> None:
        self.orders = tuple(orders)
        self.curve = tuple(curve)
        if any(
            step < 25 or step > steps or (step % 25 and step != steps)
            for step in self.curve
        ):
            raise HarnessError(
                f"text-space-qdisc: curve is {list(curve)}; "
                f"expected multiples of 25 up to {steps}",
                parameter="curve",
            )

        self.penalty = float(penalty)
        self.starts = starts
        self.steps = steps
        self.seed = seed
        self.spec = MetricSpec(
            "text-space-qdisc",
            False,
            level="model",
            needs=frozenset({"references", "logprobs"}),
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        orders = "/".join(map(str, self.orders))
        curve = f"|curve:{'/'.join(map(str, self.curve))}" if self.curve else ""
        return (
            f"text-space-qdisc|n:{orders}|starts:{self.starts}|steps:{self.steps}"
            f"|penalty:{self.penalty:g}|seed:{self.seed}{curve}"
        )

    def evaluate_scores(
        self, scores: Sequence[Sequence[TokenScores]]
    ) -> dict[str, float]:
        """Return pair -> QDisc and ``pair rate`` -> DRate;
        raises as :func:`distribution_of`.
        """
        p, size, length = distribution_of(scores)
        discrepancies: dict[str, Discrepancy] = {}
        curves: dict[str, float] = {}
        for n in self.orders:
            trace: dict[int, float] = {}
            bleu = bleu_pair(p, bleu_table(size, length, n))
            discrepancies[f"BS-{n}"] = self._ascend(p, bleu, trace)
            curves |= {f"BS-{n} step {step}": trace[step] for step in self.curve}
            discrepancies[f"CN-{n}"] = self._ascend(p, ngram_pair(p, size, length, n))
        discrepancies |= {name: qdisc(pair, p) for name, pair in PAIRS.items()}

        out: dict[str, float] = {}
        for name, item in discrepancies.items():
            out[name] = item.qdisc
            out[f"{name} rate"] = item.drate
        return out | curves

    def _ascend(
        self,
        p: np.ndarray,
        pair: tuple[TensorFunction, TensorFunction],
        trace: dict[int, float] | None = None,
    ) -> Discrepancy:
        """Return the lower bound of :func:`ascend` for a quality and a diversity, with
        the parameters of the metric.
        """
        rng = np.random.default_rng(self.seed)
        return ascend(
            *pair,
            p,
            rng=rng,
            starts=self.starts,
            steps=self.steps,
            penalty=self.penalty,
            trace=trace,
        )


def bleu_pair(
    p: np.ndarray, table: np.ndarray
) -> tuple[TensorFunction, TensorFunction]:
    """Return expected BLEU (linear in Q) and NSBLEU (cubic) as functions of Q,
    a torch tensor ``(T,)``.

    ``p`` is the real distribution ``(T,)``, ``table`` the BLEU ``(T, T, T)`` of a
    candidate against two references.
    """
    torch = require("torch", extra="models", needed_by="discrepancies of BLEU")
    gains = torch.tensor(np.einsum("crs,r,s->c", table, p, p, optimize=True))
    flat = torch.tensor(table.reshape(len(p) ** 2, -1))
    size = len(p)
    return lambda q: gains @ q, lambda q: -(q @ ((flat @ q).reshape(size, size) @ q))


def ngram_pair(
    p: np.ndarray, size: int, length: int, n: int
) -> tuple[TensorFunction, TensorFunction]:
    """Return CR_n and NRR_n of the n-grams of Q as functions of Q,
    a torch tensor of shape ``(V**L,)``.

    ``p`` is the real distribution ``(V**L,)``, ``size`` V and ``length`` L.
    """
    torch = require("torch", extra="models", needed_by="discrepancies of CR-NRR")
    # The n-grams of Q are linear in Q: column j, of (V**n, V**L), is that of text j.
    induced = np.stack(
        [ngram_distribution(row, size, length, n) for row in np.eye(len(p))], axis=1
    )
    matrix = torch.tensor(induced)
    real = torch.tensor(induced @ p)
    return lambda q: real @ (matrix @ q), lambda q: -((matrix @ q) ** 2).sum()


class TextSpace(_TextSpaceMetric):
    """Exact quality (``LL``, ``CR``) and diversity (``SE``, ``NRR``) of a model Q
    against an oracle P. Higher is better.

    LL = sum Q log P (at most 0), CR = sum Q P (in [0, 1]), SE = -sum Q log Q (at least
    0), NRR = -sum Q^2 (in [-1, 0]), over all texts.

    Parameters
    ----------
    sigma : float or "uniform"
        Standard deviation of the weights of the oracle, or its kind (adapter
        ``lstm-oracle``).
    seed : int, default 0
        Seed of the oracle.
    hidden : int, default 32
        Size of embedding and state of the oracle.
    orders : sequence of int, default ()
        For each n the columns ``BLEU-n`` and ``NSBLEU-n`` (expected values, one
        candidate against two references), and ``CR-n``, ``NRR-n`` and ``CND-n`` of
        n-grams.
    ranks : sequence of int, default ()
        For each r the column ``log Q r``: the r-th largest log-probability of a text,
        from 1.

    Raises
    ------
    HarnessError
        For a ``sigma`` that is neither above 0 nor ``uniform``, and an order or rank
        below 1.
    InputError
        For a rank above the number of texts.

    References
    ----------
    Li et al., "On the Relation between Quality-Diversity Evaluation and
    Distribution-Fitting Goal in Text Generation" (ICML 2020), sections 4 and 6.1,
    Figures 6 and 7.
    """

    @check_arguments
    def __init__(
        self,
        *,
        sigma: float | str,
        seed: int = 0,
        hidden: int = 32,
        orders: Sequence[Count] = (),
        ranks: Sequence[Count] = (),
    ) -> None:
        self.sigma = check_sigma(sigma, "text-space")
        self.seed = seed
        self.hidden = hidden
        self.orders = tuple(orders)
        self.ranks = tuple(ranks)
        self.spec = MetricSpec(
            "text-space",
            True,
            level="model",
            needs=frozenset({"references", "logprobs"}),
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        settings = [("n", self.orders), ("ranks", self.ranks)]
        extra = "".join(
            f"|{name}:{'/'.join(map(str, values))}"
            for name, values in settings
            if values
        )
        return (
            f"text-space|sigma:{sigma_text(self.sigma)}|seed:{self.seed}"
            f"|H:{self.hidden}{extra}"
        )

    def evaluate_scores(
        self, scores: Sequence[Sequence[TokenScores]]
    ) -> dict[str, float]:
        """Return the columns of the model; raises as :func:`distribution_of`."""
        q, size, length = distribution_of(scores)
        p = oracle(
            self.sigma, self.seed, vocabulary=size, length=length, hidden=self.hidden
        )
        logarithmic = PAIRS["LL-SE"]
        linear = PAIRS["CR-NRR"]
        out = {
            "LL": logarithmic.u(q, p),
            "CR": linear.u(q, p),
            "SE": logarithmic.v(q),
            "NRR": linear.v(q),
        }
        for n in self.orders:
            out |= _order(q, p, size, length, n)

        if self.ranks and max(self.ranks) > len(q):
            raise InputError(f"text-space: rank {max(self.ranks)} of {len(q)} texts")
        # a text of probability 0 has the log-probability -inf
        with np.errstate(divide="ignore"):
            logs = np.log(np.sort(q)[::-1])
        return out | {f"log Q {rank}": float(logs[rank - 1]) for rank in self.ranks}


def _order(
    q: np.ndarray, p: np.ndarray, size: int, length: int, n: int
) -> dict[str, float]:
    """Return the BLEU pair of order n, and CR, NRR and CND of n-grams,
    of Q against P.
    """
    table = bleu_table(size, length, n)
    model_ngrams = ngram_distribution(q, size, length, n)
    oracle_ngrams = ngram_distribution(p, size, length, n)
    return {
        f"BLEU-{n}": expected_bleu(q, p, table),
        f"NSBLEU-{n}": expected_nsbleu(q, table),
        f"CR-{n}": float(model_ngrams @ oracle_ngrams),
        f"NRR-{n}": -float(model_ngrams @ model_ngrams),
        f"CND-{n}": float(((model_ngrams - oracle_ngrams) ** 2).sum()),
    }
