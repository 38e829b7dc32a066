"""Candidate sets drawn from a pool of correct and a pool of incorrect captions."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import Decoding, Example, TaskView
from harness.errors import HarnessError, InputError
from harness_models.baselines.pools import Pools

EXAMPLES = [Example(f"e{i}", tuple(f"{i}-{j}" for j in range(6))) for i in range(12)]
SEEDS = list(range(100, 112))


def pools(**params):
    adapter = Pools(**params)
    adapter.prepare(TaskView(EXAMPLES, Decoding()))
    return list(adapter.generate(EXAMPLES, Decoding(), SEEDS))


@given(st.integers(1, 5), st.integers(0, 10))
def test_m_of_n_from_k_correct_and_the_rest_from_k_incorrect_captions(unique, correct):
    for example, item in zip(
        EXAMPLES, pools(unique=unique, correct=correct, n=10, held_out=5)
    ):
        hits = [text for text in item.candidates if text in example.references]
        misses = [text for text in item.candidates if text not in example.references]
        assert (len(item.candidates), len(hits)) == (10, correct)
        assert len(set(hits)) == min(unique, correct) and len(set(misses)) == min(
            unique, 10 - correct
        )
        assert len({text.split("-")[0] for text in misses}) == len(set(misses))
        for part in (Counter(hits), Counter(misses)):
            assert not part or max(part.values()) - min(part.values()) <= 1
        assert len(item.references or ()) == 1 and not set(item.references or ()) & set(
            hits
        )


def test_cells_of_a_study_share_their_references():
    cells = [
        pools(unique=k, correct=m, n=8, held_out=5) for k, m in [(1, 0), (5, 8), (3, 4)]
    ]
    assert all(
        [x.references for x in cell] == [x.references for x in cells[0]]
        for cell in cells
    )
    assert (
        len(
            {
                Pools(unique=k, correct=m, held_out=5).fingerprint()
                for k in (1, 2)
                for m in (0, 1)
            }
        )
        == 4
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"unique": 0, "correct": 1}, "Pools: unique"),
        ({"unique": 2, "correct": -1}, "Pools: correct"),
        ({"unique": 2, "correct": 11, "n": 10}, "more than the 10 candidates"),
        ({"unique": 3, "correct": 1, "held_out": 2}, "fewer than the 3 captions"),
        ({"unique": 3, "correct": 11}, "too few for 11 correct"),
        ({"unique": 6, "correct": 1}, "references"),
    ],
)
def test_values_out_of_range(params, message):
    with pytest.raises((HarnessError, InputError), match=message):
        pools(**params)
