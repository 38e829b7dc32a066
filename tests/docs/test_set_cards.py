"""Cards of metrics of sets, corpora, hallucination and choice, and of composed ones:
examples give their values, parameters are named.
"""

from __future__ import annotations

import doctest

import pytest

from harness.registry import current, parameters

CARDS = {
    "coverage": [
        "precision",
        "recall",
        "density",
        "coverage",
        "precision-example",
        "recall-example",
        "density-example",
        "coverage-example",
    ],
    "meanings": ["semantic-entropy", "reference-coverage"],
    "variability": ["production-variability"],
    "vendi": ["vendi", "corpus-vendi", "self-cider"],
    "redundancy": ["mbleu", "compression-ratio", "ms-jaccard", "reverse-perplexity"],
    "retrieval": ["retrieval", "clip-recall"],
    "spider": ["spider", "spider-max", "spider-fl"],
    "fense": ["fense"],
    "pairwise": ["pairwise"],
    "sari": ["sari"],
    "clair": ["clair"],
    "rubric": ["rubric"],
    "fleur": ["fleur", "ref-fleur"],
    "vqascore": ["vqascore"],
    "arena": ["win-rate"],
    "two-sample-tests": ["mmdagg", "c2st"],
    "corpus-distances": ["corpus-frechet", "corpus-mmd"],
    "hallucination": ["chair-i", "chair-s", "object-recall"],
    "object-match": ["object-match"],
    "facts": ["fact-precision", "fact-recall", "fact-f1"],
    "poll": ["poll"],
    "choice": ["choice"],
    "event-sets": ["trm-events", "mmd-events"],
}


@pytest.mark.parametrize("card", CARDS)
def test_examples_of_a_card_give_the_printed_values(root, card):
    path = root / "docs" / "metrics" / f"{card}.md"
    test = doctest.DocTestParser().get_doctest(
        path.read_text(encoding="utf-8"), {}, card, str(path), 0
    )
    assert test.examples
    assert (
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed
        == 0
    )


@pytest.mark.parametrize("card", CARDS)
def test_a_card_names_its_metrics_parameters_and_signatures(root, card):
    text = (root / "docs" / "metrics" / f"{card}.md").read_text(encoding="utf-8")
    for name in CARDS[card]:
        assert f"`{name}`" in text
        for parameter in parameters(current().load("metrics", name)):
            assert f"`{parameter}" in text, (name, parameter)
    for words in (
        "Signature",
        "Pitfalls",
        "Source",
        "Cost" if card != "redundancy" else "Needs",
    ):
        assert words in text or words.lower() in text, words
