"""A finished run, in memory or in a directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import harness
from harness.contracts import (
    Parameters,
    Statistics,
    Values,
    VerbResult,
    join_statistics,
)
from harness.errors import require
from harness.run.scored import read_statistics
from harness.rundir.artifacts import Artifacts, MemoryArtifacts
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.run_log import read_log_events
from harness.rundir.rundir import RunDir
from harness.rundir.sample_events import EVENTS
from harness.rundir.samples import SampleTable

if TYPE_CHECKING:
    from harness.rundir.format import JsonObject


@dataclass(frozen=True, repr=False)
class Run(VerbResult):
    """One executed spec: provenance, result records, samples; it prints as ``harness
    run`` does.
    """

    ROWS = "results"

    provenance: Provenance
    records: tuple[ResultRecord, ...]
    """Result records, in the order of the run."""
    samples: SampleTable
    """Captions and per-example scores."""
    failed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Examples that a model could not process: ``model/example`` -> reason."""
    notes: Sequence[str] = ()
    """Remarks on the numbers, such as sizes beyond the data."""
    path: Path | None = None
    """The run directory, if there is one."""
    artifacts: Artifacts = field(default_factory=MemoryArtifacts)
    """Captions and statistics, in memory or in the directory."""
    costs: Mapping[str, Parameters] = field(default_factory=dict[str, "Parameters"])
    """Model -> work of its adapter in the last session of the run:
    tokens per second, requests, cost.
    """
    slices: tuple[ResultRecord, ...] = ()
    """Results of the slices that the spec asks for, in the order of :attr:`records`."""

    @classmethod
    def of(cls, rundir: RunDir) -> Run:
        """Return the run of a finished directory."""
        content = rundir.results
        records = rundir.records
        return cls(
            rundir.provenance,
            records,
            rundir.samples,
            content.failed,
            content.notes,
            rundir.path,
            rundir.artifacts,
            content.costs,
            tuple(content.slices),
        )

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Return the finished run of a directory; raises
        :class:`~harness.errors.InputError` when there is none.
        """
        return cls.of(RunDir.open(path))

    @property
    def name(self) -> str:
        """The run directory, or the task of a run in memory."""
        return str(self.path or self.provenance.task)

    def __repr__(self) -> str:
        name = self.provenance.signature or "a suite"
        return (
            f"<run of {name}: {len(self.records)} results, {len(self.failed)} failed>"
        )

    def chart(self, name: str = "") -> Any:
        """Return a chart as an Altair chart: the first one of the run,
        or that of an id such as ``differences``.
        """
        return harness.as_chart(self, name)

    def statistics(self, record: ResultRecord) -> Statistics | None:
        """Return the sufficient statistics of a record, rows as its examples in the
        samples; None when they are missing.
        """
        if record.statistics is None:
            return None
        # all of them, so that each damaged file is named in the log
        names = self.artifacts.shards_of(record.statistics)
        shard_arrays = [self.artifacts.read_arrays(name) for name in names]
        stats = [
            read_statistics(arrays) for arrays in shard_arrays if arrays is not None
        ]
        is_whole = len(stats) == len(names)
        return join_statistics(stats) if stats and is_whole else None

    @property
    def manifest(self) -> JsonObject:
        """Content of manifest.json."""
        return self.provenance.content

    @property
    def results(self) -> list[JsonObject]:
        """Records as in results.json."""
        return [record.to_dict() for record in self.records]

    @property
    def log_events(self) -> list[Values]:
        """Events of the log, each with its ``time``; none of a run in memory."""
        return [] if self.path is None else read_log_events(self.path)

    @property
    def runs(self) -> list[str]:
        """The run directory, as the JSON of the verb names it."""
        return [str(self.path)]

    def to_dict(self) -> Values:
        """Return directory, results, failures and slices as in the JSON of ``harness
        run``, without the sections of other packages.
        """
        values: Values = {
            "runs": self.runs,
            "results": self.results,
            "failed": dict(self.failed),
        }
        if self.slices:
            values["slices"] = [record.to_dict() for record in self.slices]
        return values

    def to_pandas(self) -> Any:
        """Return the records as a pandas DataFrame, one row per record."""
        module = require("pandas", extra="datasets", needed_by="Run.to_pandas")
        return module.DataFrame(self.results)

    def samples_frame(self) -> Any:
        """Return the samples as a pandas DataFrame, one row per (model, decoding,
        example).
        """
        require("pandas", extra="datasets", needed_by="Run.samples_frame")
        return self.samples.to_arrow().to_pandas()

    def to_dataset(self) -> Any:
        """Return the samples as a ``datasets.Dataset``, one row per (model,
        decoding, example).

        Columns: ``model``, ``decoding`` (JSON), ``example``, ``candidates`` and
        ``references`` (lists of texts), ``meta`` (JSON) where examples have metadata,
        ``events`` (lists of records) where references are sets of events, and as
        float64 with null for undefined the scores of each metric and its p-values
        ``p:METRIC``.
        """
        module = require("datasets", extra="datasets", needed_by="Run.to_dataset")
        table = self.samples.to_arrow()
        text = module.Value("string")
        number = module.Value("float64")
        types = {
            **dict.fromkeys(("model", "decoding", "example", "meta"), text),
            "candidates": [text],
            "references": [text],
        }
        if EVENTS in self.samples.names:
            stored = module.Features.from_arrow_schema(table.schema)
            types[EVENTS] = stored[EVENTS]
        features = module.Features(
            {name: types.get(name, number) for name in self.samples.names}
        )
        return module.Dataset(table).cast(features)


def by_kind(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Return the kind of task -> its runs, in their order; the empty kind has models on
    a data set.
    """
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.provenance.kind, []).append(run)
    return groups


def merge_runs(runs: Sequence[Run]) -> Run:
    """Return several runs (a suite) as one."""
    if len(runs) == 1:
        return runs[0]
    content: Mapping[str, object] = {"suite": [run.provenance.content for run in runs]}
    return Run(
        Provenance(dict(content)),
        tuple(record for run in runs for record in run.records),
        SampleTable.empty(),
        {name: reason for run in runs for name, reason in run.failed.items()},
        [note for run in runs for note in run.notes],
        slices=tuple(record for run in runs for record in run.slices),
    )
