"""Candidates from a corpus, aligned with the examples by position."""

from __future__ import annotations

import pytest

from harness.contracts import Decoding, Example, TaskView
from harness.errors import InputError
from harness_models.lines.adapter import LinesOfCorpus

EXAMPLES = [Example("x", ("r",)), Example("y", ("r",))]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "model.txt"
    file.write_text("one\ntwo\nthree\nfour\n")
    return str(file)


def test_lines_are_aligned_by_position_in_every_batch(path):
    adapter = LinesOfCorpus(path=path, limit=2)
    adapter.prepare(TaskView(EXAMPLES, Decoding()))
    assert list(adapter.generate(EXAMPLES[1:], Decoding(), [0])) == [("two",)]


def test_several_lines_per_example(path):
    adapter = LinesOfCorpus(path=path, block=2)
    adapter.prepare(TaskView(EXAMPLES, Decoding()))
    assert list(adapter.generate(EXAMPLES, Decoding(), [0, 0])) == [
        ("one", "two"),
        ("three", "four"),
    ]


def test_the_numbers_of_lines_and_examples_must_agree(path):
    with pytest.raises(InputError, match="4 candidate sets for 2 examples"):
        LinesOfCorpus(path=path).prepare(TaskView(EXAMPLES, Decoding()))
    with pytest.raises(InputError, match="1 candidate sets for 2 examples"):
        LinesOfCorpus(path=path, limit=1).prepare(
            TaskView(EXAMPLES, Decoding(), partial=True)
        )
    LinesOfCorpus(path=path).prepare(TaskView(EXAMPLES, Decoding(), partial=True))


def test_the_fingerprint_follows_the_corpus(path, tmp_path):
    first = LinesOfCorpus(path=path).fingerprint()
    assert (
        first
        == LinesOfCorpus(path=path).fingerprint()
        != LinesOfCorpus(path=path, limit=2).fingerprint()
    )
    (tmp_path / "model.txt").write_text("one\ntwo\nthree\nfive\n")
    assert LinesOfCorpus(path=path).fingerprint() != first
