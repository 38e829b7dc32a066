"""The metrics ``cr``, ``nrr`` and ``cnd`` of a run: over all captions pooled, or per example and averaged."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from harness.contracts import MetricSpec
from harness.errors import HarnessError, UnknownName, did_you_mean
from harness.plugins.crnrr.ngrams import CrNrr, Sums, from_sums
from harness.plugins.crnrr.resampling import Grams, grams_of, per_unit, weighted
from harness.plugins.crnrr.rows import WordRows, parse
from harness.plugins.tokenisers.tokens import check_tokenizer

FORMS = ("plug-in", "unbiased", "cross-sentence")


class NgramDistribution(WordRows):
    """Base of the three. Parameters: ``n`` (order, default 2, the paper advises 2 or 3), ``form`` (plug-in, unbiased or
    cross-sentence), ``conditional`` (True: within each example, then the mean; False: all captions pooled), ``tokenizer``.

    Statistics are the captions themselves (:class:`WordRows`).
    """

    kind: ClassVar[str] = ""
    higher: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset({"references"})
    fields: ClassVar[dict[str, str]] = {}
    """Form -> field of :class:`CrNrr`."""

    def __init__(self, *, n: int = 2, form: str = "plug-in", conditional: bool = False, tokenizer: str = "ptb") -> None:
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise HarnessError(f"{self.kind}: n is {n!r}; expected an integer of at least 1")
        if form not in self.fields:
            options = ", ".join(self.fields)
            raise UnknownName(f"{self.kind} has no form '{form}'{did_you_mean(form, FORMS)}; forms are {options}")
        self.n, self.form, self.conditional = n, form, bool(conditional)
        self.tokenizer = check_tokenizer(tokenizer)
        shown = [f"{self.kind}{n}", *([form] if form != "plug-in" else []), *(["conditional"] if conditional else [])]
        self.spec = MetricSpec(" ".join(shown), self.higher, level="corpus", needs=self.needs)

    def signature(self) -> str:
        use = "per-example" if self.conditional else "pooled"
        return f"{self.kind}|n:{self.n}|form:{self.form}|{use}|tok:{self.tokenizer}"

    def per_example(self, stats: np.ndarray) -> np.ndarray:
        """(B,) the value within each example, NaN where an n-gram is lacking."""
        q, p = self._grams(stats)
        return np.array([self._value(item) for item in _by_unit(q, p, self.n, len(stats))], dtype=np.float64)

    def reduce(self, stats: np.ndarray, weights: np.ndarray | None = None) -> Any:
        """The pooled value, or the mean of the defined per-example ones; NaN where undefined."""
        given = np.ones((1, len(stats))) if weights is None else np.asarray(weights, dtype=np.float64)
        if self.conditional:
            values = self.per_example(stats)
            known = ~np.isnan(values)
            with np.errstate(invalid="ignore", divide="ignore"):
                made = (given[:, known] @ values[known]) / given[:, known].sum(axis=1)
        else:
            q, p = self._grams(stats)
            made = np.array([self._value(item) for item in weighted(q, p, self.n, given, given)], dtype=np.float64)
        return float(made[0]) if weights is None else made

    def _grams(self, stats: np.ndarray) -> tuple[Grams, Grams]:
        q, p = grams_of(parse(stats), self.n)
        return q, p

    def _value(self, result: CrNrr) -> float:
        value = getattr(result, self.fields[self.form])
        return np.nan if value is None else value


class Cr(NgramDistribution):
    """CR_n, quality: how much of the references' n-gram mass the candidates' n-grams hit. Higher is better."""

    kind, fields = "cr", {"plug-in": "cr"}


class Nrr(NgramDistribution):
    """NRR_n, diversity: minus the chance that two n-gram tokens are equal. Higher is more diverse."""

    needs = frozenset()
    kind, fields = "nrr", {"plug-in": "nrr", "unbiased": "nrr_unbiased", "cross-sentence": "nrr_cross_sentence"}


class Cnd(NgramDistribution):
    """CND_n, divergence of the two n-gram distributions. Lower is better."""

    kind, higher, fields = "cnd", False, {"plug-in": "cnd", "unbiased": "cnd_unbiased"}


def _by_unit(q: Grams, p: Grams, n: int, units: int) -> list[CrNrr]:
    """Results within each unit alone."""
    size = 1 + int(max(q.gram.max(initial=0), p.gram.max(initial=0)))
    keys_q, counts_q = np.unique(q.unit * size + q.gram, return_counts=True)
    keys_p, counts_p = np.unique(p.unit * size + p.gram, return_counts=True)
    shared, at_q, at_p = np.intersect1d(keys_q, keys_p, assume_unique=True, return_indices=True)
    totals, within, squares = per_unit(q, units)
    columns = [
        totals,
        np.bincount(p.unit, minlength=units),
        np.bincount(keys_q // size, counts_q**2, units),
        np.bincount(keys_p // size, counts_p**2, units),
        np.bincount(shared // size, counts_q[at_q] * counts_p[at_p], units),
        within,
        squares,
    ]
    return [from_sums(n, Sums(*values)) for values in zip(*(column.astype(int).tolist() for column in columns))]
