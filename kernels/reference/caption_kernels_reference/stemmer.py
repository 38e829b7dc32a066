"""The English Snowball stemmer (Porter2), version 2, after its published description.

Porter, "The English (Porter2) stemming algorithm", snowballstem.org. METEOR 1.5
compares these stems; version 3 of Snowball stems some words otherwise. The steps have
the names of the description; ``core/stemmer.cpp`` has the same functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_VOWELS = frozenset("aeiouy")
"""A y that counts as a consonant is written Y."""
_DOUBLES = frozenset("bdfgmnprt")
_BEFORE_LI = frozenset("cdeghkmnrt")
_COMPLETE = frozenset(
    [
        "inning",
        "outing",
        "canning",
        "herring",
        "earring",
        "proceed",
        "exceed",
        "succeed",
    ]
)
"""Words that are complete after step 1a."""
_BEGINNINGS = ("gener", "commun", "arsen")
_STEP_4 = [
    "ement",
    "ance",
    "ence",
    "able",
    "ible",
    "ment",
    "ant",
    "ent",
    "ism",
    "ate",
    "iti",
    "ous",
    "ive",
    "ize",
    "ion",
    "al",
    "er",
    "ic",
]


def _table(rules: str) -> dict[str, str]:
    """Return the sides of rules such as ``ational>ate``."""
    return dict(rule.split(">") for rule in rules.split())


_WHOLE_WORDS = {
    **_table(
        "skis>ski skies>sky dying>die lying>lie tying>tie idly>idl gently>gentl "
        "ugly>ugli early>earli only>onli singly>singl"
    ),
    **{
        word: word
        for word in ("sky", "news", "howe", "atlas", "cosmos", "bias", "andes")
    },
}

# Suffix -> replacement; longer suffixes before those that they end in.
_STEP_2 = _table(
    "ization>ize ational>ate fulness>ful ousness>ous iveness>ive tional>tion "
    "biliti>ble lessli>less entli>ent "
    "ation>ate alism>al aliti>al ousli>ous iviti>ive fulli>ful enci>ence anci>ance "
    "abli>able izer>ize ator>ate "
    "alli>al bli>ble ogi>og li>"
)
_STEP_3 = _table(
    "ational>ate tional>tion alize>al icate>ic iciti>ic ative> ical>ic ness> ful>"
)


def stem(words: Sequence[str]) -> list[str]:
    """Return the stem of each lower-case word.

    >>> stem(["dogs", "running", "generously", "skies"])
    ['dog', 'run', 'generous', 'sky']
    """
    if isinstance(words, str):
        raise TypeError("expected a sequence of texts, found one str")
    return [_Stemming(word).stem() for word in words]


class _Stemming:
    """A word on its way to its stem.

    Parameters
    ----------
    word : str
    """

    def __init__(self, word: str) -> None:
        self.word = word
        self.r1 = self.r2 = 0
        """Starts of the regions in which suffixes are removed."""

    def stem(self) -> str:
        """Return the stem."""
        if len(self.word) < 3:
            return self.word
        if self.word in _WHOLE_WORDS:
            return _WHOLE_WORDS[self.word]
        self.word = self.word.removeprefix("'")
        has_consonant_y = self.mark_consonant_y()
        self.mark_regions()
        self.step_0()
        self.step_1a()
        if self.word not in _COMPLETE:
            self.step_1b()
            self.step_1c()
            self.step_2()
            self.step_3()
            self.step_4()
            self.step_5()
        return self.word.replace("Y", "y") if has_consonant_y else self.word

    def mark_consonant_y(self) -> bool:
        """Write Y for y at the start and after a vowel; return True if there is one."""
        letters = list(self.word)
        for k, letter in enumerate(letters):
            if letter == "y" and (k == 0 or letters[k - 1] in _VOWELS):
                letters[k] = "Y"
        changed = letters != list(self.word)
        self.word = "".join(letters)
        return changed

    def mark_regions(self) -> None:
        """Set R1, which follows the first consonant after a vowel, and R2,
        the same within R1.
        """
        self.r1 = self.after_vowel_and_consonant(0)
        for beginning in _BEGINNINGS:
            if self.word.startswith(beginning):
                self.r1 = len(beginning)
        self.r2 = self.after_vowel_and_consonant(self.r1)

    def after_vowel_and_consonant(self, start: int) -> int:
        """Return the position after the first consonant that follows a vowel from
        ``start`` on.
        """
        size = len(self.word)
        while start < size and self.word[start] not in _VOWELS:
            start += 1
        while start < size and self.word[start] in _VOWELS:
            start += 1
        return min(start + 1, size)

    def is_in(self, region: int, suffix: str) -> bool:
        """Return True when a suffix of the word lies in a region."""
        return len(self.word) - len(suffix) >= region

    def before(self, suffix: str) -> str:
        """Return the character before a suffix, or an empty string."""
        return self.word[: len(self.word) - len(suffix)][-1:]

    def longest(self, suffixes: Iterable[str]) -> str | None:
        """Return the first suffix in which the word ends;
        they are listed with the longest first.
        """
        return next((suffix for suffix in suffixes if self.word.endswith(suffix)), None)

    def replace(self, suffix: str, ending: str) -> None:
        """Replace a suffix of the word."""
        self.word = self.word[: len(self.word) - len(suffix)] + ending

    def ends_in_short_syllable(self, size: int) -> bool:
        """Return True when the first ``size`` characters end in a short syllable."""
        if (
            size < 2
            or self.word[size - 1] in _VOWELS
            or self.word[size - 2] not in _VOWELS
        ):
            return False
        return size == 2 or (
            self.word[size - 1] not in "wxY" and self.word[size - 3] not in _VOWELS
        )

    def step_0(self) -> None:
        """Remove the sign of the genitive."""
        if suffix := self.longest(("'s'", "'s", "'")):
            self.replace(suffix, "")

    def step_1a(self) -> None:
        """Remove the sign of the plural."""
        suffix = self.longest(("sses", "ied", "ies", "us", "ss", "s"))
        if suffix == "sses":
            self.replace(suffix, "ss")
        elif suffix in ("ied", "ies"):
            self.replace(suffix, "i" if len(self.word) >= 5 else "ie")
        elif suffix == "s" and not _VOWELS.isdisjoint(self.word[:-2]):
            self.replace(suffix, "")

    def step_1b(self) -> None:
        """Remove the suffixes of verbs and restore the end of the word."""
        suffix = self.longest(("eedly", "ingly", "edly", "eed", "ing", "ed"))
        if suffix in ("eedly", "eed"):
            if self.is_in(self.r1, suffix):
                self.replace(suffix, "ee")
        elif suffix and not _VOWELS.isdisjoint(self.word[: -len(suffix)]):
            self.replace(suffix, "")
            if self.longest(("at", "bl", "iz")):
                self.word += "e"
            elif self.word[-1] in _DOUBLES and self.word[-2:-1] == self.word[-1]:
                self.word = self.word[:-1]
            elif len(self.word) == self.r1 and self.ends_in_short_syllable(
                len(self.word)
            ):
                self.word += "e"

    def step_1c(self) -> None:
        """Write i for y after a consonant that is not the first letter."""
        if (
            self.word[-1:] in ("y", "Y")
            and len(self.word) > 2
            and self.word[-2] not in _VOWELS
        ):
            self.word = self.word[:-1] + "i"

    def step_2(self) -> None:
        """Shorten suffixes in R1."""
        suffix = self.longest(_STEP_2)
        if suffix is None or not self.is_in(self.r1, suffix):
            return
        if suffix == "ogi" and self.before(suffix) != "l":
            return
        if suffix == "li" and self.before(suffix) not in _BEFORE_LI:
            return
        self.replace(suffix, _STEP_2[suffix])

    def step_3(self) -> None:
        """Shorten suffixes in R1."""
        suffix = self.longest(_STEP_3)
        if suffix and self.is_in(self.r2 if suffix == "ative" else self.r1, suffix):
            self.replace(suffix, _STEP_3[suffix])

    def step_4(self) -> None:
        """Remove suffixes in R2."""
        suffix = self.longest(_STEP_4)
        if (
            suffix
            and self.is_in(self.r2, suffix)
            and (suffix != "ion" or self.before(suffix) in ("s", "t"))
        ):
            self.replace(suffix, "")

    def step_5(self) -> None:
        """Remove a last e or the second of two last l."""
        if self.word.endswith("e"):
            in_r1 = self.is_in(self.r1, "e") and not self.ends_in_short_syllable(
                len(self.word) - 1
            )
            if in_r1 or self.is_in(self.r2, "e"):
                self.word = self.word[:-1]
        elif self.word.endswith("ll") and self.is_in(self.r2, "l"):
            self.word = self.word[:-1]
