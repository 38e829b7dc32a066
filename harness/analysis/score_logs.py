"""Scores per sample in the logs of other harnesses,
as runs that ``compare`` and ``gate`` test.

Values are read as inspect's ``value_to_float`` reads them; epochs of a sample are
averaged. Whatever is no score is counted and named, and a sample that occurs twice is
refused: nothing is dropped or averaged without a word.
:mod:`harness.analysis.score_forms` has the forms.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from harness.analysis.logged_samples import LoggedSample, ScoreForm
from harness.analysis.score_directions import Direction, direction_of_name
from harness.analysis.score_forms import read_score_form
from harness.contracts import MeanMetric, MetricSpec, Values
from harness.errors import HarnessError, InputError, counted
from harness.files.records import kind
from harness.files.yaml_source import YamlValue
from harness.run.finished import Run
from harness.run.scored import Scored
from harness.rundir.artifact_key import ArtifactKey
from harness.rundir.artifacts import MemoryArtifacts
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import (
    KEY_COLUMNS,
    OPTIONAL_COLUMNS,
    P_PREFIX,
    SampleTable,
)

LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Values of inspect's scorers: correct, partially correct, incorrect, no answer."""
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""Words that inspect's ``value_to_float`` reads as numbers, in small letters."""
NAMED = 3
"""Number of different values that are no scores which a note names."""


class CaptionsWithoutScores(InputError):
    """A log that has outputs and references of its samples, and no scores of them."""


class LoggedScore(MeanMetric):
    """The mean of scores that another program computed.

    They are in its log; nothing is scored.
    """

    def __init__(
        self,
        label: str,
        bounds: tuple[float, float] | None = None,
        higher_is_better: bool | None = True,
    ) -> None:
        self.spec = MetricSpec(
            label, higher_is_better, needs=frozenset(), bounds=bounds
        )


class Extreme(NamedTuple):
    """The smallest or the largest value of a metric."""

    value: float
    where: str
    """Place of the value in the log."""


@dataclass(frozen=True)
class LoggedMetric:
    """A metric of a log: direction, extremes, and values that are no scores."""

    declared: Direction | None
    """Direction that the log declares."""
    lowest: Extreme
    highest: Extreme
    remarks: Mapping[str, str]
    """Model -> values that are no scores, with their number;
    models without such values are absent.
    """

    def infinite(self, metric: str) -> str:
        """Return the refusal of a metric with an infinite value;
        empty where all are finite.
        """
        for extreme in (self.lowest, self.highest):
            if math.isinf(extreme.value):
                return (
                    f"'{metric}' is {extreme.value:g} at {extreme.where}: it has no "
                    "mean, and is not compared"
                )
        return ""


@dataclass(frozen=True)
class DirectedScore:
    """A metric of a log with the direction and the bounds by which it is compared."""

    metric: LoggedScore
    note: str = ""
    """The direction and where it comes from;
    empty for what is larger-is-better by default.
    """
    refusal: str = ""
    """Reason why the metric cannot be compared, with what to type; empty where it can.
    """


@dataclass(frozen=True, repr=False)
class ScoreLog(Run):
    """Scores of a log, as a run in memory."""

    source: str = ""
    """Path of the log."""
    contents: Mapping[str, LoggedMetric] = field(
        default_factory=dict[str, LoggedMetric]
    )
    """Label of a metric -> what the log has of it."""
    directed: Mapping[str, DirectedScore] = field(
        default_factory=dict[str, DirectedScore]
    )
    """Label of a metric -> how it is compared."""
    unread: Mapping[str, str] = field(default_factory=dict[str, str])
    """Label of a metric of which no value of a model is a score -> the values."""

    def refuse(self, metrics: Sequence[str]) -> None:
        """Raise :class:`HarnessError` for the first of some metrics that cannot be
        compared.
        """
        for metric in metrics:
            if refusal := self.directed[metric].refusal:
                raise HarnessError(refusal, parameter="lower_is_better")


def read_score_log(path: Path) -> ScoreLog:
    """Return the scores of a log as a run in memory.

    The directions are those that the log declares, else those of the names
    (:mod:`harness.analysis.score_directions`).

    Raises
    ------
    InputError
        For a file without scores per sample that one of the forms has, and for a sample
        that occurs twice with different values.
    """
    form = read_score_form(path)
    collected = _Collected(form.advice)
    for sample in form.samples:
        collected.add(sample, sample.model or path.stem)
    contents, unread = _describe_metrics(collected, form)
    _verify_metrics(path, form, contents, unread)

    directed = {
        metric: _direct(metric, content) for metric, content in contents.items()
    }
    artifacts = MemoryArtifacts()
    records: list[ResultRecord] = []
    columns = collected.table()
    models = np.array(columns["model"])
    for metric in contents:
        column = collected.column(metric)
        columns[metric] = column.tolist()
        of_models = {model: column[models == model] for model in collected.models}
        records += _record_metric(directed[metric], metric, of_models, artifacts)

    entries: list[Values] = [
        {"label": metric, "name": "", "params": {}, "signature": f"scores|{metric}"}
        for metric in contents
    ]
    count = len(columns["model"])
    data = {"reader": form.name, "fingerprint": form.name, "examples": count}
    content: Values = {"task": path.stem, "data": data, "metrics": entries}
    return ScoreLog(
        Provenance(cast(Any, content)),
        tuple(records),
        SampleTable(columns),
        notes=[f"{path}: {collected.repeated}"] if collected.repeated else [],
        artifacts=artifacts,
        source=str(path),
        contents=contents,
        directed=directed,
        unread=unread,
    )


def _describe_metrics(
    collected: _Collected, form: ScoreForm
) -> tuple[dict[str, LoggedMetric], dict[str, str]]:
    """Return the metrics that have scores, and metric -> values for those of which no
    value of some model is a score.
    """
    contents: dict[str, LoggedMetric] = {}
    unread: dict[str, str] = {}
    for metric in sorted(collected.values):
        remarks = {
            model: text
            for model in collected.models
            if (text := collected.remark(model, metric))
        }
        without_score = [
            f"{text} ({model})"
            for model, text in remarks.items()
            if not collected.has_score(model, metric)
        ]
        if without_score:
            unread[metric] = "; ".join(without_score)

        if metric in collected.lowest:
            declared = None
            if metric in form.higher_is_better:
                source = f"declared in {form.declared_in}"
                declared = Direction(form.higher_is_better[metric], source)
            contents[metric] = LoggedMetric(
                declared, collected.lowest[metric], collected.highest[metric], remarks
            )
    return contents, unread


def _verify_metrics(
    path: Path,
    form: ScoreForm,
    contents: Mapping[str, LoggedMetric],
    unread: Mapping[str, str],
) -> None:
    """Raise :class:`InputError` for a log without scores, and for a metric that has the
    name of a column of samples.
    """
    if not contents:
        values = "".join(f"; '{metric}': {text}" for metric, text in unread.items())
        text = (
            "no score per sample; expected samples of lm-eval, lmms-eval, "
            f"inspect or every-eval-ever{values}"
        )
        error = CaptionsWithoutScores if form.has_captions else InputError
        raise error(text, str(path))

    for metric in contents:
        reserved = KEY_COLUMNS | OPTIONAL_COLUMNS
        if metric in reserved or metric.startswith(P_PREFIX):
            raise InputError(
                f"a metric has the name of a column, '{metric}'; rename it, "
                "or list the metrics in the field 'metrics'",
                str(path),
            )


def _record_metric(
    directed: DirectedScore,
    metric: str,
    scores_of: Mapping[str, np.ndarray],
    artifacts: MemoryArtifacts,
) -> Iterator[ResultRecord]:
    """Yield the record of a metric for each model that has scores, and write these to
    the artifacts as its statistics.
    """
    for model, scores in scores_of.items():
        n = int(np.sum(~np.isnan(scores)))
        if not n:
            continue
        key = ArtifactKey.of(f"{model} {metric}", model, metric)
        statistics = Scored(scores[:, None], None, None, "", 0.0)
        artifacts.write_arrays(key, statistics.to_arrays())
        yield ResultRecord(
            model=model,
            metric=metric,
            higher_is_better=directed.metric.spec.higher_is_better,
            value=float(np.nanmean(scores)),
            n=n,
            skipped=len(scores) - n,
            statistics=key.stem,
        )


def _direct(metric: str, content: LoggedMetric) -> DirectedScore:
    """Return a metric under the direction of its log, or of its name."""
    direction = content.declared or direction_of_name(metric)
    return DirectedScore(
        LoggedScore(metric, None, direction.higher_is_better),
        direction.note,
        content.infinite(metric),
    )


def read_score(value: YamlValue) -> float | None:
    """Return a value of a log as a number: NaN for a sample without a score,
    None for a value that is no score.

    >>> [
    ...     read_score(value)
    ...     for value in ("0.75", "C", "TRUE", "no", False, None, "maybe")
    ... ]
    [0.75, 1.0, 1.0, 0.0, 0.0, nan, None]
    """
    if value is None:
        return math.nan
    if isinstance(value, (bool, int, float)):
        try:
            return float(value)
        except OverflowError:  # an integer beyond the largest float
            return math.inf if value > 0 else -math.inf
    if not isinstance(value, str):
        return None

    # Letters count as they are written, words in any case: so reads inspect.
    text = value.strip()
    number = LETTERS.get(text, WORDS.get(text.lower()))
    if number is not None:
        return number
    try:
        return float(text)
    except ValueError:
        return None


def _mean_score(numbers: Sequence[float]) -> float:
    """Return the mean of the numbers of one sample that are not NaN;
    NaN without any.
    """
    scores = [number for number in numbers if not math.isnan(number)]
    if len(scores) == 1:  # without epochs, and without the rounding of a mean
        return scores[0]
    return float(np.mean(scores)) if scores else math.nan


def _name_value(value: YamlValue) -> str:
    """Return a value that is no score for a note: a text in quotes,
    the kind of anything else.
    """
    return f"'{value:.40}'" if isinstance(value, str) else kind(value)


@dataclass
class _Collected:
    """Values of all samples, by metric; what is no score is counted."""

    advice: str
    values: dict[str, dict[tuple[str, str], list[float]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    """Metric -> model and sample -> its numbers, one per epoch;
    NaN for a value that is none.
    """
    lowest: dict[str, Extreme] = field(default_factory=dict[str, Extreme])
    highest: dict[str, Extreme] = field(default_factory=dict[str, Extreme])
    _samples: dict[tuple[str, str], None] = field(
        default_factory=dict[tuple[str, str], None]
    )
    """Models and samples, in the order of the log."""
    _seen: dict[tuple[str, str, str, str], tuple[LoggedSample, YamlValue]] = field(
        default_factory=dict[tuple[str, str, str, str], tuple[LoggedSample, YamlValue]]
    )
    """Model, sample, epoch, metric -> first record that has it."""
    _unread: dict[tuple[str, str], Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    """Model, metric -> values that are no scores."""
    _copies: list[LoggedSample] = field(default_factory=list[LoggedSample])
    """Records that repeat an earlier one word for word."""

    def add(self, sample: LoggedSample, model: str) -> None:
        """Add a record; raise :class:`InputError` for one of a sample that has another
        record in the same epoch.
        """
        keys = {
            metric: (model, sample.name, sample.epoch, metric)
            for metric in sample.values
        }

        # A record that was written twice counts once; another value is a mistake.
        for metric, key in keys.items():
            if key not in self._seen:
                continue
            earlier, value = self._seen[key]
            if sample.repeats(earlier):
                self._copies.append(sample)
                return
            raise InputError(
                f"{sample.title} occurs twice (first at {earlier.where}): "
                f"'{metric}' is {value!r:.40} and "
                f"{sample.values[metric]!r:.40}; {self.advice}",
                sample.where,
            )

        self._samples.setdefault((model, sample.name))
        for metric, value in sample.values.items():
            self._seen[keys[metric]] = sample, value
            number = read_score(value)
            if number is None:
                self._unread[model, metric][_name_value(value)] += 1
                number = math.nan
            elif not math.isnan(number):
                extreme = Extreme(number, sample.where)
                if number < self.lowest.setdefault(metric, extreme).value:
                    self.lowest[metric] = extreme
                if number > self.highest.setdefault(metric, extreme).value:
                    self.highest[metric] = extreme
            self.values[metric].setdefault((model, sample.name), []).append(number)

    @property
    def models(self) -> list[str]:
        """Models, in the order of the log."""
        return list(dict.fromkeys(model for model, _ in self._samples))

    @property
    def repeated(self) -> str:
        """Records that were written twice, for a note; empty without any."""
        if not self._copies:
            return ""
        lines = counted(
            len(self._copies), "record", "repeats an earlier one/repeat earlier ones"
        )
        verb = "counts" if len(self._copies) == 1 else "count"
        return f"{lines} word for word and {verb} once ({self._copies[0].title})"

    def table(self) -> dict[str, list[Any]]:
        """Return the columns of the samples without those of metrics."""
        models, names = zip(*self._samples) if self._samples else ((), ())
        empty: list[Any] = [()] * len(models)
        columns = {
            "model": list(models),
            "example": list(names),
            "decoding": ["{}"] * len(models),
        }
        return {**columns, "candidates": empty, "references": list(empty)}

    def column(self, metric: str) -> np.ndarray:
        """Return the means over the epochs that have a score, shape (B,);
        NaN for a sample without one.
        """
        values = self.values[metric]
        return np.array(
            [_mean_score(values.get(sample, ())) for sample in self._samples],
            dtype=np.float64,
        )

    def has_score(self, model: str, metric: str) -> bool:
        """Return True where some value of a model is a score."""
        return any(
            not all(map(math.isnan, values))
            for (name, _), values in self.values[metric].items()
            if name == model
        )

    def remark(self, model: str, metric: str) -> str:
        """Return what of a model's values is no score, with its number; empty where all
        are scores, or the model has none of them.
        """
        of_model = [sample for sample in self._samples if sample[0] == model]
        if not any(sample in self.values[metric] for sample in of_model):
            return ""
        numbers = [
            number
            for sample in of_model
            for number in self.values[metric].get(sample, (math.nan,))
        ]
        total = counted(len(numbers), "value")

        unread = self._unread.get((model, metric), Counter[str]())
        count = unread.total()
        unscored = sum(map(math.isnan, numbers)) - count
        remarks: list[str] = []
        if count:
            names = ", ".join(list(unread)[:NAMED])
            names += ", ..." if len(unread) > NAMED else ""
            are = "is no score" if count == 1 else "are no scores"
            remarks.append(f"{count:,} of {total} {are}: {names}")
        if unscored:
            are = "is" if unscored == 1 else "are"
            remarks.append(f"{unscored:,} of {total} {are} unscored")
        return "; ".join(remarks)
