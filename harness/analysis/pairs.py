"""Pairs of systems that are compared: all of one run, those of the same name of two runs, or each with a baseline."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from harness.analysis.comparability import size_difference
from harness.errors import HarnessError, did_you_mean
from harness.run.finished import Run
from harness.rundir.records import ResultRecord
from harness.rundir.samples import System


@dataclass(frozen=True)
class ComparedRun:
    """One side of a comparison: a run, or one model of it (``RUN::MODEL``)."""

    run: Run
    model: str = ""
    name: str = ""
    """Path of the run, its task in memory."""

    @classmethod
    def open(cls, run: str | Path | Run) -> ComparedRun:
        """Open ``RUN`` or ``RUN::MODEL``; raise :class:`HarnessError` when the run is not finished or has no such model."""
        folder, _, model = (run.name, "", "") if isinstance(run, Run) else str(run).partition("::")
        side = cls(run if isinstance(run, Run) else Run.open(folder), model, folder)
        names = list(dict.fromkeys(system.model for system in side.run.samples.systems))
        if not names:
            raise HarnessError(f"{folder} has no captions: there is nothing to compare example by example")
        if model and not side.systems:
            raise HarnessError.of_name(f"{folder} has no model", model, names, "models are")
        return side

    @cached_property
    def systems(self) -> list[System]:
        """Systems of the run, or of the chosen model."""
        return [system for system in self.run.samples.systems if not self.model or system.model == self.model]

    def label(self, system: System) -> str:
        """Return the model of a system, with its decoding where the run has several."""
        return system.label if self._several_decodings else system.model

    @cached_property
    def _several_decodings(self) -> bool:
        return len({other.decoding_key for other in self.run.samples.systems}) > 1

    def record(self, system: System, metric: str) -> ResultRecord | None:
        """Return the result record of a system and metric; None without one."""
        return self._records.get((metric, system.model, system.decoding_key))

    @cached_property
    def _records(self) -> dict[tuple[str, str, str], ResultRecord]:
        return {(record.metric, record.model, record.decoding_key): record for record in self.run.records}

    def metrics(self, system: System) -> list[str]:
        """Labels of the metrics of a system's captions, in the order of the run."""
        return self._metrics.get((system.model, system.decoding_key), [])

    @cached_property
    def _metrics(self) -> dict[tuple[str, str], list[str]]:
        names: dict[tuple[str, str], list[str]] = {}
        for metric, model, key in self._records:
            names.setdefault((model, key), []).append(metric)
        return names


@dataclass(frozen=True)
class Pair:
    """Two systems to compare."""

    one: ComparedRun
    a: System
    other: ComparedRun
    b: System

    @property
    def labels(self) -> tuple[str, str]:
        """Labels of both systems, with the names of their runs where they are equal."""
        a, b = self.one.label(self.a), self.other.label(self.b)
        if a == b and self.one.name != self.other.name:
            return f"{self.one.name}::{a}", f"{self.other.name}::{b}"
        return a, b

    @property
    def shares_examples(self) -> bool:
        """True when some example has captions of both systems."""
        return any(example in self.b.row_of for example in self.a.examples)

    @property
    def metrics(self) -> list[str]:
        """Labels of the metrics that both systems have."""
        theirs = set(self.other.metrics(self.b))
        return [metric for metric in self.one.metrics(self.a) if metric in theirs]

    def size_difference(self, metric: str) -> str:
        """Return the set sizes on which a metric depends and that differ on the common examples; empty where its numbers compare."""
        records = self.one.record(self.a, metric), self.other.record(self.b, metric)
        text = size_difference(*records)
        return text if text and not self._sizes_agree else ""

    @cached_property
    def _sizes_agree(self) -> bool:
        """True where the sets of every common example have the same sizes, whatever those of other examples are."""
        sets_a, sets_b = self.a.caption_sets(), self.b.caption_sets()
        common = [(sets_a[k], sets_b[self.b.row_of[name]]) for name, k in self.a.row_of.items() if name in self.b.row_of]
        return all((len(one.candidates), len(one.references)) == (len(other.candidates), len(other.references)) for one, other in common)

    def signature(self, metric: str) -> str:
        """Return the signature of a metric; empty without a result of system A."""
        record = self.one.record(self.a, metric)
        return record.signature if record else ""

    @property
    def records(self) -> list[tuple[ResultRecord, ResultRecord]]:
        """Result records of both systems, one pair per metric."""
        both = [(self.one.record(self.a, name), self.other.record(self.b, name)) for name in self.metrics]
        return [(one, other) for one, other in both if one is not None and other is not None]


def pairs(sides: Sequence[ComparedRun]) -> list[Pair]:
    """Return the pairs to compare: all of one run, or for two runs the systems of the same name (or the only ones)."""
    if len(sides) == 1:
        (side,) = sides
        if len(side.systems) < 2:
            raise HarnessError(f"{side.name} holds one system; give two runs to compare")
        return [Pair(side, a, side, b) for a, b in itertools.combinations(side.systems, 2)]
    one, other = sides
    matched = _matched(one.systems, other.systems, by_model=True)
    if not matched and one.model and other.model:  # two chosen models: the same decodings
        matched = _matched(one.systems, other.systems, by_model=False)
    if not matched and len(one.systems) == len(other.systems) == 1:
        matched = [(one.systems[0], other.systems[0])]
    if not matched:
        labels = [", ".join(system.label for system in side.systems) for side in sides]
        raise HarnessError(f"the runs share no system: {labels[0]} and {labels[1]}; choose with RUN::MODEL")
    return [Pair(one, a, other, b) for a, b in matched]


def pairs_against(sides: Sequence[ComparedRun], baseline: str) -> list[Pair]:
    """Return the pairs of every other system with the baseline of the same decoding, for one run."""
    if len(sides) != 1:
        raise HarnessError("a baseline belongs to the systems of one run; two runs are compared model by model")
    (side,) = sides
    bases = [system for system in side.systems if baseline in (system.model, system.label)]
    if not bases:
        names = list(dict.fromkeys(system.model for system in side.systems))
        raise HarnessError(f"there is no model '{baseline}'{did_you_mean(baseline, names)} to compare with; there are {', '.join(names)}")
    if len(bases) == 1:
        return [Pair(side, system, side, bases[0]) for system in side.systems if system is not bases[0]]
    by_key = {system.decoding_key: system for system in bases}
    return [
        Pair(side, system, side, by_key[system.decoding_key])
        for system in side.systems
        if system not in bases and system.decoding_key in by_key
    ]


def _matched(one: Sequence[System], other: Sequence[System], *, by_model: bool) -> list[tuple[System, System]]:
    def key(system: System) -> tuple[str, str]:
        return (system.model if by_model else "", system.decoding_key)

    by_key = {key(system): system for system in other}
    return [(system, by_key[key(system)]) for system in one if key(system) in by_key]
