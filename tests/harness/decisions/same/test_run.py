"""``same: [A, B]`` of a spec: the test of two models of a run,
kept beside its results, printed and on the page.
"""

from __future__ import annotations

import json

import pytest

import harness
from harness import api
from harness.analysis.pairs import ComparedRun
from harness.cli.main import main
from harness.decisions.same import run as same_run
from harness.decisions.same.run import check_run, sources_of_run
from harness.errors import InputError
from harness.run.finished import Run

SPEC = {
    "task": "words",
    "dataset": {"reader": "words", "count": 12},
    "models": [{"echo": {"n": n, "label": f"m{n}"}} for n in (2, 3, 4)],
    "metrics": ["length"],
    "same": ["m2", "m4"],
}


@pytest.fixture
def run(project):
    return harness.evaluate(SPEC, output="r")


def test_the_test_of_a_run_is_kept_for_its_captions(run, project, monkeypatch):
    (result,) = check_run(run)
    assert result.labels == ("m2", "m4") and (project / "r" / "same.json").is_file()
    monkeypatch.setattr(
        same_run, "compare_all", lambda *_: pytest.fail("computed again")
    )
    assert check_run(Run.open("r")) == [result]
    harness.evaluate(SPEC, output="r", mode="fresh")
    assert not (project / "r" / "same.json").exists()


@pytest.mark.parametrize("content", ["torn {", '{"key": 1}'])
def test_a_damaged_file_is_computed_again(run, project, content):
    expected = check_run(run)
    (project / "r" / "same.json").write_text(content)
    assert (
        check_run(run) == expected
        and json.loads((project / "r" / "same.json").read_text())["rows"]
    )


def test_runs_without_the_key_have_no_test(project):
    plain = harness.evaluate({**SPEC, "same": None}, output="p")
    assert check_run(plain) == [] and not (project / "p" / "same.json").exists()
    assert [source.label for source in sources_of_run(ComparedRun.open("p"))] == [
        "m2",
        "m3",
        "m4",
    ]


def test_it_is_printed_and_on_the_page(project, capsys):
    (project / "s.yaml").write_text(json.dumps(SPEC))
    assert main(["run", "s.yaml", "--output", "r"]) == 0
    assert "m2 and m4: " in capsys.readouterr().out
    assert main(["run", "s.yaml", "--output", "r", "--json"]) == 0
    (test,) = json.loads(capsys.readouterr().out)["same"]
    assert test["labels"] == ["m2", "m4"]
    harness.report("r")
    assert "Same distribution?" in (project / "r" / "report.html").read_text(
        encoding="utf-8"
    )


def test_sources_have_random_numbers_of_their_own(project):
    plans = [api.plans({**SPEC, "same": same})[0] for same in (None, ["m2", "m4"])]
    assert plans[0].spec.same is None and plans[1].spec.same == ["m2", "m4"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"same": ["m2", "m5"]}, "there is no model 'm5'.*models are m2, m3, m4"),
        ({"same": ["m2", "m2"]}, "the model 'm2' is named twice"),
        ({"same": ["m9", "m2"]}, "there is no model 'm9'"),
        ({"same": ["m2"]}, "at least 2"),
        ({"decoding": {"candidates": 1}}, "smallest p-value of 1"),
        ({"decoding": {"temperature": [0.5, 1.0]}}, "found a grid"),
    ],
)
def test_wrong_sources_are_one_line_of_the_plan(project, values, message):
    with pytest.raises(InputError, match=message):
        api.plans({**SPEC, **values})
