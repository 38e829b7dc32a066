"""Groups of runs whose numbers compare: one matrix and one list of examples each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from harness.analysis.pairs import ComparedRun, RecordPair, differences_of_runs
from harness.errors import InputError
from harness.run.finished import Run
from harness.rundir.format import MANIFEST, MANIFEST_SCHEMA, RESULTS, RESULTS_SCHEMA, read_json_object
from harness.rundir.records import ResultRecord
from harness.rundir.samples import System


@dataclass(frozen=True)
class Group:
    """Runs of the same data, metric signatures and numbers of references; or a single run."""

    sides: tuple[ComparedRun, ...]

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs, in the order of the command."""
        return tuple(side.run for side in self.sides)

    @property
    def title(self) -> str:
        """Names of the tasks."""
        return ", ".join(dict.fromkeys(run.provenance.task or "suite" for run in self.runs))

    @property
    def several_runs(self) -> bool:
        """True for a group of two runs or more."""
        return len(self.sides) > 1

    @cached_property
    def systems(self) -> tuple[tuple[ComparedRun, System], ...]:
        """Systems of all runs."""
        return tuple((side, system) for side in self.sides for system in side.systems)

    @cached_property
    def records(self) -> tuple[tuple[int, ResultRecord], ...]:
        """Number of the run and record, for all records."""
        return tuple((number, record) for number, run in enumerate(self.runs) for record in run.records)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Labels of the metrics, in the order of the runs."""
        return tuple(dict.fromkeys(record.metric for _, record in self.records))


def open_run(path: str) -> Run:
    """Return a finished run; raise :class:`InputError` for one that a newer version of the harness wrote."""
    run = Run.open(path)
    for name, newest in ((MANIFEST, MANIFEST_SCHEMA), (RESULTS, RESULTS_SCHEMA)):
        schema = read_json_object(Path(path) / name).get("schema", newest)
        if not isinstance(schema, int) or schema > newest:
            raise InputError(
                f"has the schema {schema!r}; this version reads schemas up to {newest}: update the harness, or run the spec again",
                str(Path(path) / name),
            )
    return run


def groups_of(runs: Sequence[tuple[str, Run]]) -> list[Group]:
    """Return the groups of named runs; a run joins the first group whose runs it compares with, a run of judgments none.

    Parameters
    ----------
    runs : sequence of (str, Run)
        Names (paths) and runs.

    Raises
    ------
    InputError
        There are runs of both kinds.
    """
    models = [name for name, run in runs if not run.provenance.kind]
    if 0 < len(models) < len(runs):
        raise InputError("is a run of models; one page shows runs of judgments or runs of models, not both", models[0])
    groups: list[list[ComparedRun]] = []
    for name, run in runs:
        side = ComparedRun(run, name=name)
        for group in groups:
            if models and all(not _differences(member, side) for member in group):
                group.append(side)
                break
        else:
            groups.append([side])
    return [Group(tuple(group)) for group in groups]


def _differences(left: ComparedRun, right: ComparedRun) -> list[str]:
    """Return the differences that make the numbers of two runs incomparable."""
    records_by_metric: dict[str, list[ResultRecord]] = {}
    for record in right.run.records:
        records_by_metric.setdefault(record.metric, []).append(record)
    pairs: list[RecordPair] = [(x, y) for x in left.run.records for y in records_by_metric.get(x.metric, ())]
    if not pairs:
        return ["no common metric"]
    comparable = [(x, y) for x, y in pairs if _references(x) == _references(y)]
    return differences_of_runs([left.run, right.run], [left.name, right.name], comparable or pairs)


def _references(record: ResultRecord) -> object:
    """Return the numbers of references of a record."""
    return (record.sizes or {}).get("references")
