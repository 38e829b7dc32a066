"""The main job of a bare installation, as a user types it, outside of any checkout."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

CANDIDATES = [
    {"image_id": 1, "caption": "a dog runs on the grass"},
    {"image_id": 2, "caption": "a cat on a mat"},
]
REFERENCES = {
    "1": ["a dog is running", "the dog runs fast over grass"],
    "2": ["a cat sits on a mat", "one grey cat"],
}
COMMANDS = (
    "--version",
    "--help",
    "list --json",
    "show cider",
    "validate coco",
    "schema",
    "completion bash",
    "score A.json --references R.json -m cider -m meteor --json",
    "run coco --limit 20 --output run --json",
    "report run --output run.html",
    "compare run --json",
)


@dataclass(frozen=True)
class Exercise:
    """Outcome of the commands in one environment."""

    seconds: dict[str, float]
    """Command -> time."""
    values: dict[str, float]
    """``metric | model`` -> value of the run, and of the two files."""


class Failed(Exception):
    """A command that does not end with 0."""


def exercise(bin_folder: Path, folder: Path) -> Exercise:
    """Run :data:`COMMANDS` with the programs of an environment in an empty folder;
    raise :class:`Failed` for one that fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "A.json").write_text(json.dumps(CANDIDATES))
    (folder / "R.json").write_text(json.dumps(REFERENCES))
    seconds: dict[str, float] = {}
    values: dict[str, float] = {}
    for text in COMMANDS:
        start = time.perf_counter()
        output = call(bin_folder, text, folder)
        seconds[text.partition(" -")[0]] = time.perf_counter() - start
        if text.startswith(("run", "score")):
            values |= {
                f"{row['metric']} | {row['model']}": row["value"]
                for row in json.loads(output)["results"]
            }
    if not (folder / "run.html").stat().st_size:
        raise Failed("harness report wrote an empty page")
    return Exercise(seconds, values)


def call(bin_folder: Path, arguments: str, folder: Path) -> str:
    """Return what ``harness ARGUMENTS`` prints in a folder; raise :class:`Failed` with
    its last lines when it fails.
    """
    keep = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PYTHON", "HARNESS_", "VIRTUAL_ENV"))
    }
    cache = {
        "HARNESS_CACHE": str(folder / "cache"),
        "PYTHONWARNINGS": "error::UserWarning",
    }
    command = [str(bin_folder / "harness"), *arguments.split()]
    result = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        env=keep | cache,
        check=False,
    )
    if result.returncode:
        raise Failed(
            f"harness {arguments}: exit code {result.returncode}\n"
            f"{result.stderr[-2000:]}"
        )
    return result.stdout


def differences(
    first: Exercise, second: Exercise, tolerance: float = 1e-12
) -> list[str]:
    """Return the names whose values differ by more than a relative tolerance, or that
    only one of two exercises has.
    """
    names = sorted(first.values.keys() | second.values.keys())
    return [
        name
        for name in names
        if not _close(first.values.get(name), second.values.get(name), tolerance)
    ]


def _close(first: float | None, second: float | None, tolerance: float) -> bool:
    if first is None or second is None:
        return False
    return abs(first - second) <= tolerance * max(abs(first), abs(second))
