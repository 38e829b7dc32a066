"""The shared cache: everything once per distinct text or batch,
slices for nested sets, bad plugins named.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from tests.support.small_features import SETS, Chars, Letters


def test_texts_are_interned_once():
    features = FeatureCache()
    batch = features.batch(SETS)
    assert features.texts == ["a", "aa", "bbb", "cccc"]
    assert batch.text_ids.tolist() == [[0, 1, 2, 0], [0, 2, 3, 1]]
    assert batch.texts[1] == ["a", "bbb", "cccc", "aa"]
    assert features.batch(
        [CaptionSet("z", ("a",), ("d", "bbb", "d"))]
    ).text_ids.tolist() == [[0, 4, 2, 4]]


def test_per_text_values_are_computed_once_per_distinct_text():
    features = FeatureCache()
    batch = features.batch(SETS)
    calls = []

    def lengths(texts):
        calls.append(texts)
        return [len(t) for t in texts]

    assert features.per_text("len", batch.candidate_ids, lengths) == [1, 2, 1, 3]
    assert features.per_text("len", batch.text_ids, lengths) == [1, 2, 3, 1, 1, 3, 4, 2]
    assert calls == [["a", "aa", "bbb"], ["cccc"]]
    with pytest.raises(ValueError, match="returned 0 values for 1 texts"):
        features.per_text("none", [0], lambda texts: [])
    with pytest.raises(ValueError, match="returned 2 values for 1 texts"):
        features.per_text("two", [0], lambda texts: [1, 2])


def test_vectors_are_encoded_once_shortest_first():
    features = FeatureCache([["r"]])
    embedding = Letters()
    batch = features.batch(SETS)
    first = features.vectors(embedding, batch.reference_ids)
    assert first.shape == (2, 2, 2)
    assert first.dtype == np.float32
    both = features.vectors(embedding, batch.text_ids)
    assert both[0, 2].tolist() == [3.0, 0.0]
    assert embedding.asked == [["a", "aa", "bbb", "cccc"]]
    assert embedding.fitted == 1


def test_vectors_of_further_texts_follow_those_that_are_known():
    features = FeatureCache()
    embedding = Letters()
    batch = features.batch(SETS)
    assert features.vectors(embedding, batch.text_ids[1:, :2]).tolist() == [
        [[1, 1], [3, 0]]
    ]
    assert features.vectors(embedding, batch.text_ids)[..., 0].tolist() == [
        [1, 2, 3, 1],
        [1, 3, 4, 2],
    ]
    assert features.vectors(embedding, batch.text_ids[:1])[..., 1].tolist() == [
        [1, 2, 0, 1]
    ]
    assert embedding.asked == [["a", "bbb"], ["aa", "cccc"]]
    assert features.vectors(Letters(), np.array([0]))[0].tolist() == [1, 1], (
        "another object of the same signature"
    )
    assert embedding.asked == [["a", "bbb"], ["aa", "cccc"]] and embedding.fitted == 1
    assert features.vectors(embedding, np.zeros((0, 3), dtype=int)).shape == (0, 3, 2)


def test_short_texts_are_encoded_before_long_ones():
    features = FeatureCache()
    embedding = Letters()
    ids = features.intern(["cccc", "bb", "a", "dd"])
    assert features.vectors(embedding, ids)[:, 0].tolist() == [4, 2, 1, 2]
    assert embedding.asked == [["a", "bb", "dd", "cccc"]]
    assert features.vectors(embedding, features.intern(["eee"])).tolist() == [[3, 0]]
    assert FeatureCache().vectors(embedding, np.zeros(0, dtype=int)).shape == (0, 0), (
        "of no text the length is not known"
    )


@pytest.mark.parametrize("lengths", [(2, 4), (4, 2)])
def test_an_embedding_whose_vectors_change_their_length_is_named(lengths):
    class Changing(Letters):
        def encode(self, texts):
            self.asked.append(list(texts))
            return np.ones((len(texts), lengths[len(self.asked) - 1]))

    features = FeatureCache()
    embedding = Changing()
    batch = features.batch(SETS)
    features.vectors(embedding, batch.text_ids[:1])
    message = (
        "embedding 'letters' returned vectors of length {} before and {} now".format(
            *lengths
        )
    )
    with pytest.raises(HarnessError, match=message):
        features.vectors(embedding, batch.text_ids)


def test_distances_are_built_once_and_nested_batches_slice_them():
    features = FeatureCache()
    distance = Chars()
    batch = features.batch(SETS)
    whole = features.distances(distance, batch)
    assert features.distances(distance, batch) is whole
    cut = features.sub_batch(batch, 1, 2)
    assert cut.texts == [["a", "bbb", "a"], ["a", "cccc", "aa"]]
    assert np.array_equal(
        features.distances(distance, cut), whole[:, [[0], [2], [3]], [0, 2, 3]]
    )
    assert distance.calls == len(SETS)
    with pytest.raises(ValueError, match="read-only"):
        whole[0, 0, 0] = 1
    features.forget(batch)
    features.distances(distance, batch)
    assert distance.calls == 2 * len(SETS)


def test_the_matrix_of_a_set_has_all_its_texts():
    features = FeatureCache()
    matrix = features.distances(
        Chars(), features.batch([CaptionSet("z", ("a",), ("bb", "c", "dddd"))])
    )
    assert matrix[0].tolist() == [
        [0, 1, 0, 3],
        [1, 0, 1, 2],
        [0, 1, 0, 3],
        [3, 2, 3, 0],
    ]


def test_peek_returns_a_value_of_a_batch_or_of_its_parent_and_computes_nothing():
    features = FeatureCache()
    distance = Chars()
    batch = features.batch(SETS)
    cut = features.sub_batch(batch, 1, 2)
    key = ("distance", distance.signature())
    assert features.peek(key, batch) is None
    assert features.peek(key, cut) is None
    whole = features.distances(distance, batch)
    assert features.peek(key, batch) is whole
    part = features.peek(key, cut)
    assert part is not None
    assert np.array_equal(part, whole[:, [[0], [2], [3]], [0, 2, 3]])
    assert not part.flags.writeable
    assert features.peek(key, cut) is part
    assert features.distances(distance, cut) is part
    features.forget(batch)
    assert features.peek(key, cut) is None


class Held:
    """Corpus state that keeps values of texts."""

    def __init__(self):
        self.by_id = {0: "of the first text"}

    def forget_texts(self):
        self.by_id.clear()


@pytest.mark.parametrize(
    "form", [lambda part: part, lambda part: [part], lambda part: ("fitted", [part])]
)
def test_corpus_state_that_is_kept_forgets_the_texts_of_a_shard(form):
    features = FeatureCache()
    part = Held()
    features.keep("state", form(part))
    features.next_shard()
    assert features.memo("state", list) is not None
    assert part.by_id == {}


@pytest.mark.parametrize("shape", [(2, 1), (2, 3), (1, 2), (3, 2)])
def test_a_batch_holds_one_shape(shape):
    other = CaptionSet("z", ("a",) * shape[0], ("b",) * shape[1])
    with pytest.raises(ValueError, match="one \\(n, m\\) shape"):
        FeatureCache().batch([*SETS, other])


def test_the_whole_of_a_batch_is_the_batch_and_a_part_has_the_first_texts():
    features = FeatureCache()
    batch = features.batch(SETS)
    assert features.sub_batch(batch, 2, 2) is batch
    part = features.sub_batch(batch, 2, 1)
    assert (part.n, part.m, part.parent) == (2, 1, batch)
    assert [(item.candidates, item.references) for item in part.sets] == [
        (("a", "aa"), ("bbb",)),
        (("a", "bbb"), ("cccc",)),
    ]
    assert part.text_ids.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert not part.text_ids.flags.writeable and not batch.text_ids.flags.writeable


def test_values_of_a_batch_may_be_cut_in_another_way():
    features = FeatureCache()
    batch = features.batch(SETS)
    part = features.sub_batch(batch, 1, 1)

    def words(whole):
        return np.array([[len(text) for text in row] for row in whole.texts])

    def columns(values, smaller):
        return values[:, smaller.columns]

    assert features.peek("lengths", part, columns) is None
    assert features.per_batch("lengths", part, words, columns).tolist() == [
        [1, 3],
        [1, 4],
    ]
    other = features.sub_batch(batch, 2, 1)
    assert features.peek("lengths", other, columns).tolist() == [[1, 2, 3], [1, 3, 4]]


def test_what_is_forgotten_of_a_batch_stays_for_others():
    features = FeatureCache()
    distance = Chars()
    first = features.batch(SETS[:1])
    second = features.batch(SETS[1:])
    part = features.sub_batch(first, 1, 2)
    values = [features.distances(distance, batch) for batch in (first, second, part)]
    features.forget(part)
    features.forget(second)
    assert features.distances(distance, first) is values[0]
    assert features.distances(distance, part) is not values[2]
    features.distances(distance, second)
    assert distance.calls == 3


def test_the_next_shard_has_new_texts_and_the_same_corpus_state():
    features = FeatureCache([["r"]])
    embedding = Letters()
    distance = Chars()
    state = features.memo("state", Held)
    features.memo("of the texts", lambda: "computed for the first shard")
    for shard in (SETS[:1], [CaptionSet("z", ("dddd", "a"), ("ff", "g"))]):
        batch = features.batch(shard)
        lengths = [len(text) for text in batch.texts[0]]
        assert features.texts == list(dict.fromkeys(batch.texts[0]))
        assert (
            features.per_text(
                "len", batch.text_ids, lambda texts: [len(text) for text in texts]
            )
            == lengths
        )
        assert features.vectors(embedding, batch.text_ids)[0, :, 0].tolist() == lengths
        assert features.distances(distance, batch)[0, 0].tolist() == [
            abs(length - lengths[0]) for length in lengths
        ]
        features.next_shard()
        assert features.peek(("distance", distance.signature()), batch) is None
    assert embedding.fitted == 1
    assert features.memo("state", Held) is state and state.by_id == {}
    assert features.memo("of the texts", lambda: "computed anew") == "computed anew"


def test_another_process_has_the_corpus_state_and_no_references():
    features = FeatureCache([["r"]])
    embedding = Letters()
    features.vectors(embedding, features.intern(["a"]))
    features.keep("kept", [1, 2])
    features.memo("of the texts", list)
    copy = pickle.loads(pickle.dumps(features))
    assert copy.texts == []
    assert copy.vectors(Letters("shape"), copy.intern(["bb"])).tolist() == [[2, 0]], (
        "by the fitted embedding of this signature"
    )
    assert copy.memo("of the texts", lambda: "anew") == "anew"
    copy.next_shard()
    assert copy.memo("kept", list) == [1, 2]
    for read in (len, lambda references: references[0]):
        with pytest.raises(
            HarnessError,
            match="reads the references of the whole task .* or use executor='local'",
        ):
            read(copy.references)


class Together(Letters):
    """Vectors of an example: the number of its texts that are as long."""

    def __init__(self):
        super().__init__()
        self.together = []

    def signature(self):
        return "together"

    def encode_set(self, texts):
        self.together.append(texts)
        return np.array(
            [[sum(len(other) == len(text) for other in texts)] for text in texts]
        )


def test_sets_whose_vectors_change_their_length_are_refused():
    class Growing(Together):
        def encode_set(self, texts):
            return np.zeros((len(texts), len(texts[0])))

    features = FeatureCache()
    ids = np.stack([features.intern(["a", "b"]), features.intern(["dog", "cat"])])
    with pytest.raises(HarnessError, match="vectors of length 1 before and 3 now"):
        features.set_vectors(Growing(), ids)


def test_texts_of_an_example_are_encoded_together_where_the_embedding_can():
    features = FeatureCache()
    embedding = Together()
    batch = features.batch(SETS)
    assert features.set_vectors(embedding, batch.text_ids).tolist() == [
        [[2], [1], [1], [2]],
        [[1], [1], [1], [1]],
    ]
    assert embedding.together == [["a", "aa", "bbb", "a"], ["a", "bbb", "cccc", "aa"]]
    assert features.set_vectors(embedding, batch.text_ids[:0]).shape == (0, 4, 0)
    alone = features.set_vectors(Letters(), batch.text_ids)
    assert alone.tolist() == features.vectors(Letters(), batch.text_ids).tolist()


def test_wrong_vectors_of_an_example_are_named():
    class Wrong(Together):
        def encode_set(self, texts):
            return np.zeros((1, 2))

    features = FeatureCache()
    with pytest.raises(
        HarnessError, match=r"embedding 'letters' returned shape \(1, 2\) for 4 texts"
    ):
        features.set_vectors(Wrong(), features.batch(SETS).text_ids)
