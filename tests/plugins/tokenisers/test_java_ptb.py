"""The Java tokeniser: equal to the Python one,
and one clear error without Java or with a wrong output.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from caption_kernels_reference.ptb import tokeniser as ptb
from harness.errors import HarnessError, MissingExtra
from harness_metrics.tokenisers import java_ptb
from harness_metrics.tokenisers import java_runtime as java

ODD = [
    "",
    "a\rb",
    "a\u2028b\u2029c",
    "\v\f",
    "!?",
    "🙂",
    "a ||| b",
    "U.S.",
    "the letter S.",
    "שלום עולם",
    "\x00",
    "a\u0085b",
    "The end.",
]

needs_java = pytest.mark.skipif(java.find_java() is None, reason="no Java runtime")


@pytest.mark.slow
@pytest.mark.java
@needs_java
def test_odd_captions_are_the_same_in_both_engines():
    assert java_ptb.tokenize(ODD) == ptb.tokenize(ODD)
    assert java_ptb.tokens_raw(ODD) == ptb.tokens_raw(ODD)


@pytest.mark.slow
@pytest.mark.java
@needs_java
def test_real_captions_are_the_same_in_both_engines(golden):
    with gzip.open(
        golden / "data/coco_karpathy_test/references.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        captions = [
            caption for line in lines for caption in json.loads(line)["references"]
        ][:5000]
    assert java_ptb.tokenize(captions) == ptb.tokenize(captions)


def test_no_java_is_an_error_with_the_install_command(monkeypatch):
    monkeypatch.setattr(java, "find_java", lambda: None)
    with pytest.raises(
        MissingExtra, match=r"needs a Java runtime.*caption-harness\[java\]"
    ):
        java_ptb.tokenize(["a"])


def test_no_captions_start_no_process():
    assert java_ptb.tokenize([]) == []


def test_each_caption_is_one_line_followed_by_a_separator(monkeypatch, tmp_path):
    lines = []

    def program(arguments, needed_by):
        lines.extend(Path(arguments[-1]).read_text(encoding="utf-8").split("\n"))
        return "\n".join(
            line if line == "zz" else f"{line.lower()} " for line in lines
        ).encode()

    monkeypatch.setattr(
        java_ptb, "pycocoevalcap_file", lambda *parts, needed_by: tmp_path
    )
    monkeypatch.setattr(java_ptb, "run_java", program)
    assert java_ptb.tokens_raw(["A dog .", "", "two\nlines"]) == [
        ["a", "dog", "."],
        [],
        ["two", "lines"],
    ]
    assert lines == ["A dog .", "zz", "", "zz", "two lines", "zz", ""]


@pytest.mark.parametrize("output", [b"", b"a\nb\n", b"a\nb\nzz\nzz\n"])
def test_an_output_of_other_lines_is_an_error(monkeypatch, tmp_path, output):
    monkeypatch.setattr(
        java_ptb, "pycocoevalcap_file", lambda *parts, needed_by: tmp_path
    )
    monkeypatch.setattr(java_ptb, "run_java", lambda arguments, needed_by: output)
    with pytest.raises(
        HarnessError, match=r"the program returned \d lines; expected 4"
    ):
        java_ptb.tokenize(["a", "b"])
