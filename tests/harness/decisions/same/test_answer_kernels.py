"""String kernels and features of answers."""

from __future__ import annotations

import numpy as np
import pytest

from harness.decisions.same.answer_kernels import KERNELS, STYLE, Answers

TEXTS = ["a dog runs", "a dog sits.", "a dog runs", "", "un chien", ""]


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_symmetric_with_ones_for_equal_texts(name):
    (kernel,) = Answers(TEXTS).kernels([name], np.arange(6)[None])[:, 0]
    assert kernel == pytest.approx(kernel.T)
    assert (kernel >= 0).all() and (kernel <= 1 + 1e-12).all()
    for a, b in ((0, 0), (0, 2), (3, 5)):
        assert kernel[a, b] == pytest.approx(1)


def test_values_of_kernels():
    answers = Answers(["a b c", "a b d", "x"])
    characters, tokens, grams, exact = answers.kernels(
        ["characters", "tokens", "n-grams", "exact"], np.arange(3)[None]
    )[0]
    assert characters[0, 1] == pytest.approx(4 / 5) and tokens[0, 1] == pytest.approx(
        2 / 3
    )
    assert grams[0, 1] == pytest.approx(3 / 6), "a, b and 'a b' of six n-grams each"
    assert exact.tolist() == np.eye(3).tolist()
    assert answers.kernels(["overlap"], np.arange(3)[None])[0, 0][
        0, 1
    ] == pytest.approx(1 / 3), "'a b' of three n-grams each"


def test_prompts_do_not_share_n_grams():
    rows = np.array([[0, 1], [2, 3], [1, 0]])
    together = Answers(["a b", "a c", "a b", "a b"]).kernels(["n-grams"], rows)[:, 0]
    assert together[:, 0, 1] == pytest.approx([1 / 3, 1, 1 / 3])


def test_features_of_style_and_words():
    names, values = Answers(
        ["I'm sorry, I can't.", "A dog runs.", "a dog runs", ""]
    ).features()
    column = dict(zip(names, values.T.tolist()))
    assert column["refusal"] == [1, 0, 0, 0] and column["empty"] == [0, 0, 0, 1]
    assert column["ends with a full stop"] == [1, 1, 0, 0] and column[
        "begins with a capital"
    ] == [1, 1, 0, 0]
    assert column["'dog runs'"] == [0, 1, 1, 0] and column["'… .'"] == [1, 1, 0, 0]
    assert "Markdown" not in column and set(STYLE) >= {"Markdown"}
