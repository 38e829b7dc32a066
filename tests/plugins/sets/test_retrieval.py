"""``retrieval`` and ``clip-recall``: ranks by hand, ties, contract,
comparison of two systems, images.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import metric as find_metric
from harness.contracts import CaptionSet
from harness.encoders import pair_products
from harness.errors import HarnessError, InputError
from harness.run.features import FeatureCache
from harness.stats.resampled_difference import separable
from harness.testing import parametrize_with_checks
from harness_metrics.neural.clipscore import open_picture
from harness_metrics.sets import corpus_neighbours, retrieval
from harness_metrics.sets.neighbour_metrics import Coverage
from harness_metrics.sets.retrieval import ClipRecall, Retrieval, ranks_of

CANDIDATES = [["dog"], ["cat"], ["dog", "bus"]]
REFERENCES = [["dog", "dog dog"], ["cat"], ["bus"]]


@parametrize_with_checks([Retrieval(embedding="bow"), Retrieval(embedding="bow", k=2)])
def test_contract(check):
    check()


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(0, 10**6))
def test_ranks_are_mean_ranks_of_the_similarities(values, seed):
    targets = np.array(values, dtype=np.float32)[:, None] / 8
    own = np.random.default_rng(seed).integers(len(values), size=5)
    distinct = np.unique(targets)
    expected = [(distinct > targets[k, 0]).sum() + 1 for k in own]
    assert ranks_of(np.ones((5, 1)), targets, own).tolist() == expected


def test_equal_similarities_of_different_examples_share_their_mean_rank():
    targets = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    # the last one has the similarity 1 too
    assert ranks_of(np.array([[1.0, 0.0]]), targets, np.array([0])).tolist() == [1.5]


def test_blocks_do_not_change_the_ranks(monkeypatch):
    rng = np.random.default_rng(0)
    queries = rng.normal(size=(20, 4))
    targets = rng.normal(size=(20, 4))
    own = rng.integers(20, size=20)
    expected = ranks_of(queries, targets, own)
    monkeypatch.setattr("harness_metrics.sets.retrieval._PAIRS", 41)
    assert ranks_of(queries, targets, own).tolist() == expected.tolist()


@pytest.mark.parametrize("kind", ["any", "close", "equal", "whole"])
def test_an_accelerator_finds_the_same_ranks(kind, monkeypatch):
    """``cpu:0`` stands for one; its blocks may have any size."""
    pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    queries, targets = rng.normal(size=(2, 120, 24))
    if kind == "close":  # margins about as large as the largest of a tie
        targets = targets[:1] + 4e-7 * rng.normal(size=targets.shape)
    elif kind == "equal":
        targets[:60] = targets[rng.integers(60, 120, 60)]
    elif kind == "whole":
        targets = np.round(targets)
        queries = np.round(queries)
    queries, targets = (side.astype(np.float32) for side in (queries, targets))
    own = rng.integers(120, size=120)

    expected = ranks_of(queries, targets, own)
    for size in (1, 120 * 7, 1 << 26):
        monkeypatch.setattr(pair_products, "BLOCK_PAIRS", size)
        for share in (0.0, 1 / 32, 1.0):  # whole rows, either, pairs alone
            monkeypatch.setattr(retrieval, "_NEAR", share)
            on_device = ranks_of(queries, targets, own, "cpu:0")
            assert on_device.tolist() == expected.tolist()


def test_many_pairs_of_an_embedding_on_an_accelerator_are_multiplied_there(
    monkeypatch,
):
    pytest.importorskip("torch")
    references = (("dog",), ("cat",), ("bus",))
    metrics = [Retrieval(embedding="bow"), Coverage(embedding="bow", k=1)]
    features = FeatureCache(references)
    sets = [
        CaptionSet(str(k), (text,), references[k])
        for k, text in enumerate(("dog", "cat", "cat"))
    ]
    devices = []

    def spy(rows, table, reduce, device, subject):
        devices.append(device)
        return pair_products.reduce_products(rows, table, reduce, device, subject)

    for module in (retrieval, corpus_neighbours):
        monkeypatch.setattr(module, "reduce_products", spy)
    for metric in metrics:
        stats = metric.stats(features.batch(sets), features, None)
        expected = metric.reduce(stats)
        monkeypatch.setattr(metric.embedding, "device", "cpu:0", raising=False)
        assert metric.reduce(stats) == expected
        assert not devices  # too few pairs

        with monkeypatch.context() as few:
            few.setattr(pair_products, "LEAST_PAIRS", 1)
            assert metric.reduce(stats) == pytest.approx(expected, abs=1e-12)
        assert devices == ["cpu:0"]
        devices.clear()


@pytest.mark.slow
def test_reciprocal_ranks_and_recall_by_hand():
    """The second candidate of the last example finds its own; the first one finds the
    first example, and ties with the second.
    """
    value = find_metric("retrieval", embedding="bow")(CANDIDATES, REFERENCES)
    assert value.per_example == pytest.approx([1, 1, (1 / 2.5 + 1) / 2])
    assert value.value == pytest.approx((2 + 0.7) / 3)
    assert find_metric("retrieval", embedding="bow", k=1)(
        CANDIDATES, REFERENCES
    ).value == pytest.approx((1 + 1 + 0.5) / 3)
    assert (
        find_metric("retrieval", embedding="bow", k=3)(CANDIDATES, REFERENCES).value
        == 1.0
    )


def test_two_systems_choose_among_the_same_examples_when_their_captions_are_exchanged():
    references = (("dog",), ("cat",), ("bus",))
    metric = Retrieval(embedding="bow")
    features = FeatureCache(references)
    systems = [
        [CaptionSet(str(k), (text,), references[k]) for k, text in enumerate(texts)]
        for texts in (("dog", "cat", "cat"), ["bus"] * 3)
    ]
    one, other = (
        metric.stats(features.batch(sets), features, None) for sets in systems
    )
    assert separable(
        metric.reduce, one, other, (metric.reduce(one), metric.reduce(other))
    )


def test_a_rank_below_one_is_refused():
    with pytest.raises(
        HarnessError,
        match="metric 'retrieval': k is 0; expected a whole number of at least 1",
    ):
        find_metric("retrieval", k=0)


Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def clip_recall(tmp_path):
    """Return the metric with vectors by colour in place of the two towers."""
    for name, colour in (
        ("red.png", (255, 0, 0)),
        ("green.png", (0, 255, 0)),
        ("blue.png", (0, 0, 255)),
    ):
        Image.new("RGB", (8, 8), colour).save(tmp_path / name)
    (tmp_path / "weights.pt").write_bytes(b"of no model: the towers are replaced")
    metric = ClipRecall(
        weights=str(tmp_path / "weights.pt"), model="ViT-B-32", images=str(tmp_path)
    )
    colours = {
        "red": (1.0, 0.0, 0.0),
        "green": (0.0, 1.0, 0.0),
        "blue": (0.0, 0.0, 1.0),
    }
    metric.towers.clip.encode = lambda texts: np.array(
        [colours[text.split()[-1]] for text in texts], dtype=np.float32
    )
    metric.towers._encode = lambda names: np.array(
        [
            np.asarray(open_picture(i), dtype=float).mean(axis=(0, 1)) / 255
            for i in names
        ]
    )
    return metric


def test_captions_find_their_images(clip_recall):
    features = FeatureCache()
    batch = features.batch(
        [
            CaptionSet(c, (f"a {c}", "the red"), (), media=f"{c}.png")
            for c in ("red", "green", "blue")
        ]
    )
    stats = clip_recall.stats(batch, features, None)
    assert clip_recall.per_example(stats) == pytest.approx(
        [1.0, (1 + 1 / 2.5) / 2, (1 + 1 / 2.5) / 2]
    )
    assert clip_recall.spec.needs == {"images", "embeddings"}
    assert clip_recall.spec.depends_on == frozenset()


def test_a_missing_image_and_missing_weights_are_named(clip_recall):
    features = FeatureCache()
    with pytest.raises(
        InputError, match="set the parameter images of 'clip-recall' to its folder"
    ):
        clip_recall.stats(
            features.batch([CaptionSet("x", ("a red",), (), media="gone.png")]),
            features,
            None,
        )
    with pytest.raises(HarnessError, match="metric 'clip-recall' has no weights of"):
        find_metric("clip-recall")
