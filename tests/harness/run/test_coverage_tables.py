"""Measured coverages of intervals."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from harness.contracts import Interval
from harness.errors import HarnessError
from harness.registry import current
from harness.run import coverage_tables
from harness.run.coverage_tables import (
    FILE,
    NOT_MEASURED,
    checked_interval,
    table_file,
    table_name,
    table_names,
)
from harness.run.intervals import estimate, nominal_estimate

PLUGIN = """
import numpy as np
from harness.contracts import MeanMetric, MetricSpec

class Words(MeanMetric):
    def __init__(self, name="words"):
        self.spec = MetricSpec(name, True, held_fixed="words held fixed")
"""
CELLS = {
    "3": [0.95, 0.7, None],
    "10": [0.91, 0.90, 0.99],
    "50": [None, None, None],
    "90": [0.0, None, None],
}
INTERVAL = Interval((0.0, 1.0), "words held fixed")
ROWS = np.arange(5.0)[:, None]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of metrics with a table for ``words``."""
    folder = tmp_path / "measured_words"
    folder.mkdir()
    (folder / "__init__.py").write_text(PLUGIN)
    sizes = {n: {"interval": coverage, "test": []} for n, coverage in CELLS.items()}
    (folder / FILE).write_text(json.dumps({"metrics": {"words": {"sizes": sizes}}}))
    monkeypatch.syspath_prepend(str(tmp_path))
    coverage_tables._coverages.cache_clear()
    yield folder
    coverage_tables._coverages.cache_clear()
    sys.modules.pop("measured_words", None)


@pytest.mark.parametrize(
    ("n_examples", "coverage"),
    [
        (2, "0.700 with 3"),
        (9, "0.700 with 3"),
        (10, ""),
        (49, ""),
        (60, ""),
        (90, "0.000 with 90"),
    ],
)
def test_the_nearest_measured_number_at_or_below_decides(package, n_examples, coverage):
    from measured_words import Words

    found = checked_interval(Words(), INTERVAL, n_examples)
    if coverage:
        assert found == Interval(
            None, f"measured coverage {coverage} examples, below 0.90"
        )
    else:
        assert found is INTERVAL
    assert checked_interval(Words("words(bow)"), INTERVAL, n_examples) == found


def test_the_number_of_clusters_decides_where_examples_are_in_clusters(package):
    from measured_words import Words

    rows = np.arange(12.0)[:, None]
    seen = np.arange(12)
    assert estimate(Words(), rows, 50, 0)[1].ends is not None
    assert estimate(Words(), rows, 50, 0, seen)[1].ends is not None
    few = estimate(Words(), rows, 50, 0, seen // 4)[1]
    assert few == Interval(None, "measured coverage 0.700 with 3 examples, below 0.90")


def test_a_metric_without_a_table_keeps_its_interval_with_a_note(package):
    from measured_words import Words

    assert checked_interval(Words("others"), INTERVAL, 3) == Interval(
        (0.0, 1.0), f"words held fixed; {NOT_MEASURED}"
    )
    assert checked_interval(Words("others"), Interval(None, "reason"), 3) == Interval(
        None, "reason"
    )
    rows = np.arange(5.0)[:, None]
    value, interval = estimate(Words(), rows, 50, 0)
    assert (value, interval.ends) == (2.0, None)
    assert nominal_estimate(Words(), rows, 50, 0)[1].ends is not None


def test_the_table_that_says_most_of_a_metric_decides(package):
    from measured_words import Words

    sizes = {"3": {"interval": [0.5], "test": []}}
    tables = json.loads((package / FILE).read_text())
    tables["metrics"]["words(a)"] = {"sizes": sizes}
    (package / FILE).write_text(json.dumps(tables))
    assert table_names(Words("words(a,b)")) == ("words(a,b)", "words(a)", "words")
    assert table_names(Words("words")) == ("words",)
    # as few examples as the smallest measured number: that number decides
    assert checked_interval(Words("words(a,b)"), INTERVAL, 20).ends is None
    assert checked_interval(Words("words(a)"), INTERVAL, 20).ends is None
    assert checked_interval(Words("words(b,a)"), INTERVAL, 20) == INTERVAL


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        "{",
        '{"metrics": {"words": 1}}',
        '{"metrics": {"words": {"sizes": {"a": {}}}}}',
    ],
)
def test_a_table_of_another_form_is_one_line(package, text):
    from measured_words import Words

    (package / FILE).write_text(text)
    with pytest.raises(
        HarnessError,
        match=r"calibration\.json: expected the tables that 'harness check METRIC "
        r"--calibrate",
    ):
        checked_interval(Words(), INTERVAL, 5)


def test_the_table_lies_in_the_package_of_the_metric(package):
    import measured_words

    assert table_file("measured_words.part") == package / FILE
    assert table_file(__name__) is None or not table_file(__name__).is_file()
    assert table_file("no.module") is None
    assert table_name(measured_words.Words("a(b)")) == "a"


def test_built_in_metrics_have_tables_in_their_package():
    rouge = current().create("metrics", "rouge", {})
    file = table_file(type(rouge).__module__)
    assert file is not None
    assert "rouge" in json.loads(file.read_text("utf-8"))["metrics"]
