"""The BERT forward pass: batches of equal length, a tiny BERT against transformers,
supported and damaged folders.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.errors import InputError
from harness_metrics.embeddings import bert_encoder
from harness_metrics.embeddings.bert_encoder import BertEncoder
from harness_metrics.embeddings.minilm import SentenceModel

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "dog", "cat", "runs", "on", "grass"]
TEXTS = ["a dog", "a cat runs", "cat", "a dog runs on grass", "dog a", "", "zebra"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A sentence-transformers folder with a random BERT of two layers and whole words
    as tokens.
    """
    torch = pytest.importorskip("torch")
    from harness.registry.torchvision_guard import guard_torchvision

    guard_torchvision()
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    path = tmp_path_factory.mktemp("tiny-bert")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=12,
        hidden_act="gelu",
        position_embedding_type="absolute",
    )
    transformers.BertModel(config).save_pretrained(path)
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({w: i for i, w in enumerate(WORDS)}, "[UNK]")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(path / "tokenizer.json"))
    (path / "1_Pooling").mkdir()
    (path / "1_Pooling" / "config.json").write_text(
        json.dumps({"pooling_mode_mean_tokens": True})
    )
    saved = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(
        json.dumps({**saved, "position_embedding_type": "absolute"})
    )
    return path


def library_vectors(path, texts):
    """Mean of the last hidden states, one text at a time."""
    import tokenizers
    import torch
    import transformers

    model = transformers.BertModel.from_pretrained(path).eval()
    tokenizer = tokenizers.Tokenizer.from_file(str(path / "tokenizer.json"))
    with torch.inference_mode():
        ids = [torch.tensor([tokenizer.encode(text).ids]) for text in texts]
        return np.stack(
            [model(each).last_hidden_state.mean(dim=1)[0].numpy() for each in ids]
        )


def test_equals_the_model_of_transformers(folder):
    assert bert_encoder.can_encode(folder)
    vectors = BertEncoder(folder).encode(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors == pytest.approx(library_vectors(folder, TEXTS), abs=2e-6)


def test_a_normalize_module_gives_unit_vectors(folder, tmp_path):
    import shutil

    shutil.copytree(folder, tmp_path / "unit")
    (tmp_path / "unit" / "modules.json").write_text(
        json.dumps([{"type": "sentence_transformers.models.Normalize"}])
    )
    vectors = BertEncoder(tmp_path / "unit").encode(TEXTS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(
        np.ones(len(TEXTS)), abs=1e-6
    )


def test_texts_are_truncated_at_the_length_of_the_model(folder):
    encoder = BertEncoder(folder)
    assert np.array_equal(encoder.encode(["dog " * 50]), encoder.encode(["dog " * 10]))


@pytest.mark.equal_bits
def test_vectors_do_not_depend_on_other_texts_or_order(minilm, texts):
    encoder = BertEncoder(minilm.folder)
    whole = encoder.encode(texts)
    assert encoder.encode(texts[::-1])[::-1] == pytest.approx(whole, abs=1e-6)
    for text, vector in zip(texts, whole):
        assert encoder.encode([text])[0] == pytest.approx(vector, abs=1e-6)
    assert encoder.encode([]).shape == (0, 384)


def test_the_accelerator_has_the_vectors_of_the_cpu(folder):
    encoder = BertEncoder(folder)
    rows = encoder.token_ids(TEXTS)
    lengths = np.array([len(row) for row in rows])
    on_accelerator = encoder._encode_on_accelerator(rows, lengths)
    assert on_accelerator == pytest.approx(encoder.encode(TEXTS), abs=1e-6)
    assert encoder._encode_on_accelerator([], lengths[:0]).shape == (0, 16)


def test_long_texts_are_cut_or_read_in_windows(folder):
    # 12 positions, 2 of them special
    text = "a dog runs on grass cat a dog runs on grass cat"
    encoder = BertEncoder(folder, long="windows")
    halves = encoder.encode([text[: text.index("grass cat", 25)], "grass cat"])
    cut = BertEncoder(folder).encode([text])
    assert cut[0] == pytest.approx(halves[0], abs=1e-6)
    assert encoder.encode([text, "cat"])[0] == pytest.approx(
        halves.mean(axis=0), abs=1e-6
    )


def test_other_models_and_incomplete_folders_are_not_supported(tmp_path):
    assert not bert_encoder.can_encode(tmp_path)
    for name in (
        "config.json",
        "tokenizer.json",
        "model.safetensors",
        "1_Pooling/config.json",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    assert not bert_encoder.can_encode(tmp_path)

    (tmp_path / "1_Pooling/config.json").write_text(
        json.dumps({"pooling_mode_mean_tokens": True})
    )
    for model_type, expected in (("mpnet", False), ("bert", True)):
        (tmp_path / "config.json").write_text(
            json.dumps({"model_type": model_type, "hidden_act": "gelu"})
        )
        assert bert_encoder.can_encode(tmp_path) is expected

    (tmp_path / "config.json").write_text("not JSON")
    with pytest.raises(InputError, match=r"config\.json: not JSON"):
        bert_encoder.can_encode(tmp_path)


def test_a_missing_tensor_is_an_input_error(folder, tmp_path):
    import shutil

    from safetensors.torch import load_file, save_file

    shutil.copytree(folder, tmp_path / "model")
    file = tmp_path / "model" / "model.safetensors"
    weights = load_file(file)
    del weights["encoder.layer.1.output.dense.bias"]
    save_file(weights, file)
    with pytest.raises(
        InputError,
        match=r"no tensor 'encoder\.layer\.1\.output\.dense\.bias' in the weights",
    ):
        BertEncoder(tmp_path / "model")


def test_several_devices_give_the_vectors_of_one(folder):
    """``cpu:0`` stands for an accelerator: its batches are copied there and back."""
    expected = BertEncoder(folder).encode(TEXTS)
    on_device = BertEncoder(folder, "cpu:0")
    assert on_device.encode(TEXTS) == pytest.approx(expected, abs=1e-6)
    embedding = SentenceModel(model=str(folder), device=["cpu", "cpu:0"])
    assert embedding.encode(TEXTS) == pytest.approx(expected, abs=1e-6)
    assert embedding.encode([]).shape == (0, 16)
    assert embedding.cut_tokens(TEXTS).sum() == 0
    one = SentenceModel(model=str(folder))
    assert embedding.signature() == one.signature()
