"""Docstring and parameters of code, read from its source."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness.registry.source_description import describe


def test_parameters_are_read_from_the_source(tmp_path):
    code = (
        'class A:\n    """A."""\n    def __init__(self, a, b=1, *, c, d="x"): ...\n'
        "class B: ...\ndef f(x=2): ...\n"
    )
    (tmp_path / "parts.py").write_text(code)
    assert describe(tmp_path, "parts:A") == (
        "A.",
        {"a": "(required)", "b": "1", "c": "(required)", "d": "'x'"},
    )
    assert describe(tmp_path, "parts:B") == ("", {})
    assert describe(tmp_path, "parts:f") == ("", {"x": "2"})
    with pytest.raises(HarnessError, match=r"parts\.py defines no 'C'"):
        describe(tmp_path, "parts:C")
