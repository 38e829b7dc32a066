"""Where CIDEr's document frequencies come from: the task, a table on disk, given texts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError
from harness.plugins.ngram import cider
from harness.plugins.ngram.document_frequency import build_df_table
from harness.run.features import FeatureCache

CORPUS = [
    ["a dog runs fast", "the dog"],
    ["a cat sat on a mat"],
    ["a dog sat", "\u00e9t\u00e9 d\u2019or"],
    ["x y z w v"],
]
ENDINGS = ["df.json", "df.json.gz", "df.parquet", "df.npz"]


def stats(metric):
    sets = [CaptionSet("0", ("a dog sat on a mat",), tuple(CORPUS[0])), CaptionSet("1", ("a dog",), tuple(CORPUS[2]))]
    features = FeatureCache([item.references for item in sets])
    batch = features.batch(sets)
    return metric.stats(batch, features, metric.fit(features.references, features))


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_gives_the_numbers_of_the_corpus_it_was_built_from(tmp_path, ending):
    path = tmp_path / ending
    assert build_df_table(CORPUS, path, tokenizer="none") > 30
    assert [p.name for p in tmp_path.iterdir()] == [ending]
    from_table = cider.Cider(df=str(path), tokenizer="none")
    from_texts = cider.Cider(df=CORPUS, tokenizer="none")
    assert np.array_equal(stats(from_table), stats(from_texts))
    assert not np.array_equal(stats(from_table), stats(cider.Cider(tokenizer="none")))
    assert np.array_equal(
        cider.matrix(["a dog", "a dog runs"], df=path, tokenizer="none"),
        cider.matrix(["a dog", "a dog runs"], df=CORPUS, tokenizer="none"),
    )


def test_the_choice_is_part_of_the_signature(tmp_path):
    path = tmp_path / "df.json"
    build_df_table(CORPUS, path, tokenizer="none")
    signatures = [
        cider.Cider(df=df, tokenizer="none").signature()
        for df in ("references", "given", str(path), CORPUS, CORPUS[1:])
    ]
    assert signatures[:2] == ["cider-d|df:task|tok:none", "cider-d|df:given|tok:none"]
    assert "df:table:" in signatures[2]
    assert len(set(signatures)) == 5
    before = signatures[2]
    build_df_table(CORPUS[:2], path, tokenizer="none")
    assert cider.Cider(df=str(path), tokenizer="none").signature() != before


def test_given_means_the_references_of_the_fit():
    features = FeatureCache(CORPUS)
    sets = [CaptionSet("0", ("a dog sat on a mat",), tuple(CORPUS[0])), CaptionSet("1", ("a dog",), tuple(CORPUS[2]))]
    batch = features.batch(sets)
    stratum = [item.references for item in sets]
    given, task = cider.Cider(df="given", tokenizer="none"), cider.Cider(tokenizer="none")
    assert np.array_equal(given.stats(batch, features, given.fit(stratum, features)), stats(task))
    assert not np.array_equal(task.stats(batch, features, task.fit(stratum, features)), stats(task))


def test_rare_n_grams_may_be_left_out_of_a_table(tmp_path):
    path = tmp_path / "df.json"
    build_df_table(CORPUS, path, tokenizer="none", minimum=2)
    table = json.loads(path.read_text(encoding="utf-8"))
    assert table["documents"] == 4
    assert set(table["df"]) == {"a", "dog", "a dog", "sat"}
    assert np.array_equal(
        stats(cider.Cider(df=path, tokenizer="none")), stats(cider.Cider(df=CORPUS, tokenizer="none"))
    )


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_truncated_table_is_named(tmp_path, ending):
    path = tmp_path / ending
    build_df_table(CORPUS, path, tokenizer="none")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=f"{ending}: not a document-frequency table"):
        stats(cider.Cider(df=path, tokenizer="none"))


@pytest.mark.parametrize(
    "change, words",
    [
        ({"format": "other"}, "not a harness-df table"),
        ({"version": 2}, "version 1"),
        ({"documents": 0}, "inconsistent table: 0 documents"),
        ({"documents": 2}, "'a' occurs in 3 of 2"),
        ({"df": {"a b c d e": 1}}, "expected one to four words"),
        ({"df": {"a": 1.5}}, "whole numbers"),
        ({"df": ["a"]}, "not a document-frequency table"),
        ({"tokenizer": "ptb"}, "the table's tokenizer is 'ptb'"),
    ],
)
def test_a_damaged_table_is_told_in_one_line(tmp_path, change, words):
    path = tmp_path / "df.json"
    build_df_table(CORPUS, path, tokenizer="none")
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **change}), encoding="utf-8")
    with pytest.raises(InputError, match=words) as caught:
        stats(cider.Cider(df=path, tokenizer="none"))
    assert "\n" not in str(caught.value)


def test_missing_tables_and_other_endings_are_told_before_anything_runs(tmp_path):
    with pytest.raises(InputError, match="cannot read the document-frequency table"):
        cider.Cider(df=str(tmp_path / "none.json"))
    with pytest.raises(InputError, match="unknown ending"):
        build_df_table(CORPUS, tmp_path / "df.pkl", tokenizer="none")
    with pytest.raises(HarnessError, match="no documents"):
        build_df_table([], tmp_path / "df.json")
