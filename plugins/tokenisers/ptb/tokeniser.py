"""The Penn Treebank tokeniser of the COCO caption toolkit, without Java.

``tokenize`` gives what ``pycocoevalcap``'s PTBTokenizer gives for a caption whose next line begins in lower case: Stanford's
tokens in lower case, less the toolkit's punctuation list, joined by one blank. Any number of captions, any characters: what
ends a line for the Java program (and there shifts all later answers) counts as a blank, so one caption in is one out.

Speed: captions are cut at blanks, and the tokens of each piece are kept. Only the few constructs that look across a blank
(telephone numbers, mixed fractions, mark-up, spaced dots) are scanned as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from harness.plugins.tokenisers.ptb.rules import ABBREVIATION, SPLIT_WORDS, longest

PUNCTUATION = frozenset(
    ("''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", ".", "?", "!", ",", ":", "-", "--", "...", ";")
)
"""What the toolkit removes; the bracket names are in capitals there and so never match: brackets stay."""

_LINE_BREAKS = str.maketrans(dict.fromkeys("\n\r\v\f\u2028\u2029", " "))
_ACROSS_BLANKS = re.compile("<|\\.  |\\. \\.|[\\d)] \\d|[\t\u00a0\u2000-\u200a\u3000]")
_PLAIN = re.compile("[A-Za-z ,;:!?'\"()&/-]*\\.?")
"""Captions each of whose pieces stands for itself: no full stop but the last character, no digit, only blanks between words."""
_NEXT_LINE = "\nz"
_MOST_PIECES = 1 << 18
_MARKS = frozenset(".,;:!?")


class _PlainPieces(dict[str, str]):
    """The kept tokens of pieces of :data:`_PLAIN` captions, found out on first use."""

    def __missing__(self, piece: str) -> str:
        kept = self[piece] = _piece(piece, _NEXT_LINE) if piece else ""
        return kept


_PLAIN_PIECES = _PlainPieces()


def tokenize(captions: list[str]) -> list[str]:
    """The captions' tokens without punctuation, in lower case, joined by one blank.

    A token can hold a no-break space (``3 1/2``): ``split(" ")`` keeps it whole, ``split()`` breaks it, as in the toolkit.

    >>> tokenize(["A man's dog (brown) can't jump!", "", "It is 3 1/2 ft. tall."])
    ["a man 's dog -lrb- brown -rrb- ca n't jump", '', 'it is 3\\xa01/2 ft. tall']
    """
    if len(_PLAIN_PIECES) > _MOST_PIECES:
        _PLAIN_PIECES.clear()
    known = {caption: _kept(caption) for caption in dict.fromkeys(captions)}
    return [known[caption] for caption in captions]


def tokens_raw(captions: list[str]) -> list[list[str]]:
    """The tokens of each caption before punctuation is removed: the Java program's line, split at its blanks.

    >>> tokens_raw(['He said "no".'])
    [['he', 'said', '``', 'no', "''", '.']]
    """
    return [_raw(caption) for caption in captions]


def one_line(caption: str) -> str:
    """The caption with blanks where the Java program would see the end of a line."""
    return caption.translate(_LINE_BREAKS)


def forget() -> None:
    """Drop the tokens kept so far (for measurements)."""
    _PLAIN_PIECES.clear()
    _piece.cache_clear()
    _tokens_of_piece.cache_clear()


def _kept(caption: str) -> str:
    if _PLAIN.fullmatch(caption):
        return " ".join(filter(None, map(_PLAIN_PIECES.__getitem__, caption.split(" "))))
    text = one_line(caption)
    if _ACROSS_BLANKS.search(text):
        return _without_punctuation(scan(text))
    return " ".join(filter(None, [_piece(piece, after) for piece, after in _pieces(text)]))


def _raw(caption: str) -> list[str]:
    text = one_line(caption)
    if _ACROSS_BLANKS.search(text):
        return list(scan(text))
    return [token for piece, after in _pieces(text) for token in _tokens_of_piece(piece, after)]


def _pieces(text: str) -> list[tuple[str, str]]:
    """What stands between blanks, each with what follows it as far as that can matter."""
    pieces = text.split(" ")
    followed = [f" {piece} " for piece in pieces[1:]]
    return [
        # A full stop may belong to an abbreviation, and then the next word decides.
        (piece, after if piece[-1] == "." and _may_abbreviate(piece) else _NEXT_LINE)
        for piece, after in zip(pieces, [*followed, _NEXT_LINE])
        if piece
    ]


@lru_cache(maxsize=1 << 18)
def _may_abbreviate(piece: str) -> bool:
    """Whether what follows the full stop of ``piece`` can change its tokens: not for plain words, the common case."""
    word = piece[:-1]
    return not (word.isascii() and word.isalpha()) or ABBREVIATION.fullmatch(word) is not None


@lru_cache(maxsize=1 << 18)
def _piece(piece: str, after: str) -> str:
    return _without_punctuation(_tokens_of_piece(piece, after))


@lru_cache(maxsize=1 << 18)
def _tokens_of_piece(piece: str, after: str) -> tuple[str, ...]:
    mark = piece[-1] if piece[-1] in _MARKS else ""
    word = piece[:-1] if mark else piece
    if (
        word.isascii()
        and word.isalpha()
        and word.lower() not in SPLIT_WORDS
        and not (mark == "." and _may_abbreviate(piece))
    ):
        return (word.lower(), mark) if mark else (word.lower(),)  # what the rules give for letters, without trying them
    return tuple(scan(piece, after))


def _without_punctuation(tokens: Iterable[str]) -> str:
    return " ".join(token for token in tokens if token not in PUNCTUATION)


def scan(text: str, after: str = _NEXT_LINE) -> Iterator[str]:
    """The tokens of one line of text which ``after`` follows, scanned from end to end: what the quick ways above must equal."""
    position, length = 0, len(text)
    text += after
    while position < length:
        _, position, token = longest(text, position)
        if token is not None:
            yield token.lower()
