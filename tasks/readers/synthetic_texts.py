"""The ``synthetic-texts`` reader: every text of one length over a small vocabulary, each an example."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from harness.contracts import Example
from harness.errors import InputError


class SyntheticTexts:
    """All ``vocabulary ** length`` texts of the words w0, w1, ..., in the order of base-V numbers, first word most significant.

    A model that scores them token by token gives its whole distribution. Source: Li et al. (ICML 2020), section 6.1 (V = 4, L = 3).
    """

    def __init__(self, *, vocabulary: int = 4, length: int = 3) -> None:
        for name, value in (("vocabulary", vocabulary), ("length", length)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"synthetic-texts: {name} is {value!r}; expected a whole number of at least 1")
        if vocabulary**length > 4096:
            raise InputError(
                f"synthetic-texts: {vocabulary} words and length {length} make {vocabulary**length} texts; at most 4096"
            )
        self.vocabulary, self.length = vocabulary, length

    def fingerprint(self) -> str:
        return f"synthetic-texts|V:{self.vocabulary}|L:{self.length}"

    def __iter__(self) -> Iterator[Example]:
        for number, words in enumerate(itertools.product(range(self.vocabulary), repeat=self.length)):
            yield Example(str(number), (" ".join(f"w{k}" for k in words),))
