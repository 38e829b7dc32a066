"""Arguments of every verb that name a directory which somebody else made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness.cli.main import main

CAPTIONS = (
    Path(__file__).parents[2] / "tasks" / "harness_tasks" / "sample" / "captions.json"
)
ARGUMENTS: dict[str, Callable[[str, str], list[str]]] = {
    "arena": lambda found, out: [
        found,
        found,
        "--references",
        str(CAPTIONS),
        "--judge",
        "judge.yaml",
        "--label",
        "a",
        "--label",
        "b",
    ],
    "check": lambda found, out: [found],
    "compare": lambda found, out: [found],
    "completion": lambda found, out: ["bash"],
    "convert": lambda found, out: [found, "--to", out],
    "correlate": lambda found, out: [found, "--x", "rouge", "--y", "bleu1"],
    "describe": lambda found, out: [found],
    "df": lambda found, out: ["--references", found, "--output", f"{out}.npz"],
    "env": lambda found, out: ["list"],
    "estimate": lambda found, out: [found, "--labels", "labels.csv", "--by", "rouge"],
    "export": lambda found, out: [found, "--format", "lm-eval", "--output", out],
    "gate": lambda found, out: [
        found,
        "--baseline",
        found,
        "-m",
        "rouge",
        "--max-drop",
        "0.1",
    ],
    "label-plan": lambda found, out: [found, "--budget", "4"],
    "list": lambda found, out: ["metrics"],
    "merge": lambda found, out: [found, "--output", out],
    "new-plugin": lambda found, out: ["my-words", "--output", found],
    "power": lambda found, out: [found, "--compare", "people", "other", "-m", "rouge"],
    "push": lambda found, out: [found, "--to", out],
    "report": lambda found, out: [found],
    "rescore": lambda found, out: [found, "-m", "bleu2"],
    "run": lambda found, out: ["spec.json", "--output", found],
    "same": lambda found, out: [f"{found}::people", f"{found}::other", "--draws", "50"],
    "schema": lambda found, out: [],
    "score": lambda found, out: [found, "--references", str(CAPTIONS)],
    "show": lambda found, out: ["rouge"],
    "train": lambda found, out: ["captioner", "--checkpoint", found, "--output", out],
    "validate": lambda found, out: [found],
    "warm": lambda found, out: [found],
}
"""Verb -> arguments that name the foreign directory, and an output elsewhere."""


def run_verb(verb: str, found: Path, *options: str) -> int:
    """Run a verb on a directory, in the current one, and return its exit code."""
    try:
        return main([verb, *ARGUMENTS[verb](str(found), "out"), *options])
    except SystemExit as error:
        return int(error.code or 0)


def write_inputs(folder: Path, spec: str) -> None:
    """Write the files that the arguments name beside the directory: a spec,
    a judge, labels.
    """
    (folder / "spec.json").write_text(spec)
    (folder / "judge.yaml").write_text(
        "base_url: http://127.0.0.1:9/v1\nmodel: m\nretries: 0\n"
    )
    (folder / "labels.csv").write_text("id,system,score\n")
