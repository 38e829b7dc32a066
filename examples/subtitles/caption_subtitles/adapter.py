"""Adapter that repeats the first words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.contracts import Candidates, Decoding, Example, Failure


class LeadWords:
    """The first words of the source, or else of the first reference, as one caption.

    Parameters
    ----------
    words : int
        Number of words.
    """

    def __init__(self, *, words: int = 4) -> None:
        self.words = words

    def fingerprint(self) -> str:
        """Return the name and the number of words."""
        return f"lead-words|words:{self.words}"

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Candidates | Failure]:
        """Yield one caption per example, or a failure for an example without words."""
        for example in examples:
            words = (example.source or example.references[0]).split()[: self.words]
            yield (" ".join(words),) if words else Failure("the example has no words")
