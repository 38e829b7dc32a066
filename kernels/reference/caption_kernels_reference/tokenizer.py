"""The tokeniser as the compiled extension offers it."""

from __future__ import annotations

from collections.abc import Sequence

from caption_kernels_reference.ptb import tokeniser


class Tokenizer:
    """The Penn Treebank tokeniser of the COCO caption toolkit."""

    def tokenize(self, texts: Sequence[str]) -> list[str]:
        """Return the tokens of each text in lower case, without the toolkit's
        punctuation, joined by one blank.

        >>> Tokenizer().tokenize(["A man's dog!"])
        ["a man 's dog"]
        """
        return tokeniser.tokenize(_check_texts(texts))

    def tokens_raw(self, texts: Sequence[str]) -> list[list[str]]:
        """Return all tokens of each text in lower case.

        >>> Tokenizer().tokens_raw(["A man's dog!"])
        [['a', 'man', "'s", 'dog', '!']]
        """
        return tokeniser.tokens_raw(_check_texts(texts))


def _check_texts(texts: Sequence[str]) -> list[str]:
    """Return the texts as a list; anything else than a sequence of texts is a
    TypeError.
    """
    if isinstance(texts, str):
        raise TypeError("expected a sequence of texts, found one str")
    texts = list(texts)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"expected texts of type str, found {type(text).__name__}")
    return texts
