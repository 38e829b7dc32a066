"""Write the stub of the compiled extension,
``caption_kernels/_compiled.pyi``: ``make stub``.

nanobind writes it from the extension; types that the binding leaves open are filled in
here. ``tests/kernels/test_stub.py`` compares.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

STUB = Path(__file__).parents[1] / "caption_kernels" / "_compiled.pyi"
REPLACED = (
    (
        r"Annotated\[(NDArray\[numpy\.\w+\]), dict\([^()]*(?:\([^()]*\)[^()]*)*\)\]",
        r"\1",
    ),
    (r"-> object", "-> numpy.ndarray"),
    # Numbers and arrays in one signature: of several, type checkers choose none for an
    # argument of unknown type.
    (
        r"@overload\ndef \w+\(x: float.*\n\n@overload\ndef (\w+)\(x: [^,)]*(.*) "
        r"-> numpy\.ndarray:",
        r"def \1(x: ArrayLike\2 -> Any:",
    ),
    (
        r"from numpy\.typing import NDArray",
        "from numpy.typing import ArrayLike, NDArray",
    ),
    (r"\b(texts|grams): object", r"\1: Sequence[str]"),
    (r"\bindex: object", "index: TextIndex"),
    (r"(def (?:texts|gram_texts)\(.*) -> list:", r"\1 -> list[str]:"),
    (
        r"(def entries\(.*) -> tuple:",
        r"\1 -> tuple[tuple[numpy.ndarray, numpy.ndarray], ...]:",
    ),
    (r"(def mark\(.*) -> tuple:", r"\1 -> tuple[int, int, int, int]:"),
    (r"build_hash: str = .*", "build_hash: str"),
    (
        r"from collections\.abc import Buffer, Sequence\n",
        "from collections.abc import Sequence\n\nfrom typing_extensions import "
        "Buffer\n",
    ),
    (r"from typing import Annotated, overload\n", "from typing import Any\n"),
)
"""Pattern and replacement, in this order."""


def stub() -> str:
    """Return the stub of the installed extension."""
    from nanobind.stubgen import StubGen

    generator = StubGen(import_module("caption_kernels._compiled"))
    generator.put(generator.module)
    text = generator.get()
    for pattern, replacement in REPLACED:
        text = re.sub(pattern, replacement, text)
    return text.strip() + "\n"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
