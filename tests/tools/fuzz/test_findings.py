"""Past findings of the fuzzer, and a few inputs for every target."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from tools.fuzz.fuzz_target import attempt
from tools.fuzz.fuzz_targets import TARGETS

FINDINGS = sorted(
    path
    for path in (Path(__file__).parents[3] / "tests/fuzz/findings").glob("*/*")
    if path.is_file()
)
SLOW = {"nested"}
"""Names of findings whose reading takes seconds."""


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, marks=[pytest.mark.slow] * (p.name in SLOW)) for p in FINDINGS],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_a_past_finding_is_accepted_or_refused_in_one_line(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert attempt(path.parent.name, path.read_bytes(), tmp_path) in (
        "accepted",
        "refused",
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_a_few_inputs_of_every_target(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ends = []

    @settings(
        max_examples=50,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @seed(1)
    @given(TARGETS[name].inputs)
    def one(data):
        ends.append(attempt(name, data, tmp_path))

    one()
    assert {"accepted", "refused"} & set(ends)
