"""Plots of correlation studies."""

from __future__ import annotations

import numpy as np
import pytest

from harness.analysis.column_table import from_records
from harness.analysis.correlate import study
from harness.errors import UnknownName
from harness.reporting.correlation_plots import write_plots

pytest.importorskip("matplotlib")
RNG = np.random.default_rng(0)
TABLE = from_records(
    "table",
    [
        {
            "set": name,
            "a": float(i),
            "b": float(RNG.random()),
            "y": i + float(RNG.random()),
            "z": float(-i),
            "flat": 1.0,
        }
        for name in ("one", "two")
        for i in range(6)
    ],
)


def plots(tmp_path, **options):
    item = study(TABLE, ["a", "b", "flat"], ["y", "z"], by="set")
    return write_plots(item, TABLE, tmp_path / "plots", by="set", **options)


def test_files_are_png(tmp_path):
    files = plots(tmp_path, baseline="b")
    assert [file.name for file in files] == ["best.png", "baseline.png", "ranking.png"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)
    assert [file.name for file in plots(tmp_path)] == ["best.png", "ranking.png"]


@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        ("flat", "the baseline 'flat' is no column of the study: dropped, constant in one"),
        ("bb", "the baseline 'bb' is no column of the study; did you mean 'b'?"),
    ],
)
def test_a_baseline_outside_the_study_is_an_error(tmp_path, baseline, message):
    with pytest.raises(UnknownName, match=message.replace("?", r"\?")):
        plots(tmp_path, baseline=baseline)
    assert not (tmp_path / "plots").exists()


def test_a_target_without_a_defined_correlation_is_drawn_empty(tmp_path):
    item = study(TABLE, ["a"], ["flat"], drop="never")
    assert len(write_plots(item, TABLE, tmp_path)) == 2
