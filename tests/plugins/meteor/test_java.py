"""The jar as reference implementation: the same numbers, whatever the text, and no process left behind."""

from __future__ import annotations

import gzip
import json
from itertools import islice

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError, MissingExtra
from harness.plugins.meteor import engine as meteor
from harness.plugins.meteor import java as java_meteor
from harness.plugins.meteor.metric import Meteor, MeteorDistance
from harness.plugins.tokenisers import java_runtime as java
from harness.run.features import FeatureCache

ODD = [
    "", " ", "a", "the the the", "...", "!?", "🐶 🐶", "e\u0301", "nul\x00here", "\x00", "\u2028", "\u2029 x", "\ud800", "a|||b", "||",
    "a | b",
    "a\rb", "a\nb", "a\r\nb", "a\x85b", "\x1cdog", "\u200f\u05e9\u05dc\u05d5\u05dd", "\x0bdog.\x0b", "dog.\x00", "DOTMULTI", "DOTMULTI.x",
    "a.b.", "U.S. is", "Mr. a", "No. 5", "1,000, 2,b", "–—", "ΣΑΣ", "İstanbul", "em aé", "aé em", "...a...", "SCORE ||| a ||| b", "EVAL",
    "\U0001d7d8 x", "''quoted''", "rock-'n'-roll", "5's 5't", "word\u00a0x", "Ünïcödé Straße", "x" * 500, "half \udfff",
]  # fmt: skip


def test_without_java_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr(java, "find_java", lambda: None)
    with pytest.raises(MissingExtra, match=r"METEOR \(engine: java\) needs a Java runtime"):
        java_meteor.JavaMeteor()


@pytest.fixture(scope="module")
def jar():
    if java.find_java() is None:
        pytest.skip("no Java runtime")
    with java_meteor.JavaMeteor() as running:
        yield running


@pytest.mark.java
@pytest.mark.slow
def test_odd_texts_have_the_same_statistics_in_both_engines(jar):
    pairs = [(hyp, [ref]) for hyp in ODD for ref in ODD] + [(hyp, ODD[::-1]) for hyp in ODD]
    theirs = jar.statistics(pairs)
    np.testing.assert_array_equal(meteor.statistics(pairs), theirs)
    scores, corpus = jar.evaluate(theirs)
    np.testing.assert_allclose(meteor.scores(pairs), scores, rtol=0, atol=1e-12)
    assert meteor.corpus_score(theirs) == pytest.approx(corpus, abs=1e-12)


@pytest.mark.java
@pytest.mark.slow
def test_thousands_of_real_pairs_have_the_same_statistics(jar, golden):
    with gzip.open(golden / "data/coco_karpathy_test/references.jsonl.gz", "rt", encoding="utf-8") as lines:
        items = [json.loads(line)["references"][:5] for line in islice(lines, 1000)]
    pairs = [(refs[i], [refs[j]]) for refs in items for i, j in ((0, 1), (2, 0), (3, 4))]
    pairs += [(refs[0], refs[1:]) for refs in items]
    assert len(pairs) == 4000
    theirs = jar.statistics(pairs)
    np.testing.assert_array_equal(meteor.statistics(pairs), theirs)
    np.testing.assert_allclose(meteor.scores(pairs), jar.evaluate(theirs)[0], rtol=0, atol=1e-12)


@pytest.mark.java
@pytest.mark.slow
def test_metric_and_distance_are_the_same_with_either_engine(jar, monkeypatch):
    monkeypatch.setattr(java_meteor, "shared", lambda: jar)
    sets = [
        CaptionSet("one", ("a dog runs", "A puppy."), ("the dog is running", "a dog", "")),
        CaptionSet("two", ("a cat sat", "x"), ("a cat sat", "the\ncat", "a|||b")),
    ]
    found = []
    for engine in ("python", "java"):
        features = FeatureCache([item.references for item in sets])
        batch = features.batch(sets)
        metric = Meteor(tokenizer="none", engine=engine)
        labels = np.array([[True, True, False, False, False], [False, True, True, False, False]])
        found.append(
            [
                metric.stats(batch, features, None),
                metric.null(batch, features, None, labels),
                features.distances(MeteorDistance(tokenizer="none", engine=engine), batch),
            ]
        )
    for ours, theirs in zip(*found):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.java
@pytest.mark.slow
def test_a_jar_that_dies_is_named_and_a_closed_one_is_gone():
    if java.find_java() is None:
        pytest.skip("no Java runtime")
    running = java_meteor.JavaMeteor(memory="16M")  # too small for the paraphrase table
    with pytest.raises(HarnessError, match=r"ended in the middle \(exit code .*OutOfMemory|Java heap"):
        running.scores([("a", ["b"])] * 1000)
    running.close()
    assert running._process.poll() is not None


@pytest.mark.java
@pytest.mark.slow
def test_no_references_and_no_pairs(jar):
    with pytest.raises(InputError, match="pair 1: a hypothesis needs at least one reference"):
        jar.scores([("a", [])])
    assert jar.statistics([]).shape == (0, 23)
    assert jar.scores([]).shape == (0,)
