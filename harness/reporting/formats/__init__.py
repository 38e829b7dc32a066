"""Formats of a table, a module each with one function; plug-ins add formats by the key
``formats`` of a manifest.
"""

from __future__ import annotations

from harness.registry import current
from harness.reporting.formats import delimited, latex, markdown, terminal, typst
from harness.reporting.table import Table

TEXT_FORMATS = {
    "markdown": markdown.to_markdown,
    "latex": latex.to_latex,
    "typst": typst.to_typst,
    "csv": delimited.to_csv,
}
"""Name of a built-in format that is one text -> its function."""


def format_names() -> list[str]:
    """Return the formats of ``--format``: the built-in ones, ``json`` (records in place
    of a table), and those of plug-ins.
    """
    return ["table", *TEXT_FORMATS, "json", *plugin_formats()]


def plugin_formats() -> list[str]:
    """Return the names of the formats that manifests declare; nothing is imported."""
    return [current().bare_name(entry) for entry in current().entries("formats")]


def file_suffixes() -> dict[str, str]:
    """Return format -> suffix of its files; the format of a plug-in has its name as
    suffix.
    """
    return {
        "csv": "csv",
        "markdown": "md",
        "latex": "tex",
        "typst": "typ",
        **{name: name for name in plugin_formats()},
    }


def render(table: Table, form: str) -> str:
    """Return a table as text in a format other than ``table`` and ``json``."""
    function = (
        TEXT_FORMATS[form] if form in TEXT_FORMATS else current().load("formats", form)
    )
    return function(table)


def print_as(table: Table, form: str = "table") -> None:
    """Print a table on stdout: for the terminal, or as the text of another format."""
    if form == "table":
        terminal.print_table(table)
    else:
        print(render(table, form), end="")
