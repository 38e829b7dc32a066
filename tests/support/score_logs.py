"""Logs of scores of other harnesses, as tests write and read them."""

from __future__ import annotations

import json

from harness.analysis.score_forms import read_score_form


def write_lines(path, rows):
    """Write a file of JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def values_of(path):
    """Return the values of each sample of a log."""
    return [dict(sample.values) for sample in read_score_form(path).samples]
