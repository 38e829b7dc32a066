"""One pytest test of each check, with expected failures; nothing is made while tests are collected."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harness.errors import HarnessError, UnknownName
from harness.testing import parametrize_with_checks
from harness.testing.targets import checks_of

TEST = '''
import numpy as np
from harness.contracts import MeanMetric, MetricSpec
from harness.testing import parametrize_with_checks


class First(MeanMetric):
    """The first candidate's length."""

    def __init__(self):
        self.spec = MetricSpec("first", higher_is_better=None, needs=frozenset())

    def scores(self, batch, features, state):
        return np.array([float(len(texts[0])) for texts in batch.texts])


@parametrize_with_checks([First()], expected_failures={"candidate-order": "by design", "finite": "outdated"})
def test_contract(check):
    check()
'''


def test_ids_and_expected_failures(tmp_path):
    (tmp_path / "test_it.py").write_text(TEST)
    command = [sys.executable, "-m", "pytest", "-v", "-rsx", "-p", "no:cacheprovider", "test_it.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "test_contract[first-weights] PASSED" in done.stdout
    assert "test_contract[first-candidate-order] XFAIL (by design)" in done.stdout
    assert "test_contract[first-null-shape] SKIPPED (has no null)" in done.stdout
    assert "test_contract[first-finite] FAILED" in done.stdout, "an expected failure that passes"
    assert "1 failed" in done.stdout


def test_named_components_are_made_when_their_test_runs():
    mark = parametrize_with_checks(["no-such-metric", {"trm": {"distance": "bleu"}}]).mark
    ids = [case.id for case in mark.args[1]]
    assert "no-such-metric-weights" in ids
    assert "trm,distance=bleu-exact-p-values" in ids
    assert len(ids) == 2 * len(checks_of("metrics").names)
    with pytest.raises(UnknownName, match="unknown metric 'no-such-metric'"):
        mark.args[1][0].values[0]()


def test_mistakes():
    with pytest.raises(UnknownName, match="no check or component 'wieghts'; did you mean 'weights'"):
        parametrize_with_checks(["bleu"], expected_failures={"wieghts": "x"})
    with pytest.raises(HarnessError, match="tell what it is with kind="):
        parametrize_with_checks([object()])


@parametrize_with_checks(["bow"], kind="embeddings")
def test_a_shipped_embedding(check):
    check()
