"""Projects, undisturbed runs, comparisons and counts of the soak test."""

from __future__ import annotations

import contextlib
import importlib
import random
import shutil
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from tools.soak.cases import SPECS, write_project
from tools.soak.faults import Fault
from tools.soak.processes import Child, End, Limits, Tally, state

T = TypeVar("T")


class Workshop:
    """Two projects with the same specs and other data, and the undisturbed runs of both."""

    def __init__(self, folder: Path, seed: int, specs: Sequence[str] = (), part: tuple[int, int] = (0, 1)) -> None:
        self.folder = folder
        self.random = random.Random(f"{seed} {part[0]}")
        self.part, self._points = part, random.Random(seed)
        self.names = list(specs) or list(SPECS)
        self.tallies: dict[str, Tally] = {}
        self.environment = {"HARNESS_CACHE": str(folder / "cache")}
        for name, number in (("project", 1), ("other", 2)):
            write_project(folder / name, seed=number)
        self._number = 0
        self._comparisons: dict[str, str] = {}

    # ------------------------------------------------------------------ undisturbed
    @cached_property
    def expected(self) -> dict[str, dict[str, str]]:
        """State of the undisturbed run of every spec."""
        _ = self._calls
        return {name: self._undisturbed(name, "project") for name in self.names}

    @cached_property
    def others(self) -> dict[str, dict[str, str]]:
        """The same of the other data."""
        return {name: self._undisturbed(name, "other") for name in self.names}

    @cached_property
    def seconds(self) -> dict[str, float]:
        """Seconds of the undisturbed runs."""
        ends = {}
        for name in self.names:
            out = self.new_folder()
            ends[name] = self.run(name, out).seconds
            shutil.rmtree(out)
        return ends

    def _undisturbed(self, name: str, project: str) -> dict[str, str]:
        out = self.folder / f"undisturbed-{project}-{name}"
        end = self.run(name, out, project=project)
        if end.code != 0:
            raise SystemExit(f"the undisturbed run of {name} ends with {end.code}: {end.text}")
        return state(out)

    # ------------------------------------------------------------------ runs
    def new_folder(self) -> Path:
        """Return the path of a run directory that does not exist yet."""
        self._number += 1
        return self.folder / f"run-{self._number}"

    def start(
        self,
        name: str,
        out: Path,
        *options: str,
        project: str = "project",
        fault: Fault | None = None,
        limits: Limits | None = None,
    ) -> Child:
        """Start the run of a spec."""
        arguments = ["run", f"{name}.yaml", "--output", str(out), *options]
        return Child(arguments, self.folder / project, fault=fault, limits=limits, environment=self.environment)

    def run(self, name: str, out: Path, *options: str, project: str = "project", fault: Fault | None = None) -> End:
        """Run a spec to its end."""
        return self.start(name, out, *options, project=project, fault=fault).wait()

    def count(self, name: str) -> int:
        """Return the number of calls of a run that change the file system."""
        return self._calls[name]

    @cached_property
    def _calls(self) -> dict[str, int]:
        """Number of calls of the run of every spec; the modules that it loads are loaded here, for all later children."""
        calls = {}
        for name in self.names:
            out = self.new_folder()
            end = self.run(name, out, fault=Fault("count"))
            if end.code != 0:
                raise SystemExit(f"the undisturbed run of {name} ends with {end.code}: {end.text}")
            shutil.rmtree(out)
            text, _, number = end.text.rpartition("calls ")
            calls[name] = int(number)
            for module in text.rpartition("modules ")[2].split():
                if not module.startswith("__"):
                    with contextlib.suppress(Exception):  # names such as six.moves are no modules
                        importlib.import_module(module)
        return calls

    def comparison(self, out: Path) -> str:
        """Return the paired tests of a run as JSON, or the message that refuses them."""
        arguments = ["compare", str(out), "--json", "--draws", "200"]
        return Child(arguments, self.folder, environment=self.environment).wait().text.replace(str(out), "RUN")

    def comparison_of(self, name: str) -> str:
        """Return the paired tests of the undisturbed run of a spec."""
        if name not in self._comparisons:
            out = self.new_folder()
            shutil.copytree(self.folder / f"undisturbed-project-{name}", out)
            self._comparisons[name] = self.comparison(out)
        return self._comparisons[name]

    # ------------------------------------------------------------------ checks
    def tally(self, scenario_name: str) -> Tally:
        """Return the counts of a scenario."""
        return self.tallies.setdefault(scenario_name, Tally())

    def first_end(self, scenario_name: str, where: str, end: End) -> None:
        """Note how the disturbed process ended."""
        tally = self.tally(scenario_name)
        tally.tried += 1
        tally.interrupted += end.code < 0
        tally.refused += end.code == 2
        if not end.is_orderly:
            self.problem(scenario_name, "traceback", where, end)

    def check(self, scenario_name: str, where: str, name: str, out: Path, *, fresh: bool = False) -> None:
        """Run a spec undisturbed over what is there, and compare the end with the undisturbed run."""
        end = self.run(name, out, *(["--fresh"] if fresh else []))
        if end.code != 0:
            self.problem(scenario_name, "refused" if end.code == 2 else "traceback", where, end)
        else:
            self.compare(scenario_name, where, name, out, end)
        shutil.rmtree(out, ignore_errors=True)

    def compare(self, scenario_name: str, where: str, name: str, out: Path, end: End, *, locked: bool = False) -> None:
        """Note a problem when a finished directory differs from that of the undisturbed run.

        With ``locked`` the lock may have been left: the run could not remove it, and the next run does.
        """
        found, expected = state(out), self.expected[name]
        if locked:
            found.pop(".lock", None)
        different = sorted(file for file in {*found, *expected} if found.get(file) != expected.get(file))
        if different:
            kind = "lost" if any(file not in found for file in ("results.json", "manifest.json")) else "wrong"
            self.problem(scenario_name, kind, f"{where}: {', '.join(different[:4])}", end)

    def problem(self, scenario_name: str, kind: str, where: str, end: End) -> None:
        """Note and print a problem."""
        at = end.text.find("Traceback")
        shown = end.text[max(0, at - 200) : at + 1500] if at >= 0 else " ".join(end.text.split())[-600:]
        text = f"{kind}: {scenario_name}, {where}; exit {end.code}: {shown}"
        self.tally(scenario_name).problems.append(text)
        print(text, flush=True)

    def share(self, points: Iterable[T]) -> list[T]:
        """Return the points of this process, in random order; the other processes have the others."""
        shuffled = list(points)
        self._points.shuffle(shuffled)
        return shuffled[self.part[0] :: self.part[1]]


def print_summary(tallies: Mapping[str, Tally]) -> int:
    """Print the counts; return 1 when there are problems."""
    kinds = ("wrong", "lost", "refused", "traceback")
    print(f"{'scenario':<16} {'runs':>6} {'killed':>7} {'in one line':>11} {'  '.join(f'{k:>9}' for k in kinds)}")
    total = dict.fromkeys(("runs", "killed", *kinds), 0)
    for name, tally in tallies.items():
        row = [sum(text.startswith(kind) for text in tally.problems) for kind in kinds]
        print(f"{name:<16} {tally.tried:>6} {tally.interrupted:>7} {tally.refused:>11} {'  '.join(f'{k:>9}' for k in row)}")
        for key, value in zip(total, (tally.tried, tally.interrupted, *row)):
            total[key] += value
    problems = sum(total[kind] for kind in kinds)
    print(f"{total['runs']} disturbed runs, {total['killed']} killed: " + ", ".join(f"{total[k]} {k}" for k in kinds))
    return int(problems > 0)
