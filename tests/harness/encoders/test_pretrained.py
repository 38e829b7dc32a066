"""Models of transformers from folders: missing and unused weights."""

from __future__ import annotations

import pytest

from harness.encoders.pretrained import POOLER, load_pretrained
from harness.errors import InputError
from harness.registry.torchvision_guard import guard_torchvision

pytest.importorskip("torch")
guard_torchvision()
transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def config():
    return transformers.BertConfig(
        vocab_size=10,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )


def test_weights_of_another_head_are_left_out_without_a_word(config, tmp_path, capfd):
    transformers.BertForMaskedLM(config).save_pretrained(tmp_path)
    capfd.readouterr()
    model = load_pretrained(transformers.AutoModel, tmp_path, unread=(POOLER,))
    assert type(model) is transformers.BertModel
    assert "REPORT" not in capfd.readouterr().err


def test_missing_weights_are_no_random_numbers(config, tmp_path):
    transformers.BertModel(config, add_pooling_layer=False).save_pretrained(tmp_path)
    with pytest.raises(
        InputError, match=r"not those of a BertModel: there is no pooler\.dense\.bias"
    ):
        load_pretrained(transformers.AutoModel, tmp_path)
    with pytest.raises(InputError, match=r"no classifier\.bias, classifier\.weight"):
        load_pretrained(
            transformers.AutoModelForSequenceClassification, tmp_path, unread=(POOLER,)
        )


def test_weights_of_other_shapes_and_none_are_one_line(config, tmp_path):
    transformers.BertModel(config).save_pretrained(tmp_path)
    wide = transformers.BertConfig(**{**config.to_dict(), "hidden_size": 32})
    wide.save_pretrained(tmp_path)
    for _ in range(2):
        with pytest.raises(InputError, match="no weights that transformers can load"):
            load_pretrained(transformers.AutoModel, tmp_path)
        (tmp_path / "model.safetensors").unlink(missing_ok=True)


def test_the_words_of_transformers_are_as_loud_as_before(config, tmp_path):
    transformers.BertModel(config).save_pretrained(tmp_path)
    before = transformers.logging.get_verbosity()
    load_pretrained(transformers.AutoModel, tmp_path)
    assert transformers.logging.get_verbosity() == before
