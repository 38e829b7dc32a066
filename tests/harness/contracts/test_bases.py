"""Base classes: recorded constructor parameters, default signatures, means,
distances.
"""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from harness.contracts import (
    CaptionSet,
    MeanMetric,
    MetricSpec,
    PathParam,
    TextDistance,
)
from harness.contracts.bases import Parameterised, signature_with_parameters
from harness.run.features import FeatureCache

Finite = st.floats(-1e6, 1e6, width=64)


class Scaled(MeanMetric):
    spec = MetricSpec("scaled", higher_is_better=True)

    def __init__(
        self, scale: float = 1.0, *, name: str = "x", options: Any = None
    ) -> None:
        self.scale = scale

    def scores(self, batch: Any, features: Any, state: Any) -> np.ndarray:
        return np.full(len(batch), self.scale)


class Inheriting(Scaled):
    pass


class Narrowed(Scaled):
    def __init__(self, *, power: int = 2) -> None:
        super().__init__(scale=10.0**power)


class Mixin:
    def __init__(self, *, depth: int = 0, **rest: Any) -> None:
        super().__init__(**rest)
        self.depth = depth


class Mixed(Mixin, Scaled):
    pass


@dataclass
class Data(MeanMetric):
    n: int = 1
    orders: list[int] = field(default_factory=lambda: [1, 2])
    state: float = field(default=0.0, init=False)
    spec = MetricSpec("data", higher_is_better=None)


@dataclass
class DataOnRecorded(Scaled):
    size: int = 1

    def __post_init__(self) -> None:
        super().__init__(scale=5.0)


class InheritsData(Data):
    pass


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        (Scaled(), {}),
        (Scaled(1.0, name="x", options=None), {}),
        (Scaled(2.0), {"scale": 2.0}),
        (Scaled(1), {"scale": 1}),
        (Scaled(scale=2.0, name="y"), {"scale": 2.0, "name": "y"}),
        (Scaled(options=[1]), {"options": [1]}),
        (Inheriting(3.0), {"scale": 3.0}),
        (Narrowed(power=3), {"power": 3}),
        (Narrowed(), {}),
        (Mixed(depth=2, scale=4.0), {"depth": 2, "scale": 4.0}),
        (Data(), {}),
        (Data(2, [3]), {"n": 2, "orders": [3]}),
        (DataOnRecorded(), {}),
        (DataOnRecorded(size=2), {"size": 2}),
        (InheritsData(n=4), {"n": 4}),
    ],
)
def test_constructor_parameters_are_those_that_differ_from_the_defaults(
    instance, expected
):
    assert instance.constructor_parameters == expected


def test_a_call_that_does_not_fit_is_reported_by_the_constructor():
    with pytest.raises(TypeError, match="unexpected keyword argument 'scal'"):
        Scaled(scal=1)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(
    "instance", [Scaled(2.0), Mixed(depth=1), Data(n=3), Narrowed(power=1)]
)
def test_parameters_survive_copies_and_pickling(instance):
    for other in (
        copy.copy(instance),
        copy.deepcopy(instance),
        pickle.loads(pickle.dumps(instance)),
    ):
        assert other.constructor_parameters == instance.constructor_parameters
        assert other.signature() == instance.signature()


def test_the_wrapped_constructor_keeps_its_signature_and_docstring():
    import inspect

    assert list(inspect.signature(Scaled).parameters) == ["scale", "name", "options"]
    assert Scaled.__init__.__name__ == "__init__"


def test_a_class_without_a_constructor_has_no_parameters():
    class Plain(Parameterised):
        pass

    assert Plain().constructor_parameters == {}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, "m"),
        ({"b": 2, "a": "x"}, "m|a:x|b:2"),
        ({"paths": ["p", "q"]}, "m|paths:['p', 'q']"),
    ],
)
def test_signatures_list_the_parameters_in_the_order_of_their_names(
    parameters, expected
):
    assert signature_with_parameters("m", parameters) == expected


def test_default_signatures():
    assert Scaled(2.0).signature() == "scaled|scale:2.0"
    assert Data().signature() == "data"


def column(values) -> np.ndarray:
    return np.asarray(values, dtype=np.float64).reshape(-1, 1)


@given(arrays(np.float64, st.integers(1, 12), elements=Finite))
def test_equal_weights_give_the_mean(values):
    metric = Scaled()
    stats = column(values)
    assert metric.reduce(stats) == pytest.approx(values.mean(), rel=1e-9, abs=1e-6)
    (weighted,) = metric.reduce(stats, np.ones((1, len(values))))
    assert weighted == pytest.approx(metric.reduce(stats), rel=1e-9, abs=1e-6)
    assert metric.per_example(stats).tolist() == values.tolist()


@given(
    arrays(np.float64, 5, elements=Finite),
    arrays(np.int64, (3, 5), elements=st.integers(0, 4)),
)
def test_a_weight_of_two_counts_an_example_twice(values, counts):
    counts[:, 0] += 1  # every row has an example
    weighted = Scaled().reduce(column(values), counts)
    assert weighted.shape == (3,)
    for row, value in zip(counts, weighted):
        assert value == pytest.approx(np.repeat(values, row).mean(), rel=1e-9, abs=1e-6)


def test_the_mean_without_rows_and_with_undefined_rows():
    assert np.isnan(Scaled().reduce(np.empty((0, 1))))
    assert np.isnan(Scaled().reduce(column([1.0, np.nan])))


def test_statistics_are_the_scores_as_a_column():
    batch: Any = [None, None]
    features: Any = SimpleNamespace()
    stats = Scaled(3.0).stats(batch, features, None)
    assert (stats.tolist(), stats.dtype) == ([[3.0], [3.0]], np.float64)
    assert Scaled().fit([], features) is None


class Squares(MeanMetric):
    """Sum of the squared lengths of the candidates less the number of references;
    statistics of two columns.
    """

    spec = MetricSpec("squares", higher_is_better=True)

    def stats(self, batch: Any, features: Any, state: Any) -> np.ndarray:
        total = [sum(len(text) ** 2 for text in item.candidates) for item in batch.sets]
        empty = ["" in item.candidates for item in batch.sets]
        return np.stack(
            [np.where(empty, np.nan, total), np.full(len(batch), float(batch.m))],
            axis=1,
        )

    def per_example(self, stats: np.ndarray) -> np.ndarray:
        return stats[:, 0] - stats[:, 1]


def test_the_null_scores_relabeled_texts_and_keeps_the_context():
    features = FeatureCache()
    batch = features.batch(
        [
            CaptionSet("1", ("a", "bb"), ("ccc",), "m.png", "src", {"k": 1}),
            CaptionSet("2", ("", "b"), ("cc",)),
        ]
    )
    labels = np.array([[True, True, False], [True, False, True], [False, True, True]])
    null = Squares().null(batch, features, None, labels)
    expected = [[4.0, 9.0, 12.0], [np.nan, np.nan, 4.0]]
    assert np.array_equal(null, expected, equal_nan=True)

    seen: list[CaptionSet] = []

    class Recorder(Squares):
        def stats(self, batch: Any, features: Any, state: Any) -> np.ndarray:
            seen.extend(batch.sets)
            return super().stats(batch, features, state)

    Recorder().null(batch, features, None, labels[1:2])
    assert seen[0] == CaptionSet("1", ("a", "ccc"), ("bb",), "m.png", "src", {"k": 1})

    seen.clear()
    repeated = [2, 0, 2, 2, 0]
    assert np.array_equal(
        Recorder().null(batch, features, None, labels[repeated]),
        null[:, repeated],
        equal_nan=True,
    )
    assert len(seen) == 2 * len(batch)  # each distinct relabeling once


def test_a_metric_without_scores_names_its_class():
    class Bare(MeanMetric):
        pass

    with pytest.raises(
        NotImplementedError, match=r"Bare must define scores\(batch, features, state\)"
    ):
        Bare().scores(None, None, None)  # pyright: ignore[reportArgumentType]


class Lengths(TextDistance):
    name = "lengths"

    def __init__(self, *, by: int = 1) -> None:
        self.by = by

    def pairwise(self, texts) -> np.ndarray:
        lengths = np.array([len(text) for text in texts])
        return self.by * np.abs(np.subtract.outer(lengths, lengths))


def test_a_text_distance_stacks_the_pairs_of_each_example():
    batch: Any = SimpleNamespace(texts=[["a", "bbb"], ["cc", "dd"]])
    features: Any = SimpleNamespace()
    matrices = Lengths(by=2).matrices(batch, features)
    assert matrices.dtype == np.float64
    assert matrices.tolist() == [[[0, 4], [4, 0]], [[0, 0], [0, 0]]]
    assert Lengths(by=2).signature() == "lengths|by:2"
    with pytest.raises(
        NotImplementedError, match=r"TextDistance must define pairwise\(texts\)"
    ):
        TextDistance().pairwise(["a"])


def test_a_path_parameter_is_a_text_with_a_mark():
    from typing import get_args

    from harness.contracts import PathMark

    assert get_args(PathParam) == (str, PathMark)
