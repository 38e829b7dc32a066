"""Token vectors of a tiny random BERT: layers, batches, devices, the store."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from harness.errors import HarnessError, InputError
from harness.registry.torchvision_guard import guard_torchvision
from harness_metrics.neural import token_encoder
from harness_metrics.neural.token_encoder import TokenEncoder
from harness_metrics.neural.token_matching import batch_precisions

torch = pytest.importorskip("torch")
guard_torchvision()
transformers = pytest.importorskip("transformers")

from tests.support import tiny_towers  # noqa: E402

TEXTS = ["a dog runs on grass", "cat", "", "a cat on a dog", "zebra", "dog " * 30]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A BERT of two layers with a tokenizer of whole words, at most 12 tokens."""
    folder = tmp_path_factory.mktemp("bert")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(tiny_towers.WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=tiny_towers.LENGTH,
    )
    transformers.BertModel(config).save_pretrained(folder)
    tiny_towers.tokenizer(folder)
    return folder


def encoder(folder, layer=2, **options):
    return TokenEncoder(lambda: folder, layer, "the test", **options)


def test_layers_behind_the_one_that_is_read_are_left_out(folder):
    short = encoder(folder, 1)
    found = short.encode(TEXTS[:4])
    tokenizer, copies = short._loaded_model
    assert len(copies["cpu"].encoder.layer) == 1
    whole = transformers.AutoModel.from_pretrained(str(folder)).eval()
    for text, tokens in zip(TEXTS, found):
        batch = tokenizer([text], return_tensors="pt")
        with torch.inference_mode():
            states = whole(**batch, output_hidden_states=True).hidden_states[1][0]
        expected = torch.nn.functional.normalize(states, dim=-1).numpy()
        assert tokens.vectors == pytest.approx(expected, abs=1e-6)
        assert tokens.counted.tolist() == [False, *[True] * (len(states) - 2), False]


@pytest.mark.parametrize("batch_size", [1, 2, None])
def test_vectors_depend_on_neither_batch_nor_order(folder, batch_size):
    expected = encoder(folder).encode(TEXTS)
    found = encoder(folder, batch_size=batch_size).encode(TEXTS[::-1])[::-1]
    for tokens, same in zip(found, expected):
        assert tokens.vectors == pytest.approx(same.vectors, abs=1e-6)
        assert tokens.ids.tolist() == same.ids.tolist()


def test_vectors_stay_on_the_first_of_several_devices(folder):
    """``cpu:0`` stands for an accelerator: its vectors are tensors."""
    expected = encoder(folder, device="cpu").encode(TEXTS)
    on_both = encoder(folder, device=["cpu:0", "cpu"]).encode(TEXTS)
    assert all(isinstance(tokens.vectors, torch.Tensor) for tokens in on_both)
    on_both_arrays = encoder(folder, device=["cpu", "cpu:0"]).encode(TEXTS)
    for tensors, arrays, same in zip(on_both, on_both_arrays, expected):
        assert tensors.vectors.numpy() == pytest.approx(same.vectors, abs=1e-6)
        assert arrays.vectors == pytest.approx(same.vectors, abs=1e-6)
    assert batch_precisions(on_both, 3, "cpu:0") == pytest.approx(
        batch_precisions(expected, 3), abs=1e-6
    )


def test_vectors_that_an_accelerator_has_no_room_for_wait_on_the_cpu(
    folder, tmp_path, monkeypatch
):
    """The third batch and those behind it find too little memory."""
    whole = encoder(folder, device="cpu:0", batch_size=1)
    expected = batch_precisions(whole.encode(TEXTS), 3, whole.home)

    asked: list[str] = []

    def has_room(device: str) -> bool:
        asked.append(device)
        return len(asked) <= 2

    monkeypatch.setattr(token_encoder, "has_room", has_room)
    monkeypatch.setattr(token_encoder, "KEPT_TOGETHER", 1)
    for store in (None, tmp_path):
        if store is not None:
            monkeypatch.setenv("HARNESS_VECTORS", str(store))
            encoder(folder, device="cpu:0", batch_size=1).encode(TEXTS)
        asked.clear()
        short = encoder(folder, device="cpu:0", batch_size=1)
        tokens = short.encode(TEXTS)
        kept = [isinstance(text.vectors, torch.Tensor) for text in tokens]
        assert sum(kept) == 2, "two texts stay where they were encoded"
        assert np.array_equal(batch_precisions(tokens, 3, short.home), expected)
    assert set(asked) == {"cpu:0"}


@pytest.mark.parametrize("device", ["cpu", "cpu:0"])
def test_stored_tokens_are_those_that_were_encoded(
    folder, tmp_path, monkeypatch, device
):
    fresh = encoder(folder, device=device).encode(TEXTS)
    monkeypatch.setenv("HARNESS_VECTORS", str(tmp_path / "vectors"))
    encoder(folder, device=device).encode(TEXTS)
    reader = encoder(folder, device=device)
    monkeypatch.setattr(reader, "_compute", lambda texts: pytest.fail("encoded twice"))
    for tokens, stored in zip(fresh, reader.encode(TEXTS)):
        assert type(stored.vectors) is type(tokens.vectors)
        assert np.array_equal(np.asarray(stored.vectors), np.asarray(tokens.vectors))
        assert stored.counted.tolist() == tokens.counted.tolist()
        assert stored.ids.tolist() == tokens.ids.tolist()


def test_tokens_beyond_the_positions_are_counted(folder, caplog):
    model = encoder(folder)
    assert model.reads().endswith("reads 12 tokens of a text")
    # 30 words and two special tokens
    assert model.cut_tokens(TEXTS).tolist() == [0, 0, 0, 0, 0, 20]
    assert len(model.encode(TEXTS)[-1].vectors) == 12
    assert not caplog.records, "no warning of transformers about the long text"


def test_another_process_loads_the_model_itself(folder):
    model = TokenEncoder(_Folder(folder), 2, "the test")
    vectors = model.encode(["a dog"])[0].vectors
    copy = pickle.loads(pickle.dumps(model))
    assert "_loaded_model" not in vars(copy)
    assert np.array_equal(copy.encode(["a dog"])[0].vectors, vectors)


class _Folder:
    """Function that returns a folder, and can be pickled."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self):
        return self.folder


def test_wrong_layers_and_folders_are_one_line(folder, tmp_path):
    with pytest.raises(HarnessError, match="layer is 3; the model has layers 0 to 2"):
        encoder(folder, 3).encode(["a"])
    with pytest.raises(InputError, match=r"the folder has no config\.json"):
        encoder(tmp_path).encode(["a"])
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(InputError, match="the folder has no tokenizer"):
        encoder(tmp_path).encode(["a"])
