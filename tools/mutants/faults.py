"""The list of planted faults, and the tests that are near each."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.mutants.processes import ROOT

FAULTS = Path(__file__).with_name("planted_faults.toml")
CORE = "kernels/core/"


@dataclass(frozen=True)
class Area:
    """A part of the sources, and the fast tests that are near it."""

    name: str
    sources: Sequence[str]
    tests: Sequence[str]
    drawn: int
    """Number of drawn faults."""


@dataclass(frozen=True)
class Fault:
    """A change of one place of a source."""

    name: str
    area: str
    origin: str
    """``review``, ``hand``, or ``drawn``."""
    file: str
    old: str
    new: str
    reason: str = ""
    """The reason for which the change alters no result."""

    def plant(self, source: str) -> str:
        """Return the source with the fault; raise ValueError unless the replaced text
        occurs once.
        """
        if source.count(self.old) != 1:
            raise ValueError(
                f"{self.name}: {self.file} has {source.count(self.old)} times "
                f"{self.old!r}; expected once"
            )
        return source.replace(self.old, self.new)


def read_faults() -> tuple[dict[str, Area], dict[str, Fault]]:
    """Return the areas and the faults of the list by their names."""
    content = tomllib.loads(FAULTS.read_text(encoding="utf-8"))
    areas = {name: Area(name, **fields) for name, fields in content["areas"].items()}
    return areas, {fields["name"]: Fault(**fields) for fields in content["fault"]}


def find_stages(fault: Fault, area: Area) -> list[list[str]]:
    """Return the test modules that run against a fault: the one of its module,
    then those of its area.
    """
    path = Path(fault.file)
    parts = [part for part in path.parent.parts if not part.startswith("harness_")]
    own = str(Path("tests", *parts, f"test_{path.name}"))
    stages = [[own], [test for test in area.tests if test != own]]
    present = [[test for test in stage if (ROOT / test).is_file()] for stage in stages]
    return [stage for stage in present if stage]
