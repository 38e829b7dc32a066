"""The examples of the cards of bleu, rouge and cider give what they say."""

from __future__ import annotations

import doctest

import pytest

from harness.registry import current, parameters


@pytest.mark.parametrize("name", ["bleu", "rouge", "cider"])
def test_card_examples_run_and_name_every_parameter(root, name):
    path = root / "docs" / "metrics" / f"{name}.md"
    text = path.read_text(encoding="utf-8")
    examples = text.replace("```", "")  # the closing fence is no output
    test = doctest.DocTestParser().get_doctest(examples, {}, name, str(path), 0)
    assert test.examples
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test).failed == 0
    for parameter in parameters(current().load("metrics", name)):
        assert f"`{parameter}`" in text
