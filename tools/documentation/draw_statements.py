"""Statements with numbers drawn at random from the study pages, to be checked by hand
against stored results.

    python -m tools.documentation.draw_statements SEED [--count 10]

A statement is a sentence of running text or of a list that has a number beside those of
figures, tables and sections. Tables are left out, since ``make docs`` compares them
with the stored results, and so is papers.md, which is written from them.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

STUDIES = Path(__file__).resolve().parents[2] / "docs/studies"
WRITTEN = {"papers.md"}
"""Pages that a program writes as a whole."""
_TABLES = re.compile(
    r"<!-- results .*?<!-- end -->|^```.*?^```", re.DOTALL | re.MULTILINE
)
_BLOCKS = re.compile(r"\n\s*\n|\n(?=- )")
_SENTENCES = re.compile(r"(?<=\.)(?:\*\*)?\s+(?=[A-Z*`])")
_NUMBER = re.compile(r"(?<![A-Za-z_-])\d")
_LABELS = re.compile(
    r"(?:Figures?|Tables?|[Ss]ections?|appendix|et al\.|text)\s*\(?[AB]?\.?\d[\d.]*"
    r"|\b[AB]\.\d+"
)


class Statement(NamedTuple):
    """A sentence of a page."""

    page: str
    text: str


def find_statements(page: str, text: str) -> Iterator[Statement]:
    """Yield the sentences of a page that have numbers.

    >>> [s.text for s in find_statements("a.md", "Text. It is 0.3.\\n\\n# 5 heads")]
    ['It is 0.3.']
    """
    for block in _BLOCKS.split(_TABLES.sub("\n\n", text)):
        # headings, commands and tables that no results stand behind
        if block.startswith(("#", "    ", "|")):
            continue
        for sentence in _SENTENCES.split(" ".join(block.split())):
            if _NUMBER.search(_LABELS.sub("", sentence)):
                yield Statement(page, sentence)


def draw_statements(folder: Path, seed: int, count: int) -> list[Statement]:
    """Return ``count`` statements of the pages of a folder, drawn without repeats."""
    found = [
        statement
        for path in sorted(folder.glob("*.md"))
        if path.name not in WRITTEN
        for statement in find_statements(path.name, path.read_text(encoding="utf-8"))
    ]
    return random.Random(seed).sample(found, count)


def main() -> None:
    """Print the drawn statements."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("seed", type=int)
    parser.add_argument("--count", type=int, default=10)
    options = parser.parse_args()
    for page, text in draw_statements(STUDIES, options.seed, options.count):
        print(f"{page}: {text}\n")


if __name__ == "__main__":
    main()
