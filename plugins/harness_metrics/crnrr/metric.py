"""The metrics ``cr``, ``nrr`` and ``cnd``: over all captions pooled,
or per example and averaged.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from harness.contracts import Interval, MetricSpec, Objects, weighted_means
from harness.contracts.parameters import Count, check_arguments
from harness.errors import UnknownName
from harness.stats import bootstrap
from harness_metrics.crnrr.left_out import NOTE, interval
from harness_metrics.crnrr.ngrams import CrNrr, Sums, from_sums
from harness_metrics.crnrr.weighted_units import weigh_units
from harness_metrics.tokenisers.tokens import TokenizerName, check_tokenizer, signed
from harness_metrics.words.captions import CaptionWords, sides_of
from harness_metrics.words.grams import Grams, grams_of, per_unit


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

        words = [f"{self.kind}{n}"]
        if form != "plug-in":
            words.append(form)
        if conditional:
            words.append("conditional")
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
        tokenizer = signed(self.tokenizer)
        return f"{self.kind}|n:{self.n}|form:{self.form}|{use}|tok:{tokenizer}"

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
        if ends is None:
            return Interval(None, "the results without one example do not differ")
        return Interval(ends, NOTE)

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
    # an n-gram of a unit is one key, so that one sort counts all units
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
