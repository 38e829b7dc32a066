"""The calls of self-critical training have the toolkit's numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from caption_kernels import scorers
from caption_kernels.coco import Cider
from caption_kernels.drop_ins import self_critical
from caption_kernels.scorers.df_table import Table

ROWS = [
    {"image_id": "x", "caption": ["a dog 0"]},
    {"image_id": "x", "caption": ["the dog barks 0"]},
    {"image_id": "y", "caption": ["rain 0"]},
]
GTS = {"x": ["a dog barks 0", "a big dog 0"], "y": ["rain falls 0"]}


def test_document_frequencies_of_a_call_count_each_row():
    score, scores = self_critical.CiderD(df="corpus").compute_score(GTS, ROWS)
    expected = Cider().compute_score(
        {k: GTS[row["image_id"]] for k, row in enumerate(ROWS)},
        {k: row["caption"] for k, row in enumerate(ROWS)},
    )
    assert score == expected[0]
    assert scores.tolist() == expected[1].tolist()


@pytest.mark.parametrize("name", ["words", "data/words.json"])
def test_a_table_is_found_by_its_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    frequencies = {"dog": 2, "a dog": 1, "rain": 1}
    header = {"format": "harness-df", "version": 1, "tokenizer": "none"}
    table = {**header, "documents": 3, "df": frequencies}
    (tmp_path / "data" / "words.json").write_text(json.dumps(table))

    scores = self_critical.CiderD(df=name).compute_score(GTS, ROWS)[1]
    scorer = scorers.CiderD(df=frequencies, documents=3, tokenizer="none")
    expected = scorer.score(
        [row["caption"][0] for row in ROWS], [GTS[row["image_id"]] for row in ROWS]
    )
    np.testing.assert_array_equal(scores, expected)


def test_a_pickle_is_not_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "coco-train-idxs.p").write_bytes(b"\x80\x04.")
    with pytest.raises(ValueError, match=r"data/coco-train-idxs\.json"):
        self_critical.CiderD(df="coco-train-idxs")
    with pytest.raises(ValueError, match="expected 4 and 6"):
        self_critical.CiderD(n=3)


TABLE = Table(["a", "dog"], np.array([1, 2]), 3, "none")


@pytest.mark.parametrize("df", ["corpus", TABLE], ids=["corpus", "table"])
@pytest.mark.parametrize(
    ("references", "candidates", "message"),
    [
        (["a dog"], "a dog", "list of one candidate, found 'a dog'"),
        (["a dog"], ["a", "dog"], r"list of one candidate, found \['a', 'dog'\]"),
        (["a dog"], [], r"list of one candidate, found \[\]"),
        ("a dog", ["a dog"], "list of references, found 'a dog'"),
        ([], ["a dog"], r"list of references, found \[\]"),
    ],
)
def test_letters_are_no_texts(df, references, candidates, message):
    rows = [{"image_id": "x", "caption": candidates}]
    with pytest.raises(AssertionError, match=f"image 'x': expected a {message}"):
        self_critical.CiderD(df=df).compute_score({"x": references}, rows)


def test_the_mean_is_that_of_the_candidates():
    score, scores = self_critical.CiderD(df=TABLE).compute_score(GTS, ROWS)
    assert type(score) is np.float64 and scores.shape == (3,)
    assert score == np.mean(scores)
    assert self_critical.CiderD().method() == "CIDEr-D"
