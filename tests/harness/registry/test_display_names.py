"""Names of metrics for people, and labels by any spelling."""

from __future__ import annotations

import pytest

from harness.registry import current
from harness.registry.catalogue import spelling
from harness.registry.display_names import display_name, labels_by_spelling


@pytest.mark.parametrize(
    ("label", "signature", "expected"),
    [
        ("bleu4", "bleu|n:4|tok:ptb", "BLEU-4"),
        ("meteor", "", "METEOR 1.5"),
        ("rouge", "", "ROUGE-L (COCO)"),
        ("rougeL", "rougeL|fmeasure|tok:rouge-score", "ROUGE-L (rouge_score)"),
        ("rougeLsum", "", "ROUGE-Lsum"),
        ("rouge1", "", "ROUGE-1"),
        ("cider", "", "CIDEr-D"),
        ("chair-i", "", "CHAIRi"),
        ("chrf++", "", "chrF++"),
        ("distinct2[n=2]", "", "Distinct-2 [n=2]"),
        ("cr2 conditional", "", "CR-2 conditional"),
        ("trm(meteor)", "", "TRM (METEOR)"),
        ("trm(bert)", "trm|pooled|cosine|minilm", "TRM (MiniLM-L6)"),
        (
            "trm(bert)",
            "trm|pooled|cosine|sentence-transformers|0123456789ab",
            "TRM (other weights)",
        ),
        ("trm(bert)", "", "TRM (bert)"),
        ("mmd(minilm)", "mmd|minilm", "MMD (MiniLM-L6)"),
        (
            "mmd(minilm)",
            "mmd|sentence-transformers|0123456789ab",
            "MMD (minilm with other weights)",
        ),
        ("mmd(clip)", "mmd|clip|ViT-B-32|0123456789ab", "MMD (CLIP ViT-B-32)"),
        ("best(rouge)", "best|rouge-l|beta:1.2|tok:ptb", "Best (ROUGE-L)"),
        (
            "semantic-entropy(bert, 0.3)",
            "semantic-entropy|0.3|cosine|minilm",
            "Semantic entropy (MiniLM-L6, 0.3)",
        ),
        (
            "wmd",
            "wmd|glove_6B_50d_emb.npy:80000128:5f985fdecc4d|stop:False",
            "WMD [glove_6B_50d_emb]",
        ),
        (
            "clipscore",
            "clipscore|w:2.5|clip|ViT-B-32|0123456789ab",
            "CLIPScore [ViT-B-32]",
        ),
        (
            "bertscore",
            "bertscore|minilm:b1a93120e21f|layer:last|no-idf",
            "BERTScore [MiniLM-L6]",
        ),
        (
            "bertscore",
            "bertscore|roberta-large:b1a93120e21f|layer:17|no-idf",
            "BERTScore",
        ),
        (
            "bertscore-recall",
            "bertscore-recall|minilm:b1a93120e21f|layer:last|no-idf",
            "BERTScore recall [MiniLM-L6]",
        ),
        (
            "best(bertscore)",
            "best|bertscore|minilm:b1a93120e21f|layer:last|no-idf",
            "Best (BERTScore [MiniLM-L6])",
        ),
        (
            "clair",
            'clair|prompt:1f|judge[server:http://h:1/v1|{"max_tokens": 9, "model": '
            '"gpt-4o", "n": 1}|repeats:1]',
            "CLAIR [gpt-4o]",
        ),
        (
            "rubric",
            "rubric|prompt:1f|judge[local:0123456789ab|max_tokens:9|float32|repeats:1]",
            "Rubric [local]",
        ),
        ("win-rate", "", "Win rate"),
        (
            "listener-accuracy(sp)",
            "listener-accuracy|a3ds:0123456789ab:resnet50",
            "Listener accuracy [a3ds resnet50] (sp)",
        ),
        ("of-mine(rouge)", "", "of-mine(rouge)"),
        ("bleu-mine", "", "bleu-mine"),
    ],
)
def test_names_of_labels(label, signature, expected):
    assert display_name(label, signature) == expected
    assert display_name(expected) == expected


def test_every_shipped_metric_has_a_name():
    unnamed = [
        entry.full_name
        for entry in current().entries("metrics")
        if entry.provider == "harness" and not entry.display
    ]
    assert unnamed == []


def test_a_plugin_declares_its_names(tmp_path, monkeypatch):
    text = (
        'provider: acme\nmetrics:\n  words: {import: "acme:Words", display: '
        '"Words [{1=en}]"}\n  plain: {import: "acme:Plain"}\n'
    )
    (tmp_path / "registry.yaml").write_text(text)
    monkeypatch.setattr(
        "harness.registry.in_use._extra_files", [str(tmp_path / "registry.yaml")]
    )
    assert display_name("words", "words|de") == "Words [de]"
    assert display_name("words", "words|en") == "Words"
    assert display_name("plain") == "plain"


def test_numbers_of_another_program_keep_their_names():
    assert display_name("bleu4", "scores|bleu4") == "bleu4"


def test_labels_are_found_by_their_names_in_any_spelling():
    labels = labels_by_spelling(["cider", "bleu4", "mine"])
    assert (labels["ciderd"], labels["cider"], labels["bleu4"], labels["mine"]) == (
        "cider",
        "cider",
        "bleu4",
        "mine",
    )
    both = labels_by_spelling(["cider", "ciderd"])
    assert both["ciderd"] == "ciderd", "a label goes before the name of another metric"


def test_a_run_with_rouge_alone_has_it_under_all_its_names():
    labels = labels_by_spelling(["rouge", "cider"])
    assert {
        labels[name]
        for name in (
            "rouge",
            "rouge-l",
            "ROUGE_L",
            spelling("ROUGE-L"),
            spelling("ROUGE-L (COCO)"),
        )
    } == {"rouge"}


def test_a_spelling_of_both_rouges_is_none_of_them_in_a_run_with_both():
    labels = labels_by_spelling(["rouge", "rougeL", "rouge1"])
    assert (labels["rouge-l"], labels["ROUGE_L"], labels["rougeL"]) == (
        "rouge",
        "rouge",
        "rougeL",
    )
    assert spelling("ROUGE-L") not in labels
    assert labels[spelling("ROUGE-L (rouge_score)")] == "rougeL"
    assert labels[spelling("Rouge-1")] == "rouge1"
