"""Patterns that are compiled where they are needed first."""

from __future__ import annotations

import re

import pytest

from harness.files.generated.late_pattern import late_pattern


def test_a_pattern_is_compiled_once(monkeypatch):
    compiled = []
    compile_ = re.compile
    monkeypatch.setattr(
        re, "compile", lambda *args: compiled.append(args) or compile_(*args)
    )
    dogs = late_pattern("dogs?", re.IGNORECASE)
    assert compiled == []
    assert dogs() is dogs()
    assert dogs().findall("a Dog and dogs") == ["Dog", "dogs"]
    assert len(compiled) == 1


def test_a_wrong_pattern_fails_where_it_is_needed():
    pattern = late_pattern("(")
    with pytest.raises(re.error):
        pattern()
