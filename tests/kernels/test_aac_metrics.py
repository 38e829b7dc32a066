"""The calls of aac-metrics have the toolkit's numbers."""

from __future__ import annotations

import pytest

from caption_kernels.coco import Meteor, MissingSources, PTBTokenizer
from caption_kernels.drop_ins import aac_metrics

CANDIDATES = ["A dog's barking!", "Rain, heavy rain."]
REFERENCES = [["a dog barks", "the dog is barking"], ["it rains", "rain falls"]]


def test_sentences_are_tokenised_as_by_the_toolkit():
    tokens = PTBTokenizer().tokenize(
        {k: [{"caption": text}] for k, text in enumerate(CANDIDATES)}
    )
    lines = aac_metrics.preprocess_mono_sents(
        CANDIDATES, cache_path="/c", java_path="/j", tmp_path="/t", verbose=1
    )
    assert lines == [tokens[0][0], tokens[1][0]]
    assert aac_metrics.check_java_path("/there/is/none")


def test_a_sentence_without_tokens_keeps_its_place():
    assert aac_metrics.preprocess_mono_sents(["a dog", "...", "", "a cat"]) == [
        "a dog",
        "",
        "",
        "a cat",
    ]
    assert aac_metrics.preprocess_mono_sents([]) == []


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


def test_an_option_that_the_original_does_not_have_is_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'java'"):
        aac_metrics.meteor(CANDIDATES, REFERENCES, java="java")
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        aac_metrics.preprocess_mono_sents(CANDIDATES, weights=None)


def test_one_text_is_no_list_of_its_letters():
    with pytest.raises(ValueError, match="sentences is the text 'a dog'"):
        aac_metrics.preprocess_mono_sents("a dog")
    with pytest.raises(ValueError, match="candidates is the text 'a dog'"):
        aac_metrics.meteor("a dog", REFERENCES)
    with pytest.raises(ValueError, match=r"mult_references\[1\] is the text 'rain'"):
        aac_metrics.meteor(CANDIDATES, [["a dog"], "rain"])
