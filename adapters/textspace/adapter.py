"""The adapters ``lstm-oracle`` and ``pareto``: exact distributions over the texts of the reader ``synthetic-texts``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from harness.contracts import Candidates, Decoding, Example, TokenScores
from harness.errors import HarnessError, InputError, UnknownName, did_you_mean
from harness.plugins.crnrr.textspace import oracle
from harness.plugins.discrepancy.frontier import PAIRS, Pair, pareto

_WORD = re.compile(r"w(\d+)")


class TextSpaceModel:
    """Base: a distribution (V ** L,) over all texts, scored by the chain rule and drawn from exactly."""

    vocabulary: int
    length: int

    def distribution(self) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} must define distribution()")

    def fingerprint(self) -> str:
        raise NotImplementedError(f"{type(self).__name__} must define fingerprint()")

    def generate(self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]) -> Iterator[Candidates]:
        """Texts drawn from the distribution, one generator per example seed."""
        q = self.distribution()
        for seed in seeds:
            drawn = np.random.default_rng([seed, 0]).choice(len(q), size=decoding.candidates or 1, p=q)
            yield tuple(self._text(int(index)) for index in drawn)

    def score_references(self, examples: Sequence[Example]) -> Iterator[list[TokenScores]]:
        """Conditional log-probabilities and ranks of every reference; raises :class:`InputError` for one that is no such text."""
        grid = self.distribution().reshape((self.vocabulary,) * self.length)
        for example in examples:
            yield [self._scores(grid, text, example.id) for text in example.references]

    def _scores(self, grid: np.ndarray, text: str, name: str) -> TokenScores:
        tokens = text.split()
        ids = [int(m[1]) if (m := _WORD.fullmatch(token)) else -1 for token in tokens]
        if len(ids) != self.length or not all(0 <= i < self.vocabulary for i in ids):
            raise InputError(
                f"example '{name}': {text!r} is no text of {self.length} of the words w0 to w{self.vocabulary - 1}"
            )
        logs, ranks = np.empty(self.length), np.empty(self.length, dtype=np.int64)
        for k, own in enumerate(ids):
            weights = grid[tuple(ids[:k])].reshape(self.vocabulary, -1).sum(axis=1)
            total = weights.sum()
            shares = weights / total if total > 0 else np.full(self.vocabulary, 1 / self.vocabulary)
            with np.errstate(divide="ignore"):
                logs[k] = np.log(shares[own])
            ranks[k] = (shares > shares[own]).sum() + (shares[:own] == shares[own]).sum()
        return TokenScores(logs, ranks, tuple(tokens))

    def _text(self, index: int) -> str:
        powers = [index // self.vocabulary ** (self.length - 1 - k) % self.vocabulary for k in range(self.length)]
        return " ".join(f"w{k}" for k in powers)


class LstmOracle(TextSpaceModel):
    """An LSTM whose weights are drawn from N(0, sigma): the real distribution of the synthetic study.

    sigma: spread of the weights; the larger, the more peaked the distribution. seed: of the weights. hidden: size of embedding and
    LSTM (not stated in the paper; 32 as in SeqGAN, where the oracle comes from).
    """

    def __init__(self, *, sigma: float, seed: int = 0, vocabulary: int = 4, length: int = 3, hidden: int = 32) -> None:
        if isinstance(sigma, bool) or not isinstance(sigma, (int, float)) or not sigma > 0:
            raise InputError(f"lstm-oracle: sigma is {sigma!r}; expected a number above 0")
        self.sigma, self.seed, self.vocabulary, self.length, self.hidden = sigma, seed, vocabulary, length, hidden

    def fingerprint(self) -> str:
        return f"lstm-oracle|sigma:{self.sigma:g}|seed:{self.seed}|V:{self.vocabulary}|L:{self.length}|H:{self.hidden}"

    def distribution(self) -> np.ndarray:
        return oracle(self.sigma, self.seed, vocabulary=self.vocabulary, length=self.length, hidden=self.hidden)


class ParetoOptimum(LstmOracle):
    """A point of the Pareto frontier of a pair of quality and diversity for the oracle of the same parameters (Theorem 2).

    pair: LL-SE, CR-NRR, LL-NRR or CR-SE. diversity: where on the frontier, as a share of the way from the least diversity (0: uniform on
    the most likely texts) to the greatest (1: uniform on all texts).
    """

    def __init__(
        self,
        *,
        pair: str,
        diversity: float,
        sigma: float,
        seed: int = 0,
        vocabulary: int = 4,
        length: int = 3,
        hidden: int = 32,
    ) -> None:
        super().__init__(sigma=sigma, seed=seed, vocabulary=vocabulary, length=length, hidden=hidden)
        if pair not in PAIRS:
            raise UnknownName(f"pareto: no pair '{pair}'{did_you_mean(pair, PAIRS)}; pairs are {', '.join(PAIRS)}")
        if isinstance(diversity, bool) or not isinstance(diversity, (int, float)) or not 0 <= diversity <= 1:
            raise HarnessError(f"pareto: diversity is {diversity!r}; expected a share from 0 to 1")
        self.pair, self.diversity = PAIRS[pair], float(diversity)

    def fingerprint(self) -> str:
        return f"pareto|{self.pair.name}|diversity:{self.diversity:g}|{super().fingerprint()}"

    def distribution(self) -> np.ndarray:
        return optimum(self.pair, super().distribution(), self.diversity)


def optimum(pair: Pair, p: np.ndarray, share: float) -> np.ndarray:
    """The Pareto optimum (M,) whose diversity is ``share`` of the way from the modes' to the uniform distribution's."""
    modes = (p == p.max()) / np.count_nonzero(p == p.max())
    least, most = pair.v(modes), pair.v(np.full(len(p), 1 / len(p)))
    target = least + share * (most - least)
    if share == 0:
        return modes
    low, high = -1.0, 0.0
    while pair.v(pareto(pair, p, low)) > target:
        low, high = low * 2, low
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if pair.v(pareto(pair, p, middle)) >= target else (middle, high)
    return pareto(pair, p, high)
