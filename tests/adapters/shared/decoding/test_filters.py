"""Temperature, top-k and top-p against transformers and a plain formula;
counter-based random numbers.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness.registry.torchvision_guard import guard_torchvision
from harness_models.shared.decoding.filters import (
    check_filters,
    draw,
    filtered_probabilities,
    uniforms,
)


def test_uniforms_are_uniform_and_independent_of_the_shape():
    numbers = uniforms(range(300), 10, 8)
    assert np.array_equal(numbers[:, :3, :5], uniforms(range(300), 3, 5))
    assert abs(numbers.mean() - 0.5) < 0.01
    assert len(np.unique(numbers)) == numbers.size


def test_filters_agree_with_transformers():
    guard_torchvision()
    transformers = pytest.importorskip("transformers")
    logits = torch.randn(6, 1000, generator=torch.Generator().manual_seed(0)) * 3
    for temperature, top_k, top_p in [
        (1.0, 20, 0.9),
        (0.7, None, 0.5),
        (2.0, 300, 0.99),
        (2.5, None, 0.999),
        (1, 1, 1),
    ]:
        scores = transformers.TemperatureLogitsWarper(float(temperature))(None, logits)
        if top_k:
            scores = transformers.TopKLogitsWarper(top_k)(None, scores)
        if top_p < 1:
            scores = transformers.TopPLogitsWarper(top_p)(None, scores)

        mass, ids = filtered_probabilities(logits, temperature, top_k, top_p)
        dense = torch.zeros(6, 1000, dtype=torch.float64).scatter(
            1, ids, mass / mass.sum(-1, keepdim=True)
        )
        torch.testing.assert_close(
            dense, scores.double().softmax(-1), atol=1e-6, rtol=0
        )


def test_top_k_includes_all_ties_and_top_p_cuts_ties_by_id():
    logits = torch.zeros(1, 5)
    mass, ids = filtered_probabilities(logits, 1.0, 2, None)
    assert (mass > 0).sum() == 5
    mass, ids = filtered_probabilities(logits, 1.0, None, 0.4)
    assert ids[0][mass[0] > 0].tolist() == [0, 1]


@pytest.mark.parametrize(
    "rows",
    [
        ([3.0, 1.0, 1.0, 1.0, 1.0], [5.0, 4.0, 3.0, 2.0, 1.0]),
        ([0.0, 0.0, 0.0, 0.0, 0.0], [5.0, 4.0, 3.0, 2.0, 1.0]),
        (
            [2.0, 2.0, 2.0, 1.0, 0.0],
            [9.0, 1.0, 1.0, 1.0, 1.0],
            [4.0, 3.0, 2.0, 1.0, 0.0],
        ),
    ],
)
def test_ties_with_the_k_th_remain_whatever_the_other_rows_are(rows):
    mass, ids = filtered_probabilities(torch.tensor(rows), 1.0, 2, None)
    for k, row in enumerate(rows):
        remaining = ids[k][mass[k] > 0].tolist()
        threshold = sorted(row)[-2]
        assert remaining == [
            token for token, logit in enumerate(row) if logit >= threshold
        ]


@given(
    values=st.lists(st.integers(-6, 6), min_size=1, max_size=400),
    top_k=st.one_of(st.none(), st.integers(1, 450)),
    top_p=st.one_of(st.none(), st.floats(0.05, 1.0)),
    temperature=st.sampled_from([0.5, 1.0, 2.0]),
)
def test_filters_equal_the_definition(
    values: list[int], top_k: int | None, top_p: float | None, temperature: float
):
    """Integer logits give many ties; 257 and more tokens reach the partial sort of the
    nucleus.
    """
    mass, ids = filtered_probabilities(
        torch.tensor([values], dtype=torch.float32), temperature, top_k, top_p
    )
    logits = np.array(values, dtype=float)
    expected = np.exp((logits - logits.max()) / temperature)
    if top_k is not None and top_k < len(values):
        expected[logits < np.sort(logits)[-top_k]] = 0
    if top_p is not None and top_p < 1:
        order = np.argsort(-expected, kind="stable")
        before = np.cumsum(expected[order]) - expected[order]
        # Sums in another order may differ in the last digits, so sets that reach top_p
        # within rounding are not compared.
        if np.isclose(before, expected.sum() * top_p, rtol=1e-9).any():
            return
        expected[order[before >= expected.sum() * top_p]] = 0
    dense = np.zeros(len(values))
    dense[ids[0].numpy()] = mass[0].numpy()
    np.testing.assert_allclose(dense, expected, rtol=1e-12)
    assert ids[0].tolist() == sorted(ids[0].tolist())


def test_a_draw_inverts_the_cdf():
    logits = torch.tensor([[0.0, float("-inf"), np.log(3.0)]]).expand(5, 3)
    uniform = torch.tensor([0.0, 0.2499, 0.2501, 0.9, 1 - 1e-16], dtype=torch.float64)
    assert draw(logits, uniform, Decoding("sample")).tolist() == [0, 0, 2, 2, 2]


@pytest.mark.parametrize(
    ("decoding", "message"),
    [
        (
            Decoding(temperature=0.0),
            "temperature must be a number above 0, found 0.0; .* use strategy: greedy",
        ),
        (
            Decoding(temperature=float("inf")),
            "temperature must be a number above 0, found inf",
        ),
        (Decoding(top_p=0.0), "top_p must be above 0 and at most 1, found 0.0"),
        (Decoding(top_p=1.1), "top_p must be above 0 and at most 1, found 1.1"),
        (Decoding(top_k=0), "top_k must be at least 1, found 0"),
    ],
)
def test_filters_out_of_range_are_refused(decoding: Decoding, message: str):
    with pytest.raises(HarnessError, match=message):
        check_filters(decoding)
