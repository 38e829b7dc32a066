"""Results of a metric: joined, and on disk."""

from __future__ import annotations

import numpy as np

from harness.run.scored import Scored


def test_shards_are_joined_with_nan_where_one_has_no_p_values():
    def shard(values, method, seconds, note="", floors=None):
        p_values = None if floors is None else np.array(floors) * 2
        return Scored(
            np.array(values),
            p_values,
            None if floors is None else np.array(floors),
            method,
            seconds,
            note,
        )

    tested = shard([[1.0, 5.0]], "monte-carlo + exact", 1.5, floors=[0.1])
    untested = shard([[2.0], [3.0]], "", 2.0, "no null")
    other = shard([[4.0]], "auto + exact", 0.5, "another", floors=[0.2])
    joined = Scored.join([tested, untested, other])
    assert np.array_equal(
        joined.stats, [[1, 5], [2, np.nan], [3, np.nan], [4, np.nan]], equal_nan=True
    )
    assert joined.p_values is not None and joined.p_floors is not None
    assert np.array_equal(joined.p_values, [0.2, np.nan, np.nan, 0.4], equal_nan=True)
    assert np.array_equal(joined.p_floors, [0.1, np.nan, np.nan, 0.2], equal_nan=True)
    assert (joined.p_method, joined.seconds, joined.p_note) == (
        "auto + exact + monte-carlo",
        4.0,
        "no null",
    )
    assert joined.p_floor == 0.1 and joined.p_sums is None
    plain = Scored.join([untested, untested])
    assert (plain.p_values, plain.p_floors, plain.p_floor, len(plain.stats)) == (
        None,
        None,
        1.0,
        4,
    )


def test_one_shard_is_the_result_and_no_shard_is_an_empty_one():
    shard = Scored(np.ones((2, 1)), None, None, "", 1.0)
    assert Scored.join([shard]) is shard
    nothing = Scored.join([])
    assert (
        len(nothing.stats),
        nothing.p_values,
        nothing.seconds,
        nothing.p_method,
    ) == (0, None, 0, "")


def test_a_result_without_a_defined_floor_has_the_floor_one():
    floors = np.array([np.nan, np.nan])
    assert Scored(np.ones((2, 1)), floors, floors, "exact", 1.0).p_floor == 1.0
    assert (
        Scored(np.ones((2, 1)), floors, np.array([np.nan, 0.25]), "exact", 1.0).p_floor
        == 0.25
    )
