"""Products of all pairs in blocks: ``cpu:0`` stands for an accelerator."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import numpy as np
import pytest

from harness.encoders import pair_products
from harness.encoders.pair_products import LEAST_PAIRS, pairs_device, reduce_products
from harness.errors import HarnessError

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((23, 16)).astype(np.float32)
TABLE = RNG.standard_normal((31, 16)).astype(np.float32)
EXPECTED = ROWS.astype(np.float64) @ TABLE.T.astype(np.float64)


def as_array(rows, products):
    return rows, products.cpu().numpy()


def matrix(reduce=as_array):
    blocks = list(reduce_products(ROWS, TABLE, reduce, "cpu:0", "the metric"))
    # consecutive, each row once
    assert [row for rows, _ in blocks for row in range(rows.start, rows.stop)] == [
        *range(len(ROWS))
    ]
    return np.concatenate([products for _, products in blocks]), len(blocks)


@pytest.mark.parametrize("rows", [1, 2, 5, 22, 23, 100])
def test_products_of_any_blocks_are_those_of_numpy(rows, monkeypatch):
    monkeypatch.setattr(pair_products, "BLOCK_PAIRS", rows * len(TABLE))
    products, blocks = matrix()
    assert blocks == -(-len(ROWS) // rows)
    assert products.dtype == np.float32
    np.testing.assert_allclose(products, EXPECTED, rtol=1e-6, atol=1e-6)
    again, _ = matrix()
    assert np.array_equal(products, again)


def test_memory_that_runs_out_halves_blocks_and_is_remembered(caplog):
    sizes = []

    def reduce(rows, products):
        sizes.append(len(products))
        if len(products) > 4:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        return as_array(rows, products)

    with caplog.at_level(logging.WARNING):
        products, _ = matrix(reduce)
    assert sizes == [23, 11, 5, 2, *[2] * 10, 1]
    assert "out of memory with 23 rows of 31 products on cpu:0" in caplog.text
    np.testing.assert_allclose(products, EXPECTED, rtol=1e-6, atol=1e-6)


def test_a_row_that_does_not_fit_is_one_line():
    def reduce(rows, products):
        raise MemoryError

    with pytest.raises(
        HarnessError,
        match="the metric: out of memory on cpu:0 with one row of 31 products; free",
    ):
        matrix(reduce)


def test_a_table_that_does_not_fit_is_one_line(monkeypatch):
    def move(vectors, device):
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(pair_products, "_to_device", move)
    with pytest.raises(HarnessError, match="out of memory on cpu:0 with 31 vectors"):
        matrix()


def test_other_errors_are_raised_as_they_are(monkeypatch):
    def reduce(rows, products):
        raise RuntimeError("shapes differ")

    with pytest.raises(RuntimeError, match="shapes differ"):
        matrix(reduce)
    monkeypatch.setattr(pair_products, "_to_device", reduce)
    with pytest.raises(RuntimeError, match="shapes differ"):
        matrix()


def test_products_have_all_bits_and_the_setting_is_restored():
    torch.set_float32_matmul_precision("high")
    inside = []
    try:
        for _ in reduce_products(
            ROWS,
            TABLE,
            lambda rows, _: inside.append(torch.get_float32_matmul_precision()),
            "cpu:0",
            "the metric",
        ):
            assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision("highest")
    assert inside == ["highest"]


def test_the_device_is_the_first_of_the_model_for_many_pairs_alone():
    of_model = SimpleNamespace(device=["cpu:0", "cpu"])
    assert pairs_device(of_model, LEAST_PAIRS) == "cpu:0"
    assert pairs_device(of_model, LEAST_PAIRS - 1) is None
    for device in ("cpu", ["cpu", "cpu:0"], "meta"):
        assert pairs_device(SimpleNamespace(device=device), LEAST_PAIRS) is None


@pytest.mark.parametrize("device", ["cuda:77", "xpu:77"])
def test_stored_vectors_need_no_device(device):
    assert pairs_device(SimpleNamespace(device=device), LEAST_PAIRS) is None
    assert pairs_device(SimpleNamespace(), LEAST_PAIRS) is None


def test_an_accelerator_that_is_there_is_taken_under_auto(monkeypatch):
    monkeypatch.setattr(
        "harness.encoders.devices.visible_devices", lambda: ["cuda:0", "cuda:1"]
    )
    for device in ("auto", "all", "cuda:0"):
        assert pairs_device(SimpleNamespace(device=device), LEAST_PAIRS) == "cuda:0"
    assert pairs_device(SimpleNamespace(device="cuda:1"), LEAST_PAIRS) == "cuda:1"
