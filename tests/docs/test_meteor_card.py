"""The card of METEOR: its examples run, and it names every parameter,
default signature and limit.
"""

from __future__ import annotations

import doctest

import pytest

from harness.registry import current, parameters
from harness_metrics.meteor.metric import Meteor


@pytest.fixture(scope="module")
def path(root):
    return root / "docs" / "metrics" / "meteor.md"


def test_examples_run(path):
    # a closing fence is not part of the output
    text = path.read_text(encoding="utf-8").replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, "meteor", str(path), 0)
    assert len(test.examples) == 7
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize("kind", ["metrics", "distances"])
def test_every_parameter_is_named(path, kind):
    text = path.read_text(encoding="utf-8")
    for parameter in parameters(current().load(kind, "meteor")):
        assert f"`{parameter}`" in text
    assert f"`{Meteor().signature()}`" in text
