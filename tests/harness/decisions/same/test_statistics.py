"""Statistics of two sources under relabelings."""

from __future__ import annotations

import pytest

from harness.decisions.same.sources import Prompt
from harness.decisions.same.statistics import Settings, evaluate


def test_the_observed_labels_come_first_and_each_kernel_has_a_column():
    prompts = [Prompt("1", ["a dog", "a dog"], ["no cat at all", "no cat at all"])]
    outcome = evaluate(prompts, Settings(kernels=("exact", "tokens")))
    assert outcome.tested[:2] == ["exact", "tokens"]
    assert outcome.relabelings.exact and outcome.columns.shape[0] == 6
    assert (outcome.columns[0] >= outcome.columns.max(axis=0) - 1e-9)[:2].all()
    assert outcome.p == pytest.approx(2 / 6)
