"""MiniLM sentence vectors: meaning, independence of the batch, folders,
the library as a second encoder.
."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from harness.contracts import Embedding
from harness.errors import InputError
from harness_metrics.embeddings.library_encoder import LibraryEncoder
from harness_metrics.embeddings.minilm import MiniLm


def test_vectors_have_unit_length_and_similar_texts_are_near(minilm):
    vectors = minilm.encode(["a dog is running", "a puppy runs", "a plate of food"])
    assert isinstance(minilm, Embedding)
    assert (vectors.shape, vectors.dtype) == ((3, 384), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    assert vectors[0] @ vectors[1] > 0.6 > 0.2 > vectors[0] @ vectors[2]


def test_a_folder_gives_the_same_vectors_under_a_signature_of_its_files(minilm, texts):
    other = MiniLm(path=str(minilm.folder))
    assert other.name == minilm.folder.name
    assert minilm.signature() == "minilm"
    assert other.signature().startswith("sentence-transformers|")
    assert np.array_equal(other.encode(texts), minilm.encode(texts))


def test_a_folder_without_a_model_is_an_input_error(tmp_path):
    with pytest.raises(
        InputError,
        match=r"not a sentence-transformers model folder: it has no config.json",
    ):
        MiniLm(path=str(tmp_path)).encode(["a"])


def test_pickles_without_the_loaded_model(minilm):
    vectors = minilm.encode(["a dog"])
    assert "_loaded_model" in vars(minilm)
    copy = pickle.loads(pickle.dumps(minilm))
    assert "_loaded_model" not in vars(copy)
    assert np.array_equal(copy.encode(["a dog"]), vectors)


@pytest.mark.slow
def test_the_forward_pass_equals_the_library(minilm, texts):
    pytest.importorskip("sentence_transformers")
    assert minilm.encode(texts) == pytest.approx(
        LibraryEncoder(minilm.folder).encode(texts), abs=2e-6
    )
