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


def test_convolutions_keep_cudnn_and_repeat_their_bits(monkeypatch):
    """``cudnn.flags`` switches off what it is not told of."""
    cudnn = torch.backends.cudnn
    monkeypatch.setattr(cudnn, "benchmark", True)
    with computing("float32"):
        assert cudnn.enabled and cudnn.deterministic
        assert not cudnn.benchmark and not cudnn.allow_tf32
        with computing("tf32"):
            assert cudnn.enabled and cudnn.allow_tf32
    assert cudnn.enabled and cudnn.benchmark and cudnn.allow_tf32
    assert not cudnn.deterministic
