"""Make the printed table and the picture of README.md and docs/index.md by the commands
that they show.

    python -m tools.showcase.readme [--table | --picture] [--fresh]

The table stands between two comments of the pages; the picture is
docs/figures/page.png, and page-dark.png for dark mode.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.showcase.screen import ROOT, photograph, printed, run

PAGES = (ROOT / "README.md", ROOT / "docs" / "index.md")
"""Pages with the printed table."""
RUNS = ROOT / "runs" / "picture"
FILES = "examples/captions"
COMMAND = [
    "score",
    f"{FILES}/init_1.json",
    f"{FILES}/par_1.json",
    "--references",
    f"{FILES}/references.json",
    "-m",
    "bleu4,meteor,cider",
]
_BLOCK = re.compile(
    r"(<!-- printed[^\n]*-->\n```text\n).*?(```\n<!-- end -->)", re.DOTALL
)


def table() -> str:
    """Return the command of the pages and what it prints."""
    return f"$ harness {' '.join(COMMAND)}\n{printed(COMMAND, ROOT)}"


def shown_table(page: Path) -> str:
    """Return the block of a page; a page without one is an error."""
    match = _BLOCK.search(page.read_text(encoding="utf-8"))
    if match is None:
        raise SystemExit(
            f"{page}: no block <!-- printed ... --> with a text between ``` and <!-- "
            "end -->"
        )
    return match[0].removeprefix(match[1]).removesuffix(match[2]).rstrip("\n")


def write_table(text: str) -> None:
    """Write the block into every page."""
    for page in PAGES:
        shown_table(page)
        content = page.read_text(encoding="utf-8")
        page.write_text(
            _BLOCK.sub(lambda match: f"{match[1]}{text}\n{match[2]}", content),
            encoding="utf-8",
        )
        print(page.relative_to(ROOT))


def write_pictures() -> None:
    """Run the sample, build its page and photograph the first screen,
    light and dark.
    """
    RUNS.mkdir(parents=True, exist_ok=True)
    run(["run", "coco", "--output", "coco"], RUNS)
    run(["report", "coco", "--output", "page.html"], RUNS)
    for dark, picture in ((False, "page.png"), (True, "page-dark.png")):
        file = ROOT / "docs" / "figures" / picture
        photograph({RUNS / "page.html": file}, dark=dark)
        print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1e3:.0f} kB")


def main(argv: Sequence[str] | None = None) -> int:
    """Write the table, the pictures or both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", action="store_true", help="write the table alone")
    parser.add_argument(
        "--picture", action="store_true", help="write the pictures alone"
    )
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="run the sample again, which runs/picture keeps",
    )
    args = parser.parse_args(argv)
    if args.fresh:
        shutil.rmtree(RUNS, ignore_errors=True)
    if args.table or not args.picture:
        write_table(table())
    if args.picture or not args.table:
        write_pictures()
    return 0


if __name__ == "__main__":
    sys.exit(main())
