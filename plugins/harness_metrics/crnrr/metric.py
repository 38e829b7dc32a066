"""The metrics ``cr``, ``nrr`` and ``cnd``: over all captions pooled,
or per example and averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from harness.contracts import Interval, MetricSpec, Objects, weighted_means
from harness.contracts.parameters import Count, check_arguments
from harness.errors import UnknownName
from harness.stats import bootstrap, jackknife
from harness_metrics.crnrr.ngrams import CrNrr, Sums, from_sums
from harness_metrics.crnrr.words import (
    CaptionWords,
    Grams,
    grams_of,
    per_unit,
    sides_of,
    sparse_counts,
    weigh_units,
)
from harness_metrics.tokenisers.tokens import TokenizerName, check_tokenizer, signed

# --------------------------------------------------------------------------- jackknife
# Jackknife intervals of the pooled CR, NRR and CND.
#
# These are quadratic in the counts. A bootstrap repeats examples, hence n-grams: its
# samples have another mean than the value and are spread too widely. Leaving one
# example out repeats nothing. The jackknife counts the quadratic part of the variance
# twice; for CR with :data:`CORRECTED` examples the results without two examples correct
# that. The interval is that of the expected value for corpora of this size: it does not
# remove the bias of a plug-in form.


NOTE = (
    "jackknife; for the expected value of corpora of this size, "
    "with the bias of the form"
)
"""Note of the intervals."""


CORRECTED = range(100, 501)
"""Numbers of examples for which all pairs are left out for CR. Beyond them the
correction is about 1 % of the width. Below them, and for NRR and CND, whose values are
skewed, the excess makes up for the skewness: corrected intervals cover .90 to .94.
"""


@dataclass(frozen=True, eq=False)
class _Counts:
    """Counts of candidates (q) and references (p), per example and pooled."""

    q: Any
    """Sparse matrix of n-gram counts of the candidates, shape (B, G)."""
    p: Any
    """Sparse matrix of n-gram counts of the references, shape (B, G)."""
    q_tokens: np.ndarray
    """Number of n-gram tokens, shape (B,)."""
    p_tokens: np.ndarray
    within: np.ndarray
    """Squared counts within the sentences of the candidates, summed, shape (B,)."""
    squares: np.ndarray
    """Squared sizes of the sentences of the candidates, summed, shape (B,)."""


class _Sums(NamedTuple):
    """Sums that the results are functions of, all of one shape."""

    tq: Any
    tp: Any
    qq: Any
    pp: Any
    qp: Any
    within: Any
    squares: Any


def interval(
    q: Grams, p: Grams, units: int, field: str, value: float
) -> tuple[float, float] | None:
    """Return the 95 % interval of one result of the pooled examples.

    Parameters
    ----------
    q, p : Grams
        n-gram tokens of candidates and references.
    units : int
        Number of examples B.
    field : str
        Field of :class:`~harness_metrics.crnrr.ngrams.CrNrr`.
    value : float
        The value of the field.

    Returns
    -------
    tuple or None
        (low, high), which contains the value; None when the results without one example
        do not differ or are undefined.
    """
    counts = _counts(q, p, units)
    all_examples, left_out = _without_one(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = _result(left_out, field)
        pairs = (
            _result(_without_two(counts, all_examples, left_out), field)
            if field == "cr" and units in CORRECTED
            else None
        )
    return jackknife.interval(value, values, pairs=pairs)


def _counts(q: Grams, p: Grams, units: int) -> _Counts:
    size = 1 + int(max(q.gram.max(initial=-1), p.gram.max(initial=-1)))
    matrices: list[Any] = []
    for side in (q, p):
        matrix = sparse_counts(side.gram, side.unit, (size, units)).T.tocsr()
        matrix.sum_duplicates()
        matrices.append(matrix)
    q_tokens, within, squares = (
        column.astype(np.float64) for column in per_unit(q, units)
    )
    return _Counts(
        matrices[0],
        matrices[1],
        q_tokens,
        np.bincount(p.unit, minlength=units).astype(np.float64),
        within,
        squares,
    )


def _without_one(c: _Counts) -> tuple[_Sums, _Sums]:
    """Return the sums of all examples, numbers, and without each example,
    shape (B,).
    """
    q = c.q.sum(axis=0)
    p = c.p.sum(axis=0)
    additive = [c.q_tokens, c.p_tokens, c.within, c.squares]
    tq, tp, within, squares = (values.sum() for values in additive)
    qq = q @ q
    pp = p @ p
    qp = q @ p
    all_examples = _Sums(tq, tp, qq, pp, qp, within, squares)
    # Without example i, |q - q_i|^2 = |q|^2 - 2 <q, q_i> + |q_i|^2, and <q - q_i, p -
    # p_i> likewise: products of the pooled counts with each row give all examples at
    # once.
    left_out = _Sums(
        tq - c.q_tokens,
        tp - c.p_tokens,
        qq - 2 * (c.q @ q) + c.q.power(2).sum(axis=1),
        pp - 2 * (c.p @ p) + c.p.power(2).sum(axis=1),
        qp - c.q @ p - c.p @ q + c.q.multiply(c.p).sum(axis=1),
        within - c.within,
        squares - c.squares,
    )
    return all_examples, left_out


def _without_two(c: _Counts, all_examples: _Sums, left_out: _Sums) -> _Sums:
    """Return the sums without two examples, shape (B, B);
    the diagonal has no meaning.
    """
    pair_sums = [
        single[:, None] + single[None, :] - total
        for single, total in zip(left_out, all_examples)
    ]
    # Without i and j the sums of both single removals count the product of i and j
    # twice; it is added back.
    cross = (c.q @ c.p.T).toarray()
    shared = {
        2: 2 * (c.q @ c.q.T).toarray(),
        3: 2 * (c.p @ c.p.T).toarray(),
        4: cross + cross.T,
    }
    return _Sums(*(values + shared.get(k, 0.0) for k, values in enumerate(pair_sums)))


def _result(s: _Sums, field: str) -> np.ndarray:
    """Return one field of :class:`~harness_metrics.crnrr.ngrams.CrNrr`,
    in the shape of the sums.
    """
    cr = s.qp / (s.tq * s.tp)
    if field == "cr":
        return cr
    if field == "nrr_cross_sentence":
        return -(s.qq - s.within) / (s.tq**2 - s.squares)
    if field.endswith("unbiased"):
        nrr_q = -(s.qq - s.tq) / (s.tq * (s.tq - 1))
        nrr_p = -(s.pp - s.tp) / (s.tp * (s.tp - 1))
    else:
        nrr_q = -s.qq / s.tq**2
        nrr_p = -s.pp / s.tp**2
    return nrr_q if field.startswith("nrr") else -nrr_q - nrr_p - 2 * cr


# --------------------------------------------------------------------------- metrics


class NgramDistribution(CaptionWords):
    """Base class of the three metrics.

    Parameters
    ----------
    n : int, default 2
        Order; the paper recommends 2 or 3.
    form : {"plug-in", "unbiased", "cross-sentence"}, default "plug-in"
        Estimator: frequencies as probabilities, independent n-gram draws, or pairs of
        n-grams from different sentences. A metric does not have all of them.
    conditional : bool, default False
        Compute the value within each example and average, in place of pooling all
        captions.
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.

    Raises
    ------
    HarnessError
        For an ``n`` that is not an integer of at least 1.
    UnknownName
        For a form that the metric does not have.

    References
    ----------
    Li et al., "On the Relation between Quality-Diversity Evaluation and
    Distribution-Fitting Goal in Text Generation" (ICML 2020), sections 4 and 5.
    """

    kind: ClassVar[str] = ""
    """Registered name."""
    higher: ClassVar[bool] = True
    """True when higher values are better."""
    needs: ClassVar[frozenset[str]] = frozenset({"references"})
    """Inputs beyond the candidates."""
    fields: ClassVar[dict[str, str]] = {}
    """Form -> field of :class:`CrNrr`."""
    bounds: ClassVar[dict[str, tuple[float, float]]] = {}
    """Form -> smallest and largest number."""

    @check_arguments
    def __init__(
        self,
        *,
        n: Count = 2,
        form: str = "plug-in",
        conditional: bool = False,
        tokenizer: TokenizerName = "ptb",
    ) -> None:
        if form not in self.fields:
            raise UnknownName.of_name(
                f"{self.kind} has no form",
                form,
                self.fields,
                "forms are",
                parameter="form",
            )
        self.n = n
        self.form = form
        self.conditional = bool(conditional)
        self.tokenizer = check_tokenizer(tokenizer)
        words = [
            f"{self.kind}{n}",
            *([form] if form != "plug-in" else []),
            *(["conditional"] if conditional else []),
        ]
        self.spec = MetricSpec(
            " ".join(words),
            self.higher,
            level="corpus",
            needs=self.needs,
            bounds=self.bounds[form],
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        use = "per-example" if self.conditional else "pooled"
        return f"{self.kind}|n:{self.n}|form:{self.form}|{use}|tok:{signed(self.tokenizer)}"

    def per_example(self, stats: Objects) -> np.ndarray:
        """Return the values within each example ``(B,)``;
        NaN for a side without n-grams.
        """
        q, p = self._grams(stats)
        return np.array(
            [self._value(item) for item in _by_unit(q, p, self.n, len(stats))],
            dtype=np.float64,
        )

    def number(self, objects: Objects) -> float:
        """Return the pooled value, or with ``conditional`` the mean of the defined
        values of the examples; NaN where undefined.
        """
        return float(self.numbers(objects, np.ones((1, len(objects))))[0])

    def numbers(self, objects: Objects, weights: np.ndarray) -> np.ndarray:
        """Return the values ``(W,)`` for integer weights ``(W, B)``."""
        if self.conditional:
            example_values = self.per_example(objects)
            defined = ~np.isnan(example_values)
            with np.errstate(invalid="ignore", divide="ignore"):
                return weighted_means(weights[:, defined], example_values[defined])
        q, p = self._grams(objects)
        return np.array(
            [self._value(item) for item in weigh_units(q, p, self.n, weights, weights)],
            dtype=np.float64,
        )

    def interval(self, stats: Objects, samples: int, seed: int) -> Interval:
        """Return the interval of the value.

        Pooled: the jackknife (:mod:`~harness_metrics.crnrr.metric`). ``conditional``: a
        bootstrap of the mean over examples.
        """
        if self.conditional:
            example_values = self.per_example(stats)
            example_values = example_values[~np.isnan(example_values)]
            if len(example_values) < 2:
                return Interval(
                    None, "fewer than two examples have n-grams on both sides"
                )
            ends = bootstrap.confidence_interval(
                lambda w: weighted_means(w, example_values),
                len(example_values),
                samples,
                seed,
            )
            return Interval(ends, "" if ends else bootstrap.NO_SPREAD)
        q, p = self._grams(stats)
        value = self.reduce(stats)
        if np.isnan(value):
            return Interval(None, "the value is undefined")
        ends = interval(q, p, len(stats), self.fields[self.form], value)
        return Interval(
            ends, NOTE if ends else "the results without one example do not differ"
        )

    def _grams(self, objects: Objects) -> tuple[Grams, Grams]:
        q, p = grams_of(sides_of(objects), self.n)
        return q, p

    def _value(self, result: CrNrr) -> float:
        """Return the field of the form; NaN for None."""
        value = getattr(result, self.fields[self.form])
        return np.nan if value is None else value


class Cr(NgramDistribution):
    """CR_n, quality in [0, 1]: sum over n-grams of candidate frequency times reference
    frequency.

    Higher is better.

    Parameters are those of :class:`NgramDistribution`; the only form is ``plug-in``.
    """

    kind = "cr"
    fields: ClassVar[dict[str, str]] = {"plug-in": "cr"}
    bounds: ClassVar[dict[str, tuple[float, float]]] = {"plug-in": (0.0, 1.0)}


class Nrr(NgramDistribution):
    """NRR_n, diversity in [-1, 0]: minus the probability that two n-gram tokens are
    equal.

    Higher is more diverse.

    Parameters are those of :class:`NgramDistribution`.
    """

    needs = frozenset()
    kind = "nrr"
    fields: ClassVar[dict[str, str]] = {
        "plug-in": "nrr",
        "unbiased": "nrr_unbiased",
        "cross-sentence": "nrr_cross_sentence",
    }
    bounds = dict.fromkeys(fields, (-1.0, 0.0))


class Cnd(NgramDistribution):
    """CND_n, squared distance of the two n-gram distributions. Lower is better.

    Parameters are those of :class:`NgramDistribution`; the forms are ``plug-in`` and
    ``unbiased``, which may be negative.
    """

    kind = "cnd"
    higher = False
    fields: ClassVar[dict[str, str]] = {"plug-in": "cnd", "unbiased": "cnd_unbiased"}
    bounds: ClassVar[dict[str, tuple[float, float]]] = {
        "plug-in": (0.0, 2.0),
        "unbiased": (-2.0, 2.0),
    }


def _by_unit(q: Grams, p: Grams, n: int, units: int) -> list[CrNrr]:
    """Return the results of the candidates and references of each unit."""
    size = 1 + int(max(q.gram.max(initial=0), p.gram.max(initial=0)))
    keys_q, counts_q = np.unique(q.unit * size + q.gram, return_counts=True)
    keys_p, counts_p = np.unique(p.unit * size + p.gram, return_counts=True)
    shared, at_q, at_p = np.intersect1d(
        keys_q, keys_p, assume_unique=True, return_indices=True
    )
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
    return [
        from_sums(n, Sums(*values))
        for values in zip(*(column.astype(int).tolist() for column in columns))
    ]
