"""Explanations of a metric's score of one example, by some of its texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from harness.contracts.data import Batch
from harness.contracts.features import Features


@dataclass(frozen=True, slots=True)
class Explanation:
    """A sentence and the texts that it speaks of."""

    title: str
    texts: tuple[tuple[int, str], ...]
    """Position among the N texts of the example (candidates first), and role of the text."""


@runtime_checkable
class Explains(Protocol):
    """A metric that can name the texts of an example that its score depends on most."""

    def explain(self, batch: Batch, features: Features, state: Any) -> list[Explanation | None]:
        """Return an explanation per example, length B; None where there is nothing to say."""
        ...
