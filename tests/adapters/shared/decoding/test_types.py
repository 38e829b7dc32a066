"""Generations from hypotheses."""

from __future__ import annotations

import numpy as np
import pytest

from harness_models.shared.decoding.types import Decoded, Hypothesis


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
