"""Slots, lengths and drawn words of decoding in several passes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from harness.contracts import Decoding
from harness_models.o2na.refinement import Slots, sampled_words


def test_fixed_slots_do_not_change():
    tokens = torch.tensor([[7, 8, 0]])
    pad = torch.tensor([[False, False, True]])
    slots = Slots(
        tokens, torch.ones(1, 3), pad, [], fixed=torch.tensor([[True, False, False]])
    )
    slots.put(~pad, torch.tensor([[1, 2, 3]]), torch.tensor([[0.1, 0.2, 0.3]]))
    assert slots.tokens.tolist() == [[7, 2, 0]]
    assert slots.probabilities[0].tolist() == pytest.approx([1, 0.2, 1])
    assert slots.rows(torch.tensor([0])) == [[7, 2]]


def test_words_of_a_pass_depend_on_its_numbers_only():
    uniforms = np.random.default_rng(0).random((1, 2, 3 * 4))
    logits = torch.randn(2, 4, 9, generator=torch.Generator().manual_seed(0))
    pick = sampled_words(uniforms, 4, Decoding("sample"), torch.device("cpu"))
    other = uniforms.copy()
    other[:, :, 4:8] = 0.5  # the second pass
    changed = sampled_words(other, 4, Decoding("sample"), torch.device("cpu"))
    assert torch.equal(pick(logits, 0), changed(logits, 0))
    assert torch.equal(pick(logits, 2), changed(logits, 2))
    assert not torch.equal(pick(logits, 1), changed(logits, 1))
    assert torch.equal(pick(logits[:, :3], 0), pick(logits, 0)[:, :3])
