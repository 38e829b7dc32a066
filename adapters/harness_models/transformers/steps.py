"""Models of transformers as decoder steps: decoder-only (with or without an image
prefix), encoder-decoder, BLIP, and BLIP-2.

The method ``advance`` of a step takes several tokens and returns the logits of all of
them, so references are scored in one pass. All rows of a call have prompts of equal
length; there is no padding on the left, so positions are correct for every model.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import torch

from harness.errors import HarnessError
from harness_models.shared.decoding.states import select_rows


class _Watched:
    """Base of the steps, which keeps the vectors from which the last call predicted the
    next tokens.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._hidden: torch.Tensor | None = None
        head = self.language().get_output_embeddings()
        if head is not None:
            head.register_forward_pre_hook(self._keep)

    def language(self) -> Any:
        """Return the model whose output layer predicts the tokens."""
        return self.model

    def __call__(
        self, tokens: torch.Tensor | None, state: dict[str, Any]
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Return the logits (R, V) after the last tokens (R,), or after the prompt of
        the state, and the new state.
        """
        logits, state = self.advance(
            state["prompt"] if tokens is None else tokens[:, None], state
        )
        return logits[:, -1], state

    def advance(
        self, tokens: torch.Tensor, state: dict[str, Any]
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Return logits (R, T, V) after each of ``tokens`` (R, T),
        and the new state.
        """
        raise NotImplementedError

    def _keep(self, module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        self._hidden = inputs[0][:, -1]

    def last_hidden(self) -> torch.Tensor:
        """Return the vectors (R, d) that gave the logits of the last call; raise
        :class:`HarnessError` if the model hides them.
        """
        if self._hidden is None:
            raise HarnessError(
                "transformers: the output layer of this model cannot be watched; "
                "contrastive search needs it"
            )
        return self._hidden


def _last_logits(parameters: Mapping[str, Any]) -> dict[str, int]:
    """Return the arguments of a pass over a prompt by a model with these parameters.

    The logits after the last token are the only ones that are read. Those of the others
    would take more memory than the rest of the pass in models of large vocabularies.
    """
    return {"logits_to_keep": 1} if "logits_to_keep" in parameters else {}


class CausalStep(_Watched):
    """Step of a decoder-only model: the first call passes the output of the processor,
    later calls a token and the cache.

    The state is ``{"inputs"}`` before the first call, then
    ``{"past", "length", "rope"}``.
    """

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.core = getattr(model, "model", model)
        parameters = inspect.signature(model.forward).parameters
        self.takes_positions = "position_ids" in parameters
        self.of_prompt = _last_logits(parameters)

    def __call__(
        self, tokens: torch.Tensor | None, state: dict[str, Any]
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        if "inputs" in state:
            inputs = state["inputs"]
            out = self.model(**inputs, use_cache=True, **self.of_prompt)
            after = {
                "past": out.past_key_values,
                "length": inputs["input_ids"].shape[1],
                "rope": self._rope(),
            }
            return out.logits[:, -1].float(), after
        return super().__call__(tokens, state)

    def advance(
        self, tokens: torch.Tensor, state: dict[str, Any]
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Return logits (R, T, V) after each of ``tokens`` (R, T),
        and the new state.
        """
        # Qwen-VL stores a position offset per row on the module
        if state["rope"] is not None:
            self.core.rope_deltas = state["rope"]
        more = {}
        # some models cache the image but number the words only
        if self.takes_positions and state["rope"] is None:
            positions = torch.arange(
                state["length"], state["length"] + tokens.shape[1], device=tokens.device
            )
            more["position_ids"] = positions.expand(tokens.shape)

        out = self.model(
            input_ids=tokens, past_key_values=state["past"], use_cache=True, **more
        )

        after = {
            "past": out.past_key_values,
            "length": state["length"] + tokens.shape[1],
            "rope": state["rope"],
        }
        return out.logits.float(), after

    def _rope(self) -> torch.Tensor | None:
        return getattr(self.core, "rope_deltas", None)

    def reorder(self, state: dict[str, Any], index: torch.Tensor) -> dict[str, Any]:
        """Return rows ``index`` (R',) of the state."""
        return {
            **state,
            "past": select_rows(state["past"], index),
            "rope": select_rows(state["rope"], index),
        }


class EncoderDecoderStep(_Watched):
    """Step of an encoder-decoder model: the encoder runs once, the first call passes
    the start tokens of the decoder.

    The state is ``{"encoder", "mask", "prompt", "past"}``.
    """

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.vision = not hasattr(model.config, "vocab_size") and hasattr(
            model.config, "encoder"
        )

    def start(
        self, inputs: dict[str, torch.Tensor], prompt: torch.Tensor
    ) -> dict[str, Any]:
        """Return the state for encoder inputs (ids, pixels or embeddings) and start
        tokens of the decoder (R, T).
        """
        hidden = self.model.get_encoder()(**inputs, return_dict=True).last_hidden_state
        mask = None if "pixel_values" in inputs else inputs.get("attention_mask")
        return {"encoder": hidden, "mask": mask, "prompt": prompt, "past": None}

    def advance(
        self, tokens: torch.Tensor, state: dict[str, Any]
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Return logits (R, T, V) after each of ``tokens`` (R, T),
        and the new state.
        """
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


class BlipStep(_Watched):
    """Step of BLIP, a text decoder with cross-attention to the patches of the image.

    The state is ``{"image", "prompt", "past"}``.
    """

    def language(self) -> Any:
        """Return the text decoder."""
        return self.model.text_decoder

    def start(self, pixels: torch.Tensor, prompt: torch.Tensor) -> dict[str, Any]:
        """Return the state for pixels (R, 3, height,
        width) and prompt tokens (R, T).
        """
        return {
            "image": self.model.vision_model(pixel_values=pixels)[0],
            "prompt": prompt,
            "past": None,
        }

    def advance(
        self, tokens: torch.Tensor, state: dict[str, Any]
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Return logits (R, T, V) after each of ``tokens`` (R, T),
        and the new state.
        """
        image = state["image"]
        out = self.model.text_decoder(
            input_ids=tokens,
            encoder_hidden_states=image,
            encoder_attention_mask=torch.ones(
                image.shape[:2], dtype=torch.long, device=image.device
            ),
            past_key_values=state["past"],
            use_cache=True,
        )
        return out.logits.float(), {**state, "past": out.past_key_values}


def blip2_embeddings(model: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """Return the input embeddings (R, T, width) of the language model of BLIP-2.

    The image queries replace the image tokens of ``input_ids`` (R, T); without such
    tokens (older processors) they precede the words.
    """
    seen = model.vision_model(pixel_values=inputs["pixel_values"], return_dict=True)
    patches = seen.last_hidden_state
    every_patch = torch.ones(patches.shape[:2], dtype=torch.long, device=patches.device)
    read = model.qformer(
        query_embeds=model.query_tokens.expand(len(patches), -1, -1),
        encoder_hidden_states=patches,
        encoder_attention_mask=every_patch,
        return_dict=True,
    )
    queries = read.last_hidden_state

    words = model.get_input_embeddings()(inputs["input_ids"])
    image = model.language_projection(queries.to(patches.dtype)).to(words.dtype)
    token = getattr(model.config, "image_token_id", None) or getattr(
        model.config, "image_token_index", None
    )

    here = torch.zeros_like(inputs["input_ids"], dtype=torch.bool)
    if token is not None:
        here = inputs["input_ids"] == token
    if not bool(here.any()):
        return torch.cat([image, words], dim=1)
    return words.masked_scatter(here[..., None], image)


class PromptedStep(_Watched):
    """Step of a decoder-only model after a prefix of embeddings (BLIP-2 with OPT).

    The state is ``{"embeddings"}`` before the first call, then ``{"past", "length"}``.
    """

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.of_prompt = _last_logits(inspect.signature(model.forward).parameters)

    def __call__(
        self, tokens: torch.Tensor | None, state: dict[str, Any]
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        if "embeddings" in state:
            prefix = state["embeddings"]
            out = self.model(
                inputs_embeds=prefix,
                attention_mask=self._all(prefix, prefix.shape[1]),
                use_cache=True,
                **self.of_prompt,
            )
            after = {"past": out.past_key_values, "length": prefix.shape[1]}
            return out.logits[:, -1].float(), after
        return super().__call__(tokens, state)

    def advance(
        self, tokens: torch.Tensor, state: dict[str, Any]
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Return logits (R, T, V) after each of ``tokens`` (R, T),
        and the new state.
        """
        length = state["length"] + tokens.shape[1]
        seen = self._all(tokens, length)
        out = self.model(
            input_ids=tokens,
            past_key_values=state["past"],
            attention_mask=seen,
            use_cache=True,
        )
        return out.logits.float(), {"past": out.past_key_values, "length": length}

    @staticmethod
    def _all(rows: torch.Tensor, length: int) -> torch.Tensor:
        return torch.ones(len(rows), length, dtype=torch.long, device=rows.device)
