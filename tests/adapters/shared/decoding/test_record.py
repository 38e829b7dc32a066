"""Record of captions that grow row by row."""

from __future__ import annotations

import numpy as np
import torch

from harness_models.shared.decoding.record import Record


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
