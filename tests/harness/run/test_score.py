"""Scores of one metric: batching, undefined examples, p-values, intervals."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.contracts import CaptionSet, MeanMetric, MetricSpec
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.intervals import estimate
from harness.spec.models import SignificanceSpec

SETS = [
    CaptionSet("a", ("x", "y y"), ("r",)),
    CaptionSet("b", ("z",), ("r", "s s s")),
    CaptionSet("c", ("w", "v"), ("t t",)),
    CaptionSet("d", ("",), ("u", "u")),
]


class Words(MeanMetric):
    """Mean number of words of the candidates, NaN for 0 words."""

    def __init__(self, *, min_candidates: int = 1, resampled: bool = True) -> None:
        self.spec = MetricSpec("words", True, min_candidates=min_candidates, resampled=resampled)
        self.fits = 0

    def fit(self, references, features) -> Any:
        self.fits += 1
        return len(references)

    def scores(self, batch, features, state) -> np.ndarray:
        words = np.array([[len(text.split()) for text in texts[: batch.n]] for texts in batch.texts], dtype=float)
        means = words.mean(axis=1)
        return np.where(means == 0, np.nan, means)

    def null(self, batch, features, state, labels) -> np.ndarray:
        words = np.array([[len(text.split()) for text in texts] for texts in batch.texts], dtype=float)
        return words @ labels.T / labels.sum(axis=1)


@pytest.fixture
def cache():
    return FeatureCache([item.references for item in SETS])


def scored(metric, cache, significance=None, size: int | None = scoring.BATCH):
    return scoring.score(metric, scoring.batches(SETS, cache, size), cache, significance, 0)


@pytest.mark.equal_bits
@pytest.mark.parametrize("size", [None, 1, 512])
def test_rows_are_in_the_order_of_the_examples_for_any_batch_size(cache, size):
    result = scored(Words(), cache, size=size)
    assert np.array_equal(result.stats[:, 0], [1.5, 1, 1, np.nan], equal_nan=True)
    assert result.defined.tolist() == [True, True, True, False]
    assert np.array_equal(result.per_example(Words()), [1.5, 1, 1, np.nan], equal_nan=True)
    assert (result.p_values, result.p_method, result.p_floor) == (None, "", 1.0)


def test_batches_have_one_shape_and_hold_every_example_once(cache):
    parts = scoring.batches(SETS, cache, 1)
    assert [(positions.tolist(), batch.n, batch.m) for positions, batch in parts] == [
        ([1], 1, 2), ([3], 1, 2), ([0], 2, 1), ([2], 2, 1),
    ]  # fmt: skip
    (cut,) = scoring.nested(parts[2:3], cache, 1, None)
    assert (cut.batch.n, cut.batch.m, cut.batch.texts) == (1, 1, [["x", "r"]])


def test_a_shape_too_small_for_the_metric_is_undefined(cache):
    result = scored(Words(min_candidates=2), cache)
    assert result.defined.tolist() == [True, False, True, False]


def test_corpus_state_is_fitted_once(cache):
    metric = Words()
    scored(metric, cache, size=1)
    scored(metric, cache)
    assert metric.fits == 1


def test_progress_counts_every_example(cache):
    steps: list[int] = []
    scoring.score(Words(), scoring.batches(SETS, cache, 1), cache, None, 0, steps.append)
    assert steps == [1, 1, 1, 1]


def test_p_values_and_their_combination(cache):
    result = scored(Words(), cache, SignificanceSpec(method="exact"))
    assert result.p_method == "exact"
    assert result.p_floor == pytest.approx(1 / 3)
    assert result.p_values is not None
    # Example a: words 1, 2 | 1: two of the three pairs have a mean of at most 1.5 besides the pair (1, 1).
    assert np.array_equal(result.p_values, [1.0, 2 / 3, 1 / 3, np.nan], equal_nan=True)
    assert result.p_floors is not None
    assert np.array_equal(result.p_floors, [1 / 3] * 4)
    combined = scoring.combine_p_values(result.p_values, result.p_floors, fdr=0.05)
    # Of the 27 triples of ranks, 10 have a product of at most 1 x 2 x 3 = 6, as has the observed one: the tail of the law of the product.
    products = np.array([a * b * c for a in (1, 2, 3) for b in (1, 2, 3) for c in (1, 2, 3)])
    assert combined["calibrated"] == pytest.approx((products <= 6).mean())
    assert combined["log_calibrated"] == pytest.approx(np.log((products <= 6).mean()))
    assert combined["harmonic_mean"] == pytest.approx(3 / (1 + 1.5 + 3))
    assert (combined["discoveries"], combined["fdr"], combined["n"]) == (0, 0.05, 3)
    assert combined["log_harmonic_mean"] == pytest.approx(np.log(combined["harmonic_mean"]))


def test_the_summed_statistic_is_the_same_in_shards_and_reads_back(cache):
    spec = SignificanceSpec(method="exact", aggregate="summed", draws=99)
    result = scored(Words(), cache, spec)
    assert result.p_sums is not None and result.p_sums.shape == (100,)
    joined = scoring.Scored.join([scored(Words(), cache, spec, size=1), scored(Words(), cache, spec, size=1)])
    assert joined.p_sums == pytest.approx(2 * result.p_sums)
    assert np.array_equal(scoring.Scored.from_arrays(result.to_arrays()).p_sums, result.p_sums)
    combined = scoring.combine_p_values(result.p_values, result.p_floors, 0.05, result.p_sums)
    assert combined["summed"] == (result.p_sums >= result.p_sums[0] - 1e-9).mean()


def test_nothing_is_combined_without_p_values():
    assert scoring.combine_p_values(None, None, 0.05) == {}
    assert scoring.combine_p_values(np.array([np.nan]), np.array([0.2]), 0.05) == {}


def test_arrays_of_an_artifact_are_read_back(cache):
    result = scored(Words(), cache, SignificanceSpec(method="exact"))
    again = scoring.Scored.from_arrays(result.to_arrays())
    assert np.array_equal(again.stats, result.stats, equal_nan=True)
    assert again.p_values is not None and result.p_values is not None
    assert np.array_equal(again.p_values, result.p_values, equal_nan=True)
    assert again.p_floors is not None and result.p_floors is not None
    assert np.array_equal(again.p_floors, result.p_floors, equal_nan=True)
    assert (again.p_method, again.p_floor, again.seconds) == (result.p_method, result.p_floor, result.seconds)
    assert "p_values" not in scored(Words(), cache).to_arrays()


def test_statistics_of_a_wrong_shape_name_the_metric(cache):
    class Flat(Words):
        def stats(self, batch, features, state):
            return np.zeros(len(batch))

    with pytest.raises(ValueError, match=r"metric 'words' returned statistics of shape \(2,\) for 2 examples"):
        scored(Flat(), cache)


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_intervals_need_two_rows_samples_and_a_metric_that_resamples(rows):
    stats = np.arange(rows, dtype=float).reshape(-1, 1)
    value, interval = estimate(Words(), stats, 200, 0)
    assert np.isnan(value) if rows == 0 else value == stats.mean()
    assert (interval.ends is None) == (rows < 2)
    if interval.ends:
        assert interval.ends[0] <= value <= interval.ends[1]
        assert estimate(Words(), stats, 200, 0)[1] == interval
    assert estimate(Words(), stats, 0, 0)[1].ends is None
    assert estimate(Words(resampled=False), stats, 200, 0)[1].ends is None


class Equal(MeanMetric):
    """Share of the candidates that are equal to a reference; scored again for each relabeling."""

    def __init__(self, **fields: Any) -> None:
        self.spec = MetricSpec(**{"name": "equal", "higher_is_better": True, **fields})

    def scores(self, batch, features, state) -> np.ndarray:
        rows = [[text in texts[batch.n :] for text in texts[: batch.n]] for texts in batch.texts]
        return np.array(rows, dtype=float).mean(axis=1)


def test_the_generic_null_is_exact_within_its_budget_of_scorings(cache):
    exact = scored(Equal(), cache, SignificanceSpec(method="exact"))
    assert (exact.p_method, exact.p_note) == ("exact", "")
    sets = [CaptionSet(str(k), tuple("abcde"), tuple("defghi")) for k in range(4)]  # 462 relabelings each
    features = FeatureCache()
    parts = scoring.batches(sets, features)

    def result(**settings: Any) -> scoring.Scored:
        return scoring.score(Equal(), parts, features, SignificanceSpec(method="exact", **settings), 0)

    assert result(scorings=4 * 462).p_method == "exact"
    fewer = result(scorings=4 * 461)
    assert fewer.p_method == "monte-carlo of 461 draws (budget of 1,844 scorings)"
    assert fewer.p_floor == pytest.approx(1 / 462)
    assert result(scorings=1).p_method == f"monte-carlo of {scoring.MIN_DRAWS} draws (budget of 1 scorings)"
    assert result(budget=10, draws=20).p_method == "monte-carlo"
    whole = result().p_values
    assert whole is not None and fewer.p_values is not None
    assert fewer.p_values == pytest.approx(whole, abs=0.08)


@pytest.mark.equal_bits
def test_the_design_of_the_generic_null_is_the_same_for_any_batch_size(cache):
    def p_values(size: int) -> np.ndarray | None:
        return scored(Equal(), cache, SignificanceSpec(method="monte-carlo", scorings=800), size).p_values

    one, all_together = p_values(1), p_values(512)
    assert one is not None and all_together is not None
    assert np.array_equal(one, all_together)


def test_a_reason_takes_the_place_of_p_values(cache):
    metric = Equal(needs=frozenset())
    result = scored(metric, cache, SignificanceSpec(method="exact"))
    assert (result.p_values, result.p_method) == (None, "")
    assert result.p_note == "reads the candidates alone and defines no permutation null"
    assert scoring.Scored.from_arrays(result.to_arrays()).p_note == result.p_note
    assert scored(metric, cache).p_note == "", "none was requested"
    undirected = scored(Equal(higher_is_better=None), cache, SignificanceSpec(method="exact"))
    assert undirected.p_note.startswith("has no direction")


@pytest.mark.parametrize(("least", "expected"), [(2, [True, True]), (3, [False, False])])
def test_a_metric_without_references_scores_two_texts_or_an_image(least, expected):
    metric = SimpleNamespace(spec=MetricSpec("m", True, needs=("candidates",), min_texts=least))
    assert scoring.scorable(metric, np.array([1, 2]), np.array([0, 0])).tolist() == expected
