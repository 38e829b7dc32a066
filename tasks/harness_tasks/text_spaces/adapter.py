"""The adapters ``lstm-oracle`` and ``pareto``: exact distributions over the texts of
the reader ``synthetic-texts``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from harness.contracts import Candidates, Decoding, Example, TokenScores
from harness.errors import HarnessError, InputError, UnknownName, did_you_mean
from harness_tasks.text_spaces.frontier import PAIRS, Pair, pareto
from harness_tasks.text_spaces.spaces import check_sigma, oracle, sigma_text

_WORD = re.compile(r"w(\d+)")


class TextSpaceModel:
    """Base class of models with a known distribution over all texts of L words out of
    V; scores and draws are exact.
    """

    vocabulary: int
    """Number of words V."""
    length: int
    """Number of words of a text, L."""

    def distribution(self) -> np.ndarray:
        """Return the probabilities of all texts in lexicographic order,
        shape (V ** L,), float64.
        """
        raise NotImplementedError(f"{type(self).__name__} must define distribution()")

    def fingerprint(self) -> str:
        """Return the parameters as text."""
        raise NotImplementedError(f"{type(self).__name__} must define fingerprint()")

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Candidates]:
        """Yield independent draws from the distribution;
        each example has a random generator from its seed.
        """
        q = self.distribution()
        for seed in seeds:
            rng = np.random.default_rng([seed, 0])
            indices = rng.choice(len(q), size=decoding.candidates or 1, p=q)
            yield tuple(self._text(int(index)) for index in indices)

    def score_references(
        self, examples: Sequence[Example]
    ) -> Iterator[list[TokenScores]]:
        """Yield the conditional log-probabilities (L,) and ranks (L,) of every
        reference, by the chain rule.

        Raises :class:`InputError` for a reference that is not one of the texts.
        """
        grid = self.distribution().reshape((self.vocabulary,) * self.length)
        for example in examples:
            yield [self._scores(grid, text, example.id) for text in example.references]

    def _scores(self, grid: np.ndarray, text: str, name: str) -> TokenScores:
        words = text.split()
        ids = [int(m[1]) if (m := _WORD.fullmatch(word)) else -1 for word in words]
        if len(ids) != self.length or not all(0 <= i < self.vocabulary for i in ids):
            raise InputError(
                f"example '{name}': {text!r} is not a text of {self.length} of the "
                f"words w0 to w{self.vocabulary - 1}"
            )

        logs = np.empty(self.length)
        ranks = np.empty(self.length, dtype=np.int64)
        for k, token in enumerate(ids):
            weights = grid[tuple(ids[:k])].reshape(self.vocabulary, -1).sum(axis=1)
            total = weights.sum()
            # after words of probability 0 no word is more likely than another
            shares = np.full(self.vocabulary, 1 / self.vocabulary)
            if total > 0:
                shares = weights / total
            with np.errstate(divide="ignore"):
                logs[k] = np.log(shares[token])
            # words of equal probability are ranked by their number
            above = (shares > shares[token]).sum()
            ranks[k] = above + (shares[:token] == shares[token]).sum()
        return TokenScores(logs, ranks, tuple(words))

    def _text(self, index: int) -> str:
        words = [
            index // self.vocabulary ** (self.length - 1 - k) % self.vocabulary
            for k in range(self.length)
        ]
        return " ".join(f"w{word}" for word in words)


class LstmOracle(TextSpaceModel):
    """The real distribution of the synthetic study:
    an LSTM with weights drawn from N(0, sigma).

    Parameters
    ----------
    sigma
        Standard deviation of the weights, above 0; the distribution is more peaked for
        a larger value. ``uniform``: no LSTM, but probabilities drawn uniformly and
        normalised (Figures 1 and 4, with 20 words and length 1).
    seed
        Seed of the weights.
    vocabulary, length
        Number of words V and length of the texts L.
    hidden
        Size of embedding and LSTM. The paper does not state it; 32 is that of SeqGAN,
        the origin of the oracle.

    Raises
    ------
    InputError
        If ``sigma`` is neither a number above 0 nor ``uniform``.
    """

    def __init__(
        self,
        *,
        sigma: float | str,
        seed: int = 0,
        vocabulary: int = 4,
        length: int = 3,
        hidden: int = 32,
    ) -> None:
        self.sigma = check_sigma(sigma, "lstm-oracle")
        self.seed = seed
        self.vocabulary = vocabulary
        self.length = length
        self.hidden = hidden

    def fingerprint(self) -> str:
        """Return the parameters as text."""
        return (
            f"lstm-oracle|sigma:{sigma_text(self.sigma)}|seed:{self.seed}"
            f"|V:{self.vocabulary}|L:{self.length}|H:{self.hidden}"
        )

    def distribution(self) -> np.ndarray:
        """Return the probabilities of the oracle, shape (V ** L,)."""
        return oracle(
            self.sigma,
            self.seed,
            vocabulary=self.vocabulary,
            length=self.length,
            hidden=self.hidden,
        )


class ParetoOptimum(LstmOracle):
    """A point of the Pareto frontier of quality and diversity for the oracle with the
    same parameters (Theorem 2 of the paper).

    Parameters
    ----------
    pair
        Measures of quality and diversity: LL-SE, CR-NRR, LL-NRR or CR-SE.
    diversity
        Position on the frontier, from 0 (uniform over the most likely texts, least
        diversity) to 1 (uniform over all texts).
    beta
        In place of ``diversity``, for LL-SE: Q proportional to P^beta, at least 0; 1 is
        P, 0 is uniform.
    sigma, seed, vocabulary, length, hidden
        Parameters of :class:`LstmOracle`.

    Raises
    ------
    HarnessError
        For an unknown pair, a diversity outside [0, 1], a negative beta or one of
        another pair, and both or neither of them.
    """

    def __init__(
        self,
        *,
        pair: str,
        sigma: float | str,
        diversity: float | None = None,
        beta: float | None = None,
        seed: int = 0,
        vocabulary: int = 4,
        length: int = 3,
        hidden: int = 32,
    ) -> None:
        super().__init__(
            sigma=sigma, seed=seed, vocabulary=vocabulary, length=length, hidden=hidden
        )
        if pair not in PAIRS:
            raise UnknownName(
                f"pareto: no pair '{pair}'{did_you_mean(pair, PAIRS)}; "
                f"pairs are {', '.join(PAIRS)}"
            )

        if (diversity is None) == (beta is None):
            raise HarnessError("pareto: give either diversity or beta")
        if diversity is not None and not (
            _is_number(diversity) and 0 <= diversity <= 1
        ):
            raise HarnessError(
                f"pareto: diversity is {diversity!r}; expected a share from 0 to 1"
            )
        # only for LL-SE are the optima powers of P
        if beta is not None and not (
            pair == "LL-SE" and _is_number(beta) and 0 <= beta < float("inf")
        ):
            raise HarnessError(
                f"pareto: beta is {beta!r} for {pair}; "
                "expected a number of at least 0, for LL-SE"
            )

        self.pair = PAIRS[pair]
        self.diversity = diversity
        self.beta = beta

    def fingerprint(self) -> str:
        """Return the parameters as text."""
        point = (
            f"diversity:{self.diversity:g}"
            if self.diversity is not None
            else f"beta:{self.beta:g}"
        )
        return f"pareto|{self.pair.name}|{point}|{super().fingerprint()}"

    def distribution(self) -> np.ndarray:
        """Return the probabilities of the optimum, shape (V ** L,)."""
        p = super().distribution()
        # the weight of P^beta is -beta
        if self.diversity is None:
            return pareto(self.pair, p, -float(self.beta or 0.0))
        return optimum(self.pair, p, self.diversity)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def optimum(pair: Pair, p: np.ndarray, share: float) -> np.ndarray:
    """Return the Pareto optimum with a given diversity, shape (M,).

    Parameters
    ----------
    pair
        Measures of quality and diversity.
    p
        Real distribution, shape (M,).
    share
        Diversity between that of the uniform distribution over the modes of ``p`` (0)
        and over all texts (1).
    """
    modes = (p == p.max()) / np.count_nonzero(p == p.max())
    lowest = pair.v(modes)
    highest = pair.v(np.full(len(p), 1 / len(p)))
    target = lowest + share * (highest - lowest)
    # entropy has its least value only in the limit of an infinite weight
    if share == 0:
        return modes

    # Diversity falls with the weight: double it until the frontier is less diverse than
    # the target, then halve the bracket.
    low, high = -1.0, 0.0
    while pair.v(pareto(pair, p, low)) > target:
        low, high = low * 2, low
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        enough = pair.v(pareto(pair, p, middle)) >= target
        low, high = (low, middle) if enough else (middle, high)
    return pareto(pair, p, high)
