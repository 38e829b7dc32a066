"""Drawing charts as SVG, PDF and PNG with vl-convert: no browser, no network."""

from __future__ import annotations

import base64
import re
import resource
from functools import cache
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, require
from harness.page.charts.chart import Chart, Layout, Name, Spec, config

ADDRESSES = 72 << 30
"""Bytes of address space that vl-convert needs to start."""
VEGA_LITE = "6.4"
"""Version of Vega-Lite that draws the files, as vl-convert names it."""
NO_URLS: list[str] = []
"""Addresses from which a chart may load data: none."""
CLOSE = 0.75
"""Difference in points at which a figure counts as wide as its column."""
ATTEMPTS = 4
"""Number of times that a figure is laid out again."""
FOLDER = Path(__file__).with_name("fonts")
"""Arimo, Latin subset (SIL Open Font License), which has the character widths of Arial,
Helvetica and Liberation Sans.
"""
WEIGHTS = {
    "normal": "arimo-latin-400-normal.woff2",
    "bold": "arimo-latin-700-normal.woff2",
}


def converter() -> Any:
    """Return the module vl_convert.

    Raises
    ------
    MissingExtra
        It is not installed.
    HarnessError
        The process may not reserve the addresses that its JavaScript engine asks for;
        that engine would end the process.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < ADDRESSES:
        raise HarnessError(
            f"drawing charts reserves {ADDRESSES >> 30} GiB of addresses (not "
            f"memory), and ulimit -v permits {limit >> 30} GiB"
        )
    return require("vl_convert", needed_by="drawing charts", extra="figures")


def svg(spec: Spec, style: Name, layout: Layout) -> str:
    """Return a chart as an ``<svg>`` element, the same text for the same chart."""
    text: str = converter().vegalite_to_svg(
        spec,
        vl_version=VEGA_LITE,
        config=config(style, layout),
        allowed_base_urls=NO_URLS,
    )
    return _number_ids(text)


def _number_ids(text: str) -> str:
    """Return an SVG with the ids of clips and gradients counted from 0; those of the
    renderer go on from chart to chart.
    """
    names = dict.fromkeys(re.findall(r'id="((?:clip|gradient_?)\d+)"', text))
    table = {name: f"part{position}" for position, name in enumerate(names)}
    return re.sub(
        r'(id="|url\(#)((?:clip|gradient_?)\d+)',
        lambda match: match[1] + table.get(match[2], match[2]),
        text,
    )


def fitted_svg(chart: Chart, layout: Layout, style: Name = "paper") -> str:
    """Return a chart as SVG as wide as its layout, or narrower;
    labels are measured by drawing it.

    A chart whose labels alone are wider than the layout stays wider.
    """
    # Vega gives the panels their width and puts labels and legends beside them; how
    # wide those are is known once they are drawn. Each attempt takes the excess of the
    # last one off the panels, until it is small, or labels alone fill the width.
    text = svg(chart.build(layout), style, layout)
    for _ in range(ATTEMPTS):
        excess = width_of(text) - layout.width
        if excess <= CLOSE:
            break
        layout = layout.trim_to(width_of(text))
        narrower = svg(chart.build(layout), style, layout)
        if width_of(narrower) >= width_of(text):
            break
        text = narrower
    return text


def width_of(text: str) -> float:
    """Return the width of an SVG in its units.

    >>> width_of('<svg class="marks" width="234.5" height="10">')
    234.5
    """
    _, _, tail = text[: text.index(">")].partition(' width="')
    return float(tail[: tail.index('"')])


def pdf(text: str) -> bytes:
    """Return an SVG as a PDF page of its size, one point per unit,
    with its fonts embedded.
    """
    data: bytes = converter().svg_to_pdf(text)
    return data


def png(text: str, scale: float = 2.0) -> bytes:
    """Return an SVG as a PNG image."""
    data: bytes = converter().svg_to_png(text, scale=scale)
    return data


def with_font(svg: str) -> str:
    """Return an SVG with the weights of the font that it uses embedded as
    ``@font-face`` rules.
    """
    weights = ["normal", *(["bold"] if 'font-weight="bold"' in svg else [])]
    rules = "".join(_rule(weight) for weight in weights)
    head, tag, tail = svg.partition(">")
    return f"{head}{tag}<style>{rules}</style>{tail}"


@cache
def _rule(weight: str) -> str:
    data = base64.b64encode((FOLDER / WEIGHTS[weight]).read_bytes()).decode("ascii")
    address = f"data:font/woff2;base64,{data}"
    return (
        f"@font-face{{font-family:Arimo;font-weight:{weight};"
        f"src:url({address}) format('woff2')}}"
    )
