"""Share of captions with one of some words."""

from __future__ import annotations

import harness
from caption_vocabulary.counts import words_of


@harness.metric_function
def word_share(candidates: list[str], words: str = "") -> float:
    """Return the share of the candidates with one of the words, which blanks
    separate.
    """
    known = set(words.lower().split())
    found = [bool(known & set(words_of([text]))) for text in candidates]
    return sum(found) / len(found)
