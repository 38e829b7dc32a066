"""Low-rank factors beside weights: each weight with its product, and files that are
not so.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import InputError

torch = pytest.importorskip("torch")

from harness_metrics.neural.low_rank import merge_factors  # noqa: E402

FILE = Path("plus.pth")


def drawn(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def test_a_weight_of_a_layer_gets_its_product_by_the_rank():
    state = {
        "block.attn.out_proj.weight": drawn(6, 5),
        "block.attn.out_proj.bias": drawn(6),
        "block.attn.out_proj.lora_A": drawn(2, 5),
        "block.attn.out_proj.lora_B": drawn(6, 2),
    }
    merged = merge_factors(state, FILE)
    assert list(merged) == ["block.attn.out_proj.weight", "block.attn.out_proj.bias"]
    x = drawn(3, 5)
    first, second = state["block.attn.out_proj.lora_A"], drawn(6, 2)
    expected = x @ state["block.attn.out_proj.weight"].T + (x @ first.T @ second.T) / 2
    found = x @ merged["block.attn.out_proj.weight"].T
    torch.testing.assert_close(found, expected)
    assert merged["block.attn.out_proj.bias"] is state["block.attn.out_proj.bias"]


def test_factors_of_a_matrix_that_is_no_layer_are_named_behind_it():
    state = {
        "attn.in_proj_weight": drawn(9, 3),
        "attn.in_proj_weight_lora_A": drawn(1, 3),
        "attn.in_proj_weight_lora_B": drawn(9, 1),
    }
    expected = drawn(9, 3) + drawn(9, 1) @ drawn(1, 3)
    torch.testing.assert_close(
        merge_factors(state, FILE), {"attn.in_proj_weight": expected}
    )


def test_factors_of_a_convolution_have_the_rows_of_its_kernel():
    rank, kernel = 2, 4
    first, second = drawn(rank * kernel, 3 * kernel), drawn(7 * kernel, rank * kernel)
    state = {
        "visual.conv1.weight": drawn(7, 3, kernel, kernel),
        "visual.conv1.lora_A": first,
        "visual.conv1.lora_B": second,
    }
    product = (second @ first).view(7, 3, kernel, kernel)
    expected = state["visual.conv1.weight"] + product / rank
    torch.testing.assert_close(
        merge_factors(state, FILE), {"visual.conv1.weight": expected}
    )


def test_layers_that_the_authors_store_merged_stay_as_they_are():
    weight = drawn(8, 4)
    state = {
        "transformer.resblocks.0.mlp.c_fc.weight": weight,
        "transformer.resblocks.0.mlp.c_fc.lora_A": drawn(2, 4),
        "transformer.resblocks.0.mlp.c_fc.lora_B": drawn(8, 2),
    }
    (found,) = merge_factors(state, FILE).values()
    assert found is weight


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"proj": (3, 3)}, "plus.pth: the weights have no low-rank factors"),
        (
            {"proj.weight": (3, 3), "proj.lora_A": (1, 3)},
            "the low-rank factors of 'proj.weight' lack their factor A or B",
        ),
        (
            {"proj.lora_A": (1, 3), "proj.lora_B": (3, 1)},
            "the low-rank factors of 'proj.weight' lack their weight",
        ),
        (
            {"proj.weight": (3, 3), "proj.lora_A": (1, 4), "proj.lora_B": (3, 1)},
            r"factors \(1, 4\) and \(3, 1\) do not fit 'proj.weight' of shape \(3, 3\)",
        ),
        (
            {"proj.weight": (3, 3), "proj.lora_A": (2, 3), "proj.lora_B": (3, 1)},
            r"factors \(2, 3\) and \(3, 1\) do not fit 'proj.weight'",
        ),
        (
            {"proj.weight": (1, 1, 2, 2), "proj.lora_A": (1, 2), "proj.lora_B": (2, 1)},
            r"factors \(1, 2\) and \(2, 1\) do not fit 'proj.weight'",
        ),
    ],
)
def test_factors_that_do_not_fit_are_one_line(state, message):
    with pytest.raises(InputError, match=message) as raised:
        merge_factors({name: drawn(*shape) for name, shape in state.items()}, FILE)
    assert "\n" not in str(raised.value)
