"""Cards of the metrics on embeddings and distances: their examples run,
and every parameter is documented.
"""

from __future__ import annotations

import doctest

import pytest

from harness.registry import current, parameters

CARDS = {
    "trm": ["trm"],
    "mmd": ["mmd"],
    "frechet": ["frechet"],
    "energy": ["energy"],
    "sliced-wasserstein": ["sliced-wasserstein"],
    "mauve": ["mauve", "mauve-example"],
    "bertscore": ["bertscore"],
    "clipscore": ["clipscore", "refclipscore"],
    "wmd": ["wmd"],
    "best": ["best"],
}
WITHOUT_EXAMPLE = {"bertscore", "clipscore", "wmd"}
"""Cards of metrics that need local weights or word vectors."""


@pytest.mark.parametrize("card", [*CARDS, "embeddings"])
def test_examples_give_the_printed_values(root, card):
    path = root / "docs" / "metrics" / f"{card}.md"
    # a closing fence is not output
    text = path.read_text(encoding="utf-8").replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, card, str(path), 0)
    assert bool(test.examples) is (card not in WITHOUT_EXAMPLE)
    assert (
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed
        == 0
    )


@pytest.mark.parametrize("card", CARDS)
def test_every_parameter_is_documented(root, card):
    text = (root / "docs" / "metrics" / f"{card}.md").read_text(encoding="utf-8")
    for metric in CARDS[card]:
        assert f"`{metric}`" in text
        for parameter in parameters(current().load("metrics", metric)):
            assert f"`{parameter}`" in text, (metric, parameter)


@pytest.mark.parametrize("embedding", ["minilm", "clip", "glove", "fasttext", "bow"])
def test_every_parameter_of_an_embedding_is_in_its_row(root, embedding):
    text = (root / "docs" / "metrics" / "embeddings.md").read_text(encoding="utf-8")
    row = next(
        line for line in text.splitlines() if line.startswith(f"| `{embedding}` |")
    )
    for parameter in parameters(current().load("embeddings", embedding)):
        assert f"`{parameter}`" in row, (embedding, parameter)
