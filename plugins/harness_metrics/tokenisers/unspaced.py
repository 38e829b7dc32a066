"""Tokens of scripts that are written without blanks, by rules: Chinese characters
apart, or all characters apart.

Both equal sacrebleu's tokens: ``zh`` is its ``zh``, ``characters`` its ``char``. Case
and punctuation are kept, as there.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain

CHINESE = (
    # sacrebleu bounds the ideographs beyond the basic plane (U+20000 to U+2A6D6) by
    # strings of four hexadecimal digits and one character more. In the order of strings
    # these bounds enclose U+2001 to U+2A6D: punctuation, arrows and signs, not the
    # ideographs.
    (0x2001, 0x2A6D),
    (0x2E80, 0x2FDF),  # radicals
    (0x2FF0, 0x303F),  # description of ideographs, punctuation
    (0x3100, 0x312F),  # Bopomofo
    (0x31A0, 0x31EF),  # its extension, strokes
    (0x3200, 0x33FF),  # enclosed and square signs
    (0x3400, 0x4DB5),  # ideographs, extension A
    (0x4E00, 0x9FBB),  # ideographs of Unicode 4.1
    (0xF900, 0xFA2D),  # compatibility ideographs
    (0xFA30, 0xFA6A),
    (0xFA70, 0xFAD9),
    (0xFE10, 0xFE1F),  # vertical punctuation
    (0xFE30, 0xFE4F),
    (0xFF00, 0xFFEF),  # full-width and half-width forms
)
"""First and last code point of each range whose characters are tokens of their own
(Post 2018, ``sacrebleu``, tokenizer ``zh``).
"""

SYMBOLS = '!"#$%&()*+/:;<=>?@[\\]^_`{|}~'
"""Symbols that are always tokens of their own: those of ASCII without apostrophe,
comma, dash and full stop (mteval-v13a).
"""

_MARK_AFTER_OTHER = re.compile(r"([^0-9])([.,])")
_MARK_BEFORE_OTHER = re.compile(r"([.,])([^0-9])")
_DASH_AFTER_DIGIT = re.compile(r"([0-9])-")


def separate_chinese(text: str) -> str:
    """Return the tokens of a text, joined by one blank: each Chinese character,
    and words of other scripts.

    The other words are split as by the script mteval-v13a of NIST: symbols apart, full
    stops and commas unless they stand between digits, dashes after digits.

    >>> separate_chinese("一只dog在2.5米外, 跑!")
    '一 只 dog 在 2.5 米 外 , 跑 !'
    """
    text = text.strip().translate(_blanks_around())
    # The order matters, and that each step goes on after what the one before has put
    # in: `5.` at the end of a text stays whole.
    text = _MARK_AFTER_OTHER.sub(r"\1 \2 ", text)
    text = _MARK_BEFORE_OTHER.sub(r" \1 \2", text)
    text = _DASH_AFTER_DIGIT.sub(r"\1 - ", text)
    return " ".join(text.split())


@cache
def _blanks_around() -> dict[int, str]:
    """Return code point -> the character with blanks around it, of those that are
    always tokens of their own.
    """
    codes = [
        *map(ord, SYMBOLS),
        *chain.from_iterable(range(first, last + 1) for first, last in CHINESE),
    ]
    return {code: f" {chr(code)} " for code in codes}


def separate_characters(text: str) -> str:
    """Return the characters of a text that are not white space, joined by one blank.

    >>> separate_characters("一只 dog")
    '一 只 d o g'
    """
    return " ".join("".join(text.split()))
