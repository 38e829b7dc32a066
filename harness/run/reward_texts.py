"""Captions of a trainer as texts: strings stay, token ids are decoded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

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
        if set(map(type, rows)) <= {str}:
            return rows, [True] * len(rows)
        word_of = self._vocabulary.__getitem__ if self._vocabulary is not None else int.__repr__
        texts: list[str] = []
        is_ended: list[bool] = []
        caption: Any = None
        try:
            for caption in rows:
                tokens: list[int] = caption if type(caption) is list else np.asarray(caption, dtype=np.int64).tolist()
                ended = self._end is None or self._end in tokens
                if ended and self._end is not None:
                    tokens = tokens[: tokens.index(self._end)]
                is_ended.append(ended)
                texts.append(" ".join(map(word_of, tokens)) if self._decode is None else check_text(self._decode(tokens), what))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            where = f"{what}: item {len(texts)}"
            raise InputError(f"{caption!r:.60}; expected a text, or known token ids ({type(error).__name__}: {error})", where) from error
        return texts, is_ended
