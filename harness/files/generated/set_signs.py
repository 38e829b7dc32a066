"""Signs that the texts of a whole set, candidates or references, were written or joined
by a program: words for missing values, several captions in one text, one caption as a
list of words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.errors import counted
from harness.files.generated.late_pattern import late_pattern

ABSENT = frozenset(
    (
        "nan",
        "NaN",
        "NAN",
        "None",
        "null",
        "NULL",
        "NaT",
        "<NA>",
        "N/A",
        "#N/A",
        "undefined",
        "[]",
        "{}",
        "()",
    )
)
"""Texts that programs write for a missing value."""
SEPARATORS: Mapping[str, tuple[str, ...]] = {
    "candidates": ("|||", "||", "|", "<sep>", "<SEP>"),
    "references": (
        *("|||", "||", "|", "<sep>", "<SEP>", "[SEP]"),
        *("###", "<br>", "\n", "\t", ";"),
    ),
}
"""Role -> what stands between captions that were joined to one text, the surest first.
"""
_CODES = late_pattern(
    r"\\u[0-9a-fA-F]{4}|\\[nt](?![a-z])|&(?:amp|quot|apos|nbsp|lt|gt|#\d{1,5});"
    r"|[\u00c2\u00c3][\u0080-\u00bf]|\u00e2\u20ac[\u0090-\u00bf\u0152-\u2122]|\ufffd"
)
"""Escapes, entities of HTML, and what UTF-8 looks like in a wrong encoding."""
_SPECIAL_TOKEN = late_pattern(r"<\|[^<>|\s]*\|>")
"""Special tokens such as ``<|im_end|>``, which separate nothing."""
MOST_CODES = 6
"""Different codes that a remark lists."""
FEWEST_ITEMS = 3
"""Number of items below which they show no pattern."""
SHARE = 0.8
"""Share of texts with a separator from which it is no part of single captions."""
MEAN_WORDS = 4
"""Words of an item from which single words are a caption that was split."""


@dataclass
class SetSigns:
    """Signs in the captions of a role, which are added block by block."""

    role: str
    """``candidates`` or ``references``."""
    texts: int = 0
    items: int = 0
    _absent: dict[str, str] = field(default_factory=dict[str, str])
    """Word for a missing value -> the first item that has it."""
    _n_absent: int = 0
    _codes: dict[str, str] = field(default_factory=dict[str, str])
    """Code in place of a character -> the first item that has it."""
    _n_codes: int = 0
    _separated: dict[str, int] = field(default_factory=dict[str, int])
    """Separator -> number of texts with it."""
    _is_single: bool = True
    """True while every item has one text."""
    _is_words: bool = True
    """True while every text is one word."""
    _sizes: set[int] = field(default_factory=set[int])

    def add(self, ids: Sequence[str], sets: Sequence[Sequence[str]]) -> None:
        """Add the texts of some items."""
        texts = [text for item in sets for text in item]
        self.texts += len(texts)
        self.items += len(sets)
        if not ABSENT.isdisjoint(texts):
            self._add_absent(ids, sets)
        joined = "\0".join(texts)  # NUL is in no caption
        if not joined.isascii() or "\\" in joined or "&" in joined:
            self._add_codes(ids, sets)
        if self._is_single:
            self._is_single = all(len(item) == 1 for item in sets)
        if self._is_single:
            self._add_separators(texts, joined)
        if self._is_words:
            self._sizes.update(map(len, sets))
            self._is_words = not any(" " in text for text in texts)

    def _add_absent(self, ids: Sequence[str], sets: Sequence[Sequence[str]]) -> None:
        for key, item in zip(ids, sets):
            for text in item:
                if text in ABSENT:
                    self._n_absent += 1
                    self._absent.setdefault(text, key)

    def _add_codes(self, ids: Sequence[str], sets: Sequence[Sequence[str]]) -> None:
        search = _CODES().search
        for key, item in zip(ids, sets):
            for text in item:
                if match := search(text):
                    self._n_codes += 1
                    self._codes.setdefault(match[0], key)

    def _add_separators(self, texts: Sequence[str], joined: str) -> None:
        present = [mark for mark in SEPARATORS[self.role] if mark in joined]
        if not present:
            return
        if "<|" in joined:
            texts = [_SPECIAL_TOKEN().sub("", text) for text in texts]
        for separator in present:
            number = sum(separator in text.strip() for text in texts)
            self._separated[separator] = self._separated.get(separator, 0) + number

    @property
    def noun(self) -> str:
        """Word for a text of the role."""
        return "caption" if self.role == "candidates" else "reference"

    def absent(self) -> tuple[str, int, str] | None:
        """Return the sentence on words for missing values, their number and the first
        item with one; None without any.
        """
        if not self._n_absent:
            return None
        words = ", ".join(self._absent)
        example = next(iter(self._absent.values()))
        verb = (
            "is a word for a missing value"
            if self._n_absent == 1
            else "are words for missing values"
        )
        text = (
            f"{self._n_absent:,} of {counted(self.texts, self.noun)} {verb} ({words}), "
            f"as of '{example}', and scored as such"
        )
        return text, self._n_absent, example

    def codes(self) -> tuple[str, int, str] | None:
        """Return the sentence on codes in place of characters, the number of texts with
        one and the first item; None without any.
        """
        if not self._n_codes:
            return None
        listed = ", ".join(list(self._codes)[:MOST_CODES])
        example = next(iter(self._codes.values()))
        verb = "holds" if self._n_codes == 1 else "hold"
        text = (
            f"{self._n_codes:,} of {counted(self.texts, self.noun)} {verb} codes in "
            f"place of characters ({listed}), as of '{example}': the file was "
            "written with escapes, or read in another encoding"
        )
        return text, self._n_codes, example

    def joined(self) -> tuple[str, int] | None:
        """Return the sentence on a separator in nearly all texts and their number; None
        without one, and where an item has several texts.
        """
        if not self._is_single or self.items < FEWEST_ITEMS:
            return None
        for separator in SEPARATORS[self.role]:
            number = self._separated.get(separator, 0)
            if number >= SHARE * self.texts:
                text = (
                    f"{number:,} of {counted(self.texts, self.noun)} hold "
                    f"{separator!r} and are scored as one {self.noun} each; several of "
                    'an item are a list (["a dog", "the dog"]), or a record each'
                )
                return text, number
        return None

    def split(self) -> tuple[str, int] | None:
        """Return the sentence on captions that are lists of their words and the number
        of items; None where a text has several words.
        """
        if not self._is_words or len(self._sizes) < 2 or self.items < FEWEST_ITEMS:
            return None
        if self.texts < MEAN_WORDS * self.items:
            return None
        text = (
            f"all {self.texts:,} {self.noun}s of {counted(self.items, 'example')} are "
            f"single words, each scored as a {self.noun}; the words of one are joined "
            "by blanks"
        )
        return text, self.items
