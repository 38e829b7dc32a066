"""Pytest tests generated from checks, with expected failures;
collecting tests constructs nothing.
"""

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


EXPECTED = {"candidate-order": "by design", "finite": "outdated"}


class First(MeanMetric):
    """Length of the first candidate."""

    def __init__(self):
        sizes = frozenset({"candidates"})
        self.spec = MetricSpec("first", None, needs=frozenset(), depends_on=sizes)

    def scores(self, batch, features, state):
        return np.array([float(len(texts[0])) for texts in batch.texts])


@parametrize_with_checks([First()], expected_failures=EXPECTED)
def test_contract(check):
    check()
'''


@pytest.mark.slow
def test_ids_and_expected_failures(tmp_path):
    (tmp_path / "test_it.py").write_text(TEST)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-v",
        "-rsx",
        "-p",
        "no:cacheprovider",
        "test_it.py",
    ]
    result = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "test_contract[first-weights] PASSED" in result.stdout
    assert "test_contract[first-candidate-order] XFAIL (by design)" in result.stdout
    assert "test_contract[first-null-shape] SKIPPED (has no" in result.stdout
    assert "has no direction: no score is more extreme than another" in result.stdout
    assert "test_contract[first-finite] FAILED" in result.stdout, (
        "an expected failure that passes"
    )
    assert "1 failed" in result.stdout


def parameters_of(decorator):
    """Return the parameters of a ``pytest.mark.parametrize`` decorator."""
    return decorator.mark.args[1]


def test_a_named_component_is_constructed_by_its_first_test():
    cases = parameters_of(
        parametrize_with_checks(["no-such-metric", {"trm": {"distance": "bleu"}}])
    )
    ids = [case.id for case in cases]
    assert "no-such-metric-weights" in ids
    assert "trm,distance=bleu-exact-p-values" in ids
    assert len(ids) == 2 * len(checks_of("metrics").names)
    with pytest.raises(UnknownName, match="unknown metric 'no-such-metric'"):
        cases[0].values[0]()


def test_components_of_one_name_have_different_ids():
    ids = [
        case.id
        for case in parameters_of(
            parametrize_with_checks(["bow", "bow"], kind="embeddings")
        )
    ]
    assert {"bow-vectors", "bow-1-vectors"} < set(ids)


def test_failures_may_be_expected_of_one_component():
    cases = parameters_of(
        parametrize_with_checks(
            ["bleu", "cider"], expected_failures={"cider": {"weights": "why"}}
        )
    )
    assert [case.id for case in cases if case.marks] == ["cider-weights"]


def test_mistakes():
    with pytest.raises(
        UnknownName, match="no check or component 'wieghts'; did you mean 'weights'"
    ):
        parametrize_with_checks(["bleu"], expected_failures={"wieghts": "x"})
    with pytest.raises(
        HarnessError, match="its kind is not clear from its methods; give kind="
    ):
        parametrize_with_checks([object()])


@parametrize_with_checks(["bow"], kind="embeddings")
def test_a_shipped_embedding(check):
    check()
