"""A context shared by several rows equals a separate context per row."""

from __future__ import annotations

import pytest
import torch

from harness_models.vlp.model import Vlp, VlpStep
from harness_models.vlp.sizes import BertSizes, VlpSizes

SIZES = BertSizes(
    vocabulary=40, width=24, layers=3, heads=3, inner=32, positions=60, segments=6
)
SPECIAL = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}
OWNERS = [[0, 1, 2, 3], [0, 0, 1, 1, 2, 2, 3, 3], [3, 0, 0, 2, 0, 3], [1, 1, 1], [2]]


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    sizes = VlpSizes(bert=SIZES, region=10, hidden=12, geometry=9, special_ids=SPECIAL)
    result = Vlp(sizes).eval().double().requires_grad_(False)
    for weight in result.parameters():
        weight.mul_(3)
    return result


def images(count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [
        torch.randn(count, 7, width, generator=generator, dtype=torch.float64)
        for width in (10, 9)
    ]


@pytest.mark.parametrize("owner", OWNERS, ids=str)
def test_a_shared_context_equals_separate_contexts(model, owner):
    regions, where = images(4)
    owner = torch.tensor(owner)
    tokens = torch.randint(
        5, 40, (len(owner), 6), generator=torch.Generator().manual_seed(1)
    )
    shared = model.score_slots(tokens, model.context(regions, where).take(owner))
    apart = model.score_slots(tokens, model.context(regions[owner], where[owner]))
    torch.testing.assert_close(shared, apart, atol=1e-11, rtol=0)


def test_rows_can_be_selected_at_any_step(model):
    """Rows are repeated, dropped and exchanged; images without rows are dropped."""
    regions, where = images(5)
    step = VlpStep(model)
    state = model.context(regions, where)
    owner = torch.arange(5)
    texts = [[] for _ in range(5)]
    last = None
    generator = torch.Generator().manual_seed(2)
    for index in ([0, 0, 1, 2, 3, 4, 4], [6, 0, 1, 3, 4], [2, 3], [1, 1, 0], [2, 0, 1]):
        logits, state = step(last, state)
        for row, text in enumerate(texts):
            tokens = torch.tensor([[*text, 5]])
            e = owner[row : row + 1]
            expected = model(tokens, regions[e], where[e])[0, -1]
            torch.testing.assert_close(logits[row], expected, atol=1e-11, rtol=0)
        selected = torch.tensor(index)
        state = state.take(selected)
        owner = owner[selected]
        last = torch.randint(5, 40, (len(index),), generator=generator)
        texts = [[*texts[i], int(token)] for i, token in zip(index, last)]
    assert state.context.images == 2


def test_gradients_reach_the_shared_context(model):
    regions, where = images(2)
    regions.requires_grad_(True)
    tokens = torch.full((3, 4), 7)
    loss = (
        model.score_slots(
            tokens, model.context(regions, where).take(torch.tensor([1, 1, 0]))
        )
        .logsumexp(-1)
        .sum()
    )
    loss.backward()
    assert bool((regions.grad.abs().sum((1, 2)) > 0).all())
