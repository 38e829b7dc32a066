"""Tokens of captions in training."""

from __future__ import annotations

import pytest
import torch

from harness_models.shared.training.caption_tokens import (
    IGNORED,
    open_vocabulary,
    pad_rows,
    token_loss,
)
from harness_models.shared.training.loop import STATE


def test_rows_are_padded_to_the_longest():
    assert pad_rows([(1, 2), [3]], IGNORED).tolist() == [[1, 2], [3, IGNORED]]
    assert pad_rows([[]], 0).shape == (1, 0)


def test_the_loss_is_the_mean_over_the_slots_that_count():
    torch.manual_seed(0)
    logits = torch.randn(2, 3, 4)
    goal = pad_rows([[1, 2, 3], [0]], IGNORED)
    loss, count = token_loss(logits, goal)
    log_probs = logits.log_softmax(-1)
    expected = (
        -(
            log_probs[0, 0, 1]
            + log_probs[0, 1, 2]
            + log_probs[0, 2, 3]
            + log_probs[1, 0, 0]
        )
        / 4
    )
    assert count == 4
    assert loss.item() == pytest.approx(expected.item(), rel=1e-6)


def test_a_run_keeps_its_vocabulary_and_a_refused_one_leaves_no_files(tmp_path):
    def write(words):
        return lambda folder: (folder / "words.txt").write_text(words)

    def read(folder):
        return (folder / "words.txt").read_text()

    words, save = open_vocabulary(tmp_path, write("new"), read)
    assert words == "new"
    assert not list(tmp_path.iterdir())
    save()
    (tmp_path / STATE).touch()
    words, save = open_vocabulary(tmp_path, write("other"), read)
    save()
    assert words == read(tmp_path) == "new"
