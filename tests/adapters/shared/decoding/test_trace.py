"""Steps of a beam search."""

from __future__ import annotations

import torch

from harness_models.shared.decoding.logits import log_prob_of
from harness_models.shared.decoding.trace import Trace, TraceStep


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
