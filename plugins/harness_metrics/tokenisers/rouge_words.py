"""Words of rouge_score: runs of ASCII letters and digits in lower case,
as they are or as Porter stems.
"""

from __future__ import annotations

import re

from harness_metrics.tokenisers.porter import porter_stem

LONGEST_UNSTEMMED = 3
"""Words of more letters are stemmed."""
_WORD = re.compile("[a-z0-9]+")


def rouge_words(text: str) -> str:
    """Return the words of a text, joined by one blank.

    >>> rouge_words("A dog's café, 3.5 m")
    'a dog s caf 3 5 m'
    """
    return " ".join(_WORD.findall(text.lower()))


def rouge_stems(text: str) -> str:
    """Return the stems of the words of a text, joined by one blank.

    >>> rouge_stems("Two dogs were running")
    'two dog were run'
    """
    words = _WORD.findall(text.lower())
    return " ".join(
        porter_stem(word) if len(word) > LONGEST_UNSTEMMED else word for word in words
    )
