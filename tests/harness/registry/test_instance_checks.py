"""Instances without the members of their kind,
and metrics with a spec of a wrong type.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from harness.cli.main import main
from harness.contracts import MeanMetric, MetricSpec, TextDistance
from harness.errors import HarnessError
from harness.registry import catalogue, in_use
from harness.registry.instance_checks import PROTOCOLS, check_instance

CODE = '''
from harness.contracts import MeanMetric, MetricSpec

class Bare(MeanMetric):
    """No spec."""

class Typed(MeanMetric):
    """Plain types."""
    def __init__(self, *, lower: bool = False, orders: list[int] = ()):
        self.spec = "typed"
'''


class Whole(MeanMetric):
    spec = MetricSpec("whole", higher_is_better=True)

    def scores(self, batch, features, state):
        return np.zeros(len(batch))


class TokenMetric:
    spec = MetricSpec("token", higher_is_better=None, level="model")

    def signature(self):
        return "token"

    def evaluate_scores(self, scores):
        return {}

    def per_example(self, scores):
        return {}


class Chars(TextDistance):
    name = "chars"


def test_complete_components_pass():
    check_instance("metrics", "metric 'whole'", Whole())
    check_instance("metrics", "metric 'token'", TokenMetric())
    check_instance("distances", "distance 'chars'", Chars())
    check_instance("tasks", "task 'x'", object())
    for kind in PROTOCOLS:
        assert f"{kind}" in catalogue.KINDS


@pytest.mark.parametrize(
    ("kind", "instance", "message"),
    [
        (
            "metrics",
            type("NoSpec", (MeanMetric,), {})(),
            r"component 'c' \(NoSpec\) has no 'spec'; docs/plugins.md lists",
        ),
        (
            "metrics",
            object(),
            r"\(object\) has no 'spec', 'signature', 'evaluate_scores', 'per_example'",
        ),
        ("distances", SimpleNamespace(name="x", signature=str), "has no 'matrices'"),
        (
            "embeddings",
            SimpleNamespace(name="x"),
            "has no 'signature', 'fit', 'encode'",
        ),
        ("adapters", SimpleNamespace(generate=1), "has no 'fingerprint'"),
        ("readers", SimpleNamespace(fingerprint=str), "has no '__iter__'"),
        (
            "metrics",
            type("Text", (MeanMetric,), {"spec": "length"})(),
            "spec is 'length'; expected a MetricSpec",
        ),
        (
            "metrics",
            type("Class", (MeanMetric,), {"spec": MetricSpec})(),
            "expected a MetricSpec",
        ),
    ],
)
def test_an_incomplete_component_is_reported_with_its_registered_name(
    kind, instance, message
):
    with pytest.raises(HarnessError, match=message) as caught:
        check_instance(kind, "component 'c'", instance)
    assert str(caught.value).startswith("component 'c'")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (
            "bare",
            "harness: spec.yaml:6: metric 'bare' (Bare) has no 'spec'; "
            "docs/plugins.md lists its members",
        ),
        (
            "typed",
            "harness: spec.yaml:6: metric 'typed': spec is 'typed'; "
            "expected a MetricSpec",
        ),
        (
            "{typed: {lower: abc}}",
            "metric 'typed': lower is 'abc'; expected true or false",
        ),
        (
            "{typed: {orders: abc}}",
            "metric 'typed': orders is 'abc'; expected a list of whole numbers",
        ),
    ],
)
def test_the_command_line_prints_one_line_and_returns_2(
    project, capsys, metric, message
):
    (project / "mine_parts.py").write_text(
        (project / "mine_parts.py").read_text() + CODE
    )
    registry = (project / "registry.yaml").read_text()
    registry += "embeddings: {}\ntrainers: {}\ncommands: {}\n"
    entries = (
        'metrics: {bare: {import: "mine_parts:Bare"}, typed: {import: '
        '"mine_parts:Typed"}, length'
    )
    (project / "registry.yaml").write_text(
        registry.replace("metrics: {length", entries)
    )
    spec = (project / "spec.yaml").read_text()
    (project / "spec.yaml").write_text(spec.replace("- length", f"- {metric}"))
    in_use._load.cache_clear()
    assert main(["run", "spec.yaml"]) == 2
    output = capsys.readouterr().err
    assert message in output
    assert len(output.strip().splitlines()) == 1
    assert not (project / "runs").exists()
