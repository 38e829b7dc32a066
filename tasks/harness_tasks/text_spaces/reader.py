"""The reader ``synthetic-texts``: all texts of one length over a small vocabulary."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from harness.contracts import Example
from harness.contracts.parameters import Count, check_arguments
from harness.errors import InputError


class SyntheticTexts:
    """Examples of all ``vocabulary ** length`` texts of the words w0, w1, ...,
    one reference each.

    The texts come in the order of base-V numbers, the first word most significant. The
    token scores of all of them are the whole distribution of a model.

    Parameters
    ----------
    vocabulary : int, default 4
        Number of words V.
    length : int, default 3
        Number of words per text L; ``vocabulary ** length`` is at most 4096.

    References
    ----------
    Li et al., "On the Relation between Quality-Diversity Evaluation and
    Distribution-Fitting Goal in Text Generation" (ICML 2020), section 6.1 (V = 4, L =
    3).
    """

    @check_arguments
    def __init__(self, *, vocabulary: Count = 4, length: Count = 3) -> None:
        if vocabulary**length > 4096:
            raise InputError(
                f"{vocabulary} words and length {length} make {vocabulary**length} "
                "texts; expected at most 4096",
                parameter="length",
                value=length,
            )
        self.vocabulary = vocabulary
        self.length = length

    def fingerprint(self) -> str:
        """Return the parameters as text."""
        return f"synthetic-texts|V:{self.vocabulary}|L:{self.length}"

    def __iter__(self) -> Iterator[Example]:
        """Yield the texts; their ids are their base-V numbers in decimal."""
        texts = itertools.product(range(self.vocabulary), repeat=self.length)
        for number, words in enumerate(texts):
            yield Example(str(number), (" ".join(f"w{k}" for k in words),))
