"""Exact quantities of a model whose distribution over all texts of one length is known: the synthetic study.

Source: Li et al. (ICML 2020), sections 4 and 6.1, Table 1, Figures 1 and 4. The model is read from its token scores for every text
(reader ``synthetic-texts``): no caption is drawn, expectations are sums over all texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.contracts import MetricSpec, TokenScores
from harness.errors import HarnessError, InputError, require
from harness.plugins.crnrr.textspace import bleu_table, ngram_distribution, oracle
from harness.plugins.discrepancy.frontier import PAIRS, Discrepancy, ascend, qdisc


def distribution_of(scores: Sequence[Sequence[TokenScores]]) -> tuple[np.ndarray, int, int]:
    """(V ** L,) probabilities of all texts in the order of base-V numbers, V and L, from token scores of each text.

    Raises :class:`InputError` unless they are those of every text of one length, once, and sum to 1.
    """
    items = [item for own in scores for item in own]
    lengths = {len(item.log_probs) for item in items}
    words = sorted({word for item in items for word in item.tokens}, key=lambda word: (len(word), word))
    if len(lengths) != 1 or not words or any(len(item.tokens) != len(item.log_probs) for item in items):
        raise InputError("the text space needs token scores with their tokens, of texts of one length")
    size, length = len(words), lengths.pop()
    number = {word: k for k, word in enumerate(words)}
    p = np.full(size**length, np.nan)
    for item in items:
        p[int(np.array([number[word] for word in item.tokens]) @ size ** np.arange(length - 1, -1, -1))] = np.exp(
            item.log_probs.sum()
        )
    if len(items) != len(p) or np.isnan(p).any():
        raise InputError(
            f"the text space holds {len(items)} scored texts; {size} words and length {length} make {len(p)}, each once"
        )
    if abs(p.sum() - 1) > 1e-6:
        raise InputError(f"the probabilities of all texts sum to {p.sum():.6g}; expected 1")
    return p / p.sum(), size, length


class _TextSpaceMetric:
    """Base: level ``model``, nothing per example."""

    spec: MetricSpec

    def per_example(self, scores: Sequence[Sequence[TokenScores]]) -> dict[str, np.ndarray]:
        return {}


class ExactDiscrepancy(_TextSpaceMetric):
    """QDisc and DRate of a known distribution P for the pairs BS-n (BLEU-NSBLEU), CN-n (CR-NRR of n-grams) and the four of text space.

    ``BS-n`` and ``CN-n``: a lower bound found by constrained ascent from P (one candidate against two references, all expectations
    by enumeration). ``LL-SE``, ``CR-NRR``, ``LL-NRR``, ``CR-SE``: exact, by bisection along the known frontier. 0 means that P
    itself is Pareto optimal: the pair agrees with distribution fitting. Each also as ``... rate`` (DRate).

    orders: the n. starts, steps, penalty, seed: of the ascent (:func:`harness.plugins.discrepancy.frontier.ascend`).
    """

    list_parameters = ("orders",)

    def __init__(
        self,
        *,
        orders: Sequence[int] = (1, 2, 3),
        starts: int = 3,
        steps: int = 2000,
        penalty: float = 2.0,
        seed: int = 0,
    ) -> None:
        self.orders = tuple(orders)
        for name, value in (*(("orders", n) for n in self.orders), ("starts", starts), ("steps", steps)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise HarnessError(f"text-space-qdisc: {name} is {value!r}; expected whole numbers of at least 1")
        if not penalty > 0:
            raise HarnessError(f"text-space-qdisc: penalty is {penalty!r}; expected a number above 0")
        self.starts, self.steps, self.penalty, self.seed = starts, steps, float(penalty), seed
        self.spec = MetricSpec("text-space-qdisc", False, level="model", needs=frozenset({"references", "logprobs"}))

    def signature(self) -> str:
        orders = "/".join(map(str, self.orders))
        return f"text-space-qdisc|n:{orders}|starts:{self.starts}|steps:{self.steps}|penalty:{self.penalty:g}|seed:{self.seed}"

    def evaluate_scores(self, scores: Sequence[Sequence[TokenScores]]) -> dict[str, float]:
        p, size, length = distribution_of(scores)
        found: dict[str, Discrepancy] = {}
        for n in self.orders:
            found[f"BS-{n}"] = self._ascended(p, *bleu_pair(p, bleu_table(size, length, n)))
            found[f"CN-{n}"] = self._ascended(p, *ngram_pair(p, size, length, n))
        found |= {name: qdisc(pair, p) for name, pair in PAIRS.items()}
        return {
            name + suffix: value
            for name, item in found.items()
            for suffix, value in (("", item.qdisc), (" rate", item.drate))
        }

    def _ascended(self, p: np.ndarray, quality: Any, diversity: Any) -> Discrepancy:
        rng = np.random.default_rng(self.seed)
        return ascend(quality, diversity, p, rng=rng, starts=self.starts, steps=self.steps, penalty=self.penalty)


def bleu_pair(p: np.ndarray, table: np.ndarray) -> tuple[Any, Any]:
    """Expected BLEU (linear in Q) and NSBLEU (cubic) of Q as functions of torch tensors, by enumeration."""
    torch = require("torch", extra="models", needed_by="discrepancies of BLEU")
    gains = torch.tensor(np.einsum("crs,r,s->c", table, p, p, optimize=True))
    flat, size = torch.tensor(table.reshape(len(p) ** 2, -1)), len(p)
    return lambda q: gains @ q, lambda q: -(q @ ((flat @ q).reshape(size, size) @ q))


def ngram_pair(p: np.ndarray, size: int, length: int, n: int) -> tuple[Any, Any]:
    """CR_n and NRR_n of the n-grams that Q induces, as functions of torch tensors."""
    torch = require("torch", extra="models", needed_by="discrepancies of CR-NRR")
    induced = np.stack([ngram_distribution(row, size, length, n) for row in np.eye(len(p))], axis=1)  # [grams, texts]
    matrix, theirs = torch.tensor(induced), torch.tensor(induced @ p)
    return lambda q: theirs @ (matrix @ q), lambda q: -((matrix @ q) ** 2).sum()


class TextSpace(_TextSpaceMetric):
    """Quality (``LL``, ``CR``) and diversity (``SE``, ``NRR``) of a model Q judged by an oracle P, exactly, over all texts.

    sigma, seed, hidden: of the oracle (adapter ``lstm-oracle``). LL = sum Q log P, CR = sum Q P, SE = -sum Q log Q, NRR = -sum Q^2.
    """

    def __init__(self, *, sigma: float, seed: int = 0, hidden: int = 32) -> None:
        if isinstance(sigma, bool) or not isinstance(sigma, (int, float)) or not sigma > 0:
            raise HarnessError(f"text-space: sigma is {sigma!r}; expected a number above 0")
        self.sigma, self.seed, self.hidden = sigma, seed, hidden
        self.spec = MetricSpec("text-space", True, level="model", needs=frozenset({"references", "logprobs"}))

    def signature(self) -> str:
        return f"text-space|sigma:{self.sigma:g}|seed:{self.seed}|H:{self.hidden}"

    def evaluate_scores(self, scores: Sequence[Sequence[TokenScores]]) -> dict[str, float]:
        q, size, length = distribution_of(scores)
        p = oracle(self.sigma, self.seed, vocabulary=size, length=length, hidden=self.hidden)
        matched, other = PAIRS["LL-SE"], PAIRS["CR-NRR"]
        return {"LL": matched.u(q, p), "CR": other.u(q, p), "SE": matched.v(q), "NRR": other.v(q)}
