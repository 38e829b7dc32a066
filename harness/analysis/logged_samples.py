"""Samples of the logs of other harnesses, with their scores as they are written, and
the directions that a log declares.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from harness.files.yaml_source import YamlValue


@dataclass(frozen=True, slots=True)
class LoggedSample:
    """One record of a log: its values by metric, as they are written."""

    where: str
    """File and line or record."""
    model: str
    """Empty where the log does not name it."""
    name: str
    """Id by which samples of two logs are paired."""
    title: str
    """The sample in messages, such as ``doc 3``."""
    values: Mapping[str, YamlValue]
    """Label of a metric -> value."""
    epoch: str = ""
    """Repetition of the sample, whose values are averaged; empty without repetitions.
    """
    record: Mapping[str, YamlValue] | None = None
    """The whole record, where equal records of one sample are one that was written
    twice; None where they are a mistake.
    """

    def repeats(self, other: LoggedSample) -> bool:
        """Return True where this record repeats another one word for word."""
        if self.record is None or other.record is None:
            return False
        # as texts: NaN, which is not equal to itself, may be a value of both
        mine, earlier = (
            json.dumps(record, sort_keys=True, default=str)
            for record in (self.record, other.record)
        )
        return mine == earlier


@dataclass(frozen=True)
class ScoreForm:
    """Samples of a log."""

    name: str
    """Name of the form, with the task where the log names it:
    logs of two names are not compared.
    """
    samples: Iterable[LoggedSample]
    advice: str
    """Remedy for a sample that occurs twice, for messages."""
    higher_is_better: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Label of a metric -> direction, for those that the log declares."""
    declared_in: str = ""
    """Name of the file that declares them."""
    has_captions: bool = False
    """True where the samples have outputs beside targets,
    which ``harness score`` reads.
    """


def mapping_of(value: object) -> Mapping[str, Any]:
    """Return a value that is a mapping; an empty one for any other."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
