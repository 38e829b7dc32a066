"""Byte-pair encoding of GPT-2, from local files."""

from __future__ import annotations

from pathlib import Path

from harness.errors import InputError, require


class Gpt2Bpe:
    """Tokeniser without a leading space and without special tokens.

    Parameters
    ----------
    folder
        Folder with ``vocab.json`` and ``merges.txt``.

    Raises
    ------
    InputError
        If a file is missing or is not a vocabulary with merges.
    """

    def __init__(self, folder: str | Path) -> None:
        folder = Path(folder)
        self.files = (folder / "vocab.json", folder / "merges.txt")
        for file in self.files:
            if not file.is_file():
                raise InputError(
                    "no such tokenizer file (expected GPT-2's vocab.json and "
                    "merges.txt)",
                    str(file),
                )

        tokenizers = require(
            "tokenizers", extra="models", needed_by="GPT-2's tokenizer"
        )
        try:
            self._tokenizer = tokenizers.ByteLevelBPETokenizer(
                str(self.files[0]), str(self.files[1])
            )
        except Exception as error:  # the Rust library raises bare Exceptions
            raise InputError(
                f"not a GPT-2 vocabulary with merges ({error})", str(folder)
            ) from error

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text."""
        return self._tokenizer.encode(text).ids

    def decode(self, ids: list[int]) -> str:
        """Return the text of token ids."""
        return self._tokenizer.decode(ids)

    def pieces(self, ids: list[int]) -> tuple[str, ...]:
        """Return the text of every single token."""
        return tuple(self._tokenizer.decode([token]) for token in ids)
