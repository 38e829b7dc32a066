"""Charts of finished runs as files for papers: SVG and PDF in the widths of one and of two columns, with a list of captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.reporting.charts import DOUBLE, SINGLE, Chart, Layout, charts_for
from harness.reporting.charts.drawing import converter, fitted_svg, pdf, with_font
from harness.reporting.formats.markdown import escape_markdown
from harness.run.finished import Run
from harness.rundir.format import write_files

WIDTHS: dict[str, Layout] = {"single": SINGLE, "double": DOUBLE}
"""Name of a width, as in the names of the files, and its layout."""


def write_figures(runs: Sequence[Run | str | Path], folder: Path) -> list[Path]:
    """Write every chart as ``NAME-single`` and ``NAME-double``, ``.svg`` and ``.pdf``, and ``figures.md`` with titles and captions.

    Parameters
    ----------
    runs : sequence of Run, str or Path
        Finished runs.
    folder : Path
        Folder of the files; created when missing.

    Returns
    -------
    list of Path
        The files; empty where nothing of the runs can be drawn.

    Raises
    ------
    MissingExtra
        vl-convert is not installed.
    InputError
        A run is not finished.
    """
    converter()  # before charts are computed and a folder is made
    return write_files(_files(charts_for(runs), folder))


def _files(charts: Sequence[Chart], folder: Path) -> Iterator[tuple[Path, bytes]]:
    for chart in charts:
        for name, layout in WIDTHS.items():
            text = fitted_svg(chart, layout)
            yield folder / f"{chart.id}-{name}.svg", with_font(text).encode("utf-8")
            yield folder / f"{chart.id}-{name}.pdf", pdf(text)
    if charts:
        yield folder / "figures.md", _list(charts).encode("utf-8")


def _list(charts: Sequence[Chart]) -> str:
    """Return titles and captions, a section per chart."""
    sections = [f"## {chart.id}\n\n**{escape_markdown(chart.title)}.** {escape_markdown(chart.caption)}".rstrip() for chart in charts]
    return "\n\n".join(["# Figures", *sections]) + "\n"
