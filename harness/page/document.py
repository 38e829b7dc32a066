"""The page as a whole: values of the template, data blocks, scripts, and the file."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from harness.analysis.comparison_budget import BUDGET
from harness.contracts.parameters import Values
from harness.errors import HarnessError, InputError, require
from harness.files.outputs import check_output, write_output
from harness.judgments.league import League, LeagueSet, cluster
from harness.judgments.league_tables import (
    advice_table,
    league_table,
    pairwise_table,
    percent_interval,
    percent_text,
    set_table,
)
from harness.page import assets
from harness.page.assets import DataBlock
from harness.page.charts import PAGE, PHONE, WIDE, Chart, charts_for
from harness.page.charts.chart import config
from harness.page.events.words import readable_texts
from harness.page.examples import example_blocks, examples_of
from harness.page.explanations import Explained, explanations
from harness.page.groups import (
    Clusters,
    Group,
    clusters_of,
    groups_of,
    system_key,
)
from harness.page.matrix import matrix_of, table_rows
from harness.page.provenance import command, listings, portable
from harness.page.thumbnails import Thumbnails, image_folders, thumbnails
from harness.registry import current
from harness.registry.hooks import Plugins
from harness.reporting.export import table_of_view
from harness.reporting.formats.delimited import delimit
from harness.reporting.formats.web import to_html
from harness.reporting.result_groups import SIZE_NOTE, interval_notes, usage_notes
from harness.reporting.sections import HasImages, sections_of
from harness.reporting.slice_table import slice_table
from harness.reporting.table import (
    ARROWS,
    interval_text,
    number,
    p_text,
    record_heading,
    shown_name,
    size_text,
)
from harness.results import ResultRecord, Run, SampleTable

TEMPLATES = Path(__file__).parent / "templates"
TABLE_VIEWS = ("table", "verdicts", "texts")
"""Kinds of views that are tables of the overview; the others are charts."""
OTHER_LAYOUTS = {"phone": PHONE, "wide": WIDE}
"""Layouts of charts for windows that are narrower or wider than usual;
the names are those of charts.js.
"""
ON_REQUEST = ("scores", "p-values", "metrics")
"""Groups of charts that the page draws when they are asked for."""
STATIC_EXAMPLES = 6
"""Number of examples that the page shows without script."""
NOTE = (
    "Agreement of metrics with people, times 100, "
    "with 95 % intervals (bootstrap over items). "
    "The small number is the significance "
    "cluster: metrics of cluster 1 are marked, and no other one beats them (exchange "
    "of items, Holm within a set); clusters of one set "
    "compare with each other only."
)
MAX_LISTED = 20
"""Maximum number of failed examples that a warning lists."""


@dataclass(frozen=True)
class PageOptions:
    """Options of the page."""

    title: str = ""
    examples: int | None = None
    """Maximum number of examples of a group, evenly spread; None: all."""
    images: bool = True
    """Embed thumbnails of the examples' images where their files are there."""
    explain: int | None = None
    """Number of examples whose scores of each metric are explained; None: some, by
    metrics without embeddings; 0: none.
    """
    compare: bool = False
    """Compute all comparisons of systems, however long they take."""
    editable: bool = False
    """Embed the kernels in WebAssembly, so that a candidate can be edited and its
    scores follow.
    """
    absent: Sequence[str] = ()
    """Sets of a suite whose data are not there."""
    folder: Path | None = None
    """Folder of the page, from which the links to images lead; None:
    the working directory.
    """


def build(paths: Sequence[str | Path], options: PageOptions | None = None) -> str:
    """Return the HTML of a report on finished runs;
    raise :class:`InputError` for a run that is not finished.

    The same runs give the same text.
    """
    jinja2 = require("jinja2", needed_by="harness report")
    options = options or PageOptions()
    _check_options(options)

    names = list(dict.fromkeys(str(path) for path in paths))
    groups = groups_of([(name, Run.open(name)) for name in names])
    runs = [run for group in groups for run in group.runs]
    league = League(tuple(LeagueSet(run) for run in runs if run.provenance.kind))

    # the script reads data blocks by their names, the libraries as well
    blocks: list[DataBlock] = []
    group_values = [
        _group(group, f"g{k}", options, blocks) for k, group in enumerate(groups)
    ]
    charts = charts_for(runs)
    charts_library = assets.charts_library()
    blocks.append(DataBlock.of_json("charts", _charts(charts)))
    blocks.append(DataBlock.of("charts-library", charts_library.encode("utf-8")))
    blocks.append(DataBlock.of("licences", assets.licences().encode("utf-8")))

    # the policy of the page has the hash of each script that may run
    scripts = [assets.HEAD_SCRIPT, assets.script(), charts_library]
    if options.editable:
        library, module = assets.scoring()
        blocks.append(DataBlock.of("scoring-library", library.encode("utf-8")))
        blocks.append(DataBlock.of("scoring-module", module))
        scripts.append(library)

    title = options.title
    if not title and len(league.sets) > 1:
        title = "Metrics judged by people"
    elif not title:
        title = ", ".join(dict.fromkeys(group.title for group in groups))

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(
        heading=record_heading,
        number=percent_text if league.sets else number,
        p_text=p_text,
        interval=percent_interval if league.sets else interval_text,
        sizes=size_text,
        table=to_html,
    )
    environment.globals["arrow"] = ARROWS.__getitem__
    environment.globals.update(size_note=f"Sets: {SIZE_NOTE}.")
    return environment.get_template("page.html").render(
        title=title,
        groups=group_values,
        charts=charts,
        chart_groups=list(dict.fromkeys(chart.group for chart in charts)),
        on_request=ON_REQUEST,
        blocks=blocks,
        absent=options.absent,
        league=replace(league_table(league), notes=())
        if len(league.sets) > 1
        else None,
        advice=advice_table(league),
        style=assets.style(),
        script=assets.script(),
        head_script=assets.HEAD_SCRIPT,
        policy=assets.policy(scripts, wasm=options.editable),
    )


def _check_options(options: PageOptions) -> None:
    for name, value, minimum in (
        ("examples", options.examples, 1),
        ("explain", options.explain, 0),
    ):
        if value is not None and value < minimum:
            raise HarnessError(
                f"{name} is {value}; expected at least {minimum}",
                parameter=name,
                value=value,
            )


def plugin_sections(run: Run) -> list[dict[str, str]]:
    """Return the sections that plugins add to the page of a run,
    with ``title`` and ``html``.
    """
    content = run.provenance.content
    results = [record.to_dict() for record in run.records]
    plugins = Plugins().load(current())
    answers = plugins.call("harness_report_sections", manifest=content, results=results)
    return [section for sections in answers for section in sections]


def write(
    paths: Sequence[str | Path],
    output: Path | None = None,
    options: PageOptions | None = None,
    *,
    overwrite: bool = False,
) -> Path:
    """Write the report (default: ``report.html`` in the first run) and return its path.

    Raises :class:`InputError` where the folder cannot be written, and where a page is
    there that people wrote or changed, unless ``overwrite``.
    """
    target = output or Path(paths[0]) / "report.html"
    check_output(target, overwrite=overwrite)
    text = build(paths, replace(options or PageOptions(), folder=target.parent))
    try:
        write_output(target, text.encode("utf-8", "replace"), overwrite=overwrite)
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror or error}); "
            "give another file with -o FILE",
            str(target),
        ) from None
    return target


def _charts(charts: Sequence[Chart]) -> dict[str, object]:
    """Return specifications and styles of the charts for the script."""
    # A chart is laid out for three widths of windows, because Vega-Lite cannot wrap its
    # panels to the width of the window. The rows of data are most of a specification
    # and the same in all: the others go without them.
    layouts: dict[str, dict[str, Values]] = {name: {} for name in OTHER_LAYOUTS}
    for chart in charts:
        for name, layout in OTHER_LAYOUTS.items():
            spec = chart.build(layout)
            same = spec.get("datasets") == chart.spec.get("datasets")
            if same:
                spec = {key: spec[key] for key in spec if key != "datasets"}
            layouts[name][chart.id] = spec

    styles = {
        f"{theme}-{name}": config(theme, layout)
        for theme in ("light", "dark")
        for name, layout in {"page": PAGE, **OTHER_LAYOUTS}.items()
    }
    specs = {chart.id: chart.spec for chart in charts}
    return {"specs": specs, "layouts": layouts, "styles": styles}


def _group(
    group: Group, name: str, options: PageOptions, blocks: list[DataBlock]
) -> dict[str, object]:
    """Return the template's values of one group, and add its blocks."""
    sets = [LeagueSet(run) for run in group.runs if run.provenance.kind]
    if sets:
        systems, clusters = metrics_as_systems(group)
    else:
        systems = group
        clusters = clusters_of(group, None if options.compare else BUDGET)

    # examples with their captions, images and explanations
    examples = example_blocks(systems, name, options.examples)
    data = next(filter(None, map(examples_of, group.runs)), [])
    pictures = Thumbnails()
    if options.images:
        places = image_folders(group.runs)
        pictures = thumbnails(examples.ids, data, options.folder, places=places)
    explained = Explained()
    if examples.ids:
        explained = explanations(systems, examples.ids, data, options.explain)
    if examples.ids and not sets:
        blocks.append(clusters.pair_block(group, name))
    blocks += [*examples.blocks, *pictures.blocks(name), *explained.blocks(name)]

    # numbers in full
    tables = [(set_table(judged), pairwise_table(judged)) for judged in sets]
    numbers = delimit(tables[0][0].data if tables else table_rows(group))
    blocks.append(DataBlock.of(f"{name}-csv", numbers.encode("utf-8", "replace")))

    descriptions = [judged.run.provenance.spec.get("description") for judged in sets]
    notes = dict.fromkeys(line for run in group.runs for line in _notes(run.records))
    return {
        "name": name,
        "group": group,
        "matrix": matrix_of(systems, clusters),
        "sets": tables,
        "descriptions": list(filter(None, descriptions)),
        "notices": notices_of(group, clusters),
        "notes": list(notes),
        "records": [(k, group.sides[k].name, record) for k, record in group.records],
        "examples": examples.count,
        "remarks": [note for note in (pictures.note, explained.note) if note],
        "static_examples": _static_examples(systems),
        "runs": [_run(side.name, side.run, options) for side in group.sides],
    }


def _notes(records: Sequence[ResultRecord]) -> list[str]:
    """Return the lines below the matrix: intervals that are missing, usage of judges.

    What an interval holds fixed is in its tooltip.
    """
    return [*interval_notes(records, missing_only=True), *usage_notes(records)]


def _run(name: str, run: Run, options: PageOptions) -> dict[str, object]:
    """Return the template's values of one run: table views,
    sections of plugins, provenance.
    """
    views = [
        view
        for view in run.provenance.views
        if view.plot in TABLE_VIEWS and run.records
    ]
    text = portable(json.dumps(run.provenance.content, indent=1, ensure_ascii=False))
    sections: list[dict[str, str]] = []
    for section in sections_of(run).values():
        if not options.images and isinstance(section, HasImages):
            content = section.html_without_images(run)
        else:
            content = section.html(run)
        if content:
            sections.append({"title": section.title, "html": content})
    sections += plugin_sections(run)
    return {
        "name": name,
        "run": run,
        "views": [table_of_view(view, run) for view in views],
        "sections": sections,
        "slices": slice_table(run, missing_only=True) if run.slices else None,
        "listings": listings(run),
        "command": command(run),
        "json": text,
    }


def _static_examples(group: Group) -> list[dict[str, object]]:
    """Return the first examples with the captions of every system,
    for a page without script.
    """
    examples: dict[str, Values] = {}
    for side, system in group.systems:
        for item in islice(system.iter_caption_sets(), STATIC_EXAMPLES):
            references = readable_texts(item.references)
            new = {"id": item.id, "references": references, "systems": []}
            entry = examples.setdefault(item.id, new)
            candidates = readable_texts(item.candidates)
            entry["systems"].append((side.label(system), candidates))
    return list(examples.values())[:STATIC_EXAMPLES]


def metrics_as_systems(group: Group) -> tuple[Group, Clusters]:
    """Return a group of one run of judgments with its metrics as systems and its
    statistics as metrics, and their clusters.

    It has no samples: those are the judged captions, which belong to no metric.
    """
    (side,) = group.sides
    judged = LeagueSet(side.run)
    records = tuple(
        replace(record, model=judged.metric_names[record.model])
        for statistic in judged.groups
        for record in statistic
    )
    ranks: dict[str, dict[str, str]] = {}
    leading: dict[str, set[str]] = {}
    for record in records:
        key = system_key(0, record.model, record.decoding_key)
        ranks.setdefault(record.metric, {})[key] = str(cluster(record) or "")
        if cluster(record) == 1:
            leading.setdefault(record.metric, set()).add(key)
    run = replace(side.run, records=records, samples=SampleTable.empty())
    return Group((replace(side, run=run),)), Clusters(ranks, leading, NOTE)


@dataclass(frozen=True)
class Notice:
    """One warning or remark, with its details."""

    text: str
    severe: bool = False
    details: Sequence[tuple[str, str]] = ()
    """Names and texts of a list that opens on request."""


def notices_of(group: Group, clusters: Clusters) -> list[Notice]:
    """Return the warnings of a group, severe ones first."""
    notices: list[Notice] = []
    for side in group.sides:
        prefix = f"{side.name}: " if group.several_runs else ""
        notices += [
            Notice(prefix + notice.text, notice.severe, notice.details)
            for notice in _of_run(side.run)
        ]
    if clusters.warning:
        notices.append(Notice(clusters.warning))
    return sorted(notices, key=lambda notice: not notice.severe)


def _of_run(run: Run) -> list[Notice]:
    content = run.provenance.content
    column = "statistic" if run.provenance.kind else "model"
    notices = [Notice(str(content["notice"]))] if content.get("notice") else []
    if not run.records:
        notices.append(Notice("The run has no results.", severe=True))
    if run.failed:
        notices.append(_failure_notice(run))

    undefined = dict.fromkeys(
        shown_name(record) for record in run.records if math.isnan(record.value)
    )
    if undefined:
        text = f"Undefined for some {column}: {', '.join(undefined)}."
        notices.append(Notice(text, severe=True))

    skipped = dict.fromkeys(
        shown_name(record) for record in run.records if record.skipped
    )
    if skipped:
        largest_share = max(
            record.skipped / max(record.n + record.skipped, 1) for record in run.records
        )
        text = (
            "Some examples have no score and are left out (up to "
            f"{100 * largest_share:.0f} % of a {column}): {', '.join(skipped)}."
        )
        notices.append(Notice(text))
    return [*notices, *(Notice(note) for note in run.notes)]


def _failure_notice(run: Run) -> Notice:
    """Return the warning about examples that models could not process."""
    models = Counter(_model(name, run) for name in run.failed)
    total = int(run.provenance.data.get("examples") or 0)
    counts = ", ".join(
        f"{model} {count}{' (all)' if count == total else ''}"
        for model, count in models.items()
    )

    details = list(run.failed.items())[:MAX_LISTED]
    if len(run.failed) > MAX_LISTED:
        details.append(("…", f"{len(run.failed) - MAX_LISTED} more"))
    noun = "examples" if len(run.failed) > 1 else "example"
    text = f"{len(run.failed)} {noun} failed: {counts}."
    return Notice(text, severe=True, details=details)


def _model(name: str, run: Run) -> str:
    """Return the model of a failure ``model/example``; labels may contain slashes."""
    labels = [
        model.label
        for model in run.provenance.models
        if name.startswith(f"{model.label}/")
    ]
    return max(labels, key=len, default=name.split("/", 1)[0])
