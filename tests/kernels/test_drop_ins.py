"""The calls of aac-metrics and of self-critical training have the toolkit's numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from caption_kernels import scorers
from caption_kernels.coco import Cider, Meteor, MissingSources, PTBTokenizer
from caption_kernels.drop_ins import aac_metrics, self_critical

CANDIDATES = ["A dog's barking!", "Rain, heavy rain."]
REFERENCES = [["a dog barks", "the dog is barking"], ["it rains", "rain falls"]]
ROWS = [
    {"image_id": "x", "caption": ["a dog 0"]},
    {"image_id": "x", "caption": ["the dog barks 0"]},
    {"image_id": "y", "caption": ["rain 0"]},
]
GTS = {"x": ["a dog barks 0", "a big dog 0"], "y": ["rain falls 0"]}


def test_sentences_are_tokenised_as_by_the_toolkit():
    tokens = PTBTokenizer().tokenize(
        {k: [{"caption": text}] for k, text in enumerate(CANDIDATES)}
    )
    lines = aac_metrics.preprocess_mono_sents(
        CANDIDATES, cache_path="/c", java_path="/j", tmp_path="/t", verbose=1
    )
    assert lines == [tokens[0][0], tokens[1][0]]
    assert aac_metrics.check_java_path("/there/is/none")


def test_meteor_is_that_of_the_toolkit():
    try:
        scorer = Meteor()
    except MissingSources as error:
        pytest.skip(str(error))
    candidates = aac_metrics.preprocess_mono_sents(CANDIDATES)
    corpus, sentences = aac_metrics.meteor(candidates, REFERENCES, java_path="java")
    expected, scores = scorer.compute_score(
        dict(enumerate(REFERENCES)), {k: [text] for k, text in enumerate(candidates)}
    )
    assert corpus["meteor"].item() == expected
    assert sentences["meteor"].tolist() == scores
    assert aac_metrics.meteor(candidates, REFERENCES, False) == expected


def test_options_that_change_numbers_are_refused():
    with pytest.raises(ValueError, match="language is 'fr'"):
        aac_metrics.meteor(CANDIDATES, REFERENCES, language="fr")
    with pytest.raises(ValueError, match=r"params is \[1\]"):
        aac_metrics.meteor(CANDIDATES, REFERENCES, params=[1])
    with pytest.raises(ValueError, match="normalize_apostrophe is True"):
        aac_metrics.preprocess_mono_sents(CANDIDATES, normalize_apostrophe=True)


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
