"""The ``transformers`` adapter: local models of the package transformers that generate text from images, texts, or both."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from harness.adapters.shared.decoding.batches import check_batch_size
from harness.adapters.shared.decoding.left_to_right import LeftToRight, Prefix
from harness.adapters.shared.decoding.types import reorder
from harness.adapters.shared.inputs.pictures import open_picture
from harness.adapters.shared.weights.checkpoints import file_fingerprint
from harness.adapters.transformers.loading import KINDS, load_model
from harness.adapters.transformers.steps import (
    BlipStep,
    CausalStep,
    EncoderDecoderStep,
    PromptedStep,
    blip2_embeddings,
)
from harness.contracts import Example, Failure, PathParam
from harness.errors import HarnessError, InputError

DEFAULT_LENGTH = 64


class Transformers(LeftToRight):
    """A model folder saved by transformers, decoded by the shared decoder.

    Parameters
    ----------
    model
        Local folder; nothing is downloaded.
    kind
        ``image-text``, ``text-to-text``, ``causal``, or ``auto`` (from the configuration of the model).
    prompt
        Prompt. ``{source}`` is replaced by ``Example.source``, any other ``{key}`` by that entry of ``Example.meta``. Default: empty for
        image-text models, else ``{source}``.
    chat
        If true, the prompt is formatted by the chat template of the model. Default: true if the model has one.
    system
        System message of the chat.
    images
        Folder of ``Example.media``.
    max_length
        Maximum number of tokens of a caption if the decoding gives none.
    batch_size
        Examples per batch, or ``auto``.
    device, device_map, dtype
        As in transformers; a ``device_map`` other than a single device needs the package accelerate.
    trust_remote_code
        If true, code in the model folder is executed.
    strict
        If true, missing and unexpected weights are an error.

    Raises
    ------
    HarnessError
        For an unknown kind, a chat without a template, and (:class:`InputError`) a folder without a complete model.
    """

    def __init__(
        self,
        *,
        model: str,
        kind: str = "auto",
        prompt: str | None = None,
        chat: bool | None = None,
        system: str | None = None,
        images: PathParam | None = None,
        max_length: int = DEFAULT_LENGTH,
        batch_size: int | str = "auto",
        device: str = "cpu",
        device_map: Any = None,
        dtype: str = "float32",
        trust_remote_code: bool = False,
        strict: bool = True,
    ) -> None:
        if kind not in ("auto", *KINDS):
            raise HarnessError(f"transformers: kind is auto or one of {', '.join(KINDS)}; found {kind!r}")
        self.folder = Path(model)
        self.batch_size = check_batch_size(batch_size)
        loaded = load_model(
            model, kind=kind, dtype=dtype, device=device, device_map=device_map,
            trust_remote_code=trust_remote_code, strict=strict,
        )  # fmt: skip
        self.loaded, self.kind, self.tokenizer = loaded, loaded.kind, loaded.tokenizer
        self.prompt = prompt if prompt is not None else "" if self.kind == "image-text" else "{source}"
        template = getattr(loaded.processor, "chat_template", None) or getattr(self.tokenizer, "chat_template", None)
        self.chat = bool(template) if chat is None else chat
        if self.chat and not template:
            raise HarnessError(f"transformers: chat is true, but {model} has no chat template")
        self.system, self.images = system, Path(images) if images is not None else None
        self.max_length = max_length
        self.blip2 = loaded.model.config.model_type == "blip-2"
        self.step = self._step()
        self.stop = self._stop()
        self._settings = {
            "kind": self.kind, "prompt": self.prompt, "chat": self.chat, "system": system, "dtype": dtype, "length": max_length,
        }  # fmt: skip
        self._fingerprint: str | None = None

    def _step(self) -> Any:
        model = self.loaded.model
        if model.config.model_type == "blip":
            return BlipStep(model)
        if self.blip2:
            language = model.language_model
            return EncoderDecoderStep(language) if language.config.is_encoder_decoder else PromptedStep(language)
        return EncoderDecoderStep(model) if model.config.is_encoder_decoder else CausalStep(model)

    def _setting(self, *names: str) -> Any:
        """Return the first value that is set in the generation configuration or a configuration of the model."""
        model = self.loaded.model
        places = [getattr(model, "generation_config", None), model.config, getattr(model.config, "decoder", None)]
        places.append(getattr(model.config, "text_config", None))
        places.append(getattr(getattr(model, "language_model", None), "generation_config", None))
        for name in names:
            for place in places:
                value = getattr(place, name, None)
                if value is not None:
                    return value
        return None

    def _stop(self) -> tuple[int, ...]:
        if isinstance(self.step, BlipStep):
            return (int(self.loaded.model.config.text_config.sep_token_id),)
        ids = self._setting("eos_token_id")
        if ids is None:
            ids = self.tokenizer.eos_token_id
        return () if ids is None else tuple(ids) if isinstance(ids, (list, tuple)) else (int(ids),)

    def fingerprint(self) -> str:
        """Return a hash of the model folder and the settings that change captions."""
        if self._fingerprint is None:
            self._fingerprint = (
                f"transformers-{file_fingerprint(self.folder)}-{json.dumps(self._settings, sort_keys=True)}"
            )
        return self._fingerprint

    # ------------------------------------------------------------------ inputs
    def inputs(self, examples: Sequence[Example]) -> list[Any]:
        """Return the output of the processor for each example (a dict of tensors with one row), or a failure."""
        return [self._input(example) for example in examples]

    def _input(self, example: Example) -> Any:
        text = self._text(example)
        if self.kind != "image-text":
            return dict(self.tokenizer(text, return_tensors="pt", add_special_tokens=not self.chat))
        image = open_picture(example, self.images)
        if isinstance(image, Failure):
            return image
        if isinstance(self.step, EncoderDecoderStep) and not self.blip2:
            return dict(self.loaded.images(images=image, return_tensors="pt"))
        self._needs_image_token(text)
        has_start = self.chat and bool(self.tokenizer.bos_token) and text.startswith(self.tokenizer.bos_token)
        special = {"add_special_tokens": not has_start and not isinstance(self.step, BlipStep)}
        try:
            return dict(self.loaded.processor(images=image, text=text, return_tensors="pt", **special))
        except (ValueError, TypeError) as error:
            raise InputError(
                f"the processor of the model rejects example '{example.id}': {error}", str(self.folder)
            ) from error

    def _needs_image_token(self, text: str) -> None:
        """Raise :class:`InputError` if the model reads the image at a token (LLaVA, Qwen-VL) that the prompt does not contain."""
        token = getattr(self.loaded.processor, "image_token", None)
        if self.blip2 or not isinstance(token, str) or token in text:
            return
        raise InputError(
            f"the model reads the image at '{token}', which the prompt {text!r} does not contain; add it, or use a chat template",
            str(self.folder),
        )

    def _text(self, example: Example) -> str:
        fields = {**example.meta, "source": example.source, "id": example.id}
        if "{source}" in self.prompt and example.source is None:
            raise InputError(f"example '{example.id}' has no source text for the prompt {self.prompt!r}")
        try:
            text = self.prompt.format(**fields)
        except (KeyError, IndexError, ValueError) as error:
            raise InputError(
                f"the prompt {self.prompt!r} asks for {error}, which example '{example.id}' does not have"
            ) from error
        if not self.chat:
            return text
        content, system = (
            (text, self.system)
            if self.kind != "image-text"
            else ([{"type": "image"}, *_part(text)], _part(self.system))
        )
        messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": content})
        owner = self.loaded.processor if self.kind == "image-text" else self.tokenizer
        return owner.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)

    def groups(self, inputs: Sequence[Any]) -> list[list[int]]:
        """Return groups of inputs whose tensors have equal shapes, so that no padding is needed."""
        by_shape: dict[Any, list[int]] = {}
        for i, item in enumerate(inputs):
            shapes = tuple(
                (name, tuple(value.shape)) for name, value in sorted(item.items()) if hasattr(value, "shape")
            )
            by_shape.setdefault(shapes, []).append(i)
        return list(by_shape.values())

    def prefix(self, inputs: Sequence[Any], examples: Sequence[Example]) -> Prefix:
        """Return the state of the model for inputs of equal shapes, one row each."""
        device, dtype = self.loaded.model.device, self.loaded.model.dtype
        together = {}
        for name, value in inputs[0].items():
            if isinstance(value, torch.Tensor):
                stacked = torch.cat([item[name] for item in inputs])
                together[name] = stacked.to(device, dtype) if stacked.is_floating_point() else stacked.to(device)
        rows = len(inputs)
        if self.blip2:
            return self._blip2_prefix(together)
        if isinstance(self.step, EncoderDecoderStep):
            return Prefix(self.step.start(together, self._start_tokens(rows).to(device)))
        if isinstance(self.step, BlipStep):
            start = torch.full((rows, 1), int(self.loaded.model.config.text_config.bos_token_id), device=device)
            words = together.get("input_ids", start[:, :0])
            return Prefix(self.step.start(together["pixel_values"], torch.cat([start, words], dim=1)))
        if together["input_ids"].shape[1] == 0:
            raise InputError("the prompt is empty: give prompt", str(self.folder))
        return Prefix({"inputs": together})

    def _blip2_prefix(self, together: dict[str, torch.Tensor]) -> Prefix:
        embeddings = blip2_embeddings(self.loaded.model, together)
        if isinstance(self.step, PromptedStep):
            return Prefix({"embeddings": embeddings})
        step: Any = self.step
        mask = torch.ones(embeddings.shape[:2], dtype=torch.long, device=embeddings.device)
        start = self._start_tokens(len(embeddings)).to(embeddings.device)
        return Prefix(step.start({"inputs_embeds": embeddings, "attention_mask": mask}, start))

    def _start_tokens(self, rows: int) -> torch.Tensor:
        start = self._setting("decoder_start_token_id", "bos_token_id")
        if start is None:
            raise InputError("the configuration names no decoder_start_token_id", str(self.folder))
        forced = self._setting("forced_bos_token_id")
        ids = [int(start)] if forced is None or int(forced) == int(start) else [int(start), int(forced)]
        return torch.tensor([ids]).expand(rows, -1)

    # ------------------------------------------------------------------ text
    def to_text(self, ids: list[int]) -> str:
        """Return the text of token ids without special tokens."""
        return self.tokenizer.decode(ids, skip_special_tokens=True).strip()

    def reference_tokens(self, text: str) -> list[int]:
        """Return the token ids of a reference and the end token."""
        return [*self.tokenizer(text, add_special_tokens=False).input_ids, *self.stop[:1]]

    def longest_reference(self) -> int:
        """Return the maximum number of tokens of a reference."""
        return 4096

    def pieces(self, ids: list[int]) -> tuple[str, ...]:
        """Return the vocabulary entry of every token id."""
        return tuple(self.tokenizer.convert_ids_to_tokens(ids))

    def forced_logits(self, prefix: Prefix, owner: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits (N, T, V) of references: one pass over the prompts, one pass over the tokens.

        The pass over the prompts is repeated in every call, because caches grow in place.
        """
        step: Any = self.step
        first, state = step(None, prefix.state)
        owner = owner.to(first.device)
        first, state = first[owner], reorder(step, state, owner)
        if tokens.shape[1] == 1:
            return first[:, None]
        logits, _ = step.advance(tokens[:, :-1].to(first.device), state)
        return torch.cat([first[:, None], logits], dim=1)


def _part(text: str | None) -> list[dict[str, str]]:
    """Return a text as the list of parts of a message; an empty text has no parts."""
    return [{"type": "text", "text": text}] if text else []
