"""Tables and lines of text on stdout or on a console, as verbs print them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from harness.reporting.folding import print_folded

if TYPE_CHECKING:
    from rich.console import Console


def print_blocks(blocks: Iterable[Any], console: Console | None = None) -> None:
    """Print tables and lines on a console (default: stdout)."""
    for block in blocks:
        if not isinstance(block, str):
            # lines alone, such as the list of components, need no rich
            from harness.reporting.formats.terminal import print_table

            print_table(block, console)
        elif console is None:
            print_folded(block)
        else:
            console.file.write(f"{block}\n")
