"""Sizes of figures: of a page, and of the columns of a paper."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Layout:
    """Size of a figure. Lengths are CSS pixels on a page and points (1/72 inch) in a PDF."""

    width: float
    """Width of the whole figure."""
    panel: float
    """Smallest width of a panel."""
    font: float
    """Font size of labels."""
    trim: float = 0.0
    """Part of the width that labels take beyond the estimate; found by measuring a drawn figure."""

    def panel_width(self, columns: int, labels: float = 0.0, spacing: float | None = None) -> float:
        """Return the width of the plot area of one of ``columns`` panels; ``labels`` is the width of what stands beside them once."""
        gap = (self.gap if spacing is None else spacing) * (columns - 1)
        return max(2 * self.font, (self.width - self.trim - labels - gap) / columns)

    def columns(self, count: int, labels: float = 0.0) -> int:
        """Return the number of panels in a row, for ``count`` panels in rows as even as possible."""
        fitting = int((self.width - labels + self.gap) // (self.panel + self.gap))
        rows = math.ceil(count / max(1, min(count, fitting)))
        return math.ceil(count / rows)

    def label_space(self, names: Iterable[str]) -> float:
        """Return the estimated width of the longest of some labels, at most :attr:`label_limit`."""
        return min(max(map(self.text_width, names), default=0.0), self.label_limit)

    @property
    def label_limit(self) -> float:
        """Largest width of a label beside the panels; longer ones end with an ellipsis."""
        return 22 * self.font

    @property
    def gap(self) -> float:
        """Space between two panels."""
        return 1.6 * self.font

    def text_width(self, text: str) -> float:
        """Return the estimated width of a text of the label size."""
        wide = sum(character.isupper() or ord(character) > 0x2E80 for character in text)
        return self.font * (0.5 * len(text) + 0.2 * wide)

    def trim_to(self, width: float) -> Layout:
        """Return the layout after a figure of this one turned out ``width`` wide."""
        return replace(self, trim=self.trim + width - self.width)


PAGE = Layout(width=860, panel=190, font=11)
"""Charts of a page or notebook."""
PHONE = Layout(width=340, panel=110, font=10)
"""Charts of a page on a narrow screen."""

SINGLE = Layout(width=234, panel=52, font=7)
"""One column of a paper with two columns: 3.25 inches (8.25 cm)."""
DOUBLE = Layout(width=486, panel=84, font=7)
"""Both columns of a paper: 6.75 inches (17.1 cm)."""
