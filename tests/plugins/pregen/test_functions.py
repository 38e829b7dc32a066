"""The 504 functions against the published program's values, a readable loop, and their own algebra."""

import gzip
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import InputError, UnknownName
from harness.plugins.pregen.functions import KEPT_NAMES, NAMES, evaluate, per_image, strata
from harness.plugins.pregen.tokens import flatten

LOSS = 1e-12  # relative: sums run in another order than the original's


@pytest.fixture(scope="module")
def golden(golden):
    with gzip.open(golden / "pregen/pregen_golden.json.gz", "rt") as file:
        return json.load(file)


def test_names_are_the_published_ones_in_order(golden):
    assert len(NAMES) == 504
    assert list(NAMES) == golden["names"]


def test_every_golden_case_infinities_and_zeros_exact(golden):
    for case in golden["cases"]:
        expected = np.array([float(value) for value in case["scores"]])
        found = evaluate(case["dataset"])
        exact = (expected == 0) | np.isinf(expected)
        np.testing.assert_array_equal(found[exact], expected[exact], err_msg=case["name"])
        np.testing.assert_allclose(found[~exact], expected[~exact], rtol=LOSS, atol=0, err_msg=case["name"])


def test_figure_1_of_the_paper(golden):
    case = golden["cases"][0]
    assert evaluate(case["dataset"], ["mean_max_normcount_prefix0"])[0] == pytest.approx(0.542857142857, abs=1e-12)


def test_strata_as_published(root):
    for case in json.loads((root / "tests/golden/pregen/strata_golden.json").read_text())["cases"]:
        for k, expected in case["strata"].items():
            assert strata(case["per_image_cider"], int(k)) == expected


# ------------------------------------------------------------------ the readable loop
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
    chosen = select(caption, tier1)
    if tier2 == "count":
        return float(len(chosen))
    if tier2 == "normcount":
        return len(chosen) / len(caption)
    if tier2 == "prob":
        return math.prod(p for p, _ in chosen) if chosen else 0.0
    if not chosen or any(p == 0 for p, _ in chosen):
        return math.inf
    return float(np.exp2(-sum(math.log2(p) for p, _ in chosen) / len(chosen)))


def aggregate(values, kind):
    if kind == "geomean":
        if 0 in values:
            return 0.0
        return float(np.exp2(np.mean(np.log2(values))))
    return float({"sum": np.sum, "mean": np.mean, "median": np.median, "max": np.max, "min": np.min}[kind](values))


def loop(dataset, name):
    tier4, tier3, tier2, tier1 = name.split("_", 3)
    images = [[score(caption, tier2, tier1) for caption in image] for image in dataset]
    flat = [value for image in images for value in image]
    return aggregate(flat if tier3 == "join" else [aggregate(image, tier3) for image in images], tier4)


token = st.tuples(st.one_of(st.just(0.0), st.just(1.0), st.floats(1e-6, 1.0)), st.integers(0, 2))
datasets = st.lists(st.lists(st.lists(token, min_size=1, max_size=6), min_size=1, max_size=4), min_size=1, max_size=5)


@settings(max_examples=25, deadline=None)
@given(datasets)
def test_all_functions_equal_the_loop(dataset):
    names = NAMES + KEPT_NAMES
    found = evaluate(dataset, names)
    assert not np.isnan(found).any()
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(found, [loop(dataset, name) for name in names], rtol=LOSS, atol=0)


@settings(max_examples=20, deadline=None)
@given(datasets, st.randoms(use_true_random=False))
def test_a_subset_equals_all_and_images_commute(dataset, random):
    every = dict(zip(NAMES, evaluate(dataset)))
    names = random.sample(NAMES, 5)
    assert evaluate(dataset, names).tolist() == [every[name] for name in names]
    shuffled = random.sample(dataset, len(dataset))
    np.testing.assert_allclose(evaluate(shuffled), evaluate(dataset), rtol=LOSS)


def test_per_image_is_what_tier_4_aggregates_and_take_repeats_images():
    rng = np.random.default_rng(0)
    dataset = [
        [[(rng.random(), int(rng.integers(3))) for _ in range(rng.integers(1, 9))] for _ in range(rng.integers(1, 5))]
        for _ in range(30)
    ]
    images = per_image(dataset, ["mean_max_normcount_prefix0", "mean_median_pplx_none"])
    assert images.mean(axis=1) == pytest.approx(
        evaluate(dataset, ["mean_max_normcount_prefix0", "mean_median_pplx_none"]), rel=LOSS
    )
    chosen = [3, 3, 29, 0]
    np.testing.assert_array_equal(
        evaluate(flatten(dataset).take(np.array(chosen))), evaluate([dataset[k] for k in chosen])
    )
    with pytest.raises(InputError, match="joins the captions"):
        per_image(dataset, ["mean_join_prob_none"])


def test_paper_wording_of_filter0_is_the_complement():
    dataset = [[[(0.5, 0), (0.25, 3), (0.125, 0)]]]
    assert evaluate(dataset, ["sum_sum_count_filter0", "sum_sum_count_filter0_kept"]).tolist() == [1.0, 2.0]
    assert evaluate(dataset, ["sum_sum_prob_filter0", "sum_sum_prob_filter0_kept"]).tolist() == [0.25, 0.0625]


# ------------------------------------------------------------------ bad input
@pytest.mark.parametrize(
    "dataset, message",
    [
        (
            [[[(0.5, 0)], [(0.5, 0), (1.5, 0)]]],
            r"image 0, caption 1, token 1: probability 1.5, expected a number in \[0, 1\]",
        ),
        ([[[(0.5, 0)]], [[(-0.1, 0)]]], "image 1, caption 0, token 0: probability -0.1"),
        ([[[(math.nan, 0)]]], "probability nan"),
        ([[[(0.5, -1)]]], "rank -1.0, expected an integer of at least 0"),
        ([[[(0.5, 0.5)]]], "rank 0.5"),
        ([[[(0.5, math.nan)]]], "rank nan"),
        ([[[(0.5, math.inf)]]], "rank inf"),
        ([[[(0.5, 0)], []]], "image 0, caption 1: the caption has no tokens"),
        ([[[(0.5, 0)]], []], "image 1: the image has no captions"),
        ([], "no images"),
        ([[[(0.5, 0), (0.5,)]]], r"image 0, caption 0, token 1: found \(0.5,\), expected a \(probability, rank\) pair"),
        ([[[(0.5, "x")]]], "expected a .probability, rank. pair"),
        ([[[0.5, 0.5]]], "token 0: found 0.5"),
        ([0.5], "images -> captions -> tokens"),
    ],
)
def test_bad_data_is_told_in_one_line(dataset, message):
    with pytest.raises(InputError, match=message) as error:
        evaluate(dataset)
    assert "\n" not in str(error.value)


def test_unknown_name_says_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'mean_max_normcount_prefix0'"):
        evaluate([[[(0.5, 0)]]], ["mean_max_normcount_prefix"])


def test_strata_of_bad_input():
    assert strata([0.3, 0.1], 3) == [[], [], []]
    for k in (0, -1, 1.5, True):
        with pytest.raises(InputError, match="integer of at least 1"):
            strata([0.3, 0.1], k)
    with pytest.raises(InputError, match="item 1: a score is NaN"):
        strata([0.3, math.nan], 1)
    with pytest.raises(InputError, match="no images"):
        evaluate([])
