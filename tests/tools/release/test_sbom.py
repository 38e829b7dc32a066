"""Licences of distributions, and the outcomes of an audit."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools.release import sbom
from tools.release.sbom import Row, licence, rows_of


@pytest.mark.parametrize(
    ("values", "classifiers", "expected"),
    [
        (
            {"License-Expression": "BSD-3-Clause", "License": "long text"},
            ["License :: OSI Approved :: X"],
            "BSD-3-Clause",
        ),
        (
            {"License": "UNKNOWN"},
            ["License :: OSI Approved :: MIT License"],
            "MIT License",
        ),
        ({"License": "Apache 2\n\nlong text"}, [], "Apache 2"),
        ({"License": "UNKNOWN"}, [], ""),
        ({}, ["Programming Language :: Python"], ""),
    ],
)
def test_licences(values, classifiers, expected):
    assert licence(values, classifiers) == expected


@pytest.mark.slow
def test_the_distributions_of_an_environment_are_listed_once():
    rows = rows_of(Path(sys.executable))
    names = [row.name for row in rows]
    assert "numpy" in names
    assert "pip" not in names
    assert {row.name: row.licence for row in rows}["numpy"].startswith("BSD")


@pytest.mark.parametrize(
    ("code", "stderr", "vulnerable", "text"),
    [
        (0, "", False, "no known vulnerability in 1 packages"),
        (
            1,
            "Found 1 known vulnerability in 1 package",
            True,
            "Found 1 known vulnerability",
        ),
        (
            1,
            "Traceback\nConnectionError: no route",
            False,
            "not run, its service cannot be reached (ConnectionError: no route)",
        ),
    ],
)
def test_an_audit_is_run_or_says_that_it_is_not(
    monkeypatch, tmp_path, capsys, code, stderr, vulnerable, text
):
    result = SimpleNamespace(returncode=code, stderr=stderr, stdout="a 1 CVE")
    monkeypatch.setattr(sbom.subprocess, "run", lambda *_, **__: result)
    assert (
        sbom._audit(
            [Row("a", "1", "MIT"), Row("caption-harness", "0", "x")], tmp_path / "r.txt"
        )
        is vulnerable
    )
    assert text in capsys.readouterr().out
    assert (tmp_path / "r.txt").read_text() == "a==1\n"
