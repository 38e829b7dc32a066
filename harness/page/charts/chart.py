"""A chart: title, caption, its Vega-Lite specification for a layout,
and the style of all charts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from harness.contracts.parameters import Values
from harness.errors import require

SAFE = 0.9
"""Share of the limit of labels that a shortened name takes by the estimate of its
width: it must not be cut once more where it is drawn.
"""
Spec = Values
"""Vega-Lite JSON: a whole specification, with its data in ``datasets``,
or a part of one.
"""
LIGHT = ("#332288", "#E69F00", "#AA3377", "#88CCEE", "#225522", "#EE6677", "#997700")
"""Category colours on white."""
DARK = ("#66CCEE", "#EE7733", "#9C8CFF", "#FFD92F", "#009988", "#E5C494", "#E8E8E8")
"""Category colours on a dark page."""
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "triangle-down",
    "cross",
    "triangle-right",
)
DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2], [4, 4], [10, 3], [1, 3])
BETTER = "#0077BB"
WORSE = "#CC5500"
NEUTRAL = "#808080"
"""Colours of significant and of other differences; each has a shape of its own."""
MILD = "#7fb3d5"
"""Colour of areas and bars that stand alone."""
SEQUENTIAL = ("#f4f7fb", "#c6dcec", "#7fb3d5", "#3c84b8", "#17517f")
"""Worst to best, light to dark."""
WHITE_TEXT = "datum.position > 0.79"
"""Vega expression: white text is easier to read on this place of the scale than black
text; both have a contrast of at least 4.5 there.
"""
DIVERGING = ("#b35806", "#f1a340", "#f7f7f7", "#6fa3cc", "#17517f")
"""-1 to 1; both ends are dark, the middle is light."""
WHITE_TEXT_OF_R = "datum.r > 0.74 || datum.r < -0.95"
"""The same for a correlation."""
FONT = "Arimo, 'Liberation Sans', Arial, Helvetica, sans-serif"
"""Families of equal character widths: a figure has the same layout wherever one of them
is installed.
"""
_INK = {
    "light": ("#1f2328", "#59636e", "#d8dee4"),
    "dark": ("#e6edf3", "#9aa4af", "#30363d"),
    "paper": ("#000000", "#333333", "#dddddd"),
}
"""Style -> colours of titles, labels and grid lines."""


@dataclass(frozen=True, eq=False)
class Chart:
    """One chart of a run."""

    id: str
    """Name for files and anchors, unique within a list of charts."""
    title: str
    caption: str
    """Sentences that say what is drawn and how it was computed; plain text."""
    group: str
    """Heading under which the chart stands: ``overview``, ``differences``,
    ``trade-offs``, ``events``, ``sweeps``, ``scores``, ``p-values``, ``metrics``,
    ``agreement`` or ``views``.
    """
    build: Callable[[Layout], Spec]
    """Specification for a layout."""

    def __repr__(self) -> str:
        return f"<chart {self.id}: {self.title}>"

    @cached_property
    def spec(self) -> Spec:
        """Vega-Lite JSON for a page, with its data inside."""
        return self.build(PAGE)

    def altair(self) -> Any:
        """Return the chart as an Altair chart, in the light style; raise
        :class:`~harness.errors.MissingExtra` without altair.
        """
        alt = require("altair", needed_by="a chart in a notebook", extra="figures")
        return alt.Chart.from_dict({**self.spec, "config": config("light", PAGE)})


@dataclass(frozen=True)
class Layout:
    """Size of a figure.

    Lengths are CSS pixels on a page and points (1/72 inch) in a PDF.
    """

    width: float
    """Width of the whole figure."""
    panel: float
    """Smallest width of a panel."""
    font: float
    """Font size of labels."""
    trim: float = 0.0
    """Part of the width that labels take beyond the estimate;
    found by measuring a drawn figure.
    """

    def panel_width(
        self, columns: int, labels: float = 0.0, spacing: float | None = None
    ) -> float:
        """Return the width of the plot area of one of ``columns`` panels; ``labels`` is
        the width of what stands beside them once.
        """
        gap = (self.gap if spacing is None else spacing) * (columns - 1)
        return max(2 * self.font, (self.width - self.trim - labels - gap) / columns)

    def columns(self, count: int, labels: float = 0.0) -> int:
        """Return the number of panels in a row,
        for ``count`` panels in rows as even as possible.
        """
        fitting = int((self.width - labels + self.gap) // (self.panel + self.gap))
        rows = math.ceil(count / max(1, min(count, fitting)))
        return math.ceil(count / rows)

    def label_space(self, names: Iterable[str]) -> float:
        """Return the estimated width of the longest of some labels,
        at most :attr:`label_limit`.
        """
        return min(max(map(self.text_width, names), default=0.0), self.label_limit)

    @property
    def label_limit(self) -> float:
        """Largest width of a label beside the panels;
        longer ones end with an ellipsis.
        """
        return 22 * self.font

    def short_names(self, names: Iterable[str]) -> dict[str, str]:
        """Return the names that are wider than the limit -> what is drawn: beginning
        and end, and no two of them equal.
        """
        short: dict[str, str] = {}
        for name in dict.fromkeys(names):
            if self.text_width(name) <= self.label_limit:
                continue

            # one character at a time, so that as many as have room stay
            kept = len(name)
            cut = _without_middle(name, kept)
            while kept > 2 and self.text_width(cut) > SAFE * self.label_limit:
                kept -= 1
                cut = _without_middle(name, kept)

            number = sum(
                other == cut or other.startswith(f"{cut} #") for other in short.values()
            )
            short[name] = f"{cut} #{number + 1}" if number else cut
        return short

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


def _without_middle(name: str, kept: int) -> str:
    """Return the beginning and the end of a name with an ellipsis between them.

    >>> _without_middle("abcdefgh", 4)
    'ab…gh'
    """
    head = (kept + 1) // 2
    return f"{name[:head]}…{name[len(name) - kept // 2 :]}"


PAGE = Layout(width=900, panel=200, font=12)
"""Charts of a page or notebook."""
WIDE = Layout(width=1320, panel=240, font=13)
"""Charts of a page in a wide window."""
PHONE = Layout(width=340, panel=110, font=11)
"""Charts of a page on a narrow screen."""

SINGLE = Layout(width=234, panel=52, font=7)
"""One column of a paper with two columns: 3.25 inches (8.25 cm)."""
DOUBLE = Layout(width=486, panel=84, font=7)
"""Both columns of a paper: 6.75 inches (17.1 cm)."""


Name = Literal["light", "dark", "paper"]


def config(name: Name = "light", layout: Layout = PAGE) -> Values:
    """Return the Vega-Lite configuration of a style, for a layout's font size."""
    strong, soft, grid = _INK[name]
    size = layout.font
    hairline = 0.5 if name == "paper" else 1
    text = {
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": size,
        "titleFontSize": size,
        "titleFontWeight": "normal",
        "labelColor": strong,
        "titleColor": strong,
    }
    axis = {
        **text,
        "domainColor": soft,
        "tickColor": soft,
        "gridColor": grid,
        "gridWidth": hairline,
        "domainWidth": hairline,
        "tickWidth": hairline,
        "tickSize": 0.4 * size,
        "labelLimit": layout.label_limit,
        "titlePadding": 0.5 * size,
        "labelPadding": 0.3 * size,
    }
    return {
        "background": "transparent" if name == "dark" else "white",
        "font": FONT,
        "padding": 2 if name == "paper" else 5,
        "range": {
            "category": list(DARK if name == "dark" else LIGHT),
            "symbol": list(SHAPES),
        },
        "axis": axis,
        "legend": {
            **text,
            "symbolOpacity": 1,
            "labelLimit": 40 * size,
            "symbolSize": 5 * size,
            "rowPadding": 0.3 * size,
            "columnPadding": 1.2 * size,
            "titlePadding": 0.4 * size,
            "offset": size,
        },
        "title": {
            "font": FONT,
            "fontSize": size,
            "fontWeight": "bold",
            "color": strong,
            "subtitleFont": FONT,
            "subtitleFontSize": size,
            "subtitleColor": soft,
            "anchor": "start",
            "frame": "group",
            "offset": 0.5 * size,
        },
        "text": {"font": FONT, "fontSize": size, "color": strong},
        "rule": {"color": soft},
        "style": {
            "halo": {"stroke": "#12161b" if name == "dark" else "white"},
            "interval": {"stroke": strong},
        },
        "view": {"stroke": None},
        "concat": {"spacing": layout.gap},
    }
