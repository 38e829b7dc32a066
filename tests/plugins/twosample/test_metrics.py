"""``mmdagg`` and ``c2st``: contract, p-values, parameters."""

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.stats import permutation
from harness.stats.significance import metric_p_values
from harness.testing import parametrize_with_checks
from harness_metrics.kernel import geometry
from harness_metrics.twosample import metrics
from harness_metrics.twosample.metrics import ClassifierTest, MmdAgg

# --------------------------------------------------------------------------- classifier
# The closed form of leave-one-out against a classifier that is fitted for every text.


def refitted(points, label, ridge):
    """Balanced accuracy of ridge regression with an intercept,
    fitted without each text in turn.
    """
    size = len(points)
    n = label.sum()
    targets = np.where(label, size / n, -size / (size - n))
    centred = points - points.mean(axis=0)
    penalty = ridge * (centred**2).sum() / size
    right = []
    for i in range(size):
        rest = np.arange(size) != i
        x = np.column_stack([np.ones(size - 1), centred[rest]])
        regular = penalty * np.diag([0.0] + [1.0] * points.shape[1])
        beta = np.linalg.solve(x.T @ x + regular, x.T @ targets[rest])
        right.append(
            np.sign(np.concatenate([[1.0], centred[i]]) @ beta) == np.sign(targets[i])
        )
    right = np.array(right)
    return (right[label].mean() + right[~label].mean()) / 2


@pytest.mark.parametrize("ridge", [0.1, 1.0])
def test_leave_one_out_equals_fitting_again(ridge):
    points = np.random.default_rng(0).standard_normal((3, 7, 4))
    smooth = metrics.smoother(geometry.gram(points), ridge)
    labels = permutation.relabelings(3, 4)
    expected = [
        [refitted(example, label, ridge) for label in labels] for example in points
    ]
    np.testing.assert_allclose(metrics.accuracy(smooth, labels), expected, atol=1e-12)


def test_samples_apart_and_equal_texts():
    points = np.array([[[0.0], [0.1], [0.2], [5.0], [5.1]], [[1.0]] * 5])
    label = (np.arange(5) < 3)[None]
    values = metrics.accuracy(metrics.smoother(geometry.gram(points), 1.0), label)
    assert values[0, 0] == 1.0
    assert values[1, 0] <= 0.5


# --------------------------------------------------------------------------- MMD over kernels
# MMDAgg: kernels, and the smallest p-value by a plain program.


def unbiased(kernel, label):
    c = np.flatnonzero(label)
    r = np.flatnonzero(~label)

    def within(sample):
        block = kernel[np.ix_(sample, sample)]
        return (block.sum() - np.trace(block)) / (len(sample) * (len(sample) - 1))

    return within(c) + within(r) - 2 * kernel[np.ix_(c, r)].mean()


def test_the_smallest_p_value_of_every_relabeling():
    points = np.random.default_rng(0).standard_normal((2, 6, 3))
    kernel = metrics.kernels(geometry.gram(points), "both", 3)
    labels = permutation.relabelings(2, 4)
    values = metrics.smallest_p(kernel, 2, labels, labels)
    for example, row in zip(kernel, values):
        statistics = np.array(
            [[unbiased(k, label) for label in labels] for k in example]
        )
        p = (statistics[:, None, :] >= statistics[:, :, None] - 1e-9).mean(axis=2)
        np.testing.assert_allclose(row, p.min(axis=0), atol=1e-12)


def test_kernels_have_the_widths_of_the_paper():
    points = np.random.default_rng(1).standard_normal((1, 8, 2))
    distances = np.linalg.norm(points[0][:, None] - points[0], axis=-1)
    ranked = np.sort(distances[np.triu_indices(8, 1)])
    low = ranked[int(0.05 * 28)] / 2
    high = ranked[int(0.95 * 28)] * 2
    found = metrics.kernels(geometry.gram(points), "laplace", 4)[0]
    for width, kernel in zip(np.linspace(low, high, 4), found):
        np.testing.assert_allclose(kernel, np.exp(-distances / width), atol=1e-6)
    gaussian = metrics.kernels(geometry.gram(points), "gaussian", 4)[0]
    np.testing.assert_allclose(
        gaussian[3], np.exp(-((distances / high) ** 2) / 2), atol=1e-6
    )
    assert metrics.kernels(geometry.gram(points), "both", 4).shape == (1, 8, 8, 8)


def test_distances_of_zero_count_as_the_median_for_the_widths():
    points = np.array([[[0.0], [0.0], [1.0], [3.0], [6.0]]])
    distances = np.abs(points[0] - points[0].T)
    upper = distances[np.triu_indices(5, 1)]
    low = np.sort(np.where(upper == 0, np.median(upper), upper))[0] / 2
    assert low == 0.5
    np.testing.assert_allclose(
        metrics.kernels(geometry.gram(points), "laplace", 2)[0, 0],
        np.exp(-distances / low),
        atol=1e-6,
    )


@pytest.mark.parametrize(
    "points", [np.zeros((1, 5, 2)), np.array([[[0.0], [0.0], [0.0], [0.0], [1.0]]])]
)
def test_equal_vectors_have_finite_kernels(points):
    kernel = metrics.kernels(geometry.gram(points), "both", 2)
    assert np.isfinite(kernel).all()
    labels = permutation.relabelings(2, 3)
    assert (
        (metrics.smallest_p(kernel, 2, labels, labels) > 0)
        & (metrics.smallest_p(kernel, 2, labels, labels) <= 1)
    ).all()


def test_relabelings_are_drawn_where_there_are_too_many():
    assert len(metrics.relabelings(3, 3, 0)) == 20
    drawn = metrics.relabelings(15, 15, 0)
    assert drawn.shape == (metrics.DRAWS + 1, 30)
    assert drawn[0].tolist() == [True] * 15 + [False] * 15


# --------------------------------------------------------------------------- metrics


@parametrize_with_checks(
    [MmdAgg(embedding="bow", bandwidths=3), ClassifierTest(embedding="bow")]
)
def test_contract(check):
    check()


DOGS = tuple(f"a dog {word}" for word in ("runs", "sits", "eats", "sleeps"))
BUSES = tuple(f"the red bus {word}" for word in ("stops", "waits", "turns", "leaves"))


@pytest.mark.parametrize(
    "metric", [MmdAgg(embedding="bow"), ClassifierTest(embedding="bow")]
)
def test_samples_apart_have_the_smallest_p_value(metric):
    sets = [
        CaptionSet("apart", DOGS, BUSES),
        CaptionSet("mixed", DOGS[:2] + BUSES[:2], DOGS[2:] + BUSES[2:]),
    ]
    features = FeatureCache([DOGS + BUSES] * 2)
    batch = features.batch(sets)
    scores = metric.scores(batch, features, None)
    exact = metric_p_values(metric, batch, features, None, scores)
    sampled = metric_p_values(
        metric, batch, features, None, scores, method="monte-carlo", draws=2000
    )
    assert exact.method == "exact"
    assert exact.values[0] == pytest.approx(2 / 70)
    assert exact.values[1] > 0.3
    assert np.abs(exact.values - sampled.values).max() < 0.05


def test_aggregated_p_values_are_valid_under_the_null():
    rng = np.random.default_rng(0)
    texts = [
        ["".join(rng.choice(list("abcd "), 12)) for _ in range(7)] for _ in range(60)
    ]
    sets = [
        CaptionSet(str(k), tuple(row[:3]), tuple(row[3:]))
        for k, row in enumerate(texts)
    ]
    features = FeatureCache(texts)
    metric = MmdAgg(embedding="bow", bandwidths=4)
    batch = features.batch(sets)
    scores = metric.scores(batch, features, None)
    p = metric_p_values(metric, batch, features, None, scores).values
    assert (p >= scores - 1e-12).all()  # the smallest of many p-values is too small
    assert (p <= 0.2).mean() <= 0.35


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: MmdAgg(embedding="bow", kernel="gauss"),
            "MmdAgg: kernel is 'gauss'; .*; did you mean 'gaussian'",
        ),
        (
            lambda: MmdAgg(embedding="bow", bandwidths=0),
            "MmdAgg: bandwidths is 0; expected a whole number of at least 1",
        ),
        (
            lambda: ClassifierTest(embedding="bow", ridge=0),
            "ClassifierTest: ridge is 0; expected a number of at least 1e-06",
        ),
    ],
)
def test_parameters_out_of_range(make, message):
    with pytest.raises(HarnessError, match=message):
        make()


def test_defaults_are_named_in_the_signature():
    aggregated = MmdAgg(embedding="bow").signature()
    classifier = ClassifierTest(embedding="bow").signature()
    assert aggregated.startswith("mmdagg|both|bandwidths:10|seed:0|bow")
    assert classifier.startswith("c2st|ridge:1|bow")
