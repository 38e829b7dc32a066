"""Words of a raw text in METEOR 1.5 (``-l en -norm``): punctuation rules,
then lower case.

The order of the steps and the left-to-right replacement without overlaps within each
step follow meteor-1.5.jar: a character consumed by one replacement is not part of the
next match. Source: Denkowski & Lavie (2014), "Meteor Universal", and the behaviour of
the jar.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from caption_kernels_reference.meteor.lexicon import Lexicon

_LETTERS = (
    "A-Za-z\u0160\u017d\u0161\u017e\u0178\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017e"
    "\u0400-\u0527\ua640-\ua66e\ua67e-\ua697\u1d00-\u1d7f"
)
_L = f"[{_LETTERS}]"
_NOT_L = f"[^{_LETTERS}]"
_SPACED = re.compile(rf"([^0-9{_LETTERS} \t\n\x0b\f\r.'`,\-\u2018\u2019])")
_PLACEHOLDER = "DOTMULTI"
_DOTS = re.compile(r"\.\.+|DOTMULTI\.(?!\.)")
_HIDDEN_DOTS = re.compile("((?:DOT)+)MULTI")
_COMMAS = tuple(
    re.compile(pattern)
    for pattern in ("([^0-9]),([^0-9])", "([0-9]),([^0-9])", "([^0-9]),([0-9])")
)
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
_LETTER = re.compile(_L)
_LOWER = re.compile("[a-z]")
_DIGIT = re.compile("[0-9]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_CONTROLS_AND_BLANK = "".join(map(chr, range(33)))
_PLAIN = re.compile("[A-Za-z0-9 ]*")


def normalise(texts: Sequence[str], lexicon: Lexicon) -> list[list[str]]:
    """Return the lower-case words of each text (see :func:`words`)."""
    if isinstance(texts, str):
        raise TypeError("expected a sequence of texts, found one str")
    return [words(text, lexicon) for text in texts]


def words(text: str, lexicon: Lexicon) -> list[str]:
    """Return the lower-case words of a text, such as
    ``a man 's us flag , well known .`` of ``A man's U.S. flag, well-known.``.

    Each punctuation mark is a word. An unpaired surrogate is read as U+FFFD.
    """
    if _PLAIN.fullmatch(text) and _PLACEHOLDER not in text:
        return text.lower().split()
    text = _full_stops(_separate_marks(_SURROGATES.sub("\ufffd", text)), lexicon)
    return [word for word in _WORD_BREAK.split(text.lower()) if word]


def _separate_marks(text: str) -> str:
    """Return the text with blanks around punctuation marks, commas, quotes,
    dashes and apostrophes.
    """
    text = f" {text.strip(_CONTROLS_AND_BLANK)} "
    text = _SPACED.sub(r" \1 ", text)
    text = _without_runs_of_dots(text)
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


def _without_runs_of_dots(text: str) -> str:
    """Return the text with n dots in a row as n - 1 times DOT and the placeholder,
    which hides them from the rules for full stops.

    The jar gets there by repeated replacement: first it writes the placeholder for the
    first dot; then, before a single dot and the character after it, the placeholder
    becomes DOT, itself and a blank; before more dots it becomes DOT and itself and one
    dot less. So a placeholder of the text itself is treated alike; it gets no blank
    where its first letter was the character after the single dot of another one.
    """
    consumed = -1

    def replace_dots(match: re.Match[str]) -> str:
        nonlocal consumed
        if match[0].startswith("."):
            consumed = match.end() if len(match[0]) == 2 else -1
            return f" {'DOT' * (len(match[0]) - 1)}{_PLACEHOLDER} "
        blocked = consumed == match.start()
        consumed = -1 if blocked else match.end()
        return f"DOT{_PLACEHOLDER}" if blocked else f"DOT{_PLACEHOLDER} "

    return _DOTS.sub(replace_dots, text)


def _full_stops(text: str, lexicon: Lexicon) -> str:
    """Return the text with full stops split from the words before them;
    dots of abbreviations stay.
    """
    words = [word for word in _WORD_BREAK.split(text) if word]
    out = []
    for word, following in zip(words, [*words[1:], ""]):
        out.append(
            _without_full_stop(word, following, lexicon)
            if len(word) > 1 and word[-1] == "."
            else word
        )
    text = " ".join(out)
    text = _HIDDEN_DOTS.sub(lambda marks: "." * (len(marks[1]) // 3), text)
    text = _BLANKS.sub(" ", text)
    return text.strip(_CONTROLS_AND_BLANK)


def _without_full_stop(word: str, following: str, lexicon: Lexicon) -> str:
    """Return a word that ends in a dot with the dot split off,
    dropped (an acronym) or unchanged (a prefix).
    """
    stem = word[:-1]
    if "." in stem and _LETTER.search(stem):
        return word.replace(".", "")
    kind = lexicon.prefix_kind(stem)
    if kind == 1 or _LOWER.match(following) or (kind == 2 and _DIGIT.match(following)):
        return word
    return f"{stem} ."
