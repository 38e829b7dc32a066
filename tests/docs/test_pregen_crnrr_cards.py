"""The examples of the cards of pregen, crnrr and diversity give what they say, and
every parameter is named.
"""

from __future__ import annotations

import doctest

import pytest

from harness.registry import current, parameters

CARDS = {
    "pregen": ["pregen"],
    "crnrr": ["cr", "nrr", "cnd"],
    "diversity": ["self-bleu", "distinct", "pairwise-bleu", "vocabulary", "novelty"],
}


@pytest.mark.parametrize("card", CARDS)
def test_card(root, card):
    path = root / "docs" / "metrics" / f"{card}.md"
    text = path.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(
        text.replace("```", ""), {}, card, str(path), 0
    )
    assert test.examples
    assert (
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed
        == 0
    )
    for metric in CARDS[card]:
        assert f"`{metric}`" in text
        for parameter in parameters(current().load("metrics", metric)):
            assert f"`{parameter}" in text, (metric, parameter)
