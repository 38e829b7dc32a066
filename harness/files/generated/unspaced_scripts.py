"""Scripts that write no blanks between words: Chinese, Japanese, Thai, Lao, Khmer,
Myanmar.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.files.generated.late_pattern import late_pattern

_RANGES = {
    "Chinese": "㐀-䶿一-鿿豈-﫿𠀀-𲎯",
    "Japanese": "ぁ-ゖァ-ヺー",
    "Thai": "ก-๎",
    "Lao": "ກ-ໝ",
    "Khmer": "ក-៓",
    "Myanmar": "က-႟",
}
"""Name of a language -> letters of its script, those of Chinese also in Japanese."""
_FIRST_LETTER = "\u0e00"
"""No script without blanks has a letter below this."""
_OF_SCRIPT = {name: late_pattern(f"[{letters}]") for name, letters in _RANGES.items()}
_RUN = late_pattern(f"[{''.join(_RANGES.values())}]+")
_LETTER = late_pattern(r"[^\W\d_]|[\u0e00-\u109f\u1780-\u17ff]")
"""A letter, or a vowel sign of the scripts above, which is none by its category."""
LONGEST_WORDS = {"Chinese": 4.0, "Japanese": 4.0}
"""Mean letters between blanks up to which a text counts as split into words."""
LONGEST_WORD = 9.0
"""The same for the other scripts."""


@dataclass
class ScriptCount:
    """Letters of texts by script."""

    letters: int = 0
    """Letters of any script."""
    runs: int = 0
    """Runs of letters of scripts without blanks."""
    in_runs: int = 0
    """Letters within these."""
    texts: int = 0
    """Texts with several such letters."""
    unbroken: int = 0
    """Those with all such letters in one run."""

    def __post_init__(self) -> None:
        self._by_script = dict.fromkeys(_RANGES, 0)

    def add(self, texts: Sequence[str]) -> None:
        """Add texts."""
        if all(map(str.isascii, texts)):
            self.letters += sum(map(len, texts))
            return
        for text in texts:
            if text.isascii():  # blanks and all: what counts is which are more
                self.letters += len(text)
                continue
            self.letters += len(_LETTER().findall(text))

            # Most texts beyond ASCII have no such letters.
            if max(text) < _FIRST_LETTER:
                continue
            runs = _RUN().findall(text)
            if not runs:
                continue

            length = sum(map(len, runs))
            self.runs += len(runs)
            self.in_runs += length
            if length > 1:
                self.texts += 1
                self.unbroken += len(text.split()) == 1
            for name, pattern in _OF_SCRIPT.items():
                self._by_script[name] += len(pattern().findall(text))

    def language(self) -> str:
        """Return the language of texts that are written without blanks, by more than
        half of their letters; empty for any others.

        >>> count = ScriptCount()
        >>> count.add(["一个男人骑着自行车", "一只猫睡觉"])
        >>> count.language()
        'Chinese'
        """
        if 2 * self.in_runs <= self.letters or not self.runs:
            return ""

        # Japanese writes Chinese characters beside its own letters.
        counts = self._by_script
        name = max(counts, key=lambda key: counts[key])
        if counts["Japanese"] and 10 * counts["Japanese"] > counts["Chinese"]:
            name = "Japanese"

        # Texts may be split into words already.
        mean_length = self.in_runs / self.runs
        is_unbroken = 2 * self.unbroken > self.texts
        if is_unbroken or mean_length > LONGEST_WORDS.get(name, LONGEST_WORD):
            return name
        return ""
