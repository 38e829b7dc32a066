"""The Penn Treebank tokeniser of the COCO caption toolkit, without Java.

``tokenize`` returns the output of ``pycocoevalcap``'s PTBTokenizer for a caption whose
next line begins in lower case: Stanford's tokens in lower case, without the toolkit's
punctuation list, joined by one blank. Each caption gives one output: characters that
end a line for the Java program, where they shift all later outputs, are blanks here.

Captions are split at blanks, and the tokens of each piece are cached. Only constructs
that extend across a blank (telephone numbers, mixed fractions, mark-up, spaced dots)
are scanned as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from caption_kernels_reference.ptb.rules import ABBREVIATION, SPLIT_WORDS, longest

PUNCTUATION = frozenset(
    (
        "''",
        "'",
        "``",
        "`",
        "-LRB-",
        "-RRB-",
        "-LCB-",
        "-RCB-",
        ".",
        "?",
        "!",
        ",",
        ":",
        "-",
        "--",
        "...",
        ";",
    )
)
"""Tokens that the toolkit removes. Its bracket names are in capitals and never match
lower-case tokens, so brackets remain.
"""

_LINE_BREAKS = str.maketrans(dict.fromkeys("\n\r\v\f\u2028\u2029", " "))
_ACROSS_BLANKS = re.compile("<|\\.  |\\. \\.|[\\d)] \\d|[\t\u00a0\u2000-\u200a\u3000]")
"""Mark-up, spaced dots, numbers of two words,
and white space that may be part of a token.
"""
_PLAIN = re.compile("[A-Za-z ,;:!?'\"()&/-]*\\.?")
"""Captions whose pieces do not depend on each other: no digit, no white space but
blanks, a full stop only at the end.
"""
_NEXT_LINE = "\nz"
"""Text after a caption: a line in lower case."""
_MAX_PIECES = 1 << 18
"""Size at which the cache of pieces is cleared."""
_MARKS = frozenset(".,;:!?")


class _PlainPieces(dict[str, str]):
    """Tokens of the pieces of :data:`_PLAIN` captions, computed on first use."""

    def __missing__(self, piece: str) -> str:
        tokens = self[piece] = _piece(piece, _NEXT_LINE) if piece else ""
        return tokens


_PLAIN_PIECES = _PlainPieces()


def tokenize(captions: list[str]) -> list[str]:
    """Return the tokens of each caption without punctuation, in lower case,
    joined by one blank.

    A token may contain a no-break space (``3 1/2``): ``split(" ")`` keeps the token,
    ``split()`` splits it, as in the toolkit.

    Parameters
    ----------
    captions : list of str
        C captions, any characters.

    Returns
    -------
    list of str
        C strings.

    Examples
    --------
    >>> tokenize(["A man's dog (brown) can't jump!", "", "It is 3 1/2 ft. tall."])
    ["a man 's dog -lrb- brown -rrb- ca n't jump", '', 'it is 3\\xa01/2 ft. tall']
    """
    if len(_PLAIN_PIECES) > _MAX_PIECES:
        _PLAIN_PIECES.clear()
    tokens = {caption: _tokens(caption) for caption in dict.fromkeys(captions)}
    return [tokens[caption] for caption in captions]


def tokens_raw(captions: list[str]) -> list[list[str]]:
    """Return the tokens of each caption before punctuation is removed: the Java
    program's line, split at blanks.

    >>> tokens_raw(['He said "no".'])
    [['he', 'said', '``', 'no', "''", '.']]
    """
    return [_raw(caption) for caption in captions]


def one_line(caption: str) -> str:
    """Return a caption with blanks for the characters that end a line for the Java
    program.

    >>> one_line("a\\nb")
    'a b'
    """
    return caption.translate(_LINE_BREAKS)


def forget() -> None:
    """Clear the caches of tokens, for measurements."""
    _PLAIN_PIECES.clear()
    _piece.cache_clear()
    _tokens_of_piece.cache_clear()


def _tokens(caption: str) -> str:
    """Return the tokens of a caption without punctuation, joined by one blank."""
    if _PLAIN.fullmatch(caption):
        return " ".join(
            filter(None, map(_PLAIN_PIECES.__getitem__, caption.split(" ")))
        )
    text = one_line(caption)
    if _ACROSS_BLANKS.search(text):
        return _without_punctuation(scan(text))
    return " ".join(
        filter(None, [_piece(piece, after) for piece, after in _pieces(text)])
    )


def _raw(caption: str) -> list[str]:
    """Return the tokens of a caption with punctuation."""
    text = one_line(caption)
    if _ACROSS_BLANKS.search(text):
        return list(scan(text))
    return [
        token
        for piece, after in _pieces(text)
        for token in _tokens_of_piece(piece, after)
    ]


def _pieces(text: str) -> list[tuple[str, str]]:
    """Return the pieces of a text between blanks, each with the text after it where
    that can change its tokens.
    """
    pieces = text.split(" ")
    followed = [f" {piece} " for piece in pieces[1:]]
    return [
        # The full stop may belong to an abbreviation, depending on the next word.
        (piece, after if piece[-1] == "." and _may_abbreviate(piece) else _NEXT_LINE)
        for piece, after in zip(pieces, [*followed, _NEXT_LINE])
        if piece
    ]


@lru_cache(maxsize=1 << 18)
def _may_abbreviate(piece: str) -> bool:
    """Return True if the text after the full stop of ``piece`` can change its tokens;
    False for plain words.
    """
    word = piece[:-1]
    return (
        not (word.isascii() and word.isalpha())
        or ABBREVIATION.fullmatch(word) is not None
    )


@lru_cache(maxsize=1 << 18)
def _piece(piece: str, after: str) -> str:
    """Return the tokens of a piece without punctuation, joined by one blank."""
    return _without_punctuation(_tokens_of_piece(piece, after))


@lru_cache(maxsize=1 << 18)
def _tokens_of_piece(piece: str, after: str) -> tuple[str, ...]:
    """Return the tokens of a piece with punctuation; plain words skip the rules.

    No rule joins ASCII letters with a mark after them but those for abbreviations, and
    none splits them but those for :data:`SPLIT_WORDS`, so a word and its mark are
    tokens whatever follows.
    """
    mark = piece[-1] if piece[-1] in _MARKS else ""
    word = piece[:-1] if mark else piece
    if (
        word.isascii()
        and word.isalpha()
        and word.lower() not in SPLIT_WORDS
        and not (mark == "." and _may_abbreviate(piece))
    ):
        # equals the result of the rules
        return (word.lower(), mark) if mark else (word.lower(),)
    return tuple(scan(piece, after))


def _without_punctuation(tokens: Iterable[str]) -> str:
    """Return the tokens that are not in :data:`PUNCTUATION`, joined by one blank."""
    return " ".join(token for token in tokens if token not in PUNCTUATION)


def scan(text: str, after: str = _NEXT_LINE) -> Iterator[str]:
    """Yield the tokens of one line of text, followed by ``after``, in lower case.

    The reference of the faster functions above: every rule is tried at every position.

    >>> list(scan("He can't."))
    ['he', 'ca', "n't", '.']
    """
    position = 0
    length = len(text)
    text += after
    while position < length:
        _, position, token = longest(text, position)
        if token is not None:
            yield token.lower()
