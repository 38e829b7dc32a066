"""``fense``: contract, penalty, details, detectors."""

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError
from harness.registry.torchvision_guard import guard_torchvision
from harness.run.features import FeatureCache
from harness.testing import parametrize_with_checks
from harness_metrics.composed.fense import (
    Classifier,
    Fense,
    Rules,
    is_broken,
    resolve_detector,
)

# --------------------------------------------------------------------------- errors of fluency
# Detectors of errors of fluency: rules, and a tiny classifier that is made here.


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
    tokenizer, model, index = detector._loaded_model
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
        InputError, match=r"fense found no classifier: the folder has no config\.json"
    ):
        Classifier(str(tmp_path))
    with pytest.raises(
        InputError, match="the classifier has no class 'eror'; did you mean 'error'"
    ):
        Classifier(str(folder), label="eror").probabilities(["a"])
    with pytest.raises(HarnessError, match="fense: detector is 3; expected 'rules'"):
        resolve_detector(3, "error")
    assert isinstance(resolve_detector("rules", "error"), Rules)
    assert isinstance(resolve_detector(str(folder), "error"), Classifier)


# --------------------------------------------------------------------------- metrics


@parametrize_with_checks([Fense(embedding="bow")])
def test_contract(check):
    check()


class Dogs:
    """Detector that objects to dogs."""

    def signature(self):
        return "dogs"

    def probabilities(self, texts):
        return np.array([0.95 if "dog" in text else 0.5 for text in texts])


def test_an_error_costs_its_share_of_the_similarity():
    sets = [
        CaptionSet("1", ("a dog", "a cat"), ("a dog", "a cat")),
        CaptionSet("2", ("a cat", "a cat"), ("a dog", "a cat")),
    ]
    features = FeatureCache([item.references for item in sets])
    metric = Fense(embedding="bow", detector=Dogs(), penalty=0.5)
    stats = metric.stats(features.batch(sets), features, None)
    assert metric.per_example(stats) == pytest.approx([(0.75 * 0.5 + 0.75) / 2, 0.75])
    assert metric.details(stats) == {"similarity": pytest.approx(0.75), "errors": 0.25}
    assert metric.details(stats[:0]) == {}
    assert metric.signature() == "fense|dogs|threshold:0.9|penalty:0.5|bow|hashed:4096"


def test_parameters_out_of_range():
    with pytest.raises(
        HarnessError, match="Fense: penalty is 2; expected a number from 0 to 1"
    ):
        Fense(embedding="bow", penalty=2)
