"""Targets of the fuzzer: every built-in metric is among them,
or left out for a reason.
"""

from __future__ import annotations

from harness.registry import current
from harness.registry.catalogue import Registry
from tools.fuzz.fuzz_scores import METRICS, NOT_FUZZED


def test_every_builtin_metric_is_fuzzed_or_left_out_for_a_reason():
    registry: Registry = current()
    builtin = {
        entry.name
        for entry in registry.entries("metrics")
        if entry.target.startswith("harness_metrics.")
    }
    fuzzed = {text.partition(":")[0] for text in METRICS}
    left_out = [name for names in NOT_FUZZED.values() for name in names]
    assert fuzzed | set(left_out) == builtin
    assert not fuzzed & set(left_out)
    assert len(left_out) == len(set(left_out))
