"""``harness check``: names, modules and files; the table, JSON, and exit codes 0,
1 and 2.
"""

from __future__ import annotations

import json
import sys

import pytest

from harness.cli.main import main

FAULTY = '''
import numpy as np
from harness.contracts import MeanMetric, MetricSpec


class Faulty(MeanMetric):
    """Its first candidate's length."""

    def __init__(self, *, scale: float = 1.0) -> None:
        self.scale = scale
        self.spec = MetricSpec(
            "faulty",
            higher_is_better=None,
            needs=frozenset(),
            depends_on=frozenset({"candidates"}),
        )

    def scores(self, batch, features, state):
        print("scoring")
        return np.array([self.scale * len(texts[0]) for texts in batch.texts])


class Nothing:
    pass
'''


@pytest.fixture
def faulty(project, monkeypatch):
    (project / "faulty_parts.py").write_text(FAULTY)
    monkeypatch.syspath_prepend(str(project))
    return project


def test_a_failing_component_is_code_1_and_a_table(faulty, capsys):
    assert main(["check", "faulty_parts:Faulty"]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("faulty_parts:Faulty (metrics)\n")
    assert "FAIL" in shown
    assert "scores change with the order of the candidates: scene-1: 37 and 49" in shown
    assert "prints to stdout: 'scoring" in shown
    assert "2 failed" in shown


def test_json(faulty, capsys):
    assert (
        main(
            [
                "check",
                "faulty_parts:Faulty",
                "--json",
                "--skip",
                "prints-nothing",
                "--set",
                "scale=2",
            ]
        )
        == 1
    )
    shown = json.loads(capsys.readouterr().out)
    assert not shown["passed"]
    assert [row["check"] for row in shown["checks"] if row["status"] == "fail"] == [
        "candidate-order"
    ]
    assert "scene-1: 74 and 98" in next(
        row["reason"] for row in shown["checks"] if row["status"] == "fail"
    )


@pytest.mark.slow
def test_names_of_every_kind_that_has_them(project, capsys):
    assert main(["check", "length"]) == 1
    shown = capsys.readouterr().out
    assert "mine/length (metrics)" in shown
    assert "declares that it needs references and does not read them" in shown
    assert main(["check", "echo"]) == 0
    assert main(["check", "words", "--kind", "reader"]) == 0
    assert main(["check", "bleu"]) == 0
    shown = capsys.readouterr().out
    assert "mine/echo (adapters)" in shown
    assert "harness/bleu (metrics)" in shown
    assert "harness/bleu (distances)" in shown
    assert main(["check", "distances/chars"]) == 0


def test_a_task(project, capsys):
    assert main(["check", "spec.yaml"]) == 0
    assert "spec.yaml (tasks)" in capsys.readouterr().out
    (project / "bad.yaml").write_text(
        "task: bad\ndataset: {reader: words}\nmodels: [{echo: {}}]\nmetrics: [lenth]\n"
    )
    assert main(["check", "bad.yaml"]) == 1
    assert "did you mean 'length'?" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["metoer"], "there is nothing called 'metoer'; did you mean 'meteor'?"),
        (["no_module:Thing"], "there is no module 'no_module'"),
        (
            ["faulty_parts:Faulti"],
            "faulty_parts has no 'Faulti'; did you mean 'Faulty'?",
        ),
        (
            ["faulty_parts:Nothing"],
            "its kind is not clear from its methods; give --kind",
        ),
        (
            ["faulty_parts:Faulty", "--set", "scal=2"],
            "Faulty has no parameter 'scal'; did you mean 'scale'?",
        ),
        (
            ["faulty_parts:Faulty", "--skip", "bound"],
            "no check of metrics is called 'bound'; did you mean 'bounds'?",
        ),
        (["faulty_parts:Faulty", "--set", "scale"], "--set scale: expected KEY=VALUE"),
        (
            ["length", "--kind", "metrcs"],
            "unknown kind 'metrcs'; did you mean 'metrics'?",
        ),
        (["none.yaml"], "none.yaml: no such task file"),
    ],
)
def test_what_is_not_there_is_code_2(faulty, capsys, arguments, message):
    assert main(["check", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_failures_that_a_class_expects_do_not_count(capsys):
    assert main(["check", "novelty", "--json"]) == 0
    outcomes = {
        row["check"]: row for row in json.loads(capsys.readouterr().out)["checks"]
    }
    assert outcomes["direction"]["status"] == "expected failure"
    assert outcomes["direction"]["reason"] == "copies of the references are not novel"


def test_a_target_or_all_builtins_is_required(capsys):
    from harness.cli.main import main

    assert main(["check"]) == 2
    assert (
        "name a component to check, or give --all-builtins" in capsys.readouterr().err
    )


@pytest.mark.slow
def test_all_builtins_pass(capsys):
    from harness.cli.main import main

    assert main(["check", "--all-builtins"]) == 0
    assert "bleu (metrics)" in capsys.readouterr().out


@pytest.mark.slow
def test_calibrate_prints_a_table_or_the_file(faulty, capsys, monkeypatch):
    from harness.testing import calibration

    measured = calibration.calibrate
    monkeypatch.setattr(
        "harness.testing.verb.calibrate",
        lambda metric: measured(metric, sizes=(3, 8), repetitions=60),
    )
    assert main(["check", "faulty_parts:Faulty", "--calibrate"]) == 0
    title, header, *rows = capsys.readouterr().out.splitlines()
    assert (
        title
        == "faulty: coverage of the 95 % interval, size of the paired test at .05; "
        "60 runs each"
    )
    assert header.split() == [
        "n",
        *calibration.DISTRIBUTIONS,
        *calibration.DISTRIBUTIONS,
    ]
    assert [row.split()[0] for row in rows] == ["3", "8"]
    assert main(["check", "faulty_parts:Faulty", "--calibrate", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)["metrics"]["faulty"]
    assert table["repetitions"] == 60
    assert len(table["sizes"]["3"]["interval"]) == 3


def test_calibrate_takes_one_metric(project, capsys):
    assert main(["check", "minilm", "--kind", "embeddings", "--calibrate"]) == 2
    assert (
        "--calibrate takes one metric; 'minilm' is 1 embedding"
        in capsys.readouterr().err
    )


@pytest.mark.slow
def test_a_path_checks_what_its_manifest_or_file_declares(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(["new-plugin", "my-words"]) == 0
    capsys.readouterr()
    try:
        for path in (
            "my-words",
            "my-words/my_words",
            "my-words/my_words/metric.py",
            f"{tmp_path}/my-words",
        ):
            assert main(["check", path]) == 0
            out = capsys.readouterr().out
            assert "my_words.metric:MyWords (metrics)" in out and "FAIL" not in out
    finally:
        for module in [
            name for name in sys.modules if name.partition(".")[0] == "my_words"
        ]:
            del sys.modules[module]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "empty",
            "empty is a folder without registry.yaml; expected the folder of a plugin",
        ),
        (
            "nothing.py",
            "nothing.py defines no component of a kind that its methods tell",
        ),
        ("absent.py", "absent.py: no such file"),
    ],
)
def test_a_path_without_components_is_one_line(
    tmp_path, monkeypatch, capsys, path, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "nothing.py").write_text("VALUE = 1\n")
    assert main(["check", path]) == 2
    error = capsys.readouterr().err
    assert message in error and len(error.strip().splitlines()) == 1
