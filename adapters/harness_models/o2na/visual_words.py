"""Visual words of a caption, where no parts of speech are available.

NACF's templates hold visual words, which are nouns and verbs in the paper. Here they
are all words outside a closed list of function words.
"""

from __future__ import annotations

_DETERMINERS = """
    a an the this that these those his her its their my your our
    some any each every no another one two three four five six several
"""
_OTHERS = """
    i you he she it we they me him us them who whom whose which what there here
    is are was were be been being am has have had having do does did
    can could will would shall should may might must
    of in on at by to from with without into onto over under above below
    behind before after near between among through across
    around along against beside besides inside outside off out up down upon
    toward towards about as for during while than
    and or but nor so if then because when where not very too also just only
"""
DETERMINERS = frozenset(_DETERMINERS.split())
"""Articles, demonstratives, possessives, quantifiers and small numbers."""
FUNCTION_WORDS = DETERMINERS | frozenset(_OTHERS.split())
"""Words that are not visual."""


def is_visual(word: str) -> bool:
    """Return True if a word is not a function word and contains a letter.

    >>> [
    ...     word
    ...     for word in "a red block is in front of the wall".split()
    ...     if is_visual(word)
    ... ]
    ['red', 'block', 'front', 'wall']
    """
    return word not in FUNCTION_WORDS and any(ch.isalpha() for ch in word)
