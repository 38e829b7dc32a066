"""Which words of a caption are visual words and which are objects, where no parts of speech are at hand.

Function words are a closed list. **Visual words** (what NACF's templates hold; the paper takes nouns and verbs) are all others.
**Objects** are nouns by their place: the last word of the run of content words that follows a determiner ("a tiny *block* in front
of a red *wall*"), unless the run has several words and another determiner follows it ("the picture [shows] a ...", then the word
before counts); a word is an object where at least half of its occurrences, and at least ``least`` of them, stand so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

_DETERMINERS = """
    a an the this that these those his her its their my your our
    some any each every no another one two three four five six several
"""
_OTHERS = """
    i you he she it we they me him us them who whom whose which what there here
    is are was were be been being am has have had having do does did can could will would shall should may might must
    of in on at by to from with without into onto over under above below behind before after near between among through across
    around along against beside besides inside outside off out up down upon toward towards about as for during while than
    and or but nor so if then because when where not very too also just only
"""
DETERMINERS = frozenset(_DETERMINERS.split())
FUNCTION_WORDS = DETERMINERS | frozenset(_OTHERS.split())


def is_visual(word: str) -> bool:
    """Whether a word says what is to be seen: it is no function word and holds a letter.

    >>> [word for word in "a red block is in front of the wall".split() if is_visual(word)]
    ['red', 'block', 'front', 'wall']
    """
    return word not in FUNCTION_WORDS and any(ch.isalpha() for ch in word)


def ends_of_runs(words: Sequence[str]) -> list[int]:
    """Places of the words that end a noun phrase, by the rule above.

    >>> words = "the picture shows a tiny block in front of a wall".split()
    >>> [words[i] for i in ends_of_runs(words)]
    ['picture', 'block', 'wall']
    """
    found, start = [], None
    for i in range(len(words) + 1):
        inside = i < len(words) and is_visual(words[i])
        if inside and start is None and i > 0 and words[i - 1] in DETERMINERS:
            start = i
        if not inside and start is not None:
            verb = i < len(words) and words[i] in DETERMINERS and i - start > 1
            found.append(i - 2 if verb else i - 1)
            start = None
    return found


def object_words(captions: Iterable[Sequence[str]], least: int = 2) -> list[str]:
    """Object words of captions (lists of words), most frequent first, then by spelling."""
    seen: Counter[str] = Counter()
    placed: Counter[str] = Counter()
    for words in captions:
        seen.update(words)
        placed.update(words[i] for i in ends_of_runs(words))
    kept = [word for word, count in placed.items() if count >= least and 2 * count >= seen[word]]
    return sorted(kept, key=lambda word: (-seen[word], word))
