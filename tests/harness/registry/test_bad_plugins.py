"""Plugins that break their contract and manifests that cannot be read: one line that
names the plugin, exit code 2.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from harness.cli.main import main
from harness.registry.hooks import plugin_failure

MANIFEST = """
provider: bad
metrics:
  raises-import: {import: "bad_raising:X", summary: x}
  exits-import: {import: "bad_exiting:X", summary: x}
  syntax: {import: "bad_syntax:X", summary: x}
  no-attribute: {import: "bad_parts:Raisez", summary: x}
  no-module: {import: "bad_nothing:X", summary: x}
  raises-init: {import: "bad_parts:RaisesInit", summary: x}
  no-members: {import: "bad_parts:NoMembers", summary: x}
  raises: {import: "bad_parts:Raises", summary: x}
  prints: {import: "bad_printing:Prints", summary: x}
  mutates: {import: "bad_parts:Mutates", summary: x}
  undefined: {import: "bad_parts:Undefined", summary: x}
  shape: {import: "bad_parts:Shape", summary: x}
  rows: {import: "bad_parts:Rows", summary: x}
  text: {import: "bad_parts:Text", summary: x}
  reduces: {import: "bad_parts:Reduces", summary: x}
distances:
  square: {import: "bad_parts:Square", summary: x}
  negative: {import: "bad_parts:negative", summary: x}
  raising: {import: "bad_parts:raising", summary: x}
embeddings:
  flat: {import: "bad_parts:flat", summary: x}
  endless: {import: "bad_parts:endless", summary: x}
  broken: {import: "bad_parts:Broken", summary: x}
adapters:
  raises: {import: "bad_parts:AdapterRaises", summary: x}
  short: {import: "bad_parts:AdapterShort", summary: x}
  numbers: {import: "bad_parts:AdapterNumbers", summary: x}
readers:
  raises: {import: "bad_parts:ReaderRaises", summary: x}
  twice: {import: "bad_parts:ReaderTwice", summary: x}
  plain: {import: "bad_parts:Reader", summary: x}
"""
PARTS = """
import harness
import numpy as np
from harness.contracts import Example, MeanMetric, MetricSpec, TextDistance


class Base(MeanMetric):
    def __init__(self):
        self.spec = MetricSpec(type(self).__name__.lower(), higher_is_better=True)


class RaisesInit(Base):
    def __init__(self):
        raise OSError("no model file")


class NoMembers:
    pass


class Raises(Base):
    def scores(self, batch, features, state):
        return [1 / 0 for _ in batch.sets]


class Mutates(Base):
    def scores(self, batch, features, state):
        batch.text_ids[:] = 0
        return np.ones(len(batch))


class Undefined(Base):
    def scores(self, batch, features, state):
        return np.full(len(batch), np.nan)


class Shape(Base):
    def scores(self, batch, features, state):
        return np.ones(len(batch) + 1)


class Rows(Base):
    def stats(self, batch, features, state):
        return np.ones(len(batch))


class Text(Base):
    def scores(self, batch, features, state):
        return ["good"] * len(batch)


class Reduces(Base):
    def scores(self, batch, features, state):
        return np.ones(len(batch))

    def reduce(self, stats, weights=None):
        return "much"


class Square(TextDistance):
    name = "square"

    def pairwise(self, texts):
        return np.zeros((2, 2))


@harness.distance_function
def negative(a, b):
    return -1.0


@harness.distance_function
def raising(a, b):
    raise KeyError(a)


@harness.embedding_function
def flat(texts):
    return np.zeros(3)


@harness.embedding_function
def endless(texts):
    return np.full((len(texts), 2), np.nan)


class Broken:
    name = "broken"

    def signature(self):
        return "broken"

    def fit(self, references):
        raise RuntimeError("out of\\nmemory of the GPU")

    def encode(self, texts):
        return np.zeros((len(texts), 2))


class AdapterRaises:
    def fingerprint(self):
        return "1"

    def generate(self, examples, decoding, seeds):
        raise RuntimeError("no GPU")


class AdapterShort(AdapterRaises):
    def generate(self, examples, decoding, seeds):
        return [("a",)]


class AdapterNumbers(AdapterRaises):
    def generate(self, examples, decoding, seeds):
        return [3 for _ in examples]


class Reader:
    def fingerprint(self):
        return "1"

    def __iter__(self):
        yield from (Example(str(k), ("a dog", "the dog")) for k in range(2))


class ReaderRaises(Reader):
    def __iter__(self):
        raise ValueError("half of a file")


class ReaderTwice(Reader):
    def __iter__(self):
        yield from (Example("1", ("a dog",)) for _ in range(2))
"""
PRINTING = """
print("loading the model")
import numpy as np
from bad_parts import Base


class Prints(Base):
    def scores(self, batch, features, state):
        print("scoring")
        return np.ones(len(batch))
"""
MODULES = {
    "bad_parts": PARTS,
    "bad_raising": 'raise RuntimeError("no licence file")',
    "bad_exiting": "import sys\nsys.exit(5)",
    "bad_syntax": "def (",
    "bad_printing": PRINTING,
}
SPEC = {
    "task": "bad",
    "dataset": {"reader": "plain"},
    "models": [{"human": {"held_out": 1}}],
    "metrics": ["novelty"],
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A working directory with the plugins, and two files to score."""
    for name, code in MODULES.items():
        (tmp_path / f"{name}.py").write_text(code)
    (tmp_path / "registry.yaml").write_text(MANIFEST)
    (tmp_path / "p.json").write_text(json.dumps({"a": ["x y", "x"], "b": ["z", "z z"]}))
    (tmp_path / "r.json").write_text(json.dumps({"a": ["x", "y"], "b": ["z", "w"]}))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in MODULES:
        sys.modules.pop(name, None)


@pytest.fixture
def score(project, capsys):
    """A function that returns exit code, output and errors of ``harness score`` with a
    metric.
    """

    def run(metric):
        code = main(
            ["score", "p.json", "--references", "r.json", "-m", metric, "--json"]
        )
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (
            "raises-import",
            "metric 'bad/raises-import' (bad_raising:X) could not be imported: "
            "RuntimeError: no licence file",
        ),
        (
            "exits-import",
            "metric 'bad/exits-import' (bad_exiting:X) could not be imported: "
            "SystemExit: 5",
        ),
        (
            "syntax",
            "metric 'bad/syntax' (bad_syntax:X) could not be imported: SyntaxError",
        ),
        ("no-attribute", "the module has no 'Raisez'; did you mean 'Raises'?"),
        ("no-module", "names 'bad_nothing', which is no module in"),
        (
            "raises-init",
            "the plugin 'bad' failed: OSError: no model file (bad_parts.py, line 14; "
            "--debug shows the traceback)",
        ),
        ("no-members", "metric 'no-members' (NoMembers) has no 'spec', 'signature', "),
        (
            "raises",
            "metric 'raises' failed on model 'p': ZeroDivisionError: division by zero",
        ),
        (
            "mutates",
            "metric 'mutates' failed on model 'p': ValueError: "
            "assignment destination is read-only",
        ),
        (
            "shape",
            "metric 'shape' failed on model 'p': ValueError: "
            "cannot reshape array of size 3 into shape (2,1)",
        ),
        ("rows", "metric 'rows' returned statistics of shape (2,) for 2 examples"),
        (
            "text",
            "metric 'text' failed on model 'p': ValueError: "
            "could not convert string to float: 'good'",
        ),
        (
            "reduces",
            "metric 'reduces' reduces its statistics to 'much'; expected one number",
        ),
        (
            "trm:distance=square",
            "distance 'square' returned shape (2, 2, 2); expected (2, 4, 4)",
        ),
        ("trm:distance=negative", "distance 'negative' is negative"),
        (
            "trm:distance=raising",
            "distance 'raising' raised KeyError: 'x y' for the pair 'x y', 'x y'",
        ),
        ("mmd:embedding=flat", "embedding 'flat' returned shape (3,) for"),
        ("mmd:embedding=endless", "embedding 'endless' is not finite for the text"),
        (
            "mmd:embedding=broken",
            "the plugin 'bad' failed: RuntimeError: out of memory of the GPU "
            "(bad_parts.py, line 94; --debug",
        ),
    ],
)
def test_a_component_that_breaks_its_contract_is_one_line(score, metric, message):
    code, out, error = score(metric)
    assert (code, out) == (2, "")
    assert message in error
    assert error.count("\n") == 1


def test_what_a_plugin_prints_is_not_among_the_results(score):
    code, out, error = score("prints")
    assert code == 0
    assert json.loads(out)["results"][0]["value"] == 1.0
    assert "scoring" in error
    assert "loading the model" in error


def test_scores_that_are_nan_are_undefined_and_counted(score):
    code, out, _ = score("undefined")
    (record,) = json.loads(out)["results"]
    assert code == 0
    assert (record["value"], record["n"], record["skipped"]) == (None, 0, 2)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"models": [{"bad/raises": {}}]}, "RuntimeError: no GPU"),
        ({"models": [{"bad/short": {}}]}, "returned 1 results for 2 examples"),
        ({"models": [{"bad/numbers": {}}]}, "bad/numbers"),
        ({"dataset": {"reader": "bad/raises"}}, "ValueError: half of a file"),
        ({"dataset": {"reader": "twice"}}, "the id '1' occurs twice"),
    ],
)
def test_adapters_and_readers(project, capsys, part, message):
    (project / "spec.json").write_text(json.dumps({**SPEC, **part}))
    os.rename("spec.json", "spec.yaml")
    code = main(["run", "spec.yaml", "--output", "run"])
    error = capsys.readouterr().err
    assert code == 2, error
    assert message in error
    assert error.count("\n") == 1


def test_an_exception_of_the_harness_is_not_blamed_on_a_plugin(project):
    with pytest.raises(ValueError) as caught:
        int("x")
    assert plugin_failure(caught.value) is None


@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metrics: {a: {import: x", "not valid YAML"),
        ("- a\n- b\n", "a registry is a mapping of kinds; found list"),
        ("api: 2\n", "manifest api 2 is not known; this harness reads api 1"),
        ('requires_harness: ">=9"\n', "asks for harness >=9; this is harness"),
        (
            "metrics: {a: {importt: x}}\n",
            "metrics.a: unknown key 'importt'; did you mean 'import'?",
        ),
        (
            "metrics: {a: {summary: x}}\n",
            "metrics.a needs 'import: \"package.module:Object\"'",
        ),
        ("metrcs: {}\n", "unknown key 'metrcs'; did you mean 'metrics'?"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_passed_over_with_one_note(
    tmp_path, text, message
):
    (tmp_path / "registry.yaml").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "harness", "list", "readers"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "jsonl" in done.stdout
    lines = done.stderr.strip().splitlines()
    assert len(lines) <= 1
    assert message in " ".join([*lines, done.stdout]).replace("\n", " ")
    given = subprocess.run(
        [
            sys.executable,
            "-m",
            "harness",
            "list",
            "readers",
            "--registry",
            "registry.yaml",
            "--no-local-plugins",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert given.returncode == 2
    assert message in given.stderr
    assert given.stderr.count("\n") == 1


def test_a_name_of_a_built_in_component_is_noted_once(project, caplog):
    (project / "registry.yaml").write_text(MANIFEST.replace("  prints:", "  novelty:"))
    for _ in range(2):
        assert (
            main(
                ["score", "p.json", "--references", "r.json", "-m", "novelty", "--json"]
            )
            == 0
        )
    note = "note: the metric 'novelty' is the built-in one, not 'bad/novelty' ("
    assert caplog.text.count(note) == 1


def test_two_plugins_of_one_name(project, capsys):
    (project / "other").mkdir()
    for name in ("good", "bad"):
        (project / "other" / f"{name}.yaml").write_text(
            f'provider: {name}\nmetrics: {{raises: {{import: "other_parts:X", '
            f"summary: x}}}}\n"
        )
    arguments = ["score", "p.json", "--references", "r.json", "-m", "raises"]
    (project / "other" / "other_parts.py").write_text("")
    from harness.registry import in_use

    before = list(in_use._extra_files)
    try:
        assert main([*arguments, "--registry", "other/good.yaml"]) == 2
        error = capsys.readouterr().err
        assert re.search(
            r"the metric name 'raises' has 2 owners: 'bad/raises' \(.*\) "
            r"and 'good/raises' \(.*\); use the full name",
            error,
        )
        assert (
            main([*arguments[:-1], "bad/raises", "--registry", "other/bad.yaml"]) == 2
        )
        error = capsys.readouterr().err
        assert "'bad/raises' has 2 owners" in error
        assert (
            "give one of the manifests another 'provider', "
            "or load fewer plugins (HARNESS_LOAD_PLUGINS=NAME,...)" in error
        )
    finally:
        in_use._extra_files[:] = before


def test_two_folders_with_one_provider_name_and_target_are_two_components(
    project, capsys
):
    text = 'provider: same\nmetrics: {twice: {import: "parts:X", summary: x}}\n'
    for folder in ("one", "two"):
        (project / folder).mkdir()
        (project / folder / "parts.py").write_text("")
        (project / folder / "registry.yaml").write_text(text)
    from harness.registry import in_use

    before = list(in_use._extra_files)
    try:
        files = ["--registry", "one/registry.yaml", "--registry", "two/registry.yaml"]
        assert (
            main(["score", "p.json", "--references", "r.json", "-m", "twice", *files])
            == 2
        )
        assert "the metric name 'twice' has 2 owners" in capsys.readouterr().err
    finally:
        in_use._extra_files[:] = before
