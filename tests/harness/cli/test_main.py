"""The command line as a process: quick start, exit codes, one line for mistakes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from harness.cli import process
from harness.cli.main import commands, main
from harness.registry import in_use

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
HEAVY = (
    "torch",
    "transformers",
    "sentence_transformers",
    "datasets",
    "scipy",
    "matplotlib",
    "pandas",
    "pydantic",
)
NO_ARRAYS = ("--help", "list", "--version")
"""Verbs and options that import no numpy: half of their time."""
COMMAND = '''"""Count words."""

def add_arguments(parser):
    parser.add_argument("text")

def run(args):
    print(len(args.text.split()))
'''


def harness(*arguments, cwd=None, check=False):
    command = [sys.executable, "-m", "harness", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=check)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["list"], ["list", "metrics", "--json"], ["--version"]]
)
def test_start_is_light(arguments, tmp_path):
    heavy = (*HEAVY, "numpy") if arguments[-1] in NO_ARRAYS else HEAVY
    code = (
        "import sys; from harness.cli.main import main; code = main(sys.argv[1:]);"
        f"heavy = [name for name in {heavy!r} if name in sys.modules]; "
        f"sys.exit(f'imports {{heavy}}' if heavy else code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.slow
def test_two_captions_are_scored_without_scipy_and_threads_rest(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"1": "a dog runs", "2": "a cat sat"}))
    (tmp_path / "r.json").write_text(
        json.dumps({"1": ["a dog runs fast"], "2": ["the cat sat"]})
    )
    code = (
        "import os, sys; from harness.cli.main import main; code = main(sys.argv[1:]);"
        "heavy = [name for name in ('scipy', 'pandas', 'harness.judgments.plan') "
        "if name in sys.modules];"
        "sys.exit(f'imports {heavy}' if heavy else code or "
        "os.environ['OPENBLAS_THREAD_TIMEOUT'] != '18')"
    )
    environment = {
        name: text
        for name, text in os.environ.items()
        if name != "OPENBLAS_THREAD_TIMEOUT"
    }
    command = [
        sys.executable,
        "-c",
        code,
        "score",
        "a.json",
        "--references",
        "r.json",
        "-m",
        "cider,bleu,rouge",
    ]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "4.4042" in done.stdout


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


@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rum"], "unknown verb 'rum'; did you mean 'run'?"),
        (["list", "metric"], "unknown kind 'metric'; did you mean 'metrics'?"),
        (
            ["show", "metoer"],
            "there is nothing called 'metoer'; did you mean 'meteor'?",
        ),
        (["run", "missing.yaml"], "missing.yaml: no such spec file or task"),
        (
            ["validate", "spec.yaml", "--set", "metrics=[lenth]"],
            "unknown metric 'lenth'; did you mean 'length'?",
        ),
        (["run", "spec.yaml", "--limit", "0"], "no examples after limit 0"),
        (["list", "--registry", "none.yaml"], "none.yaml: no such registry file"),
        (["run", "--limt", "3"], "run: no option '--limt'; did you mean '--limit'?"),
        (
            ["run", "spec.yaml", "--limt=3"],
            "run: no option '--limt'; did you mean '--limit'?",
        ),
        (
            ["run", "spec.yaml", "-o", "x"],
            "run: no option '-o'; did you mean --output?",
        ),
        (
            ["run", "spec.yaml", "--metric", "x"],
            "run: no option '--metric'; 'metrics' is a key of the spec: "
            "--set metrics=VALUE",
        ),
        (["run"], "run: the following arguments are required: spec"),
        (
            ["run", "spec.yaml", "--limit", "x"],
            "run: argument --limit: invalid int value: 'x'",
        ),
        (
            ["score", "-x"],
            "score: no option '-x' ('harness score --help' lists the options)",
        ),
        (
            ["train", "a3ds", "--stge", "x"],
            "train a3ds: no option '--stge'; did you mean '--stage'?",
        ),
        (
            [*SCORED, "-m", "cider", "--p-values", "exakt"],
            "--p-values: no 'exakt'; did you mean 'exact'?; there are none",
        ),
        (
            [*SCORED, "-m", "nosuch"],
            "harness: -m nosuch: unknown metric 'nosuch' ('harness list metrics' "
            "shows them)",
        ),
        (
            [*SCORED, "-m", "lenth"],
            "harness: -m lenth: unknown metric 'lenth'; did you mean 'length'?",
        ),
        (
            [*SCORED, "-m", "length:scal=2"],
            "harness: -m length:scal=2: metric 'length' has no parameter 'scal'",
        ),
        (
            [*SCORED, "-m", "length:scale=["],
            "the value of 'scale' is not readable: '['",
        ),
        (
            [*SCORED, "-m", "length", "--seed", "-1"],
            "harness: --seed: seed: input should be greater",
        ),
        (
            [
                "score",
                "--candidates",
                "refs.json",
                "--references",
                "ref.json",
                "-m",
                "length",
            ],
            "did you mean 'refs.json'?",
        ),
        (
            [
                "score",
                "--candidates",
                "nan.json",
                "--references",
                "refs.json",
                "-m",
                "length",
            ],
            NAN,
        ),
        (
            ["run", "paths.yaml"],
            "harness: paths.yaml:4: nothere.json: no such file of references",
        ),
        (
            ["run", "paths.yaml", "--set", "dataset.path=refs.json"],
            "paths.yaml:7: nopred.json: no such file of predictions",
        ),
        (
            ["run", "specc.yml"],
            "specc.yml: no such spec file or task; did you mean 'spec.yaml'?",
        ),
        (
            ["run", "tasks/coc.yml"],
            "tasks/coc.yml: no such spec file or task; did you mean 'coco'?",
        ),
        (
            ["run", "spec.yaml", *TWO_SIZES, "--set", "views=[{plot: table}]"],
            "make decoding.candidates its x or by",
        ),
        (
            ["power", "runs/x", "--target-p", "2"],
            "--target-p is 2; expected more than 0 and at most 1",
        ),
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


@pytest.mark.slow
def test_debug_shows_the_traceback(project):
    assert "Traceback" in harness("--debug", "run", "missing.yaml", cwd=project).stderr


@pytest.fixture
def counting(project):
    """A project whose registry adds the verb ``count``."""
    (project / "count_words.py").write_text(COMMAND)
    with (project / "registry.yaml").open("a") as file:
        file.write(
            'commands: {count: {import: "count_words:run", summary: '
            "count the words of a text}}\n"
        )
    in_use._load.cache_clear()
    yield project
    sys.modules.pop("count_words", None)


def test_a_local_registry_adds_a_verb(counting, capsys):
    assert main(["count", "a b c"]) == 0
    assert capsys.readouterr().out == "3\n"
    assert main(["--help"]) == 0
    assert "count the words of a text" in capsys.readouterr().out
    assert main(["count"]) == 2
    assert (
        "count: the following arguments are required: text" in capsys.readouterr().err
    )


def test_a_verb_without_its_functions_is_one_line(counting, capsys):
    (counting / "count_words.py").write_text("def run(args): pass\n")
    assert main(["count", "a"]) == 2
    assert (
        "command 'count': the module count_words has no function add_arguments"
        in capsys.readouterr().err
    )
    assert main(["completion", "bash"]) == 0


def test_a_verb_that_cannot_be_imported_is_one_line(counting, capsys):
    (counting / "count_words.py").write_text("1 / 0\n")
    assert main(["count", "a"]) == 2
    assert (
        "command 'mine/count' (count_words:run) could not be imported: "
        "ZeroDivisionError" in capsys.readouterr().err
    )


def test_the_command_is_installed_under_the_name_of_the_distribution_too():
    project = tomllib.loads(
        (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    )["project"]
    assert project["scripts"] == dict.fromkeys(
        ("harness", project["name"]), "harness.__main__:main"
    ), "uvx caption-harness"


def test_libraries_draw_no_bars_unless_the_environment_asks(monkeypatch):
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "0")
    monkeypatch.delenv("HF_DATASETS_DISABLE_PROGRESS_BARS", raising=False)
    process.silence_libraries()
    assert (
        os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] == "0"
        and os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] == "1"
    )


def test_the_help_has_every_verb_once_under_a_heading(capsys):
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("You have two files: harness score A.json ")
    headings = ("score and compare:", "run:", "for plugins and studies:")
    places = [lines.index(heading) for heading in headings]
    assert places == sorted(places)
    verbs = [line.split()[0] for line in lines[places[0] :] if line.startswith("  ")]
    assert sorted(verbs) == sorted(commands())
    assert {"train", "check", "new-plugin"} <= {
        line.split()[0] for line in lines[places[2] :] if line.startswith("  ")
    }


@pytest.mark.parametrize("module", ["harness.cli.main", "yaml", "logging"])
def test_ctrl_c_while_the_command_line_is_imported_ends_with_one_line(module):
    """The key comes when a module is looked for,
    as it may within the first third of a second.
    """
    code = (
        "import sys, os, signal\n"
        "class Key:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import harness.__main__\n"
        f"sys.modules.pop({module!r}, None)\n"
        "sys.meta_path.insert(0, Key())\n"
        "sys.exit(harness.__main__.main(['list']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        130,
        "",
        "harness: interrupted; run the same command again to continue\n",
    )


def test_warnings_of_the_next_versions_of_libraries_are_not_printed():
    code = (
        "import warnings; from harness.cli import process; "
        "process.silence_libraries(); warnings.warn('soon', FutureWarning)"
    )
    for options, shown in (([], False), (["-W", "default"], True)):
        done = subprocess.run(
            [sys.executable, *options, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert ("soon" in done.stderr) is shown
