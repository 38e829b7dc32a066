"""Counts of answers: statuses, requests, tokens, cost."""

from __future__ import annotations

import numpy as np
import pytest

from harness_metrics.judges import tally
from harness_metrics.judges.answers import Verdict


def test_counts_add_up_over_examples():
    rows = np.stack(
        [
            tally.row([Verdict("valid", 1.0, 2, 100, 10), Verdict("refused", None, 1, 50, 5)]),
            tally.row([Verdict("truncated", None, 3, 150, 30)]),
            tally.row([]),
        ]
    )
    assert rows.shape == (3, len(tally.COLUMNS))
    out = tally.details(rows, {"input": 10.0, "output": 100.0})
    assert out == {
        "answers": {"valid": 1, "refused": 1, "rejected": 0, "truncated": 1, "empty": 0, "invalid": 0},
        "requests": 6,
        "tokens": {"input": 300, "output": 45},
        "cost": pytest.approx((300 * 10 + 45 * 100) / 1e6),
    }
    assert "cost" not in tally.details(rows, None)
