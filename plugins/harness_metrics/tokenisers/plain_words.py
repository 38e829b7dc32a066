"""Plain words: lower-case runs of letters and digits, for vocabularies and counts that
follow no published tokeniser.
"""

from __future__ import annotations

import re
from functools import lru_cache


def plain_words(text: str, *, joiners: str = "", marks: bool = False) -> list[str]:
    """Return the words of a text in lower case.

    A word is a run of letters and digits (Unicode); the underscore is neither.

    Parameters
    ----------
    text : str
        Any text.
    joiners : str
        Characters that join two runs into one word, such as ``"'-"``.
    marks : bool
        Also return each other character that is not white space, as a word of its own.
        Without it these are dropped.

    Returns
    -------
    list of str
        Words in their order in the text.

    Examples
    --------
    >>> plain_words("A dog's ball, well-worn.")
    ['a', 'dog', 's', 'ball', 'well', 'worn']
    >>> plain_words("A dog's ball, well-worn.", joiners="'-")
    ['a', "dog's", 'ball', 'well-worn']
    >>> plain_words("A dog's ball.", marks=True)
    ['a', 'dog', "'", 's', 'ball', '.']
    """
    return _pattern(joiners, marks).findall(text.lower())


@lru_cache(maxsize=16)
def _pattern(joiners: str, marks: bool) -> re.Pattern[str]:
    """Return the expression of one word."""
    word = r"[^\W_]+"
    if joiners:
        word += f"(?:[{re.escape(joiners)}]{word})*"
    return re.compile(rf"{word}|[^\w\s]" if marks else word)
