"""Models of transformers as steps: decoder-only (with or without an image in front), encoder-decoder, BLIP, and BLIP-2.

Each step's ``advance`` takes several tokens at once and gives the logits of all of them, so that references are scored in one pass.
Rows of one call have prompts of one length: nothing is padded on the left, so positions are right for every model.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch

from harness.adapters.shared.decoding.types import select_rows


class CausalStep:
    """Decoder-only: the first call gets the processor's whole output, later ones a token and the cache.

    State: ``{"inputs": ...}`` before the first call, then ``{"past", "length", "rope"}``.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.core = getattr(model, "model", model)
        self.takes_positions = "position_ids" in inspect.signature(model.forward).parameters

    def __call__(self, tokens: torch.Tensor | None, state: dict[str, Any]) -> tuple[torch.Tensor, dict[str, Any]]:
        if "inputs" in state:
            given = state["inputs"]
            out = self.model(**given, use_cache=True)
            after = {"past": out.past_key_values, "length": given["input_ids"].shape[1], "rope": self._rope()}
            return out.logits[:, -1].float(), after
        assert tokens is not None
        logits, state = self.advance(tokens[:, None], state)
        return logits[:, -1], state

    def advance(self, tokens: torch.Tensor, state: dict[str, Any]) -> tuple[torch.Tensor, dict[str, Any]]:
        """Logits (R, T, V) after each of ``tokens`` (R, T)."""
        if state["rope"] is not None:  # Qwen-VL keeps a position offset per row on the module
            self.core.rope_deltas = state["rope"]
        more = {}
        if (
            self.takes_positions and state["rope"] is None
        ):  # some models keep the image in the cache, but count words alone
            places = torch.arange(state["length"], state["length"] + tokens.shape[1], device=tokens.device)
            more["position_ids"] = places.expand(tokens.shape)
        out = self.model(input_ids=tokens, past_key_values=state["past"], use_cache=True, **more)
        after = {"past": out.past_key_values, "length": state["length"] + tokens.shape[1], "rope": state["rope"]}
        return out.logits.float(), after

    def _rope(self) -> torch.Tensor | None:
        return getattr(self.core, "rope_deltas", None)

    def reorder(self, state: dict[str, Any], index: torch.Tensor) -> dict[str, Any]:
        return {**state, "past": select_rows(state["past"], index), "rope": select_rows(state["rope"], index)}


class EncoderDecoderStep:
    """Encoder run once; the first call feeds the decoder's start tokens. State: ``{"encoder", "mask", "prompt", "past"}``."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.vision = not hasattr(model.config, "vocab_size") and hasattr(model.config, "encoder")

    def start(self, inputs: dict[str, torch.Tensor], prompt: torch.Tensor) -> dict[str, Any]:
        """The state for encoder inputs (ids, pixels or embeddings) and decoder start tokens (R, T)."""
        hidden = self.model.get_encoder()(**inputs, return_dict=True).last_hidden_state
        mask = None if "pixel_values" in inputs else inputs.get("attention_mask")
        return {"encoder": hidden, "mask": mask, "prompt": prompt, "past": None}

    def __call__(self, tokens: torch.Tensor | None, state: dict[str, Any]) -> tuple[torch.Tensor, dict[str, Any]]:
        fed = state["prompt"] if tokens is None else tokens[:, None]
        logits, state = self.advance(fed, state)
        return logits[:, -1], state

    def advance(self, tokens: torch.Tensor, state: dict[str, Any]) -> tuple[torch.Tensor, dict[str, Any]]:
        """Logits (R, T, V) after each of ``tokens`` (R, T)."""
        from transformers.modeling_outputs import BaseModelOutput

        more = {} if state["mask"] is None else {"attention_mask": state["mask"]}
        out = self.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=state["encoder"]),
            decoder_input_ids=tokens,
            past_key_values=state["past"],
            use_cache=True,
            **more,
        )
        return out.logits.float(), {**state, "past": out.past_key_values}


class BlipStep:
    """BLIP: a text decoder that looks at the image's patches. State: ``{"image", "prompt", "past"}``."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def start(self, pixels: torch.Tensor, prompt: torch.Tensor) -> dict[str, Any]:
        return {"image": self.model.vision_model(pixel_values=pixels)[0], "prompt": prompt, "past": None}

    def __call__(self, tokens: torch.Tensor | None, state: dict[str, Any]) -> tuple[torch.Tensor, dict[str, Any]]:
        logits, state = self.advance(state["prompt"] if tokens is None else tokens[:, None], state)
        return logits[:, -1], state

    def advance(self, tokens: torch.Tensor, state: dict[str, Any]) -> tuple[torch.Tensor, dict[str, Any]]:
        """Logits (R, T, V) after each of ``tokens`` (R, T)."""
        image = state["image"]
        out = self.model.text_decoder(
            input_ids=tokens,
            encoder_hidden_states=image,
            encoder_attention_mask=torch.ones(image.shape[:2], dtype=torch.long, device=image.device),
            past_key_values=state["past"],
            use_cache=True,
        )
        return out.logits.float(), {**state, "past": out.past_key_values}


def blip2_embeddings(model: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """(R, T, width) what BLIP-2's language model reads: the image's queries at the image tokens of ``input_ids`` (R, T), or in front of
    them where there are none (older processors write none)."""
    patches = model.vision_model(pixel_values=inputs["pixel_values"], return_dict=True).last_hidden_state
    found = model.qformer(
        query_embeds=model.query_tokens.expand(len(patches), -1, -1),
        encoder_hidden_states=patches,
        encoder_attention_mask=torch.ones(patches.shape[:2], dtype=torch.long, device=patches.device),
        return_dict=True,
    ).last_hidden_state
    words = model.get_input_embeddings()(inputs["input_ids"])
    image = model.language_projection(found.to(patches.dtype)).to(words.dtype)
    token = getattr(model.config, "image_token_id", None) or getattr(model.config, "image_token_index", None)
    here = (
        inputs["input_ids"] == token if token is not None else torch.zeros_like(inputs["input_ids"], dtype=torch.bool)
    )
    if not bool(here.any()):
        return torch.cat([image, words], dim=1)
    return words.masked_scatter(here[..., None], image)


class PromptedStep:
    """A decoder-only language model behind embeddings (BLIP-2 with OPT). State: ``{"embeddings"}``, then ``{"past", "length"}``."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __call__(self, tokens: torch.Tensor | None, state: dict[str, Any]) -> tuple[torch.Tensor, dict[str, Any]]:
        if "embeddings" in state:
            given = state["embeddings"]
            out = self.model(inputs_embeds=given, attention_mask=self._all(given, given.shape[1]), use_cache=True)
            return out.logits[:, -1].float(), {"past": out.past_key_values, "length": given.shape[1]}
        assert tokens is not None
        logits, state = self.advance(tokens[:, None], state)
        return logits[:, -1], state

    def advance(self, tokens: torch.Tensor, state: dict[str, Any]) -> tuple[torch.Tensor, dict[str, Any]]:
        """Logits (R, T, V) after each of ``tokens`` (R, T)."""
        length = state["length"] + tokens.shape[1]
        seen = self._all(tokens, length)
        out = self.model(input_ids=tokens, past_key_values=state["past"], attention_mask=seen, use_cache=True)
        return out.logits.float(), {"past": out.past_key_values, "length": length}

    @staticmethod
    def _all(rows: torch.Tensor, length: int) -> torch.Tensor:
        return torch.ones(len(rows), length, dtype=torch.long, device=rows.device)
