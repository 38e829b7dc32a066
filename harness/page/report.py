"""The report of finished runs: a page, tables and figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.contracts import WrittenFiles
from harness.errors import HarnessError
from harness.files.outputs import check_output, write_output, write_outputs
from harness.judgments.metric_gallery import metric_page
from harness.page import PageOptions, write
from harness.page.charts import DOUBLE, SINGLE, Chart, Layout, charts_for
from harness.page.charts.drawing import converter, fitted_svg, pdf, with_font
from harness.page.events.paper import MOST_FIGURES, Figure, figures_of
from harness.page.events.pictures import pictures_of
from harness.page.events.scenes import scenes_of
from harness.reporting.export import write_tables
from harness.reporting.formats.markdown import escape_markdown
from harness.results import Run, run_folders
from harness.rundir.unfinished import complete_unfinished

WIDTHS: dict[str, Layout] = {"single": SINGLE, "double": DOUBLE}
"""Name of a width, as in the names of the files, and its layout."""
PAPER_FORM = "JPEG"
"""Form of images that PDFs hold."""


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
    editable: bool = False,
    gallery: bool = False,
    percent: bool = False,
    overwrite: bool = False,
) -> WrittenFiles:
    """Write an HTML page of finished runs and return the files written.

    Parameters
    ----------
    *runs : str or Path
        Run directories, or folders of run directories. Runs of judgments make a league
        table of metrics.
    output : str or Path, optional
        The page; default: ``report.html`` in the first path, and no page for
        ``figures`` alone.
    tables : str or Path, optional
        Folder for the main table and every table, texts and verdicts view as CSV,
        Markdown, LaTeX and Typst.
    figures : str or Path, optional
        Folder for every chart as SVG and PDF in the widths of one and two columns of a
        paper, and for the tables.
    title : str
        Title of the page.
    examples : int, optional
        Maximum number of examples on the page, evenly spread over the data; default:
        all.
    images : bool
        Embed thumbnails of the examples' images where their files are there.
    explain : int, optional
        Number of examples whose scores of each metric are explained by their texts (the
        heaviest triangle, the nearest and farthest pair); default: 40, by metrics
        without embeddings.
    compare : bool
        Compute the paired tests of all systems and metrics, however long they take;
        default: those that are stored or cost little.
    editable : bool
        Embed the kernels in WebAssembly: candidates can be edited on the page, and
        their scores follow.
    gallery : bool
        Write the page of metrics of runs of judgments
        (:mod:`harness.judgments.metric_gallery`) alone; default ``output``:
        ``metrics.html`` in the first path.
    percent : bool
        Print values times 100 in the main table of ``tables`` and in that by slice, for
        metrics that papers print so.
    overwrite : bool
        Replace files that the harness did not write, or that were changed since
        (:mod:`harness.files.outputs`).

    Raises
    ------
    InputError
        A run is not finished or damaged, or the page cannot be written, or such a file
        is there.
    MissingExtra
        ``editable`` without the WebAssembly build of caption-kernels.
    """
    arguments: Sequence[object] = runs
    if any(not isinstance(run, (str, Path)) for run in arguments):
        raise HarnessError(
            "report reads run directories; a run in memory has none: "
            "harness.evaluate(SPEC, output=DIR) writes one"
        )
    if figures:
        converter()  # raises before anything is written

    folders = [run_folders(path) for path in runs]
    inner = [folder for inner_folders, _ in folders for folder in inner_folders]
    absent = [line for _, lines in folders for line in lines]
    if gallery:
        target = Path(output) if output else Path(runs[0]) / "metrics.html"
        return WrittenFiles([_write_gallery(inner, target, overwrite=overwrite)])

    files: list[Path] = []
    if output or not figures:
        target = Path(output) if output else None
        if target is None and runs:
            target = Path(runs[0]) / "report.html"
        if target is not None:
            complete_unfinished(target.parent)
        options = PageOptions(
            title, examples, images, explain, compare, editable, absent
        )
        files.append(write(inner, target, options, overwrite=overwrite))

    # figures have their tables beside them
    for folder in dict.fromkeys(Path(name) for name in (tables, figures) if name):
        files += write_tables(inner, folder, percent=percent, overwrite=overwrite)
    if figures:
        files += write_figures(inner, Path(figures), overwrite=overwrite)
    return WrittenFiles(files)


def _write_gallery(
    runs: Sequence[str | Path], target: Path, *, overwrite: bool
) -> Path:
    """Write the page of metrics of runs of judgments and return its path."""
    check_output(target, overwrite=overwrite)
    page = metric_page([Run.open(folder) for folder in runs])
    return write_output(target, page.encode("utf-8"), overwrite=overwrite)


def write_figures(
    runs: Sequence[Run | str | Path], folder: Path, *, overwrite: bool = False
) -> list[Path]:
    """Write every chart as ``NAME-single`` and ``NAME-double``, ``.svg`` and ``.pdf``,
    and ``figures.md`` with titles and captions.

    Parameters
    ----------
    runs : sequence of Run, str or Path
        Finished runs.
    folder : Path
        Folder of the files; created when missing.
    overwrite : bool
        As for :func:`report`.

    Returns
    -------
    list of Path
        The files; empty where nothing of the runs can be drawn.

    Raises
    ------
    MissingExtra
        vl-convert is not installed.
    InputError
        A run is not finished, or a file that people wrote or changed is there.
    """
    converter()  # before charts are computed and a folder is made
    opened = [run if isinstance(run, Run) else Run.open(run) for run in runs]
    figures = [*charts_for(opened), *event_figures(opened)]
    return write_outputs(_files(figures, folder), overwrite=overwrite)


def event_figures(runs: Sequence[Run]) -> list[Figure]:
    """Return the drawings of examples of runs of events, their names begun by the
    number of the run where there are several.
    """
    figures: list[Figure] = []
    for k, run in enumerate(runs, 1):
        if run.provenance.kind:
            continue
        drawn = scenes_of(run, MOST_FIGURES)
        boxes = [scene.id for scene in drawn.scenes if scene.geometry == "box"]
        pictures = pictures_of(run, boxes, PAPER_FORM) if boxes else {}
        figures += figures_of(drawn, pictures, f"{k}-" if len(runs) > 1 else "")
    return figures


def _files(
    figures: Sequence[Chart | Figure], folder: Path
) -> Iterator[tuple[Path, bytes]]:
    for figure in figures:
        for name, layout in WIDTHS.items():
            if isinstance(figure, Figure):
                text = figure.svg(layout)
            else:
                text = fitted_svg(figure, layout)
            yield folder / f"{figure.id}-{name}.svg", with_font(text).encode("utf-8")
            yield folder / f"{figure.id}-{name}.pdf", pdf(text)
    if figures:
        yield folder / "figures.md", _list(figures).encode("utf-8")


def _list(figures: Sequence[Chart | Figure]) -> str:
    """Return titles and captions, a section per figure."""
    sections = [
        f"## {figure.id}\n\n**{escape_markdown(figure.title)}.** "
        f"{escape_markdown(figure.caption)}".rstrip()
        for figure in figures
    ]
    return "\n\n".join(["# Figures", *sections]) + "\n"
