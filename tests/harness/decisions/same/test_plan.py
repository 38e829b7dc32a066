"""Plans of checks: changes, weights of a temperature, sizes."""

from __future__ import annotations

import numpy as np
import pytest

from harness.decisions.same import plan as same_plan
from harness.decisions.same.plan import (
    plan,
    substitute_words,
    tempered_weights,
    truncate,
)
from harness.decisions.same.sources import Source
from harness.decisions.same.statistics import Settings
from harness.errors import InputError


def test_changes_of_answers():
    rng = np.random.default_rng(0)
    answers = [["a b c d e", "a b"]] * 200
    changed = substitute_words(answers, rng)
    words = [
        (x, y)
        for old, new in zip(answers, changed)
        for s, t in zip(old, new)
        for x, y in zip(s.split(), t.split())
    ]
    assert 0 < sum(x != y for x, y in words) < 0.03 * len(words)
    assert truncate([["a b c d e", "a", "a b", "a b", "a b c"]], rng) == [
        ["a b c", "a", "a b", "a b", "a b c"]
    ]


def test_a_lower_temperature_prefers_likely_answers():
    source = Source("a", {"1": ["the dog runs"] * 5 + ["seven odd moons"]})
    uniform, cold, hot = (
        tempered_weights(source, ["1"], temperature)["1"]
        for temperature in (1.0, 0.5, 2.0)
    )
    assert uniform == pytest.approx(1 / 6)
    assert cold[5] < uniform[5] < hot[5]
    assert cold.sum() == pytest.approx(1)


def test_each_change_has_the_smallest_size_that_reaches_the_power(monkeypatch):
    monkeypatch.setattr(same_plan, "PROMPTS", (2, 8))
    monkeypatch.setattr(same_plan, "ANSWERS", (4,))
    monkeypatch.setattr(same_plan, "RUNS", 5)
    rng = np.random.default_rng(0)
    source = Source(
        "a",
        {
            str(k): [
                f"a {rng.choice(['dog', 'cat'])} {rng.choice(['runs', 'sits'])}"
                for _ in range(8)
            ]
            for k in range(8)
        },
    )
    other = Source("int8", {str(k): ["another answer entirely"] * 4 for k in range(8)})
    designs = list(plan(source, Settings(kernels=("n-grams",)), other))
    assert [design.change for design in designs][-1] == "int8" and len(designs) == 6
    assert designs[-1].power == 1.0 and designs[-1].prompts in (2, 8)
    assert all(design.prompts == 8 or design.power >= 0.8 for design in designs)


def test_a_source_of_single_answers_is_refused():
    with pytest.raises(InputError, match="no prompt with several answers"):
        next(iter(plan(Source("a", {"1": ["x"]}), Settings())))
