"""The command line as a process: quick start, exit codes, one line for mistakes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SCORED = ("score", "--candidates", "refs.json", "--references", "refs.json")
TWO_SIZES = ("--set", "decoding.candidates=[1, 2]")
NAN = "nan.json: 'b': record 2: found NaN; JSON numbers are finite"
PATHS = """task: paths
dataset:
  reader: auto
  path: nothere.json
models:
  - predictions:
      path: nopred.json
metrics: [length]
"""
HEAVY = ("torch", "transformers", "sentence_transformers", "datasets", "scipy.stats", "matplotlib", "numba", "pandas")


def harness(*arguments, cwd=None, check=False):
    command = [sys.executable, "-m", "harness", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=check)


@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["list", "metrics", "--json"], ["--version"]])
def test_start_is_light(arguments, tmp_path):
    code = (
        "import sys; from harness.cli.main import main; code = main(sys.argv[1:]);"
        f"heavy = [name for name in {HEAVY!r} if name in sys.modules]; sys.exit(f'imports {{heavy}}' if heavy else code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_list_names_what_is_shipped(tmp_path):
    shown = json.loads(harness("list", "--json", cwd=tmp_path, check=True).stdout)
    names = {(entry["kind"], entry["name"]) for entry in shown["entries"]}
    assert {
        ("metrics", "trm"),
        ("metrics", "meteor"),
        ("adapters", "predictions"),
        ("readers", "coco"),
        ("tasks", "coco"),
    } <= names
    assert shown["failures"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rum"], "unknown verb 'rum'; did you mean 'run'?"),
        (["list", "metric"], "unknown kind 'metric'; did you mean 'metrics'?"),
        (["show", "metoer"], "there is nothing called 'metoer'; did you mean 'meteor'?"),
        (["run", "missing.yaml"], "missing.yaml: no such spec file or task"),
        (["validate", "spec.yaml", "--set", "metrics=[lenth]"], "unknown metric 'lenth'; did you mean 'length'?"),
        (["run", "spec.yaml", "--limit", "0"], "no examples after limit 0"),
        (["list", "--registry", "none.yaml"], "none.yaml: no such registry file"),
        (["run", "--limt", "3"], "run: no option '--limt'; did you mean '--limit'?"),
        (["run", "spec.yaml", "--limt=3"], "run: no option '--limt'; did you mean '--limit'?"),
        (["run"], "run: the following arguments are required: spec"),
        (["run", "spec.yaml", "--limit", "x"], "run: argument --limit: invalid int value: 'x'"),
        (["score", "-x"], "score: no option '-x' ('harness score --help' tells more)"),
        (["train", "a3ds", "--stge", "x"], "train a3ds: no option '--stge'; did you mean '--stage'?"),
        (
            [*SCORED, "-m", "cider", "--p-values", "exakt"],
            "--p-values: no 'exakt'; did you mean 'exact'?; there are none",
        ),
        ([*SCORED, "-m", "nosuch"], "harness: -m nosuch: unknown metric 'nosuch' ('harness list metrics' shows them)"),
        ([*SCORED, "-m", "lenth"], "harness: -m lenth: unknown metric 'lenth'; did you mean 'length'?"),
        ([*SCORED, "-m", "length:scal=2"], "harness: -m length:scal=2: metric 'length' has no parameter 'scal'"),
        ([*SCORED, "-m", "length:scale=["], "the value of 'scale' is not readable: '['"),
        ([*SCORED, "-m", "length", "--seed", "-1"], "harness: --seed: seed: input should be greater"),
        (
            ["score", "--candidates", "refs.json", "--references", "ref.json", "-m", "length"],
            "did you mean 'refs.json'?",
        ),
        (["score", "--candidates", "nan.json", "--references", "refs.json", "-m", "length"], NAN),
        (["run", "paths.yaml"], "harness: paths.yaml:4: nothere.json: no such file of references"),
        (
            ["run", "paths.yaml", "--set", "dataset.path=refs.json"],
            "paths.yaml:7: nopred.json: no such file of predictions",
        ),
        (["run", "specc.yml"], "specc.yml: no such spec file or task; did you mean 'spec.yaml'?"),
        (["run", "tasks/coc.yml"], "tasks/coc.yml: no such spec file or task; did you mean 'coco'?"),
        (["run", "spec.yaml", *TWO_SIZES, "--set", "views=[{plot: table}]"], "make decoding.candidates its x or by"),
        (["power", "runs/x", "--target-p", "2"], "--target-p is 2; expected more than 0 and at most 1"),
        (["power", "runs/x", "--repeats", "0"], "--repeats is 0; expected at least 1"),
    ],
)
def test_a_mistake_is_one_line_and_code_2(project, arguments, message):
    (project / "refs.json").write_text('{"a": ["x dog"], "b": ["y"]}')
    (project / "nan.json").write_text('{"a": ["NaN"], "b": ["y", NaN]}')
    (project / "paths.yaml").write_text(PATHS)
    done = harness(*arguments, cwd=project)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert not (project / "runs").exists(), "nothing half-written"


def test_train_lists_its_systems_and_a_built_in_keeps_its_bare_name(project):
    with (project / "registry.yaml").open("a") as file:
        file.write('trainers:\n  tvt: {import: "mine:x", summary: "mine"}\n')
    assert "clipcap" in harness("train", "--help", cwd=project, check=True).stdout
    assert "SPEC.yaml, --output" in harness("train", "tvt", cwd=project).stderr


def test_debug_shows_the_traceback(project):
    assert "Traceback" in harness("--debug", "run", "missing.yaml", cwd=project).stderr


def test_a_run_prints_a_table_and_returns_1_when_examples_failed(project):
    done = harness("run", "spec.yaml", cwd=project)
    assert done.returncode == 0, done.stderr
    assert "length" in done.stdout
    assert "↑" in done.stdout
    failed = harness("run", "spec.yaml", "--set", "models=[{echo: {fail: [e1]}}]", "--output", "other", cwd=project)
    assert failed.returncode == 1
    assert "could not read it" in failed.stdout


def test_a_table_with_nothing_to_show_is_a_line(project):
    view = '[{plot: table, x: model, y: "p:length", title: P}, {plot: table, x: model, y: length, title: L}]'
    done = harness("run", "spec.yaml", "--set", f"views={view}", "--set", "significance=none", cwd=project, check=True)
    assert "P: no values in this run" in done.stdout
    assert "echo" in done.stdout.partition("P: no values")[2], "the next table is whole"


def test_validate_and_schema(project):
    assert "valid" in harness("validate", "spec.yaml", cwd=project, check=True).stdout
    schema = json.loads(harness("schema", cwd=project, check=True).stdout)
    assert "length" in schema["properties"]["metrics"]["items"]["anyOf"][0]["enum"]


@pytest.mark.parametrize(
    "view",
    [
        "{plot: table, x: decoding.candidates, by: model}",
        "{plot: table, x: metric, by: decoding.candidates}",
        "{plot: line, x: model}",
    ],
)
def test_a_view_with_one_result_a_cell_passes(project, view):
    done = harness("validate", "spec.yaml", *TWO_SIZES, "--set", f"views=[{view}]", cwd=project)
    assert done.returncode == 0, done.stderr


def test_a_view_that_would_pick_one_of_several_results_is_refused_with_its_place(project):
    (project / "spec.yaml").write_text(
        (project / "spec.yaml").read_text() + "views:\n  - {plot: bar, title: T, x: metric}\n"
    )
    done = harness("validate", "spec.yaml", "--set", "models=[{echo: {n: 1}}, {echo: {n: 2}}]", cwd=project)
    assert done.returncode == 2
    told = (
        "the view 'T' has one cell for several results, which differ in model (echo, echo #2): make model its x or by"
    )
    assert done.stderr.strip() == f"harness: spec.yaml:9: {told}"


def test_show_prints_a_card(project):
    code = project / "mine_parts.py"
    code.write_text(
        code.read_text().replace("Mean number of words", "Mean ``number`` of words (see :class:`~a.b.Chars`)")
    )
    shown = harness("show", "length", cwd=project, check=True).stdout
    assert "Mean number of words (see Chars) of the candidates" in shown
    shown = harness("show", "length", cwd=project, check=True).stdout
    assert "scale = 1.0" in shown
