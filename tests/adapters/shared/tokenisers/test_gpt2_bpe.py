"""Byte-pair encoding of GPT-2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.errors import InputError
from harness_models.shared.tokenisers.gpt2_bpe import Gpt2Bpe


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pytest.importorskip("tokenizers")
    words = ["a", "b", "c", "\u0120", "ab", "\u0120ab"]  # U+0120 stands for a space
    (tmp_path / "vocab.json").write_text(
        json.dumps({word: i for i, word in enumerate(words)})
    )
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n\u0120 ab\n")
    return tmp_path


def test_texts_are_encoded_without_a_leading_space_and_special_tokens(folder: Path):
    tokeniser = Gpt2Bpe(folder)
    assert len(tokeniser) == 6
    assert tokeniser.encode("abc ab") == [4, 2, 5]
    assert tokeniser.decode([4, 2, 5]) == "abc ab"
    assert tokeniser.pieces([4, 2, 5]) == ("ab", "c", " ab")


@pytest.mark.parametrize("name", ["vocab.json", "merges.txt"])
def test_a_missing_file_is_named(folder: Path, name: str):
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"{name}: no such tokenizer file"):
        Gpt2Bpe(folder)


def test_files_that_are_no_vocabulary_are_refused(folder: Path):
    (folder / "vocab.json").write_text("[]")
    with pytest.raises(InputError, match="not a GPT-2 vocabulary with merges"):
        Gpt2Bpe(folder)
