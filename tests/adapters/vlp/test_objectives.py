"""Training objectives of VLP."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from harness_models.vlp.model import Vlp
from harness_models.vlp.objectives import (
    Sentences,
    cloze_loss,
    hidden_words,
    paired_loss,
    with_masks,
)
from harness_models.vlp.sizes import BertSizes, VlpSizes

SPECIAL = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    bert = BertSizes(
        vocabulary=40, width=32, layers=2, heads=4, inner=64, positions=24, segments=6
    )
    return Vlp(
        VlpSizes(bert=bert, region=8, hidden=32, geometry=10, special_ids=SPECIAL)
    ).eval()


def batch(model, rows=3, length=6):
    torch.manual_seed(1)
    sizes = model.sizes
    lengths = torch.tensor([6, 4, 5])[:rows]
    return Sentences(
        torch.randint(5, sizes.bert.vocabulary, (rows, length)),
        lengths,
        torch.randn(rows, 3, sizes.region),
        torch.randn(rows, 3, sizes.geometry),
    )


def test_padding_does_not_change_the_loss(model):
    sentences = batch(model)
    with torch.inference_mode():
        for both in (0.0, 1.0):
            for loss in (
                lambda s: paired_loss(model, s),
                lambda s, b=both: cloze_loss(model, s, 1.0, 99, b),
            ):
                torch.manual_seed(0)
                before = loss(sentences)
                changed = torch.where(sentences.word_mask(), sentences.tokens, 7)
                torch.manual_seed(0)
                after = loss(
                    Sentences(
                        changed,
                        sentences.lengths,
                        sentences.regions,
                        sentences.geometry,
                    )
                )
                torch.testing.assert_close(before[0], after[0])
                assert before[1] == after[1] == 15


def test_later_words_change_hidden_states_only_with_bidirectional_attention(model):
    sentences = batch(model)
    other = sentences.tokens.clone()
    other[:, 3] = (other[:, 3] + 1) % model.sizes.bert.vocabulary
    with torch.inference_mode():
        for states, same in ((model.left_to_right, True), (model.bidirectional, False)):
            result = [
                states(t, sentences.word_mask(), sentences.regions, sentences.geometry)
                for t in (sentences.tokens, other)
            ]
            assert torch.allclose(result[0][:, :3], result[1][:, :3], atol=1e-6) == same


def test_masks_are_drawn_as_published():
    torch.manual_seed(0)
    lengths = torch.tensor([20, 4, 30, 12] * 500)
    inside = torch.arange(30) < lengths[:, None]
    hidden = hidden_words(inside, lengths, 0.15, 3)
    assert not bool((hidden & ~inside).any())
    assert hidden.sum(1).reshape(500, 4).unique(dim=0).tolist() == [[3, 1, 3, 2]]
    shares = hidden[lengths == 4][:, :4].float().mean(0)
    # four standard errors of 500 draws; [SEP] is one of them
    np.testing.assert_allclose(shares, 0.25, atol=0.08)
    tokens = torch.full(inside.shape, 7)
    settings = with_masks(tokens, inside, 4, 1000)[inside]
    assert bool((with_masks(tokens, hidden, 4, 1000)[~hidden] == 7).all())
    np.testing.assert_allclose(
        [(settings == 4).float().mean(), (settings == 7).float().mean()],
        [0.8, 0.1],
        atol=0.01,
    )
