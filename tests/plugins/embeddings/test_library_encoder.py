"""Any model of sentence-transformers: vectors of the library, wrong kinds of models."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.errors import HarnessError, InputError
from harness.registry.torchvision_guard import guard_torchvision
from harness_metrics.embeddings.library_encoder import LibraryEncoder
from harness_metrics.embeddings.minilm import SentenceModel

pytest.importorskip("torch")
guard_torchvision()
transformers = pytest.importorskip("transformers")
library = pytest.importorskip("sentence_transformers")

from tests.support import tiny_towers  # noqa: E402

TEXTS = ["a dog", "a cat runs on grass", "cat", "", "a dog runs", "a dog " * 9]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny MPNet, whose vectors are those of its first token, with a prompt."""
    folder = tmp_path_factory.mktemp("mpnet")
    config = transformers.MPNetConfig(
        vocab_size=len(tiny_towers.WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=tiny_towers.LENGTH + 2,
        pad_token_id=0,
    )
    transformers.MPNetModel(config).save_pretrained(folder)
    tiny_towers.tokenizer(folder)
    (folder / "modules.json").write_text(
        json.dumps(
            [
                {
                    "idx": 0,
                    "name": "0",
                    "path": "",
                    "type": "sentence_transformers.models.Transformer",
                },
                {
                    "idx": 1,
                    "name": "1",
                    "path": "1_Pooling",
                    "type": "sentence_transformers.models.Pooling",
                },
            ]
        )
    )
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 16, "pooling_mode_cls_token": True})
    )
    (folder / "sentence_bert_config.json").write_text(
        json.dumps({"max_seq_length": tiny_towers.LENGTH, "do_lower_case": False})
    )
    (folder / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"q": "dog "}, "default_prompt_name": "q"})
    )
    return folder


@pytest.mark.parametrize("batch_size", [None, 1, 3])
def test_vectors_are_those_of_the_library(folder, batch_size):
    expected = library.SentenceTransformer(str(folder), device="cpu").encode(TEXTS)
    embedding = SentenceModel(model=str(folder), batch_size=batch_size)
    assert embedding.encode(TEXTS) == pytest.approx(expected, abs=1e-6)
    assert embedding.encode(TEXTS).dtype == np.float32


def test_tokens_beyond_the_length_are_counted(folder):
    embedding = SentenceModel(model=str(folder))
    # 12 tokens, 2 special, and the prompt
    assert embedding.cut_tokens(["a dog", "a dog " * 9]).tolist() == [0, 9]
    assert embedding.reads().endswith("reads 12 tokens of a text")
    with pytest.raises(HarnessError, match="reads texts in no windows"):
        SentenceModel(model=str(folder), long="windows").encode(["a"])


def test_models_that_encode_no_sentences_are_named(tmp_path):
    config = {"model_type": "bert", "architectures": ["BertForSequenceClassification"]}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=r"a classifier \(BertForSequenceClassificat"):
        SentenceModel(model=str(tmp_path)).encode(["a"])
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(InputError, match="the folder has no tokenizer"):
        LibraryEncoder(tmp_path)
    with pytest.raises(InputError, match="not a name on the hub"):
        SentenceModel(model=str(tmp_path / "none")).encode(["a"])
