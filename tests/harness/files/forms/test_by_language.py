"""Captions in several languages."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness.files.forms import existing_captions, read_form
from tests.support.form_content import captions, lines


def test_the_language_is_named_after_the_path(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        lines(
            *(
                {"image/key": k, "en": {"caption": ["a"]}, "de": {"caption": [k]}}
                for k in "xy"
            )
        )
    )
    (tmp_path / "b.json").write_text(
        json.dumps({"en": {"x": "a", "y": "b"}, "de": {"x": "x", "y": "y"}})
    )
    assert captions(
        read_form(existing_captions(f"{tmp_path}/a.jsonl#de"), "references"),
        "references",
    ) == {"x": "x", "y": "y"}
    assert captions(
        read_form(existing_captions(f"{tmp_path}/b.json#de"), "references")
    ) == {"x": "x", "y": "y"}
    with pytest.raises(InputError, match="no language 'da'; found 'en', 'de'"):
        read_form(existing_captions(f"{tmp_path}/b.json#da"), "references")
