"""Precisions: names, settings of torch, signatures."""

from __future__ import annotations

import pytest

from harness.encoders.precision import (
    check_precision,
    computing,
    signature_suffix,
    weight_dtype,
)
from harness.errors import HarnessError

torch = pytest.importorskip("torch")


def test_products_of_float32_have_all_bits_unless_tf32_is_asked_for():
    before = torch.get_float32_matmul_precision()
    with computing("float32"):
        assert torch.get_float32_matmul_precision() == "highest"
        assert torch.is_inference_mode_enabled()
        with computing("tf32"):
            assert torch.get_float32_matmul_precision() == "high"
    assert torch.get_float32_matmul_precision() == before


def test_a_precision_that_changes_numbers_stands_in_the_signature():
    assert [signature_suffix(p) for p in ("float32", "tf32", "float16")] == [
        "",
        "|tf32",
        "|float16",
    ]
    assert weight_dtype("tf32") is torch.float32
    assert weight_dtype("bfloat16") is torch.bfloat16


def test_an_unknown_precision_gets_the_nearest_name():
    with pytest.raises(HarnessError, match="m: no precision 'float23'; did you mean"):
        check_precision("float23", "m")
