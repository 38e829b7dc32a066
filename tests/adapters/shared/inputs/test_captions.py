"""Captions of a file."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness_models.shared.inputs.captions import read_captions


def test_captions_of_a_file(tmp_path):
    (tmp_path / "c.json").write_text('{"a": ["one", "two"], "b": ["three"]}')
    assert read_captions(tmp_path / "c.json") == [
        ("a", "one"),
        ("a", "two"),
        ("b", "three"),
    ]
    for text in ('["one"]', "{}", '{"a": "one"}'):
        (tmp_path / "c.json").write_text(text)
        with pytest.raises(
            InputError,
            match="c.json: expected a mapping of example ids to lists of captions",
        ):
            read_captions(tmp_path / "c.json")
