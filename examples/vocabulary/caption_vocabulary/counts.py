"""Words of the systems of a run, counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from harness.contracts import VerbResult
from harness.reporting.table import Table, number
from harness.results import Run

_WORD = re.compile(r"\w+")


def words_of(captions: Iterable[str]) -> list[str]:
    """Return the words of captions, in lower case."""
    return [word for caption in captions for word in _WORD.findall(caption.lower())]


@dataclass(frozen=True)
class SystemWords:
    """Words of one system."""

    system: str
    captions: int
    words: int
    distinct: int
    shared: float
    """Share of the different words of the references that the system uses."""


@dataclass(frozen=True)
class Vocabulary(VerbResult):
    """Words of the systems of a run; it prints as ``harness vocabulary`` does."""

    ROWS = "systems"

    systems: Sequence[SystemWords]

    @classmethod
    def of(cls, run: Run) -> Vocabulary:
        """Return the words of the systems of a run."""
        return cls(
            [
                _count(system.label, system.caption_sets())
                for system in run.samples.systems
            ]
        )

    def to_dict(self) -> dict[str, object]:
        """Return the rows as in JSON."""
        return {"systems": [asdict(row) for row in self.systems]}

    def blocks(self) -> Iterator[Table]:
        """Yield the table."""
        headers = ["system", "captions", "words", "distinct", "shared"]
        rows = [
            [
                row.system,
                f"{row.captions:,}",
                f"{row.words:,}",
                f"{row.distinct:,}",
                number(row.shared),
            ]
            for row in self.systems
        ]
        note = "shared: share of the different words of the references"
        yield Table(headers, rows, "lrrrr", notes=[note])


def _count(label: str, sets: Sequence) -> SystemWords:
    captions = [caption for item in sets for caption in item.candidates]
    words = words_of(captions)
    known = set(words_of(text for item in sets for text in item.references))
    shared = len(known & set(words)) / len(known) if known else float("nan")
    return SystemWords(label, len(captions), len(words), len(set(words)), shared)
