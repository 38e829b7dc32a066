"""chrF and TER through sacrebleu: each candidate against all references of its
example.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from harness.contracts import Batch, Cost, Features, MeanMetric, MetricSpec, SumMetric
from harness.contracts.parameters import check_arguments
from harness.errors import require

ScoreLevel = Literal["corpus", "sentence"]

_SLOW = "takes milliseconds per example: too slow to score relabeled texts"


class _SacrebleuMetric(SumMetric):
    """Number of a corpus as sacrebleu computes it, divided by 100: its statistics of
    all candidates, summed and reduced once.

    The score of an example is the mean over its candidates of sacrebleu's
    multi-reference sentence score. A subclass sets ``spec``.

    Parameters
    ----------
    name
        A metric of sacrebleu, ``chrf`` or ``ter``.
    level
        ``sentence``: the number of a corpus is the mean of the scores of its examples.
    settings
        Parameters as they are in the signature.
    options
        Parameters of sacrebleu.
    """

    def __init__(
        self, name: str, level: ScoreLevel, settings: str, **options: Any
    ) -> None:
        sacrebleu = require(
            "sacrebleu", extra="more-text", needed_by=f"metric '{name}'"
        )
        self.scorer: Any = getattr(sacrebleu, name.upper())(**options)
        self.version = sacrebleu.__version__
        self.level = level
        self.settings = settings

    def signature(self) -> str:
        """Return the name, the parameters, the level unless it is ``sentence``, and
        sacrebleu's version as one string.
        """
        level = "|level:corpus" if self.level == "corpus" else ""
        return f"{self.spec.name}|{self.settings}{level}|sacrebleu:{self.version}"

    def stats(self, batch: Batch, features: Features, state: object) -> np.ndarray:
        """Return the scores and sacrebleu's statistics, summed over candidates, shape
        (B, 1 + k); the scores alone for ``sentence``.
        """
        rows: list[np.ndarray] = []
        for item in batch.sets:
            candidates = list(item.candidates)
            # sacrebleu wants a stream of references for each position
            streams = [[reference] * len(candidates) for reference in item.references]
            statistics = self.scorer._extract_corpus_statistics(candidates, streams)
            counts = np.array(statistics, dtype=np.float64)

            score = self._percentages(counts).mean() / 100.0
            rows.append(np.append(score, counts.sum(axis=0)))

        stats = np.stack(rows)
        return stats if self.level == "corpus" else stats[:, :1]

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of the n-grams of characters of the candidates and, for each
        candidate anew, of the references.
        """
        return Cost(2e-5 * n * m * tokens, 0.0, fixed=1500.0 * n * m * tokens)

    def _percentages(self, sums: np.ndarray) -> np.ndarray:
        rows = sums.reshape(-1, sums.shape[-1]).tolist()
        scores = [self.scorer._compute_score_from_stats(row).score for row in rows]
        return np.array(scores).reshape(sums.shape[:-1])

    @property
    def _base(self) -> type[MeanMetric]:
        """Class whose sums and number of a corpus are meant."""
        return SumMetric if self.level == "corpus" else MeanMetric

    def summands(self, stats: np.ndarray) -> np.ndarray:
        """Return sacrebleu's statistics, shape (B, k), or the scores and ones,
        shape (B, 2).
        """
        return self._base.summands(self, stats)

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Return the numbers (...) of sums of summands (..., k)."""
        if self.level == "corpus":
            return self._percentages(sums) / 100.0
        return MeanMetric.of_sums(self, sums)

    def reduce(self, stats: Any, weights: np.ndarray | None = None) -> Any:
        """Return the number of a corpus, or one per row of ``weights`` (W, B),
        shape (W,).
        """
        return self._base.reduce(self, stats, weights)


class Chrf(_SacrebleuMetric):
    """chrF, the F-score of character n-grams, in [0, 1]; higher is better.

    ``word_order`` = 2 gives chrF++.

    Each candidate is scored against its best reference; the number of a corpus comes
    from the summed counts of n-grams.

    Parameters
    ----------
    char_order : int
        Highest order of character n-grams; default 6.
    word_order : int
        Highest order of word n-grams; default 0.
    beta : int
        Weight of recall; default 2.
    lowercase : bool
        Convert texts to lower case; default False.
    level : str
        ``corpus`` (default): sacrebleu's number of the corpus; ``sentence``: the mean
        of the scores of the examples.

    References
    ----------
    Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation".
    """

    @check_arguments
    def __init__(
        self,
        *,
        char_order: int = 6,
        word_order: int = 0,
        beta: int = 2,
        lowercase: bool = False,
        level: ScoreLevel = "corpus",
    ) -> None:
        case = "lc" if lowercase else "mixed"
        settings = f"nc:{char_order}|nw:{word_order}|beta:{beta}|case:{case}"
        super().__init__(
            "chrf",
            level,
            settings,
            char_order=char_order,
            word_order=word_order,
            beta=beta,
            lowercase=lowercase,
        )

        self.spec = MetricSpec(
            "chrf" + "+" * word_order,
            higher_is_better=True,
            bounds=(0.0, 1.0),
            untestable=_SLOW,
        )


class Ter(_SacrebleuMetric):
    """TER, edits and shifts per word of the mean reference length; lower is better, 0
    at best, above 1 possible.

    Each candidate is compared with its nearest reference; the number of a corpus is the
    sum of edits per sum of mean reference lengths.

    Parameters
    ----------
    normalized : bool
        Apply sacrebleu's tokenisation of punctuation; default False.
    no_punct : bool
        Remove punctuation; default False.
    case_sensitive : bool
        Distinguish capitals; default False.
    level : str
        ``corpus`` (default): sacrebleu's number of the corpus; ``sentence``: the mean
        of the scores of the examples.

    References
    ----------
    Snover, Dorr, Schwartz, Micciulla & Makhoul (2006), "A Study of Translation Edit
    Rate with Targeted Human Annotation".
    """

    @check_arguments
    def __init__(
        self,
        *,
        normalized: bool = False,
        no_punct: bool = False,
        case_sensitive: bool = False,
        level: ScoreLevel = "corpus",
    ) -> None:
        case = "mixed" if case_sensitive else "lc"
        settings = f"norm:{normalized}|punct:{not no_punct}|case:{case}"
        super().__init__(
            "ter",
            level,
            settings,
            normalized=normalized,
            no_punct=no_punct,
            case_sensitive=case_sensitive,
        )
        self.spec = MetricSpec(
            "ter", higher_is_better=False, bounds=(0.0, math.inf), untestable=_SLOW
        )

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of the search for shifts: measured, between that of texts
        with few and with many equal words.
        """
        return Cost(
            1.5e-6 * n * m * tokens**2.5,
            0.0,
            fixed=1.5e5 * tokens,
            advice="shorter texts, or `chrf`",
        )
