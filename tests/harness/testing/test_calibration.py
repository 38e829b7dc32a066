"""Coverage and size by simulation: known answers,
and metrics that cannot be calibrated.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CorpusMetric, Interval, MeanMetric, MetricSpec
from harness.errors import HarnessError
from harness.testing import calibration
from harness.testing.calibration import DISTRIBUTIONS, calibrate, caption_population


class Length(MeanMetric):
    """Number of words of the first candidate."""

    def __init__(self, level="item", needs=frozenset({"references"})):
        self.spec = MetricSpec("length(words)", None, level=level, needs=needs)

    def scores(self, batch, features, state):
        return np.array([float(len(texts[0].split())) for texts in batch.texts])


class Narrow(Length):
    """The same with an interval that is never right."""

    def interval(self, stats, samples, seed):
        return Interval((-2.0, -1.0))


class Undefined(Length):
    """Defined for no example."""

    def scores(self, batch, features, state):
        return np.full(len(batch), np.nan)


class Characters(CorpusMetric):
    """Mean number of characters, from objects."""

    spec = MetricSpec("characters", None, level="corpus")

    def collect(self, batch, features, state):
        return [
            {"sizes": np.array([len(text) for text in texts])} for texts in batch.texts
        ]

    def number(self, objects):
        return float(np.mean([item["sizes"].mean() for item in objects]))


@pytest.mark.slow
def test_the_interval_of_a_mean_covers_and_its_test_keeps_its_level():
    table = calibrate(Length(), sizes=(5, 30), repetitions=300)
    assert table.name == "length"
    assert list(table.sizes) == [5, 30]
    for cell in table.sizes.values():
        assert len(cell.coverage) == len(cell.size) == len(DISTRIBUTIONS)
        assert min(cell.coverage) > 0.88
        assert max(cell.size) < 0.11
    assert table.to_dict()["sizes"]["5"]["interval"] == table.sizes[5].coverage
    assert calibrate(Length(), sizes=(5, 30), repetitions=300) == table


def test_a_wrong_interval_is_found():
    table = calibrate(Narrow(), sizes=(5,), repetitions=60)
    assert table.sizes[5].coverage == [0.0, 0.0, 0.0]


@pytest.mark.slow
def test_objects_of_a_corpus(monkeypatch):
    monkeypatch.setattr(calibration, "EXAMPLES", 60)
    monkeypatch.setattr(calibration, "SAMPLES", 50)
    monkeypatch.setattr(calibration, "DISTRIBUTIONS", ("symmetric",))
    monkeypatch.setattr(calibration, "FEWEST", 10)
    table = calibrate(Characters(), sizes=(10,), repetitions=40)
    assert table.sizes[10].coverage[0] > 0.7
    assert table.sizes[10].size[0] < 0.4


def test_time_is_bounded():
    assert list(
        calibrate(Length(), sizes=(5, 300), repetitions=100, seconds=1e-9).sizes
    ) == [5]


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (Length("model"), "judges token scores"),
        (Length(needs=frozenset({"images"})), "needs images"),
        (Undefined(), "is defined for none"),
    ],
)
def test_metrics_that_cannot_be_calibrated(metric, message):
    with pytest.raises(HarnessError, match=message):
        calibrate(metric)


def test_populations_have_three_distributions_of_scores():
    systems = [caption_population(Length().spec, kind, 200, 0) for kind in range(3)]
    for a, b in systems:
        assert len({item.id for item in a}) == len(b) == 200
        assert [item.references for item in a] == [item.references for item in b]
        assert (len(a[0].candidates), len(a[0].references)) == (1, 5)
        assert all(text.strip() for item in [*a, *b] for text in item.candidates)
    zeros = sum("quindle" in item.candidates[0] for item in systems[2][0])
    assert 35 < zeros < 85
    assert len(caption_population(Length("set").spec, 0, 1, 0)[0][0].candidates) == 5
