"""The 504 functions against values of the published program and a readable loop."""

import gzip
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.decisions.correlate.correlate import strata
from harness.errors import InputError, UnknownName
from harness_metrics.pregen.functions import KEPT_NAMES, NAMES, evaluate, per_image
from harness_metrics.pregen.tokens import flatten

LOSS = 1e-12
"""Relative tolerance for sums computed in another order."""
token = st.tuples(
    st.one_of(st.just(0.0), st.just(1.0), st.floats(1e-6, 1.0)), st.integers(0, 2)
)
datasets = st.lists(
    st.lists(st.lists(token, min_size=1, max_size=6), min_size=1, max_size=4),
    min_size=1,
    max_size=5,
)


@pytest.fixture(scope="module")
def golden(golden):
    with gzip.open(golden / "pregen/pregen_golden.json.gz", "rt") as file:
        return json.load(file)


def test_names_are_in_the_published_order(golden):
    assert len(NAMES) == 504
    assert list(NAMES) == golden["names"]


def test_golden_values_with_exact_zeros_and_infinities(golden):
    for case in golden["cases"]:
        expected = np.array([float(value) for value in case["scores"]])
        values = evaluate(case["dataset"])
        exact = (expected == 0) | np.isinf(expected)
        np.testing.assert_array_equal(
            values[exact], expected[exact], err_msg=case["name"]
        )
        np.testing.assert_allclose(
            values[~exact], expected[~exact], rtol=LOSS, atol=0, err_msg=case["name"]
        )


def test_figure_1_of_the_paper(golden):
    case = golden["cases"][0]
    assert evaluate(case["dataset"], ["mean_max_normcount_prefix0"])[
        0
    ] == pytest.approx(0.542857142857, abs=1e-12)


def test_golden_strata(root):
    for case in json.loads(
        (root / "tests/golden" / "pregen/strata_golden.json").read_text()
    )["cases"]:
        for k, expected in case["strata"].items():
            assert strata(case["per_image_cider"], int(k)) == expected


def select(caption, tier1):
    if tier1 == "none":
        return caption
    if tier1 == "filter0":
        return [token for token in caption if token[1] != 0]
    if tier1 == "filter0_kept":
        return [token for token in caption if token[1] == 0]
    misses = [k for k, token in enumerate(caption) if token[1] != 0]
    return caption[: misses[0]] if misses else caption


def score(caption, tier2, tier1):
    selection = select(caption, tier1)
    if tier2 == "count":
        return float(len(selection))
    if tier2 == "normcount":
        return len(selection) / len(caption)
    if tier2 == "prob":
        return math.prod(p for p, _ in selection) if selection else 0.0
    if not selection or any(p == 0 for p, _ in selection):
        return math.inf
    return float(np.exp2(-sum(math.log2(p) for p, _ in selection) / len(selection)))


def aggregate(values, kind):
    if kind == "geomean":
        if 0 in values:
            return 0.0
        return float(np.exp2(np.mean(np.log2(values))))
    return float(
        {
            "sum": np.sum,
            "mean": np.mean,
            "median": np.median,
            "max": np.max,
            "min": np.min,
        }[kind](values)
    )


def loop(dataset, name):
    tier4, tier3, tier2, tier1 = name.split("_", 3)
    images = [[score(caption, tier2, tier1) for caption in image] for image in dataset]
    flat = [value for image in images for value in image]
    return aggregate(
        flat if tier3 == "join" else [aggregate(image, tier3) for image in images],
        tier4,
    )


@pytest.mark.slow
@pytest.mark.equal_bits
@given(datasets)
def test_all_functions_equal_the_loop(dataset):
    names = NAMES + KEPT_NAMES
    values = evaluate(dataset, names)
    assert not np.isnan(values).any()
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(
            values, [loop(dataset, name) for name in names], rtol=LOSS, atol=0
        )


@pytest.mark.slow
@pytest.mark.equal_bits
@given(datasets, st.randoms(use_true_random=False))
def test_values_do_not_depend_on_other_names_and_the_order_of_images(dataset, random):
    every = dict(zip(NAMES, evaluate(dataset)))
    names = random.sample(NAMES, 5)
    assert evaluate(dataset, names).tolist() == [every[name] for name in names]
    shuffled = random.sample(dataset, len(dataset))
    np.testing.assert_allclose(evaluate(shuffled), evaluate(dataset), rtol=LOSS)


def test_tier_4_aggregates_the_values_per_image():
    rng = np.random.default_rng(0)
    dataset = [
        [
            [(rng.random(), int(rng.integers(3))) for _ in range(rng.integers(1, 9))]
            for _ in range(rng.integers(1, 5))
        ]
        for _ in range(30)
    ]

    images = per_image(dataset, ["mean_max_normcount_prefix0", "mean_median_pplx_none"])
    assert images.mean(axis=1) == pytest.approx(
        evaluate(dataset, ["mean_max_normcount_prefix0", "mean_median_pplx_none"]),
        rel=LOSS,
    )

    order = [3, 3, 29, 0]
    np.testing.assert_array_equal(
        evaluate(flatten(dataset).take(np.array(order))),
        evaluate([dataset[k] for k in order]),
    )
    with pytest.raises(InputError, match="joins the captions"):
        per_image(dataset, ["mean_join_prob_none"])


def test_filter0_by_the_words_of_the_paper_is_the_complement():
    dataset = [[[(0.5, 0), (0.25, 3), (0.125, 0)]]]
    assert evaluate(
        dataset, ["sum_sum_count_filter0", "sum_sum_count_filter0_kept"]
    ).tolist() == [1.0, 2.0]
    assert evaluate(
        dataset, ["sum_sum_prob_filter0", "sum_sum_prob_filter0_kept"]
    ).tolist() == [0.25, 0.0625]


def test_unknown_names():
    with pytest.raises(UnknownName, match="did you mean 'mean_max_normcount_prefix0'"):
        evaluate([[[(0.5, 0)]]], ["mean_max_normcount_prefix"])


def test_invalid_strata():
    assert strata([0.3, 0.1], 3) == [[], [], []]
    for k in (0, -1, 1.5, True):
        with pytest.raises(InputError, match="integer of at least 1"):
            strata([0.3, 0.1], k)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="item 1: a score is NaN"):
        strata([0.3, math.nan], 1)
    with pytest.raises(InputError, match="has no images"):
        evaluate([])
