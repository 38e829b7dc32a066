"""Scores of one metric: batching, undefined examples, p-values, intervals."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.contracts import CaptionSet, Cost, MeanMetric, MetricSpec, Objects
from harness.errors import HarnessError
from harness.run import score as scoring
from harness.run.combined_p_values import combine_p_values
from harness.run.features import FeatureCache
from harness.run.intervals import estimate
from harness.run.scored import Scored, read_statistics
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
        self.spec = MetricSpec(
            "words", True, min_candidates=min_candidates, resampled=resampled
        )
        self.fits = 0

    def fit(self, references, features) -> Any:
        self.fits += 1
        return len(references)

    def scores(self, batch, features, state) -> np.ndarray:
        words = np.array(
            [[len(text.split()) for text in texts[: batch.n]] for texts in batch.texts],
            dtype=float,
        )
        means = words.mean(axis=1)
        return np.where(means == 0, np.nan, means)

    def null(self, batch, features, state, labels) -> np.ndarray:
        words = np.array(
            [[len(text.split()) for text in texts] for texts in batch.texts],
            dtype=float,
        )
        return words @ labels.T / labels.sum(axis=1)


@pytest.fixture
def cache():
    return FeatureCache([item.references for item in SETS])


def scored(metric, cache, significance=None, size: int | None = scoring.BATCH):
    return scoring.score(
        metric, scoring.batches(SETS, cache, size), cache, significance, 0
    )


@pytest.mark.equal_bits
@pytest.mark.parametrize("size", [None, 1, 512])
def test_rows_are_in_the_order_of_the_examples_for_any_batch_size(cache, size):
    result = scored(Words(), cache, size=size)
    assert np.array_equal(result.stats[:, 0], [1.5, 1, 1, np.nan], equal_nan=True)
    assert result.defined.tolist() == [True, True, True, False]
    assert np.array_equal(
        result.per_example(Words()), [1.5, 1, 1, np.nan], equal_nan=True
    )
    assert (result.p_values, result.p_method, result.p_floor) == (None, "", 1.0)


def test_batches_have_one_shape_and_hold_every_example_once(cache):
    parts = scoring.batches(SETS, cache, 1)
    assert [(positions.tolist(), batch.n, batch.m) for positions, batch in parts] == [
        ([1], 1, 2),
        ([3], 1, 2),
        ([0], 2, 1),
        ([2], 2, 1),
    ]
    (cut,) = scoring.nested(parts[2:3], cache, 1, None)
    assert (cut.batch.n, cut.batch.m, cut.batch.texts) == (1, 1, [["x", "r"]])


@pytest.mark.parametrize(
    ("size", "n", "m", "count", "expected"),
    [
        (scoring.BATCH, 1, 1, 513, [512, 1]),
        (3, 1, 1, 7, [3, 3, 1]),
        (None, 8, 8, 1025, [1024, 1]),  # 256 pairs each, 262,144 in a batch
        (None, 20, 20, 513, [512, 1]),
        (None, 500, 524, 5, [4, 1]),  # 1,048,576 pairs each, 4,194,304 in a batch
        (512, 500, 524, 5, [4, 1]),
        (512, 1500, 1500, 2, [1, 1]),
    ],
)
def test_batches_have_fewer_examples_the_more_texts_these_have(
    cache, size, n, m, count, expected
):
    parts = scoring.batches(
        [CaptionSet("a", ("x",) * n, ("r",) * m)] * count, cache, size
    )
    assert [len(batch) for _, batch in parts] == expected
    assert np.concatenate([positions for positions, _ in parts]).tolist() == list(
        range(count)
    )


def test_batches_have_512_examples_unless_told_otherwise(cache):
    parts = scoring.batches([SETS[0]] * 513, cache)
    assert [len(batch) for _, batch in parts] == [512, 1]


def test_batches_are_cut_to_candidates_and_references_that_they_have(cache):
    (part,) = scoring.batches(
        [CaptionSet("a", ("x", "y", "z"), ("r", "s", "t"))], cache
    )
    for n, m, expected in (
        (None, None, "xyzrst"),
        (2, None, "xyrst"),
        (None, 1, "xyzr"),
        (9, 2, "xyzrs"),
        (1, 9, "xrst"),
    ):
        (cut,) = scoring.nested([part], cache, n, m)
        assert cut.batch.texts == [list(expected)]
        assert cut.positions.tolist() == [0]


def test_a_shape_too_small_for_the_metric_is_undefined(cache):
    result = scored(Words(min_candidates=2), cache)
    assert result.defined.tolist() == [True, False, True, False]


def test_corpus_state_is_fitted_once(cache):
    metric = Words()
    scored(metric, cache, size=1)
    scored(metric, cache)
    assert metric.fits == 1


def test_a_metric_is_fitted_on_the_references_of_the_sets_or_on_those_given():
    fitted = []

    class Corpus(Words):
        def fit(self, references, features):
            fitted.append([list(texts) for texts in references])

    first, second = scoring.score_sets([Corpus(), Words()], SETS)
    assert np.array_equal(first.stats[:, 0], second.stats[:, 0], equal_nan=True)
    scoring.score_sets([Corpus()], SETS, references=[["q"], ["u", "v"]])
    assert fitted == [[["r"], ["r", "s s s"], ["t t"], ["u", "u"]], [["q"], ["u", "v"]]]


class Costly(Words):
    """Takes a second per word of the longest text, and ten more for p-values."""

    def cost(self, n, m, tokens, *, tested=False):
        return Cost(tokens + 10.0 * tested, 8.0, advice="shorter captions")


def test_an_example_that_takes_too_long_is_refused_before_any_metric_scores(
    monkeypatch,
):
    class Never(Words):
        def scores(self, batch, features, state):
            raise AssertionError("scored before the check")

    def run(limit, significance=None):
        monkeypatch.setenv("HARNESS_EXAMPLE_SECONDS", limit)
        return scoring.score_sets([Words(), Costly()], SETS, significance)

    assert len(run("3")) == 2, "'s s s' has three words"
    with pytest.raises(
        HarnessError,
        match=r"words of 1 \+ 2 captions of up to 3 words takes about 3 s for one "
        r"example",
    ):
        run("2.9")
    with pytest.raises(HarnessError, match="takes about 13 s for one example"):
        run("12", SignificanceSpec(method="exact"))
    monkeypatch.setenv("HARNESS_EXAMPLE_SECONDS", "2")
    for metrics in ([Never(), Costly()], [Costly(), Never()]):  # of one name
        with pytest.raises(HarnessError, match="takes about 3 s"):
            scoring.score_sets(metrics, SETS[1:2])


def test_the_time_of_scoring_is_that_between_its_start_and_end(cache, monkeypatch):
    monkeypatch.setattr(
        scoring, "time", SimpleNamespace(perf_counter=iter([10.0, 32.5]).__next__)
    )
    assert scored(Words(), cache).seconds == 22.5


def test_progress_counts_every_example(cache):
    steps: list[int] = []
    scoring.score(
        Words(), scoring.batches(SETS, cache, 1), cache, None, 0, steps.append
    )
    assert steps == [1, 1, 1, 1]


def test_p_values_and_their_combination(cache):
    result = scored(Words(), cache, SignificanceSpec(method="exact"))
    assert result.p_method == "exact"
    assert result.p_floor == pytest.approx(1 / 3)
    assert result.p_values is not None
    # Example a: words 1, 2 | 1: two of the three pairs have a mean of at most 1.5
    # besides the pair (1, 1).
    assert np.array_equal(result.p_values, [1.0, 2 / 3, 1 / 3, np.nan], equal_nan=True)
    assert result.p_floors is not None
    assert np.array_equal(result.p_floors, [1 / 3] * 4)
    combined = combine_p_values(result.p_values, result.p_floors, fdr=0.05)
    # Of the 27 triples of ranks, 10 have a product of at most 1 x 2 x 3 = 6, as has the
    # observed one: the tail of the law of the product.
    products = np.array(
        [a * b * c for a in (1, 2, 3) for b in (1, 2, 3) for c in (1, 2, 3)]
    )
    assert combined["calibrated"] == pytest.approx((products <= 6).mean())
    assert combined["log_calibrated"] == pytest.approx(np.log((products <= 6).mean()))
    assert combined["harmonic_mean"] == pytest.approx(3 / (1 + 1.5 + 3))
    assert (combined["discoveries"], combined["fdr"], combined["n"]) == (0, 0.05, 3)
    assert combined["log_harmonic_mean"] == pytest.approx(
        np.log(combined["harmonic_mean"])
    )


def test_the_summed_statistic_is_the_same_in_shards_and_reads_back(cache):
    spec = SignificanceSpec(method="exact", aggregate="summed", draws=99)
    result = scored(Words(), cache, spec)
    assert result.p_sums is not None and result.p_sums.shape == (100,)
    joined = Scored.join(
        [scored(Words(), cache, spec, size=1), scored(Words(), cache, spec, size=1)]
    )
    assert joined.p_sums == pytest.approx(2 * result.p_sums)
    assert np.array_equal(Scored.from_arrays(result.to_arrays()).p_sums, result.p_sums)
    combined = combine_p_values(result.p_values, result.p_floors, 0.05, result.p_sums)
    assert combined["summed"] == (result.p_sums >= result.p_sums[0] - 1e-9).mean()


def test_statistics_are_summed_only_where_the_spec_combines_their_sum(cache):
    for aggregate in ("fisher-discrete", "harmonic-mean"):
        result = scored(
            Words(), cache, SignificanceSpec(method="exact", aggregate=aggregate)
        )
        assert result.p_sums is None and "p_sums" not in result.to_arrays()
        assert "summed" not in combine_p_values(
            result.p_values, result.p_floors, 0.05, result.p_sums
        )


def test_statistics_of_a_wrong_shape_name_the_metric(cache):
    class Flat(Words):
        def stats(self, batch, features, state):
            return np.zeros(len(batch))

    with pytest.raises(
        ValueError,
        match=r"metric 'words' returned statistics of shape \(2,\) for 2 examples",
    ):
        scored(Flat(), cache)


class Gather(Words):
    """Collects the first text of each example, ``extra`` more objects than examples."""

    def __init__(self, extra: int = 0) -> None:
        super().__init__(min_candidates=2)
        self.extra = extra

    def stats(self, batch, features, state):
        return Objects.of(
            [{"text": texts[0]} for texts in batch.texts * 2][
                : len(batch) + self.extra
            ],
            "words",
        )


def test_objects_of_a_corpus_metric_are_in_the_order_of_the_examples_and_read_back(
    cache,
):
    seen: list[Any] = []
    parts = scoring.batches(SETS, cache)
    result = scoring.score(Gather(), parts, cache, None, 0, observe=seen.append)
    assert [list(objects) for objects in seen] == [[{"text": "x"}, {"text": "w"}]], (
        "the batch of two candidates"
    )
    expected = [{"text": "x"}, None, {"text": "w"}, None]
    assert list(result.stats) == expected
    assert list(Scored.from_arrays(result.to_arrays()).stats) == expected
    assert list(read_statistics(result.to_arrays())) == expected


@pytest.mark.parametrize("extra", [-1, 1])
def test_another_number_of_objects_than_of_examples_names_the_metric(cache, extra):
    with pytest.raises(
        ValueError, match=f"metric 'words' collected {2 + extra} objects for 2 examples"
    ):
        scored(Gather(extra), cache)


@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (2, 1, 1)])
def test_rows_of_a_wrong_number_or_dimension_name_the_metric(cache, shape):
    class Wrong(Words):
        def stats(self, batch, features, state):
            return np.zeros(shape)

    with pytest.raises(
        ValueError,
        match=r"metric 'words' returned statistics of shape "
        rf"\({', '.join(map(str, shape))}\) for 2 examples",
    ):
        scored(Wrong(), cache)


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
    """Share of the candidates that are equal to a reference;
    scored again for each relabeling.
    """

    def __init__(self, **fields: Any) -> None:
        self.spec = MetricSpec(**{"name": "equal", "higher_is_better": True, **fields})

    def scores(self, batch, features, state) -> np.ndarray:
        rows = [
            [text in texts[batch.n :] for text in texts[: batch.n]]
            for texts in batch.texts
        ]
        return np.array(rows, dtype=float).mean(axis=1)


def test_the_generic_null_is_exact_within_its_budget_of_scorings(cache):
    exact = scored(Equal(), cache, SignificanceSpec(method="exact"))
    assert (exact.p_method, exact.p_note) == ("exact", "")
    # 462 relabelings each
    sets = [CaptionSet(str(k), tuple("abcde"), tuple("defghi")) for k in range(4)]
    features = FeatureCache()
    parts = scoring.batches(sets, features)

    def result(**settings: Any) -> Scored:
        return scoring.score(
            Equal(), parts, features, SignificanceSpec(method="exact", **settings), 0
        )

    assert result(scorings=4 * 462).p_method == "exact"
    fewer = result(scorings=4 * 461)
    assert fewer.p_method == "monte-carlo of 461 draws (budget of 1,844 scorings)"
    assert fewer.p_floor == pytest.approx(1 / 462)
    assert (
        result(scorings=1).p_method == "monte-carlo of 99 draws (budget of 1 scorings)"
    )
    assert result(budget=10, draws=20).p_method == "monte-carlo"
    whole = result().p_values
    assert whole is not None and fewer.p_values is not None
    assert fewer.p_values == pytest.approx(whole, abs=0.08)


@pytest.mark.equal_bits
def test_the_design_of_the_generic_null_is_the_same_for_any_batch_size(cache):
    def p_values(size: int) -> np.ndarray | None:
        return scored(
            Equal(), cache, SignificanceSpec(method="monte-carlo", scorings=800), size
        ).p_values

    one = p_values(1)
    all_together = p_values(512)
    assert one is not None and all_together is not None
    assert np.array_equal(one, all_together)


def test_a_reason_takes_the_place_of_p_values(cache):
    metric = Equal(needs=frozenset())
    result = scored(metric, cache, SignificanceSpec(method="exact"))
    assert (result.p_values, result.p_method) == (None, "")
    assert result.p_note == "reads the candidates alone and defines no permutation null"
    assert Scored.from_arrays(result.to_arrays()).p_note == result.p_note
    assert scored(metric, cache).p_note == "", "none was requested"
    undirected = scored(
        Equal(higher_is_better=None), cache, SignificanceSpec(method="exact")
    )
    assert undirected.p_note.startswith("has no direction")


@pytest.mark.parametrize(
    ("least", "expected"), [(2, [True, True]), (3, [False, False])]
)
def test_a_metric_without_references_scores_two_texts_or_an_image(least, expected):
    metric = SimpleNamespace(
        spec=MetricSpec("m", True, needs=("candidates",), min_texts=least)
    )
    assert (
        scoring.scorable(metric, np.array([1, 2]), np.array([0, 0])).tolist()
        == expected
    )


def test_the_budget_of_scorings_belongs_to_the_examples_that_the_metric_can_score(
    cache,
):
    sets = [
        CaptionSet("a", tuple("abcde"), tuple("defghi")),
        CaptionSet("b", ("a",), ("b",)),
    ]
    spec = SignificanceSpec(method="exact", scorings=150)
    (result,) = scoring.score_sets([Equal(min_candidates=2)], sets, spec)
    assert result.p_method == "monte-carlo of 150 draws (budget of 150 scorings)"
    (nothing,) = scoring.score_sets([Equal(min_candidates=6)], sets, spec)
    assert nothing.p_values is not None
    assert np.isnan(nothing.p_values).all() and nothing.p_method == ""
    (features := FeatureCache()).intern(["a"])
    shard = scoring.score(
        Equal(min_candidates=2),
        scoring.batches(sets[:1], features),
        features,
        spec,
        0,
        examples=1,
    )
    assert shard.p_method == result.p_method
    half = scoring.score(
        Equal(),
        scoring.batches(sets[:1], features),
        features,
        spec.model_copy(update={"scorings": 300}),
        0,
        examples=2,
    )
    assert half.p_method == "monte-carlo of 150 draws (budget of 300 scorings)"


def test_p_values_are_drawn_with_the_seed_zero_unless_told_otherwise():
    sets = [
        CaptionSet(str(k), tuple("adefg"), tuple("aabbcc"[: k + 2])) for k in range(5)
    ]
    spec = SignificanceSpec(method="monte-carlo", draws=99)

    def p_values(*seed: int) -> list[float]:
        (result,) = scoring.score_sets([Equal()], sets, spec, *seed)
        assert result.p_values is not None
        return result.p_values.tolist()

    assert p_values() == p_values(0) != p_values(1)


@pytest.mark.parametrize(
    ("significance", "expected"),
    [
        (None, (False,) * 3),
        ("none", (False,) * 3),
        ("exact", (True, True, False)),
        ("monte-carlo", (True, True, False)),
    ],
)
def test_only_relabelings_that_are_scored_again_depend_on_the_number_of_examples(
    significance, expected
):
    spec = significance and SignificanceSpec(method=significance)
    metrics = Words(), Equal(), Equal(needs=frozenset())
    assert tuple(scoring.is_tested(metric, spec) for metric in metrics) == expected
    assert tuple(
        scoring.depends_on_all_examples(metric, spec) for metric in metrics
    ) == (False, expected[1], False)


def test_no_test_was_requested_where_its_method_is_none(cache):
    for metric in (Words(), Equal(needs=frozenset())):
        result = scored(metric, cache, SignificanceSpec(method="none"))
        assert (result.p_values, result.p_floors, result.p_note) == (None, None, "")


def test_a_metric_scores_sets_of_at_least_its_numbers_of_texts():
    def mask(sizes, **fields):
        n, m = np.array(sizes).T
        return scoring.scorable(
            SimpleNamespace(spec=MetricSpec("m", True, **fields)), n, m
        ).tolist()

    assert mask([(1, 1), (1, 2), (2, 1), (2, 2)], min_texts=3) == [
        False,
        True,
        True,
        True,
    ]
    assert mask(
        [(1, 3), (2, 3), (2, 2), (3, 3)], min_candidates=2, min_references=3
    ) == [False, True, False, True]
    assert mask([(2, 0), (2, 1)], min_texts=2) == [False, True], "references are needed"
    assert mask([(1, 0), (1, 1), (2, 0)], needs=("candidates",), min_candidates=2) == [
        False,
        False,
        True,
    ]
    assert mask([(1, 0), (1, 1), (2, 2)], needs=("candidates",), min_references=2) == [
        True,
        False,
        True,
    ], "none, or as many as it reads"
    assert mask([(1, 0), (2, 0)], needs=("candidates",), min_references=0) == [
        True,
        True,
    ]
    assert mask([(1, 0)], needs=("candidates",), min_texts=1) == [True]


class OfReferences(Equal):
    """Shares that are scored with the references of all examples,
    or with nothing of them.
    """

    def __init__(self, reads: bool = True, **fields: Any) -> None:
        super().__init__(**fields)
        self.reads = reads

    def scores(self, batch, features, state) -> np.ndarray:
        return super().scores(batch, features, state) + (
            len(features.references) if self.reads else 0
        )


def test_a_metric_that_reads_the_references_of_other_examples_says_so(cache):
    with pytest.raises(
        HarnessError,
        match="metric 'equal' declares no corpus state and reads the references of the "
        "task: set MetricSpec",
    ):
        scored(OfReferences(), cache)
    assert scored(OfReferences(held_fixed="number held fixed"), cache).stats[
        :, 0
    ].tolist() == [4, 4, 4, 4]
    cache.corpus_read = "what another metric has read"
    assert scored(OfReferences(reads=False), cache).stats[:, 0].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(("number", "tested"), [(0, True), (4, True), (5, False)])
def test_there_are_p_values_from_a_number_of_examples_on(cache, number, tested):
    result = scored(
        Equal(testable_from=number), cache, SignificanceSpec(method="exact")
    )
    reason = "is tested on 4 examples: its p-values have their size from 5 on"
    assert (result.p_values is not None, result.p_note) == (
        tested,
        "" if tested else reason,
    )


def test_one_example_is_named_as_one():
    cache = FeatureCache([SETS[0].references])
    parts = scoring.batches(SETS[:1], cache)
    result = scoring.score(
        Equal(testable_from=2), parts, cache, SignificanceSpec(method="exact"), 0
    )
    assert (
        result.p_note
        == "is tested on one example: its p-values have their size from 2 on"
    )


def test_a_fitted_metric_names_the_references_that_it_is_fitted_on(cache):
    result = scored(
        Equal(testable_from=5, held_fixed="number held fixed"),
        cache,
        SignificanceSpec(method="exact"),
    )
    assert result.p_note == (
        "is fitted on the references of 4 examples: "
        "its p-values have their size from 5 on"
    )


def test_arrays_of_an_artifact_are_read_back(cache):
    result = scored(Words(), cache, SignificanceSpec(method="exact"))
    again = Scored.from_arrays(result.to_arrays())
    assert np.array_equal(again.stats, result.stats, equal_nan=True)
    assert again.p_values is not None and result.p_values is not None
    assert np.array_equal(again.p_values, result.p_values, equal_nan=True)
    assert again.p_floors is not None and result.p_floors is not None
    assert np.array_equal(again.p_floors, result.p_floors, equal_nan=True)
    assert (again.p_method, again.p_floor, again.seconds) == (
        result.p_method,
        result.p_floor,
        result.seconds,
    )
    assert "p_values" not in scored(Words(), cache).to_arrays()
