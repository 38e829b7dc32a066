"""Scores of several systems with their comparisons, from a run of their files or of
their captions in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from harness import api
from harness.analysis import compare as paired
from harness.analysis.comparisons import Comparison
from harness.analysis.slices import compare_slices
from harness.contracts import Parameters, Values, VerbResult
from harness.errors import HarnessError, InputError, UnknownName, did_you_mean
from harness.registry import current
from harness.registry.permissions import typed_by_user
from harness.reporting.compared_systems import compared_systems
from harness.reporting.main_table import clusters_of_run, wide_table
from harness.reporting.percent import percent_comparisons, percent_run, with_note
from harness.reporting.score_table import score_table
from harness.reporting.table import Table
from harness.run.advice_spelling import KEYWORD_SPELLING, respell
from harness.run.execute import execute
from harness.run.file_labels import system_labels
from harness.run.finished import Run
from harness.run.memory_plan import plan_in_memory
from harness.run.metric_plan import Plan, default_metrics, metric_plans
from harness.run.text_sets import sets_of
from harness.rundir.directory_check import Mode
from harness.rundir.records import ResultRecord


class ScoredSystems(VerbResult, dict[str, Mapping[str, ResultRecord]]):
    """Label of the system -> label of the metric -> record, of a run."""

    ROWS = "results"

    def __init__(
        self,
        run: Run,
        *,
        comparisons: Sequence[Comparison] = (),
        comparisons_of_slices: Sequence[Comparison] = (),
        baseline: str = "",
        by: Sequence[str] = (),
        draws: int = paired.DRAWS,
        remarks: Sequence[str] = (),
    ) -> None:
        super().__init__()
        for record in run.records:
            of_system = cast(
                "dict[str, ResultRecord]", self.setdefault(record.model, {})
            )
            of_system[record.metric] = record
        self.run = run
        self.comparisons = comparisons
        """Of the other systems with the baseline, p-values adjusted."""
        self.comparisons_of_slices = comparisons_of_slices
        """The same within each slice, adjusted over all of them."""
        self.baseline = baseline
        """Label of the baseline; empty for one system."""
        self.by = by
        """Columns of the slices."""
        self.draws = draws
        """Random draws of each comparison."""
        self.remarks = remarks
        """Lines on the input: metrics that are left out, systems with the same
        captions, and the reason where there are no comparisons.
        """

    def __repr__(self) -> str:
        return f"<scores of {', '.join(self)}>"

    @property
    def results(self) -> list[Values]:
        """Records as in JSON; those of a run in memory name no files."""
        results = [dict(record) for record in self.run.results]
        if self.run.path is None:
            for record in results:
                record.pop("statistics", None)
        return results

    @property
    def failed(self) -> Mapping[str, str]:
        """Examples without a number: ``system/example`` -> reason."""
        return self.run.failed

    @property
    def notes(self) -> list[str]:
        """Remarks on the numbers."""
        return list(self.run.notes)

    @property
    def readings(self) -> Any:
        """Readings of the files."""
        return self.run.provenance.readings

    @property
    def slices(self) -> list[Values]:
        """Results of slices as in JSON."""
        return [record.to_dict() for record in self.run.slices]

    def to_dict(self) -> Values:
        """Return results, failures, comparisons, notes and readings; of slices too."""
        values: Values = {
            "results": self.results,
            "failed": dict(self.failed),
            "comparisons": [row.to_dict() for row in self.comparisons],
            "notes": self.notes,
            "readings": self.readings,
        }
        if self.by:
            values["slices"] = self.slices
            rows = [row.to_dict() for row in self.comparisons_of_slices]
            values["comparisons_of_slices"] = rows
        return values

    def table(self, *, wide: bool = False, percent: bool = False) -> Table:
        """Return a row per metric and system with its difference, or a row per system
        with a column per metric.

        Parameters
        ----------
        wide : bool
            A row per system: values alone.
        percent : bool
            Values times 100 of the metrics that are reported so.
        """
        printed = percent_run(self.run) if percent else self.run
        if wide:
            table = wide_table(printed, clusters_of_run(self.run))
        else:
            compared = None
            if len(self.run.samples.systems) > 2:  # those of two are all pairs
                compared = compared_systems(self.run, all_pairs_only=True)
            rows = [*self.comparisons, *self.comparisons_of_slices]
            rows = percent_comparisons(rows) if percent else rows
            records = [*printed.records, *printed.slices]
            table = score_table(records, rows, self.baseline, self.draws, compared)
        return with_note(table, self.run.records) if percent else table

    def blocks(self) -> Iterator[Table | str]:
        """Yield the table, failures and remarks."""
        yield self.table()
        yield from self.lines()

    def lines(self) -> Iterator[str]:
        """Yield remarks, failures and notes."""
        yield from self.remarks
        for name, reason in self.failed.items():
            yield f"failed {name}: {reason}"
        yield from self.notes


def score_systems(
    candidates: object,
    references: object,
    metrics: str | Parameters | Sequence[Any] | None = None,
    *,
    images: str | Path | None = None,
    p_value: str | None = None,
    seed: int = 0,
    bootstrap: int | None = None,
    allow_missing: bool = False,
    allow_unknown: bool = False,
    allow_empty: bool = False,
    columns: Sequence[str] = (),
    labels: Sequence[str] = (),
    baseline: str | None = None,
    equalise: bool = False,
    by: Sequence[str] = (),
    draws: int = paired.DRAWS,
    limit: int | None = None,
    output: str | Path | None = None,
    mode: Mode = "auto",
    show: bool = False,
    compares: bool = True,
    **file_options: Any,
) -> ScoredSystems:
    """Score files or captions of systems, and compare the others with a baseline;
    arguments as for :func:`harness.score`, ``compares`` False: without comparisons.
    """
    if draws < 1:
        raise HarnessError(
            f"draws is {draws}; expected at least 1", parameter="draws", value=draws
        )
    if by and references is None:
        raise InputError("by reads columns of a file of references", parameter="by")
    names, left_out = _list_metrics(metrics, references)
    reading: dict[str, Any] = {
        "allow_missing": allow_missing,
        "allow_unknown": allow_unknown,
        "allow_empty": allow_empty,
        "options": api.file_options(columns=columns, **file_options),
    }
    of_run: dict[str, Any] = {
        "output": Path(output) if output else None,
        "mode": mode,
        "show": show,
    }
    if isinstance(candidates, Mapping) and not _are_paths(candidates):
        by_label = cast("Mapping[str, object]", candidates)
        _refuse_of_files(images, by, labels)
        systems = list(by_label)
        base = _baseline(baseline, systems, [])
        settings = _settings(p_value, seed, bootstrap, limit)
        plan = _plan_captions(by_label, references, names, settings, reading)
        run = execute(plan, **of_run)
    else:
        if isinstance(candidates, Mapping):
            labels = labels or [str(label) for label in candidates]
            candidates = list(candidates.values())
        files = _files(candidates)
        systems = system_labels(files, reading["options"].names, labels)
        base = _baseline(baseline, systems, files)
        run = _score_files(
            files,
            references,
            names,
            images=str(images) if images is not None else None,
            labels=systems,
            p_value=p_value or "none",
            seed=seed,
            bootstrap=bootstrap,
            limit=limit,
            slices=by,
            **reading,
            **of_run,
        )

    remarks = _remarks(run, left_out)
    rows: Sequence[Comparison] = ()
    tests = {"baseline": base, "draws": draws, "seed": seed, "show": show}
    if compares and len(systems) > 1:
        try:
            rows = paired.compare(run, equalise=equalise, **tests)
        except HarnessError as error:
            # no example in common: the values are there all the same
            reason = str(error).replace(f" ({run.name})", "")
            remarks.append(f"no comparisons: {reason}")
    return ScoredSystems(
        run,
        comparisons=rows,
        comparisons_of_slices=compare_slices(run, by, **tests) if rows and by else (),
        baseline=base if len(systems) > 1 else "",
        by=by,
        draws=draws,
        remarks=remarks,
    )


def _list_metrics(
    metrics: str | Parameters | Sequence[Any] | None, references: object
) -> tuple[list[Any], Mapping[str, str]]:
    """Return the metrics, and those of the default that are left out: name -> reason;
    without references the default is that of images.
    """
    if metrics is None and references is None:
        of_images = current().all_with_role("metrics", "default-of-images")
        return [entry.name for entry in of_images], {}
    if metrics is None:
        names, left_out = default_metrics()
        return list(names), left_out
    return [metrics] if isinstance(metrics, (str, Mapping)) else list(metrics), {}


def _plan_captions(
    systems: Mapping[str, object],
    references: object,
    metrics: Sequence[Any],
    settings: Values,
    reading: Mapping[str, Any],
) -> Plan:
    """Return the plan of a run of captions in memory, read with these options."""
    sets = {
        label: sets_of(captions, references, **reading)
        for label, captions in systems.items()
    }
    with typed_by_user():
        return plan_in_memory(sets, metric_plans(metrics), settings)


def _remarks(run: Run, left_out: Mapping[str, str]) -> list[str]:
    """Return lines on the metrics that are left out, and on systems with the same
    captions.
    """
    remarks = [
        f"{name} is left out: {reason.partition('; ')[0]}"
        for name, reason in left_out.items()
    ]
    return remarks + [
        f"{system} and {earlier} hold the same captions: their differences are 0"
        for system, earlier in _equal_systems(run)
    ]


def _score_files(
    files: Sequence[str], references: object, *args: Any, **options: Any
) -> Run:
    """Return the run of files; the advice of an error names keywords."""
    paths: str | list[str] | None = None
    if isinstance(references, (str, Path)):
        paths = str(references)
    elif references is not None:
        paths = [str(path) for path in cast("Sequence[object]", references)]
    try:
        return api.score_files(files, paths, *args, **options)
    except InputError as error:
        spelled = respell(error, KEYWORD_SPELLING)
        if spelled.message.startswith("by: "):
            spelled.parameter = "by"
        raise spelled from error


def _settings(
    p_value: str | None, seed: int, bootstrap: int | None, limit: int | None
) -> Values:
    """Return the keys of a spec."""
    settings: Values = {
        "significance": {"method": p_value or "none"},
        "seed": seed,
        "limit": limit,
    }
    if bootstrap is not None:
        settings["bootstrap"] = {"samples": bootstrap}
    return settings


def _are_paths(candidates: Mapping[Any, object]) -> bool:
    return all(isinstance(value, (str, Path)) for value in candidates.values())


def _files(candidates: object) -> list[str]:
    """Return the files of candidates."""
    if isinstance(candidates, (str, Path)):
        return [str(candidates)]
    return [str(item) for item in cast("Sequence[str | Path]", candidates)]


def _refuse_of_files(images: object, by: Sequence[str], labels: Sequence[str]) -> None:
    """Raise :class:`InputError` for options of files where captions are in memory."""
    if images is not None:
        raise InputError(
            "images belong to files of candidates; for captions in memory give the "
            "metric its folder: {'clipscore': {'images': FOLDER}}",
            parameter="images",
        )
    if by:
        raise InputError("by reads columns of a file of references", parameter="by")
    if labels:
        raise InputError(
            "labels are the keys of the mapping of systems", parameter="labels"
        )


def _baseline(name: str | None, labels: Sequence[str], files: Sequence[str]) -> str:
    """Return the label of the baseline, given as a label or as a file; default:
    the first.
    """
    if name is None or name in labels:
        return labels[0] if name is None else name
    if files.count(name) == 1 and len(labels) == len(files):
        return labels[files.index(name)]
    raise UnknownName(
        f"baseline is '{name}'{did_you_mean(name, labels)}; "
        f"systems are {', '.join(labels)}",
        parameter="baseline",
        value=name,
    )


def _equal_systems(result: Run) -> list[tuple[str, str]]:
    """Return the pairs (system, earlier system) with the same candidates for the same
    examples.
    """
    candidates = result.samples.lists("candidates")
    first: dict[object, str] = {}
    pairs: list[tuple[str, str]] = []
    for system in result.samples.systems:
        key = tuple(zip(system.examples, (candidates[int(row)] for row in system.rows)))
        if key in first:
            pairs.append((system.label, first[key]))
        first.setdefault(key, system.label)
    return pairs
