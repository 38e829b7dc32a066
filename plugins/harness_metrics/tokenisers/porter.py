"""Stems of English words by Porter's algorithm, with the extensions of NLTK,
which rouge_score uses.

References
----------
Porter (1980), "An algorithm for suffix stripping". The extensions are those of NLTK's
``PorterStemmer`` in its default mode: a list of irregular words, and other conditions
in the steps 1, 2 and 5, each named where it applies.
"""

from __future__ import annotations

from functools import lru_cache

IRREGULAR = {
    "sky": "sky",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "inning": "inning",
    "innings": "inning",
    "outing": "outing",
    "outings": "outing",
    "canning": "canning",
    "cannings": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}
"""Words with stems of their own (an extension)."""
STEP_2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
)
"""Suffix and what replaces it, in the order in which they are tried (``bli`` and
``fulli`` are extensions).
"""
STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
STEP_4 = (
    ("al", ""),
    ("ance", ""),
    ("ence", ""),
    ("er", ""),
    ("ic", ""),
    ("able", ""),
    ("ible", ""),
    ("ant", ""),
    ("ement", ""),
    ("ment", ""),
    ("ent", ""),
    ("ion", ""),
    ("ou", ""),
    ("ism", ""),
    ("ate", ""),
    ("iti", ""),
    ("ous", ""),
    ("ive", ""),
    ("ize", ""),
)


@lru_cache(maxsize=1 << 16)
def porter_stem(word: str) -> str:
    """Return the stem of a word in lower case.

    >>> [porter_stem(word) for word in ("relational", "hopping", "flies", "enjoyed")]
    ['relat', 'hop', 'fli', 'enjoy']
    """
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) <= 2:  # an extension
        return word

    word = _without_past_and_gerund(_without_plural(word))
    # step 1c; the paper asks for a vowel anywhere before
    if word.endswith("y") and len(word) > 2 and _shape(word)[-2] == "c":
        word = word[:-1] + "i"
    word = _without_double_suffix(word)
    word = _replace_suffix(word, STEP_3, longer_than=0)
    word = _replace_suffix(word, STEP_4, longer_than=1)
    return _tidied(word)


def _shape(word: str) -> str:
    """Return ``c`` for each consonant of a word and ``v`` for each vowel;
    ``y`` after a consonant is a vowel.
    """
    shape: list[str] = []
    for letter in word:
        is_vowel = letter in "aeiou" or (
            letter == "y" and bool(shape) and shape[-1] == "c"
        )
        shape.append("v" if is_vowel else "c")
    return "".join(shape)


def _measure(stem: str) -> int:
    """Return m of the form [C](VC)^m[V] of a stem."""
    return _shape(stem).count("vc")


def _ends_short(stem: str) -> bool:
    """Return True for a stem that ends in consonant, vowel and a consonant other than
    w, x, y, or is a vowel and a consonant.
    """
    shape = _shape(stem)
    # the last is an extension
    return (shape.endswith("cvc") and stem[-1] not in "wxy") or shape == "vc"


def _replace_suffix(
    word: str, rules: tuple[tuple[str, str], ...], *, longer_than: int
) -> str:
    """Return a word with its first suffix of ``rules`` replaced, where the rest has a
    measure above ``longer_than``.
    """
    for suffix, replacement in rules:
        if word.endswith(suffix):
            stem = word.removesuffix(suffix)
            if suffix == "ion" and stem[-1:] not in ("s", "t"):
                return word
            return stem + replacement if _measure(stem) > longer_than else word
    return word


def _without_plural(word: str) -> str:
    """Return the word after step 1a."""
    if word.endswith("ies"):
        # ``dies`` to ``die`` is an extension
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_past_and_gerund(word: str) -> str:
    """Return the word after step 1b."""
    if word.endswith("ied"):  # an extension
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word

    # only after a vowel: ``sing`` and ``bed`` have no such suffix
    for suffix in ("ed", "ing"):
        stem = word.removesuffix(suffix)
        if stem != word and "v" in _shape(stem):
            break
    else:
        return word

    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if stem[-1:] == stem[-2:-1] and _shape(stem)[-1] == "c":
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _without_double_suffix(word: str) -> str:
    """Return the word after step 2."""
    # Two extensions: what is left of `alli` goes through the step again, and the l of
    # `logi` counts for the measure.
    while word.endswith("alli") and _measure(word[:-4]) > 0:
        word = word[:-2]
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replace_suffix(word, STEP_2, longer_than=0)


def _tidied(word: str) -> str:
    """Return the word after step 5: without a last e, and with one l of two."""
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
