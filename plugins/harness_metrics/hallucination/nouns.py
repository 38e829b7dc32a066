"""Word lists of English in ``english_words.json``, and singular forms of nouns by rules
and a list of irregular ones.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

_WORDS: dict[str, Any] = json.loads(
    Path(__file__).with_name("english_words.json").read_text(encoding="utf-8")
)


def word_list(name: str) -> frozenset[str]:
    """Return a list of words: its lines hold words that are separated by blanks."""
    return frozenset(" ".join(_WORDS[name]).split())


def word_table(name: str) -> dict[str, str]:
    """Return a mapping of words or phrases to words."""
    return _WORDS[name]


_IRREGULAR = word_table("irregular plurals")
_ONE_FORM = word_list("nouns of one form")


@lru_cache(maxsize=1 << 14)
def singular(word: str) -> str:
    """Return the singular of a lower-case noun;
    other words are returned unchanged or without a final s.

    >>> [singular(word) for word in "dogs puppies children buses".split()]
    ['dog', 'puppy', 'child', 'bus']
    >>> [singular(word) for word in "dishes grass tomatoes boxes".split()]
    ['dish', 'grass', 'tomato', 'box']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _ONE_FORM or len(word) < 4:
        return word
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word

    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("shes", "ches", "xes", "sses", "zzes", "oes")):
        return word[:-2]
    return word[:-1]
