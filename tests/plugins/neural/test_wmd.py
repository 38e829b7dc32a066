"""Word mover's distance: cases by hand, equality with POT pair by pair, metric
properties, the metric and its null.
"""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.stats.permutation import relabelings
from harness_metrics.embeddings.word_vector_mean import words
from harness_metrics.embeddings.word_vectors import WordVectors
from harness_metrics.neural.wmd import (
    STOPWORDS,
    Wmd,
    WmdDistance,
    WordTable,
    transports,
)

ot = pytest.importorskip("ot")
VECTORS = "dog 0 0\npuppy 1 0\ncat 0 3\nruns 4 0\nsleeps 4 4\n"


@pytest.fixture
def vectors(tmp_path):
    (tmp_path / "v.vec").write_text(VECTORS)
    return str(tmp_path / "v.vec")


def test_moving_one_word(vectors):
    features = FeatureCache()
    batch = features.batch(
        [CaptionSet("x", ("dog runs",), ("puppy runs", "Runs a dog!"))]
    )
    (matrix,) = WmdDistance(path=vectors).matrices(batch, features)
    assert matrix[0].tolist() == [0.0, 0.5, 0.0]


def by_pairs(x: str, y: str, table: dict[str, np.ndarray]) -> float:
    """Distance of one pair of texts: their bags, their costs,
    the public solver of POT.
    """
    clouds = []
    for text in (x, y):
        bag = Counter(
            word for word in words(text) if word in table and word not in STOPWORDS
        )
        clouds.append(
            (
                np.stack([table[word] for word in bag] or [np.zeros(2)]),
                np.array(list(bag.values()) or [1.0]),
            )
        )
    (a, p), (b, q) = clouds
    return ot.emd2(
        p / p.sum(), q / q.sum(), np.linalg.norm(a[:, None] - b[None], axis=2)
    )


@pytest.mark.slow
@given(
    st.lists(
        st.lists(
            st.sampled_from(["dog", "puppy", "cat", "runs", "sleeps", "zebra", "the"]),
            max_size=8,
        ),
        min_size=2,
        max_size=7,
    )
)
def test_all_pairs_equal_the_solver_pair_by_pair(vectors, drawn):
    texts = [" ".join(text) for text in drawn]
    table = {
        line.split()[0]: np.array(line.split()[1:], dtype=float)
        for line in VECTORS.splitlines()
    }

    features = FeatureCache()
    batch = features.batch(
        [
            CaptionSet("x", (texts[0],), tuple(texts[1:])),
            CaptionSet("y", ("cat",), tuple(texts[1:])),
        ]
    )

    matrices = WmdDistance(path=vectors).matrices(batch, features)
    for matrix, item in zip(matrices, batch.texts):
        expected = [[by_pairs(a, b, table) for b in item] for a in item]
        assert matrix == pytest.approx(np.array(expected), abs=1e-9)
        assert (matrix == matrix.T).all()
        assert not matrix.diagonal().any()
        for i, j, k in itertools.permutations(range(len(item)), 3):
            assert matrix[i, k] <= matrix[i, j] + matrix[j, k] + 1e-9


def test_interned_words_and_the_origin(vectors):
    table = WordTable(WordVectors(vectors), normalize=True)
    assert table.rows([["cat", "zebra", "puppy", "cat"], ["puppy"]]) == [[1, 2, 1], [2]]
    assert table.vectors(np.array([0, 1, 2])).tolist() == [[0, 0], [0, 1], [1, 0]]


def test_an_unsolved_transport_problem_is_an_error(monkeypatch):
    monkeypatch.setattr("harness_metrics.neural.wmd.MAX_ITERATIONS", 1)
    rng = np.random.default_rng(0)
    x, y = rng.dirichlet(np.ones(30), size=(2, 1))
    points = rng.normal(size=(30, 3))
    cost = np.linalg.norm(points[:, None] - points, axis=2)
    with pytest.raises(
        HarnessError, match=r"the transport problem was not solved \(POT's status 3\)"
    ):
        transports(x, y, cost)


def test_stop_words_and_unit_vectors_are_options(vectors):
    texts = ([["the cat"]], [["sleeps"]])
    assert harness.metric("wmd", path=vectors)(*texts).value == pytest.approx(
        np.hypot(4, 1)
    )
    unit = harness.metric("wmd", path=vectors, normalize=True)
    assert unit(*texts).value == pytest.approx(np.hypot(0.5**0.5, 1 - 0.5**0.5))
    assert (
        WmdDistance(path=vectors, stopwords=True)
        .signature()
        .endswith("|stop:True|unit:False")
    )


def test_the_metric_takes_the_nearest_reference(vectors):
    metric = harness.metric("wmd", path=vectors)
    result = metric([["dog runs", "cat"]], [["puppy runs", "dog sleeps"]])
    # half its weight to each of "dog" and "sleeps"
    nearest_of_cat = (3.0 + np.hypot(4, 1)) / 2
    assert result.per_example == pytest.approx([(0.5 + nearest_of_cat) / 2])
    assert metric([["zebra"]], [["zebra", "dog"]]).value == 0.0


def test_the_null_equals_the_metric_of_every_relabeling(vectors):
    texts = ["dog runs", "puppy", "cat sleeps", "runs", "zebra"]
    metric = Wmd(path=vectors)
    features = FeatureCache()
    batch = features.batch([CaptionSet("x", tuple(texts[:2]), tuple(texts[2:]))])
    labels = relabelings(2, 3)
    null = metric.null(batch, features, None, labels)[0]
    for value, label in zip(null, labels):
        candidates = [t for t, is_candidate in zip(texts, label) if is_candidate]
        references = [t for t, is_candidate in zip(texts, label) if not is_candidate]
        assert value == pytest.approx(
            harness.metric("wmd", path=vectors)([candidates], [references]).value
        )
    assert (
        harness.metric("wmd", path=vectors, p_value="exact")(
            [texts[:2]], [texts[2:]]
        ).p_values
        is not None
    )


def test_trm_over_wmd(vectors):
    assert (
        harness.metric("trm", distance={"wmd": {"path": vectors}})(
            [["dog", "dog"]], [["dog", "dog"]]
        ).value
        == 0.0
    )


def test_the_similarity_is_exp_of_minus_the_distance(vectors):
    distance = Wmd(path=vectors)
    similar = Wmd(path=vectors, form="similarity")
    features = FeatureCache()
    batch = features.batch(
        [CaptionSet("x", ("dog runs",), ("puppy runs", "cat sleeps"))]
    )
    np.testing.assert_allclose(
        similar.scores(batch, features, None),
        np.exp(-distance.scores(batch, features, None)),
    )
    assert (similar.spec.name, similar.spec.higher_is_better) == (
        "wmd(similarity)",
        True,
    )
    assert similar.signature() == distance.signature() + "|form:similarity"
    with pytest.raises(HarnessError, match="form is 'both'"):
        Wmd(path=vectors, form="both")
