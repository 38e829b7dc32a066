"""The report of finished runs: a page, tables and figures."""

from __future__ import annotations

from pathlib import Path

from harness.reporting.charts.drawing import converter
from harness.reporting.export import write_tables
from harness.reporting.figures import write_figures
from harness.reporting.page import PageOptions, write
from harness.rundir.suite import run_folders


def report(
    *runs: str | Path,
    output: str | Path | None = None,
    tables: str | Path | None = None,
    figures: str | Path | None = None,
    title: str = "",
    examples: int | None = None,
    images: bool = True,
    explain: int | None = None,
    compare: bool = False,
) -> list[Path]:
    """Write an HTML page of finished runs and return the files written.

    Parameters
    ----------
    *runs : str or Path
        Run directories, or folders of run directories. Runs of judgments make a league table of metrics.
    output : str or Path, optional
        The page; default: ``report.html`` in the first path, and no page for ``figures`` alone.
    tables : str or Path, optional
        Folder for the main table and every table, texts and verdicts view as CSV, Markdown, LaTeX and Typst.
    figures : str or Path, optional
        Folder for every chart as SVG and PDF in the widths of one and two columns of a paper, and for the tables.
    title : str
        Title of the page.
    examples : int, optional
        Maximum number of examples on the page, evenly spread over the data; default: all.
    images : bool
        Embed thumbnails of the examples' images where their files are there.
    explain : int, optional
        Number of examples whose scores of each metric are explained by their texts (the heaviest triangle, the nearest and farthest
        pair); default: 40, by metrics without embeddings.
    compare : bool
        Compute the paired tests of all systems and metrics, however long they take; default: those that are stored or cost little.

    Raises
    ------
    InputError
        A run is not finished or damaged, or the page cannot be written.
    """
    if figures:
        converter()  # raises before anything is written
    folders = [run_folders(path) for path in runs]
    inner = [folder for inner_folders, _ in folders for folder in inner_folders]
    files: list[Path] = []
    if output or not figures:
        target = Path(output) if output else Path(runs[0]) / "report.html" if runs else None
        absent = [line for _, lines in folders for line in lines]
        files = [write(inner, target, PageOptions(title, examples, images, explain, compare, absent))]
    for folder in dict.fromkeys(Path(name) for name in (tables, figures) if name):
        files += write_tables(inner, folder)
    return [*files, *(write_figures(inner, Path(figures)) if figures else [])]
