"""The table of forms of files in docs/data-formats.md,
made from the table that reads them.

    python -m tools.documentation.forms          write the page anew
    python -m tools.documentation.forms --check  exit code 1 where it is stale
"""

from __future__ import annotations

import sys
from pathlib import Path

from harness.files.forms import FORM_TABLE, FormExample, FormKind

PAGE = Path(__file__).resolve().parents[2] / "docs" / "data-formats.md"
BEGIN = "<!-- forms: made by python -m tools.documentation.forms -->"
END = "<!-- end of forms -->"
LINE_END = " ⏎ "
TAB = "→"
"""Signs for the end of a line and a tab in an example."""


def shown(example: FormExample) -> str:
    """Return an example as the table shows it."""
    if not example.is_text:
        return example.text
    text = example.text.replace("\t", TAB).replace("\n", LINE_END)
    return f"`{text}`"


def rows_of(form: FormKind) -> list[str]:
    """Return the rows of a form, one per example."""
    details = [form.reading] if form.reading else []
    if form.splits:
        details.append(f"split: `{form.splits}`")
    if form.options:
        details.append(form.options)
    if form.extra:
        details.append(f"needs the extra `{form.extra}`")
    rows: list[str] = []
    for number, example in enumerate(form.examples):
        title = example.title or form.summary
        how = "; ".join(details) if number == 0 else "the same"
        rows.append(
            f"| `{form.name}` | {title} | {shown(example)} | {example.ids} | {how} |"
        )
    return rows


def table() -> str:
    """Return the table of all forms in Markdown: the generic ones first,
    as they are what most files are.
    """
    lines = [
        "| form | written by | example | ids | how it is read |",
        "| --- | --- | --- | --- | --- |",
    ]
    for form in sorted(FORM_TABLE, key=lambda form: not form.generic):
        lines.extend(rows_of(form))
    return "\n".join(lines)


def renewed(page: str) -> str:
    """Return a page with the table between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    page = PAGE.read_text(encoding="utf-8")
    new = renewed(page)
    if "--check" in arguments:
        if new != page:
            print(
                f"{PAGE}: the table of forms is not as harness/files/forms says: "
                "python -m tools.documentation.forms"
            )
        return int(new != page)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
