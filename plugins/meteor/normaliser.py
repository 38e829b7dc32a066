"""Words of a raw text in METEOR 1.5 (``-l en -norm``): punctuation rules, then lower case.

The order of the steps and the left-to-right replacement without overlaps within each step follow meteor-1.5.jar: a character
consumed by one replacement is not part of the next match. Source: Denkowski & Lavie (2014), "Meteor Universal", and the
behaviour of the jar.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_LETTERS = "A-Za-z\u0160\u017d\u0161\u017e\u0178\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017e\u0400-\u0527\ua640-\ua66e\ua67e-\ua697\u1d00-\u1d7f"
_L, _NOT_L = f"[{_LETTERS}]", f"[^{_LETTERS}]"
_SPACED = re.compile(rf"([^0-9{_LETTERS} \t\n\x0b\f\r.'`,\-\u2018\u2019])")
_DOTS = re.compile(r"\.(\.+)")
_DOTS_STEP = re.compile(r"DOTMULTI\.([^.])")
_COMMAS = tuple(re.compile(pattern) for pattern in ("([^0-9]),([^0-9])", "([0-9]),([^0-9])", "([^0-9]),([0-9])"))
_DASH = re.compile(rf"([0-9{_LETTERS}.])-([0-9{_LETTERS}.])")
_APOSTROPHES = (
    (re.compile(rf"({_NOT_L})'({_NOT_L})"), r"\1 ' \2"),
    (re.compile(rf"([^{_LETTERS}0-9])'({_L})"), r"\1 ' \2"),
    (re.compile(rf"({_L})'({_NOT_L})"), r"\1 ' \2"),
    (re.compile(rf"({_L})'({_L})"), r"\1 '\2"),
    (re.compile(r"([0-9])'(s)"), r"\1 '\2"),
)
_BLANKS = re.compile("[ \u00a0\u2000-\u200a\u202f\u205f\u3000]+")
_WORD_BREAK = re.compile("[ \t\n\r\f]+")
_LETTER, _LOWER, _DIGIT = re.compile(_L), re.compile("[a-z]"), re.compile("[0-9]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_CONTROLS_AND_BLANK = "".join(map(chr, range(33)))
_PLAIN = re.compile("[A-Za-z0-9 ]*")


def words(text: str, prefixes: Mapping[str, bool]) -> list[str]:
    """Return the lower-case words of a text; each punctuation mark is a word.

    ``prefixes`` holds the words after which a dot is no full stop, with True if only before a number. An unpaired surrogate is read as
    U+FFFD.

    >>> words("A man's U.S. flag, well-known.", {})
    ['a', 'man', "'s", 'us', 'flag', ',', 'well', 'known', '.']
    """
    if _PLAIN.fullmatch(text) and "DOTMULTI" not in text:
        return text.lower().split()
    text = _full_stops(_separated(_SURROGATES.sub("\ufffd", text)), prefixes)
    return [word for word in _WORD_BREAK.split(text.lower()) if word]


def is_plain(word: str) -> bool:
    """Return True when the rules only change ``word`` to lower case, in any text of such words.

    >>> is_plain("Dog"), is_plain("man's")
    (True, False)
    """
    return word.isalnum() and word.isascii() and "DOTMULTI" not in word


def _separated(text: str) -> str:
    """Return the text with blanks around punctuation marks, commas, quotes, dashes and apostrophes."""
    text = f" {text.strip(_CONTROLS_AND_BLANK)} "
    text = _SPACED.sub(r" \1 ", text)
    # A placeholder hides runs of dots from the rules for full stops. It is the jar's, so a text that contains it gives the same words.
    if ".." in text:
        text = _DOTS.sub(r" DOTMULTI\1", text)
    while "DOTMULTI." in text:
        text = _DOTS_STEP.sub(r"DOTDOTMULTI \1", text)
        text = text.replace("DOTMULTI.", "DOTDOTMULTI")
    if "," in text:
        for pattern in _COMMAS:
            text = pattern.sub(r"\1 , \2", text)
    for mark in "`\u2018\u2019":
        text = text.replace(mark, "'")
    for mark in ("\u201c", "\u201d", "''"):
        text = text.replace(mark, ' " ')
    text = text.replace("\u2013", "-").replace("--", "-")
    if "-" in text:
        text = _DASH.sub(r"\1 \2", text)
    if "'" in text:
        for pattern, replacement in _APOSTROPHES:
            text = pattern.sub(replacement, text)
    return text


def _full_stops(text: str, prefixes: Mapping[str, bool]) -> str:
    """Return the text with full stops split from the words before them; dots of abbreviations stay."""
    parts = [word for word in _WORD_BREAK.split(text) if word]
    out = []
    for word, following in zip(parts, [*parts[1:], ""]):
        out.append(_without_full_stop(word, following, prefixes) if len(word) > 1 and word[-1] == "." else word)
    text = " ".join(out)
    while "DOTDOTMULTI" in text:
        text = text.replace("DOTDOTMULTI", "DOTMULTI.")
    text = _BLANKS.sub(" ", text.replace("DOTMULTI", "."))
    return text.strip(_CONTROLS_AND_BLANK)


def _without_full_stop(word: str, following: str, prefixes: Mapping[str, bool]) -> str:
    """Return a word that ends in a dot with the dot split off, dropped (an acronym) or unchanged (a prefix)."""
    rest = word[:-1]
    if "." in rest and _LETTER.search(rest):
        return word.replace(".", "")
    numeric_only = prefixes.get(rest)
    if numeric_only is False or _LOWER.match(following):
        return word
    if numeric_only and _DIGIT.match(following):
        return word
    return f"{rest} ."
