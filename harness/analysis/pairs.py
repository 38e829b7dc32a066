"""Pairs of systems that are compared: all of one run, those of the same name of two
runs, or each with a baseline.

Differences between two runs that make their numbers incomparable are listed too.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, cast

from harness.analysis.every_eval_ever_log import EVERY_EVAL_EVER_FILE
from harness.analysis.lm_eval_log import LM_EVAL_FILE, LMMS_EVAL_FILE
from harness.analysis.score_logs import CaptionsWithoutScores, ScoreLog, read_score_log
from harness.contracts import Metric
from harness.errors import HarnessError, InputError, did_you_mean
from harness.run.finished import Run
from harness.rundir.file_names import MANIFEST
from harness.rundir.records import ResultRecord
from harness.rundir.samples import System
from harness.rundir.stored_paths import contents_of

RecordPair = tuple[ResultRecord, ResultRecord]
"""Records of the two systems of a pair by one metric."""


@dataclass(frozen=True)
class ComparedRun:
    """One side of a comparison: a run, or one model of it (``RUN::MODEL``)."""

    run: Run
    model: str = ""
    name: str = ""
    """Path of the run, its task in memory."""

    @classmethod
    def open(cls, run: str | Path | Run) -> ComparedRun:
        """Open ``RUN``, ``RUN::MODEL`` or a log of scores
        (:mod:`harness.analysis.score_logs`).

        Raises :class:`HarnessError` when the run is not finished or has no such model.
        """
        if isinstance(run, Run):
            side = cls(run, "", run.name)
        else:
            name, _, model = str(run).partition("::")
            path = Path(name)
            opened = read_score_log(path) if path.is_file() else _open_folder(path)
            side = cls(opened, model, name)
        return side._verify()

    def _verify(self) -> ComparedRun:
        """Return the side itself; raise :class:`HarnessError` where it has no captions
        of the model.
        """
        names = list(dict.fromkeys(system.model for system in self.run.samples.systems))
        if not names:
            raise HarnessError(
                f"{self.name} has no captions: there is nothing to compare example by "
                "example"
            )
        if self.model and not self.systems:
            raise HarnessError.of_name(
                f"{self.name} has no model", self.model, names, "models are"
            )
        return self

    @cached_property
    def systems(self) -> list[System]:
        """Systems of the run, or of the chosen model."""
        return [
            system
            for system in self.run.samples.systems
            if not self.model or system.model == self.model
        ]

    def label(self, system: System) -> str:
        """Return the model of a system, with what tells its decoding apart where the
        run has several.
        """
        return self.run.samples.labels[system.model, system.decoding_key]

    def record(self, system: System, metric: str) -> ResultRecord | None:
        """Return the result record of a system and metric; None without one."""
        return self._records.get((metric, system.model, system.decoding_key))

    @cached_property
    def _records(self) -> dict[tuple[str, str, str], ResultRecord]:
        return {
            (record.metric, record.model, record.decoding_key): record
            for record in self.run.records
        }

    def metrics(self, system: System) -> list[str]:
        """Labels of the metrics of a system's captions, in the order of the run."""
        return self._metrics.get((system.model, system.decoding_key), [])

    @cached_property
    def _metrics(self) -> dict[tuple[str, str], list[str]]:
        names: dict[tuple[str, str], list[str]] = {}
        for metric, model, key in self._records:
            names.setdefault((model, key), []).append(metric)
        return names


def open_sides(runs: Sequence[str | Path | Run]) -> list[ComparedRun]:
    """Return the sides of a comparison; the error of logs of captions without scores
    has the command that scores them.
    """
    try:
        return [ComparedRun.open(run) for run in runs]
    except CaptionsWithoutScores as error:
        paths = [str(run) for run in runs if not isinstance(run, Run)]
        files = " ".join(map(shlex.quote, paths))
        advice = (
            f"captions are scored first: harness score {files} --references "
            f"{shlex.quote(str(error.where))}"
        )
        raise InputError(f"{error.message}; {advice}", error.where) from None


def _open_folder(folder: Path) -> Run:
    """Return the run of a directory; raise :class:`InputError` with the logs of other
    harnesses that it holds in place of one.
    """
    if folder.is_dir() and not (folder / MANIFEST).exists():
        # Harnesses write DIR/FILE, DIR/MODEL/FILE or DIR/logs/FILE: deeper folders are
        # not walked, of which there may be any number.
        files = [
            path
            for depth in ("*", "*/*")
            for path in sorted(folder.glob(depth))
            if _is_log_name(path.name)
        ]
        if files:
            names = ", ".join(str(path) for path in files[:3])
            names += ", ..." if len(files) > 3 else ""
            raise InputError(
                f"is no run, and has logs of samples: give the file: {names}",
                str(folder),
            )
    return Run.open(folder)


def _is_log_name(name: str) -> bool:
    """Return True for the usual name of a file of samples of another harness."""
    return name.endswith(".eval") or any(
        form.fullmatch(name)
        for form in (LM_EVAL_FILE, LMMS_EVAL_FILE, EVERY_EVAL_EVER_FILE)
    )


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
        a = self.one.label(self.a)
        b = self.other.label(self.b)
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
        of_b = set(self.other.metrics(self.b))
        return [metric for metric in self.one.metrics(self.a) if metric in of_b]

    def size_difference(self, metric: str) -> str:
        """Return the set sizes on which a metric depends and that differ on the common
        examples; empty where its numbers compare.
        """
        records = self.one.record(self.a, metric), self.other.record(self.b, metric)
        text = size_difference(*records)
        return text if text and not self._sizes_agree else ""

    @cached_property
    def _sizes_agree(self) -> bool:
        """True where the sets of every common example have the same sizes, whatever
        those of other examples are.
        """
        sets_a = self.a.caption_sets()
        sets_b = self.b.caption_sets()
        common = [
            (sets_a[k], sets_b[self.b.row_of[name]])
            for name, k in self.a.row_of.items()
            if name in self.b.row_of
        ]
        return all(
            (len(one.candidates), len(one.references))
            == (len(other.candidates), len(other.references))
            for one, other in common
        )

    def score_notes(self, metric: str) -> list[str]:
        """Return the direction of a metric of logs where it is not the usual one, and
        what the logs have in place of its scores.
        """
        notes: list[str] = []
        sides = zip((self.one, self.other), (self.a, self.b), self.labels)
        for side, system, label in sides:
            if isinstance(side.run, ScoreLog):
                notes.append(side.run.directed[metric].note)
                remark = side.run.contents[metric].remarks.get(system.model, "")
                if remark:
                    notes.append(f"{label}: {remark}")
        return list(dict.fromkeys(filter(None, notes)))

    def signature(self, metric: str) -> str:
        """Return the signature of a metric; empty without a result of system A."""
        record = self.one.record(self.a, metric)
        return record.signature if record else ""

    @property
    def records(self) -> list[RecordPair]:
        """Result records of both systems, one pair per metric."""
        records: list[RecordPair] = []
        for name in self.metrics:
            of_a = self.one.record(self.a, name)
            of_b = self.other.record(self.b, name)
            if of_a is not None and of_b is not None:
                records.append((of_a, of_b))
        return records


def pairs(sides: Sequence[ComparedRun]) -> list[Pair]:
    """Return the pairs to compare: all of one run, or for two runs the systems of the
    same name (or the only ones).
    """
    if len(sides) == 1:
        (side,) = sides
        if len(side.systems) < 2:
            raise HarnessError(
                f"{side.name} holds one system; give two runs to compare"
            )
        return [
            Pair(side, a, side, b) for a, b in itertools.combinations(side.systems, 2)
        ]

    one, other = sides
    matched = _match(one.systems, other.systems, by_model=True)
    # two chosen models: the same decodings
    if not matched and one.model and other.model:
        matched = _match(one.systems, other.systems, by_model=False)
    if not matched and len(one.systems) == len(other.systems) == 1:
        matched = [(one.systems[0], other.systems[0])]
    if not matched:
        labels = [", ".join(system.label for system in side.systems) for side in sides]
        raise HarnessError(
            f"the runs share no system: {labels[0]} and {labels[1]}; "
            "choose with RUN::MODEL"
        )
    return [Pair(one, a, other, b) for a, b in matched]


def pairs_against(sides: Sequence[ComparedRun], baseline: str) -> list[Pair]:
    """Return the pairs of every other system with the baseline of the same decoding,
    for one run.
    """
    if len(sides) != 1:
        raise HarnessError(
            "a baseline belongs to the systems of one run; "
            "two runs are compared model by model"
        )
    (side,) = sides

    bases = [
        system
        for system in side.systems
        if baseline in (system.model, system.label, side.label(system))
    ]
    if not bases:
        names = list(dict.fromkeys(system.model for system in side.systems))
        raise HarnessError(
            f"there is no model '{baseline}'{did_you_mean(baseline, names)} to "
            f"compare with; there are {', '.join(names)}"
        )

    if len(bases) == 1:
        return [
            Pair(side, system, side, bases[0])
            for system in side.systems
            if system is not bases[0]
        ]

    # A baseline with several decodings: each of the others with that of its own.
    by_key = {system.decoding_key: system for system in bases}
    return [
        Pair(side, system, side, by_key[system.decoding_key])
        for system in side.systems
        if system not in bases and system.decoding_key in by_key
    ]


def _match(
    one: Sequence[System], other: Sequence[System], *, by_model: bool
) -> list[tuple[System, System]]:
    """Return the systems of the same decoding, and of the same model unless other
    models are compared.
    """

    def key(system: System) -> tuple[str, str]:
        return (system.model if by_model else "", system.decoding_key)

    by_key = {key(system): system for system in other}
    return [(system, by_key[key(system)]) for system in one if key(system) in by_key]


def log_notes(
    sides: Sequence[ComparedRun], metrics: Sequence[str] | None = None
) -> list[str]:
    """Return the remarks on the logs of a comparison as wholes; without chosen metrics,
    those that have no scores are named too.
    """
    notes: list[str] = []
    for side in sides:
        if isinstance(side.run, ScoreLog):
            notes += side.run.notes
            notes += [
                f"{side.run.source}: no scores in '{metric}': {text}"
                for metric, text in side.run.unread.items()
                if metrics is None
            ]
    return list(dict.fromkeys(notes))


def differences_of_runs(
    runs: Sequence[Run], names: Sequence[str], records: Sequence[RecordPair] = ()
) -> list[str]:
    """Return one sentence per difference of two runs: data,
    signature and images of a metric, references.

    Empty for one run.

    Parameters
    ----------
    runs : sequence of Run
        One run, or two.
    names : sequence of str
        Their names in the sentences.
    records : sequence of pairs of ResultRecord
        Records of the systems that are compared, one pair per metric.
    """
    if len(runs) == 1:
        return []
    one, other = runs
    return [
        *_compare_data(one, other, names),
        *_compare_signatures(one, other, names),
        *_compare_images(one, other, names),
        *_compare_references(records, names),
        *_compare_subsets(one, other, names),
    ]


def _compare_data(one: Run, other: Run, names: Sequence[str]) -> list[str]:
    """Compare the data sets of two runs."""
    data = [run.provenance.data for run in (one, other)]
    if data[0]["fingerprint"] == data[1]["fingerprint"]:
        return []
    readers = ", ".join(str(item["reader"]) for item in data)
    return [
        f"{names[0]} and {names[1]} read different data ({readers}): "
        "equal ids would be paired by chance"
    ]


def _compare_signatures(one: Run, other: Run, names: Sequence[str]) -> list[str]:
    """Compare the signatures of the metrics of two runs."""
    of_other = {entry.label: entry.signature for entry in other.provenance.metrics}
    return [
        f"'{entry.label}' is {entry.signature} in {names[0]} and "
        f"{of_other[entry.label]} in {names[1]}: the numbers are of different metrics"
        for entry in one.provenance.metrics
        if of_other.get(entry.label, entry.signature) != entry.signature
    ]


def _compare_images(one: Run, other: Run, names: Sequence[str]) -> list[str]:
    """Compare the folders of images of metrics, which their signatures do not name."""
    positions = {
        entry.label: position for position, entry in enumerate(other.provenance.metrics)
    }

    lines: list[str] = []
    for position, entry in enumerate(one.provenance.metrics):
        if entry.label not in positions:
            continue
        a = _folder_of_images(one, position)
        b = _folder_of_images(other, positions[entry.label])
        # The same files may lie in another folder; without a digest the path decides.
        if a.content and b.content:
            same = a.content == b.content
        else:
            same = a.path == b.path
        if not same:
            lines.append(
                f"'{entry.label}' reads images of {a.path} in {names[0]} and of "
                f"{b.path} in {names[1]}"
            )
    return lines


class _Images(NamedTuple):
    path: object
    content: str | None
    """Text of its files (:func:`harness.spec.path_contents.content_of`);
    None where the run did not write it.
    """


def _folder_of_images(run: Run, position: int) -> _Images:
    """Return the folder of images of a metric of a run."""
    contents = contents_of(run.provenance.content)
    path = run.provenance.metrics[position].params.get("images")
    return _Images(path, contents.get(("metrics", position, "params", "images")))


def _compare_references(
    records: Sequence[RecordPair], names: Sequence[str]
) -> list[str]:
    """Compare the reference counts of pairs of records."""
    for one, other in records:
        counts = [
            _describe_counts((record.sizes or {}).get("references", ()))
            for record in (one, other)
        ]
        if all(counts) and counts[0] != counts[1]:
            return [
                f"'{one.metric}' is of {counts[0]} references in {names[0]} and of "
                f"{counts[1]} in {names[1]}"
            ]
    return []


def size_difference(a: ResultRecord | None, b: ResultRecord | None) -> str:
    """Return the set sizes that differ between two numbers of a metric and on which it
    depends; empty where they compare.

    >>> one, ten = (
    ...     ResultRecord(
    ...         model="a", metric="distinct2", level="corpus", sizes={"candidates": [n]}
    ...     )
    ...     for n in (1, 10)
    ... )
    >>> size_difference(one, ten)
    '1 and 10 candidates'
    """
    if a is None or b is None:
        return ""
    # BLEU without a match depends on sizes on which BLEU does not: its details say so.
    names = {name: None for record in (a, b) for name, _ in record.compared_sizes}
    names |= {
        str(name): None
        for record in (a, b)
        for name in cast("Sequence[str]", (record.details or {}).get("depends_on", ()))
    }

    sizes_a, sizes_b = (
        [tuple((record.sizes or {}).get(name, ())) for name in names]
        for record in (a, b)
    )
    return ", ".join(
        f"{_describe_counts(counts_a)} and {_describe_counts(counts_b)} {name}"
        for name, counts_a, counts_b in zip(names, sizes_a, sizes_b)
        if counts_a and counts_b and counts_a != counts_b
    )


def state_difference(one: Run, other: Run, metric: Metric) -> str:
    """Return the state of a metric that two runs fitted on the references of other
    examples; empty where its numbers compare.
    """
    counts = [run.provenance.data["examples"] for run in (one, other)]
    state = metric.spec.held_fixed.removesuffix(" held fixed")
    if not state or counts[0] == counts[1]:
        return ""
    return f"{state} of {counts[0]} and {counts[1]} examples"


def _compare_subsets(one: Run, other: Run, names: Sequence[str]) -> list[str]:
    """Compare the choice of references of runs that do not use all of them."""
    subsets = [run.provenance.reference_subset for run in (one, other)]
    if not all(subsets) or subsets[0] == subsets[1]:
        return []
    return [
        f"the references are refs:{subsets[0]} in {names[0]} and refs:{subsets[1]} "
        f"in {names[1]}: other subsets"
    ]


def _describe_counts(counts: Sequence[int]) -> str:
    if len(set(counts)) > 1:
        return f"{min(counts)} to {max(counts)}"
    return ", ".join(map(str, counts))
