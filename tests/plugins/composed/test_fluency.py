"""Detectors of errors of fluency: rules, and a tiny classifier that is made here."""

import numpy as np
import pytest

from harness.errors import HarnessError, InputError
from harness.registry.torchvision_guard import guard_torchvision
from harness_metrics.composed.fluency import (
    Classifier,
    Rules,
    is_broken,
    resolve_detector,
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "...",
        "a dog a dog runs",
        "a man man runs",
        "a dog is running in the",
        "Birds sing, birds sing",
        "water and",
    ],
)
def test_broken_captions(text):
    assert is_broken(text)


@pytest.mark.parametrize(
    "text",
    [
        "a dog runs",
        "a dog and a dog's bone",
        "Two cats; two dogs.",
        "ein Hündchen läuft",
    ],
)
def test_fluent_captions(text):
    assert not is_broken(text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    guard_torchvision()
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    path = tmp_path_factory.mktemp("classifier")
    (path / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "dog", "runs"])
    )
    transformers.BertTokenizer(str(path / "vocab.txt")).save_pretrained(path)
    config = transformers.BertConfig(
        vocab_size=8,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        id2label={0: "add_tail", 1: "error"},
        label2id={"add_tail": 0, "error": 1},
        problem_type="multi_label_classification",
    )
    torch.manual_seed(0)
    transformers.BertForSequenceClassification(config).save_pretrained(path)
    return path


def test_a_classifier_gives_the_probability_of_its_class(folder):
    import torch

    detector = Classifier(str(folder), batch_size=2)
    texts = ["a dog", "runs", "a a a"]
    probabilities = detector.probabilities(texts)
    tokenizer, model, index, _ = detector._loaded_model
    assert index == 1
    with torch.inference_mode():
        expected = [
            model(**tokenizer(text, return_tensors="pt")).logits.sigmoid()[0, 1].item()
            for text in texts
        ]
    np.testing.assert_allclose(probabilities, expected, atol=1e-5)
    assert "_loaded_model" not in detector.__getstate__()
    assert detector.signature().endswith(":error")
    assert detector.probabilities([]).shape == (0,)


def test_mistakes(folder, tmp_path):
    with pytest.raises(
        InputError, match=r"the detector of 'fense': the folder has no config\.json"
    ):
        Classifier(str(tmp_path))
    with pytest.raises(
        InputError, match="the classifier has no class 'eror'; did you mean 'error'"
    ):
        Classifier(str(folder), label="eror").probabilities(["a"])
    with pytest.raises(HarnessError, match="fense: detector is 3; expected 'rules'"):
        resolve_detector(3, "error")
    assert isinstance(resolve_detector("rules", "error"), Rules)
    classifier = resolve_detector(str(folder), "error", device="cpu:0")
    assert isinstance(classifier, Classifier)
    assert classifier.device == "cpu:0"
