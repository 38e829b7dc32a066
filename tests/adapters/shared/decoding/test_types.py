"""Ranks, log-probabilities, selection of rows, checks of logits,
and generations from hypotheses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness_models.shared.decoding.logits import (
    check_logits,
    forbid_stop,
    log_norm,
    log_prob_of,
    rank_of,
    rows_at_once,
)
from harness_models.shared.decoding.record import Record
from harness_models.shared.decoding.states import reorder, select_rows
from harness_models.shared.decoding.trace import Trace, TraceStep
from harness_models.shared.decoding.types import Decoded, DecodingBatch, Hypothesis


@given(
    rows=st.lists(
        st.lists(st.integers(-3, 3), min_size=5, max_size=5), min_size=1, max_size=6
    ),
    token=st.integers(0, 4),
)
def test_a_rank_is_the_position_in_a_stable_descending_sort(
    rows: list[list[int]], token: int
):
    logits = torch.tensor(rows, dtype=torch.float32)
    order = np.argsort(-logits.numpy(), axis=1, kind="stable")
    expected = [row.tolist().index(token) for row in order]
    assert rank_of(logits, torch.full((len(rows),), token)).tolist() == expected


def test_blocks_of_rows_do_not_change_the_result():
    size = 70_000  # one row per block on a CPU
    logits = torch.randn(4, size, generator=torch.Generator().manual_seed(0))
    assert rows_at_once(logits) == 1
    tokens = torch.tensor([0, 5, 69_999, 1234])
    exact = logits.double()
    torch.testing.assert_close(log_norm(logits), exact.logsumexp(-1), rtol=0, atol=0)
    torch.testing.assert_close(
        log_prob_of(logits, tokens),
        exact.log_softmax(-1)[range(4), tokens],
        rtol=0,
        atol=1e-12,
    )
    assert rank_of(logits, tokens).tolist() == [
        int((row > row[t]).sum()) for row, t in zip(logits, tokens)
    ]


# ------------------------------------------------------------------ rows of a state
class Pair(NamedTuple):
    hidden: torch.Tensor
    cell: torch.Tensor


@dataclass(frozen=True)
class Cache:
    keys: torch.Tensor
    length: int


class Rows:
    def __init__(self, rows: list[int]) -> None:
        self.rows = rows

    def take(self, index: torch.Tensor) -> Rows:
        return Rows([self.rows[i] for i in index.tolist()])


def test_rows_are_selected_in_nested_states():
    x = torch.tensor([[1.0], [2.0], [3.0]])
    index = torch.tensor([2, 0, 2, 1])
    state = {
        "pair": Pair(x, -x),
        "list": [x, None, 4],
        "cache": Cache(x, 7),
        "rows": Rows([1, 2, 3]),
    }
    result: Any = select_rows(state, index)
    expected = x[index]
    assert isinstance(result["pair"], Pair)
    assert torch.equal(result["pair"].hidden, expected) and torch.equal(
        result["pair"].cell, -expected
    )
    assert torch.equal(result["list"][0], expected) and result["list"][1:] == [None, 4]
    assert torch.equal(result["cache"].keys, expected) and result["cache"].length == 7
    assert result["rows"].rows == [3, 1, 3, 2]


def test_a_state_of_an_unknown_type_is_refused():
    with pytest.raises(
        TypeError,
        match="cannot take rows of a state of type set: give the step a reorder",
    ):
        select_rows({1, 2}, torch.tensor([0]))


def test_the_step_reorders_its_own_state():
    class Step:
        def __call__(
            self, tokens: torch.Tensor | None, state: Any
        ) -> tuple[torch.Tensor, Any]:
            raise NotImplementedError

        def reorder(self, state: Any, index: torch.Tensor) -> Any:
            return ("reordered", state, index.tolist())

    assert reorder(Step(), {1, 2}, torch.tensor([1])) == ("reordered", {1, 2}, [1])


# ------------------------------------------------------------------ logits
def batch(ids: tuple[str, ...] = ()) -> DecodingBatch:
    return DecodingBatch(state=None, seeds=[0, 1], stop=(0,), max_length=3, ids=ids)


@pytest.mark.parametrize(
    ("value", "content"),
    [(float("nan"), "NaN"), (float("inf"), "+inf"), (float("-inf"), "no finite value")],
)
def test_the_message_names_the_example_and_the_token(value: float, content: str):
    logits = torch.zeros(3, 2)
    logits[2] = value
    with pytest.raises(HarnessError) as caught:
        check_logits(logits, batch(("a", "b")), [0, 0, 1], position=4)
    assert str(caught.value).startswith(
        f"the model's logits for example 'b' hold {content} at token 5; check the"
    )
    with pytest.raises(HarnessError, match="for example number 1 hold"):
        check_logits(logits, batch(), [0, 0, 1], position=4)


def test_forbidden_tokens_pass_the_check():
    check_logits(torch.tensor([[float("-inf"), 0.0]]), batch(), [0], 0)


def test_the_end_token_is_forbidden_below_the_minimum_length():
    logits = torch.zeros(1, 3)
    stop = torch.tensor([1])
    decoding = Decoding(options={"min_length": 2})
    assert forbid_stop(logits, stop, decoding, 1).tolist() == [
        [0.0, float("-inf"), 0.0]
    ]
    assert forbid_stop(logits, stop, decoding, 2) is logits


# ------------------------------------------------------------------ hypotheses
def test_generations_of_hypotheses():
    log_probs = np.log([0.5, 0.25])
    stopped = Hypothesis(np.array([4, 0]), log_probs, np.array([0, 1]), "stop", -1.0)
    cut = Hypothesis(np.array([4, 5]), log_probs, np.array([0, 1]), "length", -1.0)
    decoded = Decoded(((stopped, cut),))
    (generation,) = decoded.generations(lambda ids: " ".join(map(str, ids)))
    assert generation.candidates == ("4", "4 5")
    assert generation.lengths == (2, 2)
    assert generation.stop_reasons == ("stop", "length")
    assert generation.log_probs == pytest.approx([np.log(0.125)] * 2)
    assert decoded.generations(str, keep_stop=True)[0].candidates == (
        "[4, 0]",
        "[4, 5]",
    )


def test_rows_end_at_their_own_position():
    record = Record(2, 3)
    logits = torch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]], dtype=torch.float64)
    both = torch.ones(2, dtype=torch.bool)
    record.add(0, torch.tensor([0, 1]), logits, torch.tensor([2, 1]), both)
    record.add(1, torch.tensor([1]), logits[1:], torch.tensor([0]), both[:1])
    first, second = record.hypotheses({0})
    assert (first.tokens.tolist(), first.stop_reason, first.ranks.tolist()) == (
        [2],
        "length",
        [0],
    )
    assert (second.tokens.tolist(), second.stop_reason, second.ranks.tolist()) == (
        [1, 0],
        "stop",
        [1, 0],
    )
    expected = logits.log_softmax(-1)
    np.testing.assert_allclose(second.log_probs, [expected[1, 1], expected[1, 0]])
    assert second.score == second.log_probs.sum()


def test_a_hypothesis_follows_the_parents_of_its_beams():
    logits = torch.tensor([[0.0, 1.0, 2.0], [3.0, 1.0, 2.0]])
    tokens = [torch.tensor([[2, 1]]), torch.tensor([[0, 2]]), torch.tensor([[1, 0]])]
    parents = [torch.tensor([[0, 0]]), torch.tensor([[1, 0]]), torch.tensor([[0, 0]])]
    rows = [logits[[0, 0]], logits[[1, 0]], logits[[0, 0]]]
    scores = torch.tensor([[-1.0, -2.0]])
    trace = Trace(
        [TraceStep.of(scores, t, p, r) for t, p, r in zip(tokens, parents, rows)]
    )
    path = trace.path(0, 2, 1)
    assert path == [(0, 1), (1, 0), (2, 1)]
    hypothesis = trace.hypothesis(0, path, -2.0, stop=0)
    assert hypothesis.tokens.tolist() == [1, 0, 0]
    assert (hypothesis.stop_reason, hypothesis.score) == ("stop", -2.0)
    expected = [
        log_prob_of(rows[0], tokens[0][0])[1],
        log_prob_of(rows[1], tokens[1][0])[0],
        log_prob_of(rows[2], tokens[2][0])[1],
    ]
    assert hypothesis.log_probs.tolist() == [float(value) for value in expected]
    assert hypothesis.ranks.tolist() == [1, 0, 2]
    assert trace.hypothesis(0, path[:1], 0.0, stop=0).stop_reason == "length"
