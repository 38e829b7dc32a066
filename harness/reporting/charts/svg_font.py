"""The font of charts inside an SVG, so that it looks the same where no such font is installed."""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("fonts")
"""Arimo, Latin subset (SIL Open Font License), which has the character widths of Arial, Helvetica and Liberation Sans."""
WEIGHTS = {"normal": "arimo-latin-400-normal.woff2", "bold": "arimo-latin-700-normal.woff2"}


def with_font(svg: str) -> str:
    """Return an SVG with the weights of the font that it uses embedded as ``@font-face`` rules."""
    weights = ["normal", *(["bold"] if 'font-weight="bold"' in svg else [])]
    rules = "".join(_rule(weight) for weight in weights)
    head, tag, tail = svg.partition(">")
    return f"{head}{tag}<style>{rules}</style>{tail}"


@cache
def _rule(weight: str) -> str:
    data = base64.b64encode((FOLDER / WEIGHTS[weight]).read_bytes()).decode("ascii")
    return (
        f"@font-face{{font-family:Arimo;font-weight:{weight};src:url(data:font/woff2;base64,{data}) format('woff2')}}"
    )
