"""Training of the recurrent language model."""

from __future__ import annotations

import pytest
import torch

from harness.errors import InputError
from harness_models.rnnlm.model import RnnLm
from harness_models.rnnlm.training import RnnLmRecipe, perplexity, train

LINES = [
    f"a {animal} {verb} ."
    for animal in ("dog", "cat", "bird")
    for verb in ("runs", "sits", "sleeps")
] * 12
SMALL = {"epochs": 12, "size": 16, "learning_rate": 0.02, "batch_size": 8}


@pytest.mark.slow
def test_training_learns_the_sentences_and_is_deterministic():
    rows = []
    first = train(LINES, RnnLmRecipe(**SMALL), rows.append)
    assert rows[-1]["loss"] < rows[0]["loss"]
    assert first.settings["vocabulary"] == 7
    # nine sentences of three words and an end: at best 9 ** (1 / 4) = 1.73
    assert 1 < rows[-1]["perplexity"] < 2.6
    second = train(LINES, RnnLmRecipe(**SMALL))
    for a, b in zip(first.model.parameters(), second.model.parameters()):
        assert torch.equal(a, b)


def test_perplexity_of_a_uniform_model():
    model = RnnLm(["a", "b"], 4)
    for weight in model.parameters():
        torch.nn.init.zeros_(weight)
    # two words, start and stop
    assert perplexity(model, [[2, 3], [3]]) == pytest.approx(4.0, abs=1e-3)
    assert perplexity(model, []) is None


def test_sentences_with_rare_words_are_left_out():
    result = train(
        [*LINES, "one aardvark"], RnnLmRecipe(**{**SMALL, "epochs": 1}, min_count=2)
    )
    assert "aardvark" not in result.model.words and "one" not in result.model.words
    with pytest.raises(InputError, match="0 of 2 lines are left to train on"):
        train(["one", "two"], RnnLmRecipe(min_count=2))


def test_the_key_depends_on_recipe_and_corpus():
    assert RnnLmRecipe().key("a") != RnnLmRecipe().key("b")
    assert RnnLmRecipe().key("a") != RnnLmRecipe(seed=1).key("a")
    assert RnnLmRecipe().key("a") == RnnLmRecipe().key("a")
