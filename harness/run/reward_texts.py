"""Captions of a trainer as texts: strings stay, token ids are decoded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from harness.errors import InputError
from harness.files.captions import check_text

Decode = Callable[[list[int]], str]
Vocabulary = Sequence[str] | Mapping[int, str]
END_WORD = "endofsentence"
"""Word that stands for the end-of-sentence token; no score depends on which word it is."""


class CaptionTexts:
    """Map from captions, as strings or sequences of token ids, to texts.

    Parameters
    ----------
    decode : callable, optional
        Returns the text of a list of token ids.
    vocabulary : sequence or mapping, optional
        Word of each token id; a text is its words, joined by one blank. Without both, the token ids themselves are the words.
    end : int, optional
        Token id that ends a caption; it and what follows are no part of the text.
    """

    def __init__(self, decode: Decode | None = None, vocabulary: Vocabulary | None = None, end: int | None = None) -> None:
        if decode is not None and vocabulary is not None:
            raise InputError("decode and vocabulary both turn token ids into texts; expected one of them")
        self._decode, self._vocabulary, self._end = decode, vocabulary, end

    def read(self, captions: Any, what: str) -> tuple[list[str], list[bool]]:
        """Return the texts of T captions, and whether each is complete: a string, or token ids with the one that ends a caption."""
        rows = captions.tolist() if hasattr(captions, "tolist") else list(captions)
        if not any(map(_is_not_text, rows)):
            return rows, [True] * len(rows)
        texts: list[str] = []
        is_ended: list[bool] = []
        for number, caption in enumerate(rows):
            if isinstance(caption, str) or not hasattr(caption, "__len__"):
                raise InputError(f"{caption!r:.60}; expected all texts, or all sequences of token ids", f"{what}: item {number}")
            tokens = caption.tolist() if hasattr(caption, "tolist") else list(caption)
            is_ended.append(self._end is None or self._end in tokens)
            if self._end is not None and is_ended[-1]:
                tokens = tokens[: tokens.index(self._end)]
            texts.append(self._text_of(tokens, f"{what}: item {number}"))
        return texts, is_ended

    def _text_of(self, tokens: list[int], where: str) -> str:
        try:
            if self._vocabulary is not None:
                return " ".join(map(self._vocabulary.__getitem__, tokens))
            return " ".join(map(int.__repr__, tokens)) if self._decode is None else check_text(cast(Any, self._decode(tokens)), where)
        except (KeyError, IndexError, TypeError) as error:
            raise InputError(f"token ids {tokens!r:.60} cannot be decoded ({type(error).__name__}: {error})", where) from error


def _is_not_text(caption: object) -> bool:
    return not isinstance(caption, str)
