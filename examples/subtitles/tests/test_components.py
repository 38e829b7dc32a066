from pathlib import Path

import pytest
from caption_subtitles.adapter import LeadWords
from caption_subtitles.reader import SubRip

from harness.errors import InputError
from harness.testing import parametrize_with_checks


@parametrize_with_checks([SubRip(), SubRip(limit_references=1)], kind="readers")
def test_reader(check):
    check()


@parametrize_with_checks([LeadWords(), LeadWords(words=1)])
def test_adapter(check):
    check()


def test_cues():
    examples = list(SubRip())
    assert [item.id for item in examples] == ["1", "2", "3", "4", "5", "6"]
    assert examples[1].references == (
        "We have to find another way across the river.",
        "We must find another way over the river.",
    )


def test_files_that_are_no_subtitles(tmp_path):
    path = tmp_path / "a.srt"
    path.write_text("hello\nworld\n")
    with pytest.raises(
        InputError, match="cue 1: found .'hello'.; expected a number, times and text"
    ):
        list(SubRip(path=str(path)))
    path.write_text("1\n00:00:01,000 --> 00:00:02,000\nText\n")
    sample = Path(__file__).parent.parent / "caption_subtitles" / "sample.srt"
    with pytest.raises(
        InputError, match="lacks 5 cues of sample.srt: '2', '3', '4', ..."
    ):
        list(SubRip(path=[str(sample), str(path)]))
