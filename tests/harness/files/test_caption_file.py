"""Parameters that readers of one file share."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import InputError
from harness.files.caption_file import CaptionFile


class Diary(CaptionFile):
    name = "diary"
    what = "diary"


def test_parameters_are_checked_when_the_reader_is_created(tmp_path):
    path = tmp_path / "diary.txt"
    with pytest.raises(InputError, match=r"diary\.txt: no such diary$") as caught:
        Diary(path=str(path))
    assert caught.value.parameter == "path"
    path.write_text("a dog")
    with pytest.raises(InputError, match="limit_references is 0") as caught:
        Diary(path=str(path), limit_references=0)
    assert caught.value.parameter == "limit_references"


def test_fingerprint_depends_on_every_parameter_and_the_content(tmp_path):
    path = tmp_path / "diary.txt"
    path.write_text("a dog")
    options: tuple[dict[str, Any], ...] = (
        {},
        {"media_root": "m"},
        {"limit_references": 2},
        {"allow_empty": True},
    )
    prints = [Diary(path=str(path), **params).fingerprint() for params in options]
    assert len(set(prints)) == len(prints)
    assert all(item.startswith("diary:") for item in prints)
    path.write_text("a cat")
    assert Diary(path=str(path)).fingerprint() not in prints
