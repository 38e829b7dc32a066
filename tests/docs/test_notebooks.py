"""The notebooks of the documentation run from the first cell to the last,
and hold no outputs.
"""

from __future__ import annotations

import json

import pytest


def notebooks(root):
    return sorted((root / "docs" / "notebooks").glob("*.ipynb"))


def test_notebooks_hold_no_outputs(root):
    assert len(notebooks(root)) >= 2
    for file in notebooks(root):
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        assert cells[0]["cell_type"] == "markdown", file.name
        assert not [
            cell for cell in cells if cell.get("outputs") or cell.get("execution_count")
        ], file.name


@pytest.mark.slow
@pytest.mark.parametrize("name", ["files-and-tests", "sets-and-p-values"])
def test_a_notebook_runs(root, name):
    pytest.importorskip("nbclient", reason="nbclient is not installed (extra docs)")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed (extra docs)")
    from tools.documentation.notebooks import execute

    notebook = execute(root / "docs" / "notebooks" / f"{name}.ipynb")
    assert any(cell.get("outputs") for cell in notebook.cells)
