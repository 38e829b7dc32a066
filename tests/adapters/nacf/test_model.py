"""Networks of NACF, NAB and ARB against the values of their authors' code."""

from __future__ import annotations

import pytest
import torch

from harness_models.nacf.model import ArbStep


def encoded(model, values):
    with torch.inference_mode():
        return model.encode([values["feats_m"], values["feats_i"]], values["category"])


@pytest.mark.parametrize("method", ["ARB", "NAB", "NACF"])
def test_encoder_and_lengths_equal_the_authors(authors, method):
    models, values, _ = authors
    result = encoded(models[method], values)
    torch.testing.assert_close(
        result.memory, values[f"{method}.enc_output"], atol=1e-5, rtol=0
    )
    if method != "ARB":
        torch.testing.assert_close(
            result.lengths, values[f"{method}.pred_length_logprobs"], atol=1e-5, rtol=0
        )
    assert models[method].sizes.method == method


def close(logits, expected):
    # Logits reach 360, where one unit in the last place is 3e-5, and one such unit in
    # the memory (another CPU) moves them by 2e-4: so the tolerance is 1e-5 of the
    # largest logit.
    torch.testing.assert_close(
        logits, expected, atol=1e-5 * float(expected.abs().max()), rtol=0
    )


def test_logits_equal_the_authors(authors):
    models, values, _ = authors
    features = [values["feats_m"], values["feats_i"]]
    with torch.inference_mode():
        for method in ("NAB", "NACF"):
            for kind in ("all_mask", "all_vis", "partial_mask"):
                logits = models[method](
                    features, values[f"{method}.{kind}.tokens"], values["category"]
                )
                close(logits, values[f"{method}.{kind}.logits"])
        tokens = values["ARB.input_tokens"]
        logits = models["ARB"](features, tokens, values["category"])
        close(logits, values["ARB.logits"])
        scores = logits.log_softmax(-1).gather(-1, tokens[:, 1:, None])[..., 0] * (
            tokens[:, 1:] != 0
        )
        close(scores, values["ARB.token_logprobs"])


def test_the_cache_gives_the_same_logits(authors):
    models, values, _ = authors
    model = models["ARB"]
    tokens = values["ARB.input_tokens"]
    step = ArbStep(model)
    with torch.inference_mode():
        state = step.start(encoded(model, values))
        for t in range(tokens.shape[1] - 1):
            logits, state = step(tokens[:, t], state)
            close(logits, values["ARB.logits"][:, t])
