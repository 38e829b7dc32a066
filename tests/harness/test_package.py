"""The Python API of finished runs."""

from __future__ import annotations

import pytest

import harness
from harness.errors import HarnessError, InputError
from tests.support.comparisons import SPEC


@pytest.fixture
def run(project):
    harness.evaluate(SPEC, output="r")
    return "r"


def test_compare_returns_rows(run):
    (row,) = harness.compare(run)
    assert (row.metric, row.difference, row.better) == ("length", -1.0, "B")
    with pytest.raises(HarnessError, match="no model 'lang'"):
        harness.compare(run, baseline="lang")


def test_report_writes_a_page(run, project):
    files = harness.report(run, title="Words")
    assert [file.name for file in files] == ["report.html"]
    assert "Words" in files[0].read_text()
    with pytest.raises(InputError, match="no run here"):
        harness.report("nowhere")
