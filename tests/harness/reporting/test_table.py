"""Numbers as texts, and the table that all formats show."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.registry import current
from harness.reporting.table import Table, TableCell, display_name, number, shown_names, size_text
from harness.rundir.records import ResultRecord


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        ("text", "text"),
        (0, "0.0000"),
        (0.12345, "0.1235"),
        (9.99999, "10.0000"),
        (12.345, "12.35"),
        (0.00012345, "0.000123"),
        (-0.0005, "-0.0005"),
        (1234567.0, "1.23e+06"),
        (3, "3.0000"),
    ],
)
def test_digits(value, expected):
    assert number(value) == expected


@given(st.floats(-1e300, 1e300))
def test_the_text_is_near_the_number(value):
    assert float(number(value)) == pytest.approx(value, rel=0.05, abs=1e-12)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        (None, ""),
        ({"candidates": [12], "references": [4]}, "12 + 4"),
        ({"candidates": [1, 2, 3], "references": [5]}, "1-3 + 5"),
        ({"references": [5]}, "5"),
    ],
)
def test_sizes(sizes, expected):
    assert size_text(sizes) == expected


def test_cells_have_their_looks():
    table = Table(["a", "b"], [["x", "1"], ["y", "2"]], "lr", bold=frozenset({(1, 1)}), marks={(0, 1): "ab"})
    assert list(table.cells()) == [
        [TableCell("x", False, ""), TableCell("1", False, "ab")],
        [TableCell("y", False, ""), TableCell("2", True, "")],
    ]


@pytest.mark.parametrize(
    ("label", "signature", "expected"),
    [
        ("bleu4", "bleu|n:4|tok:ptb", "BLEU-4"),
        ("meteor", "", "METEOR 1.5"),
        ("rouge", "", "ROUGE-L"),
        ("cider", "", "CIDEr-D"),
        ("chair-i", "", "CHAIRi"),
        ("chrf++", "", "chrF++"),
        ("distinct2[n=2]", "", "Distinct-2 [n=2]"),
        ("cr2 conditional", "", "CR-2 conditional"),
        ("trm(meteor)", "", "TRM (METEOR)"),
        ("trm(bert)", "trm|pooled|cosine|minilm", "TRM (MiniLM-L6)"),
        ("trm(bert)", "trm|pooled|cosine|sentence-transformers|0123456789ab", "TRM (other weights)"),
        ("trm(bert)", "", "TRM (bert)"),
        ("mmd(minilm)", "mmd|minilm", "MMD (MiniLM-L6)"),
        ("mmd(minilm)", "mmd|sentence-transformers|0123456789ab", "MMD (minilm with other weights)"),
        ("mmd(clip)", "mmd|clip|ViT-B-32|0123456789ab", "MMD (CLIP ViT-B-32)"),
        ("best(rouge)", "best|rouge-l|beta:1.2|tok:ptb", "Best (ROUGE-L)"),
        ("semantic-entropy(bert, 0.3)", "semantic-entropy|0.3|cosine|minilm", "Semantic entropy (MiniLM-L6, 0.3)"),
        ("wmd", "wmd|glove_6B_50d_emb.npy:80000128:5f985fdecc4d|stop:False", "WMD [glove_6B_50d_emb]"),
        ("clipscore", "clipscore|w:2.5|clip|ViT-B-32|0123456789ab", "CLIPScore [ViT-B-32]"),
        ("bertscore", "bertscore|minilm:b1a93120e21f|layer:last|no-idf", "BERTScore [MiniLM-L6]"),
        ("bertscore", "bertscore|roberta-large:b1a93120e21f|layer:17|no-idf", "BERTScore"),
        ("bertscore-recall", "bertscore-recall|minilm:b1a93120e21f|layer:last|no-idf", "BERTScore recall [MiniLM-L6]"),
        ("best(bertscore)", "best|bertscore|minilm:b1a93120e21f|layer:last|no-idf", "Best (BERTScore [MiniLM-L6])"),
        ("clair", 'clair|prompt:1f|judge[server:http://h:1/v1|{"max_tokens": 9, "model": "gpt-4o", "n": 1}|repeats:1]', "CLAIR [gpt-4o]"),
        ("rubric", "rubric|prompt:1f|judge[local:0123456789ab|max_tokens:9|float32|repeats:1]", "Rubric [local]"),
        ("win-rate", "", "Win rate"),
        ("listener-accuracy(sp)", "listener-accuracy|a3ds:0123456789ab:resnet50", "Listener accuracy [a3ds resnet50] (sp)"),
        ("of-mine(rouge)", "", "of-mine(rouge)"),
        ("bleu-mine", "", "bleu-mine"),
    ],
)
def test_names_of_labels(label, signature, expected):
    assert display_name(label, signature) == expected
    assert display_name(expected) == expected


def test_every_shipped_metric_has_a_name():
    unnamed = [entry.full_name for entry in current().entries("metrics") if entry.provider == "harness" and not entry.display]
    assert unnamed == []


def test_a_plugin_declares_its_names(tmp_path, monkeypatch):
    text = 'provider: acme\nmetrics:\n  words: {import: "acme:Words", display: "Words [{1=en}]"}\n  plain: {import: "acme:Plain"}\n'
    (tmp_path / "registry.yaml").write_text(text)
    monkeypatch.setattr("harness.registry.catalogue._extra_files", [str(tmp_path / "registry.yaml")])
    assert display_name("words", "words|de") == "Words [de]"
    assert display_name("words", "words|en") == "Words"
    assert display_name("plain") == "plain"


def test_labels_that_would_share_a_name_keep_their_labels():
    records = [ResultRecord(model="a", metric=metric) for metric in ("cider", "ciderd", "rouge")]
    assert shown_names(records) == {"cider": "CIDEr-D (cider)", "ciderd": "CIDEr-D (ciderd)", "rouge": "ROUGE-L"}
