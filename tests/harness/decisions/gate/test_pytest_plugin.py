"""The fixture ``caption_gate``: verdicts that fail a test, margins, mistakes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from harness.decisions.gate.pytest_plugin import caption_gate
from harness.errors import HarnessError
from tests.support.gates import answers, write_log

__all__ = ["caption_gate"]


@pytest.fixture
def logs(tmp_path):
    """Logs of 400 answers: the baseline, the same, and ones with 5 and 200 losses."""
    for name, broken in (("baseline", 0), ("same", 0), ("unsure", 5), ("worse", 200)):
        old, new = answers(300, broken, 0, 400)
        write_log(tmp_path / f"{name}.jsonl", old if name == "baseline" else new)
    return {path.stem: str(path) for path in tmp_path.iterdir()}


def test_a_gate_that_passes_returns_its_result(caption_gate, logs):
    result = caption_gate(logs["same"], logs["baseline"], {"acc": 0.05})
    assert result.verdict == "passed" and result.rows[0].margin == 0.05


def test_a_margin_may_be_a_share_of_the_baseline(caption_gate, logs):
    result = caption_gate(logs["same"], logs["baseline"], {"acc": "10%"})
    assert result.rows[0].margin == pytest.approx(0.1 * 300 / 400)


def test_a_gate_that_fails_fails_the_test_in_one_line(caption_gate, logs):
    with pytest.raises(pytest.fail.Exception) as caught:
        caption_gate(logs["worse"], logs["baseline"], {"acc": 0.05})
    assert str(caught.value).startswith("caption_gate failed: acc worse by 0.5 [")
    assert caught.value.pytrace is False
    with pytest.raises(pytest.fail.Exception, match="caption_gate failed"):
        caption_gate(logs["worse"], logs["baseline"], {"acc": 0.05}, undecided="pass")


def test_an_undecided_gate_passes_where_it_may(caption_gate, logs):
    arguments = (logs["unsure"], logs["baseline"], {"acc": 0.013})
    with pytest.raises(pytest.fail.Exception, match="caption_gate undecided: acc"):
        caption_gate(*arguments)
    assert caption_gate(*arguments, undecided="pass").verdict == "undecided"


@pytest.mark.parametrize(
    ("margins", "settings", "message"),
    [
        ({"acc": "much"}, {}, "the margin is 'much'; expected a number"),
        ({"acc": -0.1}, {}, "the margin is '-0.1'"),
        (
            {"acc": 0.1},
            {"undecided": "Pass"},
            "undecided is 'Pass'; expected 'fail' or",
        ),
        ({"ac": 0.1}, {}, "did you mean 'acc'"),
    ],
)
def test_a_mistake_is_an_error_and_no_verdict(
    caption_gate, logs, margins, settings, message
):
    with pytest.raises(HarnessError, match=message):
        caption_gate(logs["same"], logs["baseline"], margins, **settings)


def test_the_plugin_of_pytest_imports_nothing_heavy():
    program = (
        "import sys, pytest; before = set(sys.modules); "
        "import harness.decisions.gate.pytest_plugin; "
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert set(json.loads(done.stdout.replace("'", '"'))) <= {
        "harness",
        "harness.decisions",
        "harness.decisions.gate",
        "harness.decisions.gate.pytest_plugin",
    }
