"""The cards of the n-gram metrics and of their tokeniser: examples give the printed
values, and every parameter is listed.
"""

from __future__ import annotations

import doctest

import pytest

from harness.registry import current, parameters


@pytest.mark.parametrize("name", ["bleu", "rouge", "cider", "ptb", "tokenisers"])
def test_examples_of_a_card_give_the_printed_values(root, name):
    path = root / "docs" / "metrics" / f"{name}.md"
    # a closing fence is not output
    examples = path.read_text(encoding="utf-8").replace("```", "")
    test = doctest.DocTestParser().get_doctest(examples, {}, name, str(path), 0)
    assert test.examples
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test).failed == 0


@pytest.mark.parametrize("name", ["bleu", "rouge", "cider", "chrf", "ter", "spice"])
def test_a_card_lists_every_parameter(root, name):
    text = (root / "docs" / "metrics" / f"{name}.md").read_text(encoding="utf-8")
    for parameter in parameters(current().load("metrics", name)):
        assert f"| `{parameter}` |" in text
