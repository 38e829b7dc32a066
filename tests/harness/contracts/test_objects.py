"""Objects of a corpus metric: one per example, stored and joined as arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import Objects, is_defined, join_statistics, place_statistics
from harness.errors import HarnessError

arrays = st.lists(st.integers(-5, 5), max_size=4).map(np.array)
mappings = st.fixed_dictionaries({"words": arrays, "lengths": arrays})
counts = st.dictionaries(st.text(max_size=3), st.integers(0, 5), max_size=3)
corpora = st.one_of(
    *(
        st.lists(st.none() | kind, min_size=1, max_size=6)
        for kind in (arrays, mappings, counts)
    )
)


def same(left, right):
    if isinstance(left, dict):
        if left.keys() != right.keys():
            return False
        return all(same(left[name], right[name]) for name in left)
    if isinstance(left, np.ndarray):
        return np.array_equal(left, right)
    return left == right


@given(corpora)
def test_every_object_comes_back_from_the_stored_arrays(items):
    objects = Objects.from_arrays(Objects.of(items, "words").to_arrays())
    assert len(objects) == len(items)
    assert all(same(left, right) for left, right in zip(items, objects))
    assert is_defined(objects).tolist() == [item is not None for item in items]


@pytest.mark.slow
@given(corpora, st.data())
def test_shards_join_and_examples_are_chosen_as_in_a_list(items, data):
    cut = data.draw(st.integers(0, len(items)))
    shards = [Objects.of(shard, "words") for shard in (items[:cut], items[cut:])]
    joined = join_statistics(shards)

    positions = st.lists(st.integers(0, len(items) - 1), max_size=5)
    chosen = np.array(data.draw(positions), dtype=int)
    assert all(same(items[k], item) for k, item in zip(chosen, joined[chosen]))
    mask = np.array([item is not None for item in items])
    assert len(joined[mask]) == mask.sum() and len(joined[1:]) == len(items) - 1
    with pytest.raises(IndexError):
        joined[len(items)]


def test_examples_of_no_block_are_undefined():
    objects = place_statistics(
        [(np.array([2, 0]), Objects.of([np.array([1, 2]), np.array([3])], "words"))], 4
    )
    assert objects.defined.tolist() == [True, False, True, False]
    assert objects[0].tolist() == [3]
    assert objects[1] is None
    assert objects[2].tolist() == [1, 2]


def test_rows_are_filled_up_with_nan():
    rows = join_statistics([np.zeros((1, 1)), np.ones((2, 2))])
    assert np.array_equal(rows, [[0, np.nan], [1, 1], [1, 1]], equal_nan=True)
    assert place_statistics([], 2).shape == (2, 1)


def test_columns_give_the_values_of_all_examples():
    objects = Objects.of([{"v": np.ones((2, 3))}, {"v": np.zeros((1, 3))}], "vectors")
    assert objects.values("v").shape == (3, 3)
    assert objects.owners("v").tolist() == [0, 0, 1]
    assert objects.starts("v").tolist() == [0, 2]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (
            [{"a", "b"}],
            "metric 'words' collects {.*}; expected per example an array, a mapping",
        ),
        ([{3: 1}], "mappings with texts as keys"),
        ([float("nan")], "metric 'words' collects nan"),
        (
            [np.array([object()])],
            "metric 'words' collects an array of object; expected numbers",
        ),
        (
            [np.ones((1, 2)), np.ones((1, 3))],
            r"arrays of the shapes \(2,\) and \(3,\) behind the first axis",
        ),
    ],
)
def test_what_cannot_be_stored_is_one_line(items, message):
    with pytest.raises(HarnessError, match=message):
        Objects.of(items, "words")
