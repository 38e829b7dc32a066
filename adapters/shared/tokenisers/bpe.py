"""GPT-2's byte-level BPE from local ``vocab.json`` and ``merges.txt``."""

from __future__ import annotations

from pathlib import Path

from harness.errors import InputError, require


class Gpt2Bpe:
    """Text to ids and back, no space put in front, nothing special added. Raises :class:`InputError` when a file is missing."""

    def __init__(self, folder: str | Path) -> None:
        folder = Path(folder)
        self.files = (folder / "vocab.json", folder / "merges.txt")
        for file in self.files:
            if not file.is_file():
                raise InputError("no such tokenizer file (GPT-2's vocab.json and merges.txt are wanted)", str(file))
        tokenizers = require("tokenizers", extra="models", needed_by="GPT-2's tokenizer")
        try:
            self._tokenizer = tokenizers.ByteLevelBPETokenizer(str(self.files[0]), str(self.files[1]))
        except Exception as error:  # the Rust library raises bare Exceptions
            raise InputError(f"not a GPT-2 vocabulary with merges ({error})", str(folder)) from error

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text).ids

    def decode(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids)

    def pieces(self, ids: list[int]) -> tuple[str, ...]:
        """The text of every single token."""
        return tuple(self._tokenizer.decode([token]) for token in ids)
