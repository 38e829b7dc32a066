"""Object words: nouns of captions by their position, the objects of rendered scenes,
and lists from files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from harness.errors import InputError
from harness_models.o2na.visual_words import DETERMINERS, is_visual
from harness_models.shared.weights.checkpoint_config import read_json


def noun_positions(words: Sequence[str]) -> list[int]:
    """Return the positions of nouns in a caption, by a rule on the words around them.

    A noun is the last word of a run of visual words that follows a determiner ("a tiny
    *block* in front of a red *wall*"). If the run has several words and another
    determiner follows it, its last word counts as a verb and the word before it as the
    noun ("the *picture* shows a ...").

    >>> words = "the picture shows a tiny block in front of a wall".split()
    >>> [words[i] for i in noun_positions(words)]
    ['picture', 'block', 'wall']
    """
    positions = []
    start = None
    for i in range(len(words) + 1):
        in_run = i < len(words) and is_visual(words[i])
        if in_run and start is None and i > 0 and words[i - 1] in DETERMINERS:
            start = i
        if not in_run and start is not None:
            verb = i < len(words) and words[i] in DETERMINERS and i - start > 1
            positions.append(i - 2 if verb else i - 1)
            start = None
    return positions


def object_words(captions: Iterable[Sequence[str]], minimum: int = 2) -> list[str]:
    """Return the object words of captions, most frequent first,
    then in alphabetical order.

    A word is an object word if :func:`noun_positions` selects at least half of its
    occurrences, and at least ``minimum`` of them.

    Parameters
    ----------
    captions
        Captions as lists of words.
    minimum
        Smallest number of occurrences as a noun.
    """
    total: Counter[str] = Counter()
    as_noun: Counter[str] = Counter()
    for words in captions:
        total.update(words)
        as_noun.update(words[i] for i in noun_positions(words))
    objects = [
        word
        for word, count in as_noun.items()
        if count >= minimum and 2 * count >= total[word]
    ]
    return sorted(objects, key=lambda word: (-total[word], word))


def scene_objects() -> list[str]:
    """Return the object words of rendered scenes: the four shapes, wall and floor."""
    from harness_tasks.a3ds.scene import FACTORS, PHRASES

    return [*PHRASES[FACTORS.index("shape")], "wall", "floor"]


def read_object_words(path: str) -> list[str]:
    """Return the words of a JSON list; raise :class:`InputError` if the file holds
    anything else.
    """
    words = read_json(path, "list of object words")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InputError("expected a list of words", path)
    return words
