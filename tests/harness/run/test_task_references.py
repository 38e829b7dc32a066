"""Whoever reads the references of the task is noted."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from harness.contracts import TextDistance
from harness.run.features import FeatureCache
from tests.support.small_features import SETS, Chars, Letters


class Fitted(Letters):
    """Counts the letters that the references have."""

    name = "fitted"

    def signature(self):
        return "fitted"

    def fit(self, references):
        self.letters = sorted(
            {letter for texts in references for text in texts for letter in text}
        )


class Chained(TextDistance):
    """Distance of the vectors of an embedding that is fitted."""

    name = "chained"

    def matrices(self, batch, features):
        lengths = features.vectors(Fitted(), batch.text_ids)[:, :, 0].astype(float)
        return abs(lengths[:, :, None] - lengths[:, None, :])


READS = {
    "their number": (
        lambda features, batch: len(features.references),
        "the references of the task",
    ),
    "the number of examples": (
        lambda features, batch: features.examples,
        "the references of the task",
    ),
    "one of them": (
        lambda features, batch: features.references[0],
        "the references of the task",
    ),
    "each of them": (
        lambda features, batch: list(features.references),
        "the references of the task",
    ),
    "a block of them": (
        lambda features, batch: list(features.references[:1]),
        "the references of the task",
    ),
    "an embedding": (
        lambda features, batch: features.vectors(Fitted(), batch.text_ids),
        "the embedding 'fitted'",
    ),
    "an embedding of sets": (
        lambda features, batch: features.set_vectors(Fitted(), batch.text_ids),
        "the embedding 'fitted'",
    ),
    "a distance": (
        lambda features, batch: features.distances(Chained(), batch),
        "the distance 'chained'",
    ),
    "a value": (
        lambda features, batch: features.memo(
            "number", lambda: len(features.references)
        ),
        "the references of the task",
    ),
    "a value of a value": (
        lambda features, batch: features.memo(
            "outer", lambda: features.memo("inner", lambda: len(features.references))
        ),
        "the references of the task",
    ),
    "values of texts": (
        lambda features, batch: features.per_text(
            "n",
            batch.text_ids.ravel(),
            lambda texts: [len(features.references)] * len(texts),
        ),
        "the references of the task",
    ),
    "an array of a batch": (
        lambda features, batch: features.per_batch(
            "n", batch, lambda full: np.full((2, 4, 4), len(features.references))
        ),
        "the references of the task",
    ),
}


@pytest.mark.parametrize("name", READS)
def test_whoever_gets_what_depends_on_the_references_of_the_task_is_noted(name):
    """The second time the value is in the cache, and nothing reads a reference."""
    read, description = READS[name]
    features = FeatureCache([["r"], ["s"]])
    batch = features.batch(SETS)
    for _ in range(2):
        features.corpus_read = ""
        read(features, batch)
        assert features.corpus_read.startswith(description)


def test_what_depends_on_texts_alone_is_not_noted():
    features = FeatureCache([["r"], ["s"]])
    features.vectors(Fitted(), features.intern(["a"]))
    batch = features.batch(SETS)
    features.corpus_read = ""
    features.vectors(Letters(), batch.text_ids)
    features.set_vectors(Letters(), batch.text_ids)
    features.distances(Chars(), batch)
    features.memo("a value", list)
    features.per_text(
        "length", batch.text_ids, lambda texts: [len(text) for text in texts]
    )
    assert features.corpus_read == ""


def test_another_process_knows_what_depends_on_the_references():
    features = FeatureCache([["r"], ["s"]])
    features.vectors(Fitted(), features.intern(["a"]))
    copy = pickle.loads(pickle.dumps(features))
    copy.corpus_read = ""
    copy.vectors(Fitted(), copy.intern(["b"]))
    assert copy.corpus_read.startswith("the embedding 'fitted'") and copy.examples == 2
