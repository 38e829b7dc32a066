"""The jar as reference implementation: equal numbers for any text, clear errors,
and no process left over.
"""

from __future__ import annotations

import gzip
import json
from itertools import islice

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError, MissingExtra
from harness.run.features import FeatureCache
from harness_metrics.meteor import engine as meteor
from harness_metrics.meteor import java as meteor_java
from harness_metrics.meteor.metric import Meteor, MeteorDistance
from harness_metrics.tokenisers import java_runtime

ODD = [
    "",
    " ",
    "a",
    "the the the",
    "...",
    "!?",
    "🐶 🐶",
    "e\u0301",
    "nul\x00here",
    "\x00",
    "\u2028",
    "\u2029 x",
    "\ud800",
    "a|||b",
    "||",
    "a | b",
    "a\rb",
    "a\nb",
    "a\r\nb",
    "a\x85b",
    "\x1cdog",
    "\u200f\u05e9\u05dc\u05d5\u05dd",
    "\x0bdog.\x0b",
    "dog.\x00",
    "DOTMULTI",
    "DOTMULTI.x",
    "a.b.",
    "U.S. is",
    "Mr. a",
    "No. 5",
    "1,000, 2,b",
    "–—",
    "ΣΑΣ",
    "İstanbul",
    "em aé",
    "aé em",
    "...a...",
    "SCORE ||| a ||| b",
    "EVAL",
    "\U0001d7d8 x",
    "''quoted''",
    "rock-'n'-roll",
    "5's 5't",
    "word\u00a0x",
    "Ünïcödé Straße",
    "x" * 500,
    "half \udfff",
]


def test_missing_java_names_the_package_to_install(monkeypatch):
    monkeypatch.setattr(java_runtime, "find_java", lambda: None)
    with pytest.raises(
        MissingExtra, match=r"METEOR \(engine: java\) needs a Java runtime"
    ):
        meteor_java.JavaMeteor()


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", " "),
        ("a\r\nb", "a b"),
        ("a|||b", "a |  |  | b"),
        ("half \udfff", "half \ufffd"),
        (" a dog\0", "a dog"),
    ],
)
def test_fields_have_no_line_break_no_separator_and_are_not_empty(text, field):
    assert meteor_java._field(text) == field


def test_requests_list_references_before_the_hypothesis():
    assert meteor_java._request(1, "a", ["b", "c"]) == "SCORE ||| b ||| c ||| a"
    with pytest.raises(
        InputError, match="pair 7: a hypothesis needs at least one reference"
    ):
        meteor_java._request(7, "a", [])


class FakeJar:
    """Answers of the compiled version in place of the jar's;
    counts the pairs of each request.
    """

    def __init__(self):
        self.requests = []

    def statistics(self, pairs):
        pairs = list(pairs)
        self.requests.append(len(pairs))
        return meteor.statistics(pairs)

    def evaluate(self, statistics):
        return meteor.scores_of(statistics), meteor.corpus_score(statistics)


def test_text_table_of_the_jar_aligns_each_distinct_pair_once(monkeypatch):
    fake = FakeJar()
    monkeypatch.setattr(meteor_java, "shared_jar", lambda: fake)
    table = meteor_java.JavaTexts()
    compiled = meteor.PreparedTexts()
    texts = ["a dog", "dogs", "a dog", "a dog", "dogs", "A  dog"]
    pairs = np.array([[False, True, True], [False, False, True], [False, False, False]])
    ids = table.intern(texts).reshape(2, 3)
    compiled_ids = compiled.intern(texts).reshape(2, 3)
    aligned = table.align_pairs(ids, pairs, with_statistics=True)
    expected = compiled.align_pairs(compiled_ids, pairs, with_statistics=True)
    np.testing.assert_array_equal(aligned.scores, expected.scores)
    np.testing.assert_array_equal(aligned.statistics, expected.statistics)
    assert fake.requests == [5]  # six pairs, one of them twice
    assert table.align_pairs(ids, pairs, with_statistics=False).statistics.shape == (
        2,
        0,
        23,
    )
    same = table.same_words(ids)
    assert same[0, 0] == same[0, 2] == same[1, 0] == same[1, 2] != same[0, 1]


@pytest.fixture(scope="module")
def jar():
    if java_runtime.find_java() is None:
        pytest.skip("no Java runtime")
    with meteor_java.JavaMeteor() as running:
        yield running


@pytest.mark.java
@pytest.mark.slow
def test_odd_texts_have_the_same_statistics_in_both_engines(jar):
    pairs = [(hyp, [ref]) for hyp in ODD for ref in ODD] + [
        (hyp, ODD[::-1]) for hyp in ODD
    ]
    expected = jar.statistics(pairs)
    np.testing.assert_array_equal(meteor.statistics(pairs), expected)
    scores, corpus = jar.evaluate(expected)
    np.testing.assert_allclose(meteor.scores(pairs), scores, rtol=0, atol=1e-12)
    assert meteor.corpus_score(expected) == pytest.approx(corpus, abs=1e-12)


@pytest.mark.java
@pytest.mark.slow
def test_thousands_of_real_pairs_have_the_same_statistics(jar, golden):
    with gzip.open(
        golden / "data/coco_karpathy_test/references.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        items = [json.loads(line)["references"][:5] for line in islice(lines, 1000)]
    pairs = [
        (refs[i], [refs[j]]) for refs in items for i, j in ((0, 1), (2, 0), (3, 4))
    ]
    pairs += [(refs[0], refs[1:]) for refs in items]
    assert len(pairs) == 4000
    expected = jar.statistics(pairs)
    np.testing.assert_array_equal(meteor.statistics(pairs), expected)
    np.testing.assert_allclose(
        meteor.scores(pairs), jar.evaluate(expected)[0], rtol=0, atol=1e-12
    )


@pytest.mark.java
@pytest.mark.slow
def test_metric_and_distance_are_the_same_with_either_engine(jar, monkeypatch):
    monkeypatch.setattr(meteor_java, "shared_jar", lambda: jar)
    sets = [
        CaptionSet(
            "one", ("a dog runs", "A puppy."), ("the dog is running", "a dog", "")
        ),
        CaptionSet("two", ("a cat sat", "x"), ("a cat sat", "the\ncat", "a|||b")),
    ]
    labels = np.array(
        [[True, True, False, False, False], [False, True, True, False, False]]
    )

    results = []
    for engine in ("python", "java"):
        features = FeatureCache([item.references for item in sets])
        batch = features.batch(sets)
        metric = Meteor(tokenizer="none", engine=engine)
        distance = MeteorDistance(tokenizer="none", engine=engine)
        of_engine = [
            metric.stats(batch, features, None),
            metric.null(batch, features, None, labels),
            features.distances(distance, batch),
        ]
        results.append(of_engine)

    for compiled, original in zip(*results):
        np.testing.assert_array_equal(compiled, original)


@pytest.mark.java
@pytest.mark.slow
def test_jar_that_ends_early_is_reported_and_close_ends_the_process():
    if java_runtime.find_java() is None:
        pytest.skip("no Java runtime")
    running = meteor_java.JavaMeteor(memory="16M")  # too small for the paraphrase table
    with pytest.raises(
        HarnessError,
        match=r"ended before its last answer \(exit code .*OutOfMemory|Java heap",
    ):
        running.scores([("a", ["b"])] * 1000)
    running.close()
    assert running._process.poll() is not None


@pytest.mark.java
@pytest.mark.slow
def test_hypothesis_without_references_and_empty_input(jar):
    with pytest.raises(
        InputError, match="pair 1: a hypothesis needs at least one reference"
    ):
        jar.scores([("a", [])])
    assert jar.statistics([]).shape == (0, 23)
    assert jar.scores([]).shape == (0,)
