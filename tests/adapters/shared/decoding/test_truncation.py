"""Truncation of a distribution by its own shape."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness.registry.torchvision_guard import guard_torchvision
from harness_models.shared.decoding.decode import check_decoding
from harness_models.shared.decoding.filters import draw, filtered_probabilities
from harness_models.shared.decoding.truncation import truncate

LOGITS = torch.from_numpy(np.random.default_rng(0).standard_normal((40, 30)) * 3)


@pytest.mark.parametrize(
    ("warper", "option", "value"),
    [
        ("MinPLogitsWarper", "min_p", 0.1),
        ("TypicalLogitsWarper", "typical_p", 0.7),
        ("EtaLogitsWarper", "eta", 0.02),
    ],
)
def test_the_tokens_that_remain_are_those_of_transformers(warper, option, value):
    guard_torchvision()
    pytest.importorskip("transformers")
    import transformers.generation.logits_process as peers

    kept = ~torch.isinf(getattr(peers, warper)(value)(None, LOGITS.clone()))
    mass, _ = filtered_probabilities(LOGITS, 1.0, None, None)
    assert torch.equal(
        truncate(mass, Decoding("sample", options={option: value})) > 0, kept
    )
    assert 1 < kept.sum(-1).double().mean() < 25


def test_rules_apply_to_what_top_p_leaves_and_the_most_likely_token_remains():
    p = torch.tensor([[0.5, 0.3, 0.15, 0.05]], dtype=torch.float64)
    mass, _ = filtered_probabilities(p.log(), 1.0, None, 0.9)
    assert (truncate(mass, Decoding(options={"min_p": 0.5})) > 0).tolist() == [
        [True, True, False, False]
    ]
    assert (truncate(mass, Decoding(options={"eta": 1.0})) > 0).tolist()[0][0] is True
    # surprise 0.69, 1.20, 1.90, 3.00 and entropy 1.14: the second token is the typical
    # one
    assert (truncate(p, Decoding(options={"typical_p": 0.2})) > 0).tolist() == [
        [False, True, False, False]
    ]
    assert torch.equal(truncate(p, Decoding()), p)


def test_draws_come_from_the_tokens_that_remain():
    logits = (
        torch.tensor([[0.5, 0.3, 0.15, 0.05]], dtype=torch.float64).log().expand(200, 4)
    )
    numbers = torch.from_numpy(np.random.default_rng(1).random(200))
    tokens = draw(logits, numbers, Decoding("min-p", options={"min_p": 0.5}))
    assert set(tokens.tolist()) == {0, 1}
    assert abs((tokens == 0).double().mean().item() - 0.5 / 0.8) < 0.1


@pytest.mark.parametrize(
    ("decoding", "message"),
    [
        (
            Decoding("sample", options={"min_p": 0}),
            "options.min_p must be above 0 and at most 1, found 0",
        ),
        (
            Decoding("sample", options={"typical_p": "x"}),
            "options.typical_p must be above 0 and at most 1, found 'x'",
        ),
        (
            Decoding("typical"),
            r"strategy typical needs options.typical_p \(for example options: "
            r"\{typical_p: 0.95\}\)",
        ),
        (
            Decoding("eta"),
            r"strategy eta needs options.eta \(for example options: \{eta: 0.0003\}\)",
        ),
    ],
)
def test_errors(decoding, message):
    with pytest.raises(HarnessError, match=message):
        check_decoding(decoding)
