"""BERT's encoder: attention over a context equals attention within one sequence."""

from __future__ import annotations

import pytest
import torch

from harness_models.shared.key_values import KeyValues
from harness_models.vlp.bert import Bert, Head
from harness_models.vlp.sizes import BertSizes

SIZES = BertSizes(
    vocabulary=11, width=12, layers=3, heads=3, inner=20, positions=9, segments=6
)


@pytest.fixture(scope="module")
def bert():
    torch.manual_seed(0)
    return Bert(SIZES).eval().double().requires_grad_(False)


def sequence(rows, length, seed=0):
    return torch.randn(
        rows,
        length,
        SIZES.width,
        generator=torch.Generator().manual_seed(seed),
        dtype=torch.float64,
    )


def test_context_and_text_equal_one_masked_sequence(bert):
    context = sequence(2, 4)
    text = sequence(2, 3, seed=1)
    causal = torch.ones(3, 3, dtype=torch.bool).tril()
    result = bert(text, bert.context(context), None, causal)
    mask = torch.zeros(7, 7, dtype=torch.bool)
    mask[:, :4] = True
    mask[4:, 4:] = causal
    expected = bert.within(torch.cat([context, text], dim=1), mask)[:, 4:]
    torch.testing.assert_close(result, expected, atol=1e-10, rtol=0)


def test_cached_text_gives_the_same_hidden_states(bert):
    context = bert.context(sequence(2, 4))
    text = sequence(2, 3, seed=1)
    whole = bert(text, context, None, torch.ones(3, 3, dtype=torch.bool).tril())
    cache = KeyValues.empty(SIZES.layers, 2)
    for t in range(3):
        hidden = bert(text[:, t : t + 1], context, cache, None)
        cache.length += 1
        torch.testing.assert_close(hidden[:, 0], whole[:, t], atol=1e-10, rtol=0)


def test_only_requested_slots_are_returned(bert):
    context = bert.context(sequence(2, 4))
    text = sequence(2, 3, seed=1)
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    torch.testing.assert_close(
        bert(text, context, None, mask, first=2), bert(text, context, None, mask)[:, 2:]
    )


def test_embeddings_are_normalised(bert):
    x = bert.embed(sequence(2, 3), sequence(1, 3, seed=2), 4)
    torch.testing.assert_close(
        x.mean(-1), torch.zeros(2, 3, dtype=torch.float64), atol=1e-7, rtol=0
    )


def test_the_output_layer_equals_its_formula():
    torch.manual_seed(0)
    head = Head(SIZES)
    x = torch.randn(2, SIZES.width)
    parts = head.predictions
    hidden = parts.transform.LayerNorm(
        torch.nn.functional.gelu(parts.transform.dense(x))
    )
    torch.testing.assert_close(head(x), hidden @ parts.decoder.weight.T + parts.bias)
