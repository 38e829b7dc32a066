"""The smallest common set size of the models of a run, for specs with ``sizes: equal``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.contracts import CaptionSet


@dataclass(frozen=True, slots=True)
class CommonSize:
    """Largest numbers of candidates and references that every caption set of a run has."""

    n: int
    """Number of candidates."""
    m: int
    """Number of references."""
    note: str = ""
    """Description of the cut with the models that determine it; empty where all sets have this size."""

    def cut(self, sets: Sequence[CaptionSet]) -> list[CaptionSet]:
        """Return the caption sets with their first n candidates and m references."""
        return [
            replace(item, candidates=item.candidates[: self.n], references=item.references[: self.m]) for item in sets
        ]


def common_size(sets: Mapping[str, Sequence[CaptionSet]]) -> CommonSize:
    """Return the common size of the caption sets of models by label; ValueError when there are none.

    >>> sets = {"a": [CaptionSet("1", ("x", "y"), ("r",))], "b": [CaptionSet("1", ("z",), ("r", "s"))]}
    >>> common_size(sets).note
    'sizes: equal cuts all sets to 1 candidate (the fewest, of b) and 1 reference (the fewest, of a)'
    """
    n_of = {label: [len(item.candidates) for item in items] for label, items in sets.items() if items}
    m_of = {label: [len(item.references) for item in items] for label, items in sets.items() if items}
    n, m = (min(min(counts) for counts in of.values()) for of in (n_of, m_of))
    parts = [
        f"{size} {noun}{'s' if size > 1 else ''} (the fewest, of {_smallest(of)})"
        for noun, size, of in (("candidate", n, n_of), ("reference", m, m_of))
        if any(count > size for counts in of.values() for count in counts)
    ]
    return CommonSize(n, m, f"sizes: equal cuts all sets to {' and '.join(parts)}" if parts else "")


def _smallest(counts: Mapping[str, Sequence[int]]) -> str:
    """Return the label of the first model with the smallest count."""
    return min(counts, key=lambda label: min(counts[label]))
