"""Preferences between the two captions of a pair: signed votes, labels that a task
maps, and names of systems.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from harness.errors import InputError
from harness.files.records import kind
from harness.files.yaml_source import YamlValue
from harness.judgments.fields import number, same
from harness.judgments.judgment_models import PreferenceLabels

_SIGNS = (1.0, -1.0, 0.0, math.nan)
"""Vote of each field of :class:`PreferenceLabels`; a pair without another vote than NaN
is left out.
"""


@dataclass
class Preferences:
    """Reader of the preferences of a file, which remembers whether a vote had a sign.

    A label such as 0 or 1 names no caption by itself: 0 is the first caption in one
    file, a tie in the next.
    """

    labels: PreferenceLabels
    unsigned: dict[str, str] = field(default_factory=dict[str, str])
    """Number without a sign -> the place where it stands first, as long as no vote is
    negative.
    """
    signed: bool = False
    """True after a negative vote."""

    def read(
        self, value: YamlValue, systems: Sequence[str], location: str, name: str
    ) -> tuple[float, ...]:
        """Return the votes, +1 for the first caption, -1 for the second, NaN for none;
        nothing for a pair that is left out.

        Raises :class:`InputError` for a label that is no number, has no entry in the
        mapping and names no system of the pair.
        """
        values: Sequence[YamlValue] = [value]
        if isinstance(value, (list, tuple)):
            values = cast("Sequence[YamlValue]", value)
        if all(item in (None, "") for item in values):
            raise InputError(
                f"'{name}' is {kind(value)}; expected a preference or a list of votes",
                location,
            )
        votes: list[float] = []
        for item in values:
            if item in (None, ""):
                votes.append(math.nan)
            else:
                votes.append(self._read_vote(item, systems, location, name))
        return () if all(map(math.isnan, votes)) else tuple(votes)

    def _read_vote(
        self, item: YamlValue, systems: Sequence[str], location: str, name: str
    ) -> float:
        """Return a vote: by the labels of the spec, by the name of a system, or as it
        is.
        """
        for sign, labels in zip(_SIGNS, self.labels.lists):
            if any(same(item, label) for label in labels):
                return sign

        rivals = list(systems) if systems[0] != systems[1] else []
        if str(item) in rivals:
            return 1.0 if str(item) == systems[0] else -1.0

        value = number(item)
        if value is None or any(self.labels.lists):
            labels = [str(label) for labels in self.labels.lists for label in labels]
            labels += [system for system in rivals if system]
            expected = "+1, -1, a system (columns system_first and system_second)"
            if labels:
                expected = f"one of {', '.join(labels)}"
            raise InputError(
                f"'{name}' holds {item!r:.40}; expected {expected}, "
                f"or {_mapping([str(item)])}",
                location,
            )

        self.signed = self.signed or value < 0
        if not self.signed:
            self.unsigned.setdefault(f"{value:g}", f"{location}: '{name}'")
        return value

    def check(self) -> None:
        """Raise :class:`InputError` when the file has numbers as votes, and none of
        them is negative.
        """
        if self.signed or not self.unsigned:
            return
        labels = sorted(self.unsigned, key=float)
        location, _, name = self.unsigned[labels[0]].rpartition(": ")
        text = (
            f"{name} holds {', '.join(labels[:5])} and no negative vote: "
            f"tell which caption each prefers with {_mapping(labels)}"
        )
        raise InputError(text, location)


def _mapping(labels: Sequence[str]) -> str:
    """Return the mapping to type for labels whose meaning the user knows.

    >>> _mapping(["0", "1"])
    'judgments.preference: {first: [0], second: [1]} (or the other way round)'
    """
    entries = ", ".join(
        f"{meaning}: [{label}]"
        for meaning, label in zip(("first", "second", "tie", "skip"), labels)
    )
    remark = {1: "or second, tie, skip", 2: "or the other way round"}.get(
        len(labels), "each where it belongs"
    )
    return f"judgments.preference: {{{entries}}} ({remark})"
