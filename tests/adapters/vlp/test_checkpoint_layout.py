"""Layouts of VLP's checkpoints."""

from __future__ import annotations

import pytest
import torch

from harness_models.vlp.checkpoint_layout import renamed_tensors, resized_positions


def test_old_names_of_layer_norms_are_replaced():
    tensors = {
        "a.LayerNorm.gamma": torch.ones(2),
        "a.LayerNorm.beta": torch.zeros(2),
        "b.weight": torch.ones(1),
    }
    assert set(renamed_tensors(tensors)) == {
        "a.LayerNorm.weight",
        "a.LayerNorm.bias",
        "b.weight",
    }


def test_a_segment_table_of_two_rows_is_extended():
    table = "bert.embeddings.token_type_embeddings.weight"
    result = renamed_tensors({table: torch.tensor([[1.0], [2.0]])})
    assert result[table].tolist() == [[1], [2], [1], [1], [1], [2]]


@pytest.mark.parametrize(
    "positions, expected",
    [(2, [0, 1]), (5, [0, 1, 2, 0, 1]), (None, [0, 1, 2]), (3, [0, 1, 2])],
)
def test_position_tables_are_cut_or_repeated(positions, expected):
    table = "bert.embeddings.position_embeddings.weight"
    result = resized_positions({table: torch.arange(3.0)[:, None]}, positions)
    assert result[table][:, 0].tolist() == expected
