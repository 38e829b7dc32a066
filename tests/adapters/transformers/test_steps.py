"""Steps of models of transformers: several tokens at once equal single tokens,
and rows can be reordered.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

from harness.registry.torchvision_guard import guard_torchvision

guard_torchvision()
pytest.importorskip("transformers")

from harness_models.shared.decoding.states import reorder  # noqa: E402
from harness_models.transformers.loading import load_model  # noqa: E402
from harness_models.transformers.steps import (  # noqa: E402
    BlipStep,
    CausalStep,
    EncoderDecoderStep,
    PromptedStep,
    blip2_embeddings,
)
from tests.support import tiny_models  # noqa: E402

TOKENS = torch.tensor([[6, 8, 10, 11], [7, 9, 5, 14]])
PIXELS = torch.rand(2, 3, 16, 16, generator=torch.Generator().manual_seed(0))


def load(folder, name: str) -> Any:
    tiny_models.BUILDERS[name](folder / name)
    return load_model(
        str(folder / name),
        kind="auto",
        dtype="float32",
        device="cpu",
        device_map=None,
        trust_remote_code=False,
        strict=True,
    ).model


def causal(folder) -> tuple[Any, Any]:
    return CausalStep(load(folder, "gpt2")), {"inputs": {"input_ids": TOKENS[:, :2]}}


def encoder_decoder(folder) -> tuple[Any, Any]:
    step = EncoderDecoderStep(load(folder, "t5"))
    inputs = {"input_ids": TOKENS, "attention_mask": torch.ones_like(TOKENS)}
    return step, step.start(inputs, torch.zeros(2, 1, dtype=torch.long))


def blip(folder) -> tuple[Any, Any]:
    step = BlipStep(load(folder, "blip"))
    return step, step.start(PIXELS, torch.ones(2, 1, dtype=torch.long))


def prompted(folder) -> tuple[Any, Any]:
    model = load(folder, "blip2")
    images = torch.full((2, 3), 4)
    embeddings = blip2_embeddings(
        model, {"pixel_values": PIXELS, "input_ids": torch.cat([images, TOKENS], dim=1)}
    )
    return PromptedStep(model.language_model), {"embeddings": embeddings}


@pytest.mark.parametrize("case", [causal, encoder_decoder, blip, prompted])
def test_the_last_hidden_vectors_give_the_logits(tmp_path, case):
    step, start = case(tmp_path)
    with torch.inference_mode():
        logits, state = step(None, start)
        for t in range(2):
            hidden = step.last_hidden()
            assert hidden.shape[0] == len(logits)
            ranks = step.language().get_output_embeddings()(hidden).argsort(-1)
            torch.testing.assert_close(ranks[:, -1], logits.argmax(-1))
            logits, state = step(TOKENS[:, t], state)


@pytest.mark.parametrize("case", [causal, encoder_decoder, blip, prompted])
def test_several_tokens_equal_single_tokens(tmp_path, case):
    step, start = case(tmp_path)
    with torch.inference_mode():
        first, state = step(None, start)
        together, _ = step.advance(TOKENS, state)
        logits, state = step(None, start)
        torch.testing.assert_close(logits, first)
        for t in range(TOKENS.shape[1]):
            logits, state = step(TOKENS[:, t], state)
            torch.testing.assert_close(together[:, t], logits, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("case", [causal, encoder_decoder, blip, prompted])
def test_rows_are_reordered(tmp_path, case):
    step, start = case(tmp_path)
    index = torch.tensor([1, 0, 1])
    with torch.inference_mode():
        expected, _ = step(TOKENS[:, 0], step(None, start)[1])
        _, state = step(None, start)
        logits, _ = step(TOKENS[index, 0], reorder(step, state, index))
    torch.testing.assert_close(logits, expected[index], atol=1e-5, rtol=1e-5)


def test_image_queries_replace_image_tokens_or_precede_the_words(tmp_path):
    model = load(tmp_path, "blip2")
    images = torch.full((2, 3), 4)
    with torch.inference_mode():
        replaced = blip2_embeddings(
            model,
            {"pixel_values": PIXELS, "input_ids": torch.cat([images, TOKENS], dim=1)},
        )
        preceding = blip2_embeddings(
            model, {"pixel_values": PIXELS, "input_ids": TOKENS}
        )
    assert replaced.shape == preceding.shape == (2, 7, 32)
    torch.testing.assert_close(replaced, preceding)


@pytest.mark.parametrize("make", [causal, prompted])
def test_a_prompt_has_the_logits_after_its_last_token_alone(tmp_path, make):
    step, state = make(tmp_path)
    lengths: list[int] = []
    head = step.language().get_output_embeddings()
    head.register_forward_pre_hook(lambda _, inputs: lengths.append(inputs[0].shape[1]))
    with torch.inference_mode():
        logits, _ = step(None, state)
    assert lengths == [1] and logits.shape == (2, len(tiny_models.WORDS))


def test_a_model_that_keeps_all_logits_is_asked_for_nothing(tmp_path):
    step, state = causal(tmp_path)
    with torch.inference_mode():
        expected, _ = step(None, state)
        step.of_prompt = {}
        logits, _ = step(None, state)
    torch.testing.assert_close(logits, expected)
