"""Notebooks as pages: executed, with the texts,
tables and figures that their cells print.
"""

from __future__ import annotations

import base64
import os
import tempfile
from pathlib import Path
from typing import Any


def execute(file: Path, timeout: int = 300) -> Any:
    """Return a notebook executed in an empty folder; raise nbclient's
    ``CellExecutionError`` where a cell fails.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(file, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        os.environ.pop("HARNESS_DATA", None)
        try:
            NotebookClient(
                notebook, timeout=timeout, resources={"metadata": {"path": folder}}
            ).execute()
        finally:
            os.environ.clear()
            os.environ.update(environment)
    return notebook


def markdown(notebook: Any, name: str, folder: Path) -> str:
    """Return the Markdown of an executed notebook;
    images are written into ``folder`` as ``NAME-1.png``.
    """
    parts: list[str] = []
    images = 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "image/png" in data:
                images += 1
                (folder / f"{name}-{images}.png").write_bytes(
                    base64.b64decode(data["image/png"])
                )
                parts.append(f"![Output of the cell above]({name}-{images}.png)")
            elif "text/html" in data:
                parts.append(
                    f"<div class='output'>\n{''.join(data['text/html'])}\n</div>"
                )
            else:
                text = output.get("text") or data.get("text/plain", "")
                parts.append(f"```text\n{''.join(text).rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def write_pages(source: Path, target: Path) -> list[Path]:
    """Execute every notebook of a folder and write it as a page into another one;
    return the pages.
    """
    pages: list[Path] = []
    for file in sorted(source.glob("*.ipynb")):
        target.mkdir(parents=True, exist_ok=True)
        pages.append(target / f"{file.stem}.md")
        pages[-1].write_text(
            markdown(execute(file), file.stem, target), encoding="utf-8"
        )
    return pages
