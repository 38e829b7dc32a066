"""Files of the page: styles and scripts of the package, bundled libraries,
and compressed data blocks.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.errors import MissingExtra

HERE = Path(__file__).parent
STYLES = ("base.css", "matrix.css", "pair.css", "examples.css", "events.css")
SCRIPTS = (
    "start.js",
    "address.js",
    "data.js",
    "matrix.js",
    "charts.js",
    "words.js",
    "filter.js",
    "scores.js",
    "pictures.js",
    "pair.js",
    "examples.js",
    "list.js",
    "editing.js",
    "detail.js",
    "events.js",
    "keys.js",
    "print.js",
    "main.js",
)
"""Scripts of the page, in their order; they share one scope."""
PLAIN_SCRIPTS = ("start.js", "address.js", "plain.js")
"""Scripts of a page that has one verdict and its tables."""
HEAD_SCRIPT = 'document.documentElement.classList.add("js");'
"""Script of the head: styles can tell a page with script from one without."""
LEVEL = 6
"""Level of gzip."""


@dataclass(frozen=True)
class DataBlock:
    """A compressed data block: gzip in base64, read by the script under its name."""

    name: str
    data: str

    @classmethod
    def of(cls, name: str, content: bytes) -> DataBlock:
        """Return the block of some bytes; the same for the same bytes."""
        # without the time, the same runs give the same page
        packed = gzip.compress(content, LEVEL, mtime=0)
        return cls(name, base64.b64encode(packed).decode("ascii"))

    @classmethod
    def of_json(cls, name: str, value: object) -> DataBlock:
        """Return the block of a JSON value."""
        text = json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), allow_nan=False
        )
        return cls.of(name, text.encode("utf-8", "replace"))


@cache
def style() -> str:
    """Return the style sheet of the page."""
    return "\n".join(
        (HERE / "assets" / name).read_text(encoding="utf-8") for name in STYLES
    )


@cache
def script() -> str:
    """Return the script of the page: the library of tables and the scripts of the
    package in one function.
    """
    library = (HERE / "vendor" / "tables.js").read_text(encoding="utf-8")
    return f"{_inline(library)}\n{script_of(SCRIPTS)}"


def script_of(names: Sequence[str]) -> str:
    """Return scripts of the package in one function."""
    # One function around all scripts keeps their names out of the page, where a
    # plugin's section may have elements with such ids.
    sources = [(HERE / "assets" / name).read_text(encoding="utf-8") for name in names]
    return _inline("\n".join(['(() => {\n"use strict";', *sources, "})();"]))


@cache
def charts_library() -> str:
    """Return the library of charts, which the page starts when charts are first
    shown.
    """
    return _inline((HERE / "vendor" / "charts.js").read_text(encoding="utf-8"))


def scoring() -> tuple[str, bytes]:
    """Return script and WebAssembly module of the metrics; raise :class:`MissingExtra`
    where caption-kernels has none.
    """
    spec = importlib.util.find_spec("caption_kernels")
    folder = Path(spec.origin if spec and spec.origin else "").parent / "browser"
    if not (folder / "scoring.js").is_file():
        raise MissingExtra(
            "editable=True needs the WebAssembly build of caption-kernels, "
            "which is not installed: make wasm in a checkout builds it"
        )
    script = (folder / "scoring.js").read_text(encoding="utf-8")
    return script, (folder / "caption_kernels.wasm").read_bytes()


@cache
def licences() -> str:
    """Return the licences of the libraries."""
    return (HERE / "vendor" / "LICENSES.txt").read_text(encoding="utf-8")


def policy(scripts: Sequence[str], connect: str = "", *, wasm: bool = False) -> str:
    """Return the content security policy of the page: it loads nothing,
    and runs these scripts alone.

    Parameters
    ----------
    scripts : sequence of str
        Texts of the inline scripts.
    connect : str
        What scripts may fetch; default: nothing.
    wasm : bool
        Whether the scripts may compile a WebAssembly module.

    References
    ----------
    W3C, *Content Security Policy Level 3*, sections 8.3 (hashes of scripts) and 4.4
    (WebAssembly).
    """
    sources = [f"'sha256-{_sha256(text)}'" for text in scripts]
    if wasm:
        sources.append("'wasm-unsafe-eval'")
    if not sources:
        sources.append("'none'")
    directives = [
        "default-src 'none'",
        f"script-src {' '.join(sources)}",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "font-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    if connect:
        directives.append(f"connect-src {connect}")
    return "; ".join(directives)


def _sha256(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return base64.b64encode(digest).decode("ascii")


def _inline(text: str) -> str:
    """Return a script that no part of ends the element that holds it."""
    return (
        text.replace("</script", "<\\/script")
        .replace("<!--", "<\\!--")
        .replace("\r", "")
    )


def plain_page(title: str, content: str) -> str:
    """Return an HTML page in the design of the report; ``content`` is HTML,
    ``title`` text.

    It needs no network. Its script chooses the colours alone: without it, they are
    those of the system.
    """
    head = html.escape(title)
    script = script_of(PLAIN_SCRIPTS)
    return (
        '<!doctype html>\n<html lang="en">'
        f'<head><meta charset="utf-8"><title>{head}</title>'
        '<meta http-equiv="Content-Security-Policy" '
        f'content="{policy([HEAD_SCRIPT, script])}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        '<link rel="icon" href="data:,">'
        f"<script>{HEAD_SCRIPT}</script><style>{style()}</style></head>"
        '<body class="plain">'
        f'<header class="top"><h1 dir="auto">{head}</h1>'
        '<div class="actions script-only">'
        '<button type="button" class="theme" '
        'title="Colours: as the system, light, dark">Theme: system</button>'
        "</div></header>"
        f'<main id="content">{content}</main><script>{script}</script></body></html>\n'
    )
