"""Tables of the study pages that are stored results of commands:
compare pages with results, or write them.

    python -m tools.documentation.result_tables [--write]

A file docs/studies/results/NAME.json has ``command`` and ``tables``: name -> headers
and rows of texts. A page has a table between the lines ``<!-- results NAME -->`` and
``<!-- end -->``. papers.md is the page of ``python -m benchmarks.papers --page``, and
each row of numbers of train-on-divergence.md is a row that
``python -m benchmarks.train_on_divergence`` prints from the results beside that page.
``make docs`` compares: a page that is not that of the results, or that names none of
them, fails the build. Nothing is measured here.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

STUDIES = Path(__file__).resolve().parents[2] / "docs" / "studies"
LARGEST = 2_000_000
"""Bytes that all results may have together."""
_NEGATIVE = re.compile(r"(?<![\w-])-(?=\d)")
_SYSTEM_ROW = re.compile(r"\| (XE|CIDEr-D)[^|]*\| [-+]?\d")
"""A row of train-on-divergence.md with numbers."""
_TABLE = re.compile(
    r"<!-- results (?P<name>\S+) -->\n(?P<text>.*?)<!-- end -->", re.DOTALL
)


def read_tables(folder: Path) -> dict[str, str]:
    """Return name -> Markdown table, with its command, of all results of a folder;
    raise ValueError above :data:`LARGEST` bytes.
    """
    files = sorted(folder.glob("*.json"))
    size = sum(file.stat().st_size for file in files)
    if size > LARGEST:
        raise ValueError(
            f"{folder}: {size:,} bytes of results; expected at most {LARGEST:,}"
        )
    contents = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return {
        name: markdown_table(table["headers"], table["rows"], content["command"])
        for content in contents
        for name, table in content["tables"].items()
    }


def markdown_table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], command: str
) -> str:
    """Return a Markdown table below the command that prints it.

    >>> print(markdown_table(["", "a"], [["x", "1"]], "python -m m"))
    `python -m m`
    <BLANKLINE>
    | | a |
    | --- | --- |
    | x | 1 |
    <BLANKLINE>
    """
    lines = [headers, ["---"] * len(headers), *rows]
    body = "\n".join(
        ("| " + " | ".join(line) + " |").replace("|  |", "| |") for line in lines
    )
    return f"`{command}`\n\n{_NEGATIVE.sub('−', body)}\n".replace("|  ", "| ")


def write_page(text: str, tables: Mapping[str, str], page: str) -> str:
    """Return a page with the tables of the results;
    raise ValueError for a name without results.
    """

    def table(match: re.Match[str]) -> str:
        if match["name"] not in tables:
            raise ValueError(
                f"{page}: no results '{match['name']}'; "
                f"there are {', '.join(sorted(tables))}"
            )
        return f"<!-- results {match['name']} -->\n{tables[match['name']]}<!-- end -->"

    return _TABLE.sub(table, text)


def papers_page() -> str:
    """Return the page of all published items: stored results and the index."""
    from benchmarks import papers

    return papers.page(papers.lines(papers.items(), {}))


def unprinted_rows(page: str, results: Path) -> list[str]:
    """Return the rows of systems and numbers of a page that
    ``benchmarks.train_on_divergence`` does not print from a file of results.
    """
    from benchmarks import train_on_divergence

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        train_on_divergence.main(["--results", str(results)])
    lines = set(printed.getvalue().splitlines())
    return [
        line
        for line in page.splitlines()
        if _SYSTEM_ROW.match(line) and line not in lines
    ]


def stale_pages(studies: Path = STUDIES, *, write: bool = False) -> list[Path]:
    """Return the pages that are not those of the results, after writing the tables, and
    papers.md, where ``write`` is set.
    """
    tables = read_tables(studies / "results")
    stale: list[Path] = []
    for page in sorted(studies.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        new = (
            papers_page()
            if page.name == "papers.md"
            else write_page(text, tables, page.name)
        )
        beside = page.with_suffix(".json")
        if new != text or (beside.is_file() and unprinted_rows(text, beside)):
            stale.append(page)
            if write and new != text:
                page.write_text(new, encoding="utf-8")
    return stale


def main(argv: Sequence[str] | None = None) -> int:
    """Compare or write the pages; return 1 where a page is stale."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--write", action="store_true", help="write the tables into the pages"
    )
    write = parser.parse_args(argv).write
    written = stale_pages(write=True) if write else []
    stale = stale_pages()
    for page in written:
        found = "written"
        if page in stale:
            found = "has rows that its command does not print"
        print(f"{page}: {found}", file=sys.stderr)
    if not write:
        for page in stale:
            print(
                f"{page}: is not the stored results; run with --write", file=sys.stderr
            )
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())
