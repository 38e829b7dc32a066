"""Sources of document frequencies: the task, the references of a fit, a table,
documents passed from Python.
."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError
from harness.files.outputs import OUTPUTS
from harness.run.features import FeatureCache
from harness_metrics.ngram import cider
from harness_metrics.ngram.document_frequency import (
    Source,
    build_df_table,
    from_documents,
)
from harness_metrics.tokenisers.text_rows import TextRows

CORPUS = [
    ["a dog runs fast", "the dog"],
    ["a cat sat on a mat"],
    ["a dog sat", "\u00e9t\u00e9 d\u2019or"],
    ["x y z w v"],
]


def stats(metric):
    """(2, 1) scores of two examples whose references are two documents of the
    corpus.
    """
    sets = [
        CaptionSet("0", ("a dog sat on a mat",), tuple(CORPUS[0])),
        CaptionSet("1", ("a dog",), tuple(CORPUS[2])),
    ]
    features = FeatureCache([item.references for item in sets])
    batch = features.batch(sets)
    return metric.stats(batch, features, metric.fit(features.references, features))


@pytest.mark.parametrize("ending", ["df.json", "df.json.gz", "df.parquet", "df.npz"])
def test_a_table_gives_the_scores_of_the_corpus_that_it_was_built_from(
    tmp_path, ending
):
    path = tmp_path / ending
    assert build_df_table(CORPUS, path, tokenizer="none") > 30
    assert [p.name for p in tmp_path.iterdir() if p.name != OUTPUTS] == [ending]
    from_table = cider.Cider(df=str(path), tokenizer="none")
    from_texts = cider.Cider(df=CORPUS, tokenizer="none")
    assert np.array_equal(stats(from_table), stats(from_texts))
    assert not np.array_equal(stats(from_table), stats(cider.Cider(tokenizer="none")))
    assert np.array_equal(
        cider.matrix(["a dog", "a dog runs"], df=path, tokenizer="none"),
        cider.matrix(["a dog", "a dog runs"], df=CORPUS, tokenizer="none"),
    )


def test_the_source_is_part_of_the_signature(tmp_path):
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


def test_boundaries_of_documents_are_part_of_the_signature():
    names = {Source(corpus).name for corpus in ([["a", "b"]], [["a"], ["b"]], [["ab"]])}
    assert len(names) == 3


def test_the_source_given_is_the_references_of_the_fit():
    features = FeatureCache(CORPUS)
    sets = [
        CaptionSet("0", ("a dog sat on a mat",), tuple(CORPUS[0])),
        CaptionSet("1", ("a dog",), tuple(CORPUS[2])),
    ]
    batch = features.batch(sets)
    stratum = [item.references for item in sets]
    fitted = cider.Cider(df="given", tokenizer="none")
    task = cider.Cider(tokenizer="none")
    assert np.array_equal(
        fitted.stats(batch, features, fitted.fit(stratum, features)), stats(task)
    )
    whole = task.fit(features.references, features)
    assert not np.array_equal(task.stats(batch, features, whole), stats(task))


def test_n_grams_indexed_later_are_in_no_document():
    texts = TextRows("none")
    frequencies = from_documents(texts, CORPUS)
    index = texts.index
    index.gram_rows(texts.add(["an unseen text"]))
    assert frequencies.documents == 4
    assert len(frequencies.counts) < index.n_grams
    names = index.gram_texts()
    assert {names[i]: int(n) for i, n in enumerate(frequencies.counts) if n > 1} == {
        "a": 3,
        "dog": 2,
        "a dog": 2,
        "sat": 2,
    }


def test_rare_n_grams_are_omitted_from_a_table(tmp_path):
    path = tmp_path / "df.json"
    assert build_df_table(CORPUS, path, tokenizer="none", minimum=2) == 4
    table = json.loads(path.read_text(encoding="utf-8"))
    assert table["documents"] == 4
    assert set(table["df"]) == {"a", "dog", "a dog", "sat"}
    assert np.array_equal(
        stats(cider.Cider(df=path, tokenizer="none")),
        stats(cider.Cider(df=CORPUS, tokenizer="none")),
    )


def test_a_missing_table_is_reported_by_the_constructor(tmp_path):
    with pytest.raises(
        InputError, match=r"none\.json: cannot read the document-frequency table"
    ):
        cider.Cider(df=str(tmp_path / "none.json"))


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ([], "df: no documents"),
        ("a dog", "df: str; expected one list of texts per document"),
        ([["a"], "b"], "df: document 1: 'b'; expected a list of texts"),
        ([["a", None]], "df: document 0: None; expected a text"),
    ],
)
def test_an_invalid_corpus_is_reported(tmp_path, corpus, message):
    with pytest.raises(InputError, match=message):
        build_df_table(corpus, tmp_path / "df.json")
    assert not list(tmp_path.iterdir())


def test_frequencies_without_documents_are_refused():
    with pytest.raises(HarnessError, match="need references, and the task has none"):
        Source("references").frequencies(TextRows("none"))
