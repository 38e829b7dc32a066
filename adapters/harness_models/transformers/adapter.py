"""The ``transformers`` adapter: models of the package transformers that write text
about images, videos, sounds or texts.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import torch

from harness.contracts import (
    Decoding,
    Example,
    Failure,
    Generation,
    PathParam,
    RunsCode,
    TokenScores,
)
from harness.encoders.devices import (
    devices_of,
    number_format,
    visible_devices,
)
from harness.encoders.model_folders import model_folder
from harness.errors import HarnessError, InputError
from harness.files.answer_events import AnswerEvents
from harness.files.generated.timed_texts import TimeUnit
from harness_models.shared.decoding.batches import check_batch_size
from harness_models.shared.decoding.left_to_right import LeftToRight, Prefix
from harness_models.shared.decoding.memory_meter import MemoryMeter, memory_meter
from harness_models.shared.decoding.replicas import Replica, spread
from harness_models.shared.decoding.states import reorder
from harness_models.shared.weights.fingerprints import file_fingerprint
from harness_models.transformers.inputs import InputBuilder, InputSettings
from harness_models.transformers.loading import KINDS, LoadedModel, load_model
from harness_models.transformers.steps import (
    BlipStep,
    CausalStep,
    EncoderDecoderStep,
    PromptedStep,
    blip2_embeddings,
)

DEFAULT_LENGTH = 64


class Transformers(LeftToRight):
    """A model of transformers, from a folder or the Hugging Face hub,
    decoded by the shared decoder.

    Parameters
    ----------
    model
        Local folder, or ``owner/name`` on the Hugging Face hub (taken from its cache,
        or fetched).
    revision
        Branch, tag or commit of a model on the hub.
    kind
        ``image-text``, ``audio-text``, ``text-to-text``, ``causal``, or ``auto`` (from
        the configuration of the model).
    prompt
        Prompt. ``{source}`` is replaced by ``Example.source``, any other ``{key}`` by
        that entry of ``Example.meta``. Default: empty for models that read images or
        sound, else ``{source}``. For a decoder without a prompt in the input (Whisper):
        text after the start token.
    chat
        If true, the prompt is formatted by the chat template of the model. Default:
        true if the model has one.
    system
        System message of the chat.
    images
        Folder of ``Example.media``: images, videos and sounds.
    medium
        ``image``, ``video``, ``audio``, or ``auto``: by the suffix of each file. A
        model that reads several images but no video gets the frames as images.
    frames, frame_choice
        Number of frames of a video (default: that of the model's configuration, else
        8), and ``uniform`` or ``key``; see
        :func:`~harness_models.shared.media.video.video_frames`.
    max_length
        Maximum number of tokens of a caption if the decoding gives none.
    batch_size
        Examples per batch, or ``auto``: found from the memory of the accelerator, 64 on
        the CPU. Halved whenever memory runs out.
    device
        ``auto`` (all accelerators of this machine, else the CPU), a device, or a list
        of devices. Each device gets a copy of the model, and the examples are spread
        over them.
    device_map
        Layout of one copy over several devices, as in transformers; other than a single
        device it needs the package accelerate.
    dtype
        ``float32``, ``float16``, ``bfloat16``, ``float64``, or ``auto``: bfloat16 on
        accelerators that compute in it, else float32.
    trust_remote_code
        If true, code in the model folder is executed.
    strict
        If true, missing and unexpected weights are an error.
    events
        ``sets`` reads each answer as events with times (docs/dense.md); an example with
        an answer that cannot be read is a failure that keeps it.
    time_unit, fps
        Unit of times that the model writes without one (``seconds``, ``hundredths`` of
        the duration, ``frames``), and the frames of a second; with ``events``.

    Raises
    ------
    HarnessError
        For an unknown kind, device or medium, a chat without a template, and
        (:class:`InputError`) a folder without a complete model.
    """

    def __init__(
        self,
        *,
        model: str,
        revision: str | None = None,
        kind: str = "auto",
        prompt: str | None = None,
        chat: bool | None = None,
        system: str | None = None,
        images: PathParam | None = None,
        medium: str = "auto",
        frames: int | None = None,
        frame_choice: str = "uniform",
        max_length: int = DEFAULT_LENGTH,
        batch_size: int | str = "auto",
        device: str | list[str] = "auto",
        device_map: Any = None,
        dtype: str = "auto",
        trust_remote_code: RunsCode = False,
        strict: bool = True,
        events: Literal["sets"] | None = None,
        time_unit: TimeUnit | None = None,
        fps: float | None = None,
    ) -> None:
        _check_kind(kind)
        self.answer_events = _events_of(events, time_unit, fps)
        self.batch_size = check_batch_size(batch_size)
        self.devices = devices_of(device) if device_map is None else ["cpu"]
        self.source = model_folder(model, revision, code=trust_remote_code)
        self.folder = self.source.path
        first_device = self.devices[0] if device_map is None else visible_devices()[0]
        self.dtype = number_format(dtype, first_device)

        placed = [
            load_model(
                str(self.folder),
                kind=kind,
                dtype=self.dtype,
                device=device_name,
                device_map=device_map,
                trust_remote_code=trust_remote_code,
                strict=strict,
            )
            for device_name in self.devices
        ]

        loaded = placed[0]
        self.kind = loaded.kind
        self.max_length = max_length
        if prompt is None:
            prompt = "" if loaded.media else "{source}"
        self.prompt = prompt
        self.chat = _chat_of(chat, loaded, model)
        self.settings = InputSettings(
            self.prompt,
            self.chat,
            system,
            Path(images) if images is not None else None,
            medium,
            frames,
            frame_choice,
        )

        self._place(loaded)
        self.stop = self._stop()
        self._settings = {
            "kind": self.kind,
            "prompt": self.prompt,
            "chat": self.chat,
            "system": system,
            "dtype": self.dtype,
            "length": max_length,
            **self._media_settings(),
        }
        if self.answer_events is not None:
            self._settings |= self.answer_events.settings()

        self._replicas: list[Transformers] = []
        if len(placed) > 1:
            self._replicas = [self._copy(device_name) for device_name in placed]

    def _place(self, loaded: LoadedModel) -> None:
        """Take a loaded model."""
        self.loaded = loaded
        self.tokenizer = loaded.tokenizer
        self.blip2 = loaded.model.config.model_type == "blip-2"
        self.builder = InputBuilder(loaded, self.settings, self.source.name)
        self.step = self._step()

    def _copy(self, loaded: LoadedModel) -> Transformers:
        """Return this adapter for the model on one device.

        All copies count into one throughput.
        """
        replica = copy.copy(self)
        replica._replicas = []
        replica._batches = None
        replica._throughput = self.throughput
        if loaded is not self.loaded:
            replica._place(loaded)
        return replica

    def memory_meter(self) -> MemoryMeter | None:
        """Return the meter of the accelerators that hold the model; None on the CPU,
        and where two copies share a device, whose memory would be counted twice.
        """
        if len(set(self.devices)) < len(self.devices):
            return None
        tensors = self.loaded.model.parameters()
        return memory_meter(sorted({str(tensor.device) for tensor in tensors}))

    def _media_settings(self) -> dict[str, Any]:
        """Return the settings of video and sound; none where only images or texts are
        read, whose fingerprints they do not change.
        """
        if self.loaded.media in ((), ("image",)) and self.settings.medium in (
            "auto",
            "image",
        ):
            return {}
        return {
            "medium": self.settings.medium,
            "frames": self.builder.frames,
            "frame_choice": self.settings.frame_choice,
        }

    def _step(self) -> Any:
        model = self.loaded.model
        if model.config.model_type == "blip":
            return BlipStep(model)
        if self.blip2:
            language = model.language_model
            if language.config.is_encoder_decoder:
                return EncoderDecoderStep(language)
            return PromptedStep(language)

        if model.config.is_encoder_decoder:
            return EncoderDecoderStep(model)
        return CausalStep(model)

    def _setting(self, *names: str) -> Any:
        """Return the first value that is set in the generation configuration or a
        configuration of the model.
        """
        model = self.loaded.model
        language = getattr(model, "language_model", None)
        configurations = [
            getattr(model, "generation_config", None),
            model.config,
            getattr(model.config, "decoder", None),
            getattr(model.config, "text_config", None),
            getattr(language, "generation_config", None),
        ]

        for name in names:
            for configuration in configurations:
                value = getattr(configuration, name, None)
                if value is not None:
                    return value
        return None

    def _stop(self) -> tuple[int, ...]:
        if isinstance(self.step, BlipStep):
            return (int(self.loaded.model.config.text_config.sep_token_id),)
        ids = self._setting("eos_token_id")
        if ids is None:
            ids = self.tokenizer.eos_token_id
        if ids is None:
            return ()
        return tuple(ids) if isinstance(ids, (list, tuple)) else (int(ids),)

    def describe(self) -> dict[str, Any]:
        """Return name, commit on the hub, number format and devices of the model."""
        commit = {} if self.source.commit is None else {"commit": self.source.commit}
        return {
            "model": self.source.name,
            **commit,
            "dtype": self.dtype,
            "devices": self.devices,
        }

    def timings(self) -> dict[str, Any]:
        """Return captions, tokens, seconds and tokens per second of all replicas
        together, size of the batches, and devices.
        """
        sizes = [adapter.batches.current for adapter in self._replicas or [self]]
        return {**super().timings(), "batch_size": min(sizes), "devices": self.devices}

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """Yield one :class:`Generation` per example, or a :class:`Failure`; the
        examples are spread over the devices.
        """
        results = self._answers(examples, decoding, seeds)
        if self.answer_events is None:
            return results
        return map(self.answer_events.finish, results, examples)

    def _answers(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """Yield the results of :meth:`generate` with the answers as the model writes
        them.
        """
        if not self._replicas:
            return super().generate(examples, decoding, seeds)

        def worker(
            adapter: Transformers,
        ) -> Replica[tuple[Example, int], Generation | Failure]:
            return Replica(
                lambda chunk: adapter._answers(
                    [e for e, _ in chunk], decoding, [s for _, s in chunk]
                ),
                lambda: adapter.batches.current,
            )

        return spread(
            list(zip(examples, seeds)), [worker(adapter) for adapter in self._replicas]
        )

    def score_references(
        self, examples: Sequence[Example]
    ) -> Iterator[list[TokenScores]]:
        """Yield one :class:`TokenScores` per reference for each example; the examples
        are spread over the devices.
        """
        if not self._replicas:
            return super().score_references(examples)

        replicas = [
            Replica(
                adapter.score_references,
                lambda adapter=adapter: adapter.batches.current,
            )
            for adapter in self._replicas
        ]
        return spread(list(examples), replicas)

    @property
    def media_folder(self) -> Path | None:
        """Folder of ``Example.media``."""
        return self.settings.folder

    def identify(self) -> str:
        """Return a hash of the model folder and the settings that change captions."""
        settings = json.dumps(self._settings, sort_keys=True)
        return f"transformers-{file_fingerprint(self.folder)}-{settings}"

    def inputs(self, examples: Sequence[Example]) -> list[Any]:
        """Return the output of the processor for each example (a dict of tensors with
        one row), or a failure.
        """
        return [self.builder.build(example) for example in examples]

    def prompt_length(self, example: Example) -> int:
        """Return the number of tokens of the prompt of an example; an image counts as
        its place in the text.
        """
        text = self.builder.text(example)
        return len(self.tokenizer(text, add_special_tokens=False).input_ids)

    def groups(self, inputs: Sequence[Any]) -> list[list[int]]:
        """Return groups of inputs whose tensors have equal shapes,
        so that no padding is needed.
        """
        by_shape: dict[Any, list[int]] = {}
        for i, item in enumerate(inputs):
            shapes = tuple(
                (name, tuple(value.shape))
                for name, value in sorted(item.items())
                if hasattr(value, "shape")
            )
            by_shape.setdefault(shapes, []).append(i)
        return list(by_shape.values())

    def prefix(self, inputs: Sequence[Any], examples: Sequence[Example]) -> Prefix:
        """Return the state of the model for inputs of equal shapes, one row each."""
        device = self.loaded.model.device
        dtype = self.loaded.model.dtype
        together = {}
        for name, value in inputs[0].items():
            if isinstance(value, torch.Tensor):
                stacked = torch.cat([item[name] for item in inputs])
                stacked = stacked.to(device)
                if stacked.is_floating_point():
                    stacked = stacked.to(dtype)
                together[name] = stacked

        rows = len(inputs)
        if self.blip2:
            return self._blip2_prefix(together)
        if isinstance(self.step, EncoderDecoderStep):
            start = self._start_tokens(rows).to(device)
            return Prefix(self.step.start(together, start))

        if isinstance(self.step, BlipStep):
            first_id = int(self.loaded.model.config.text_config.bos_token_id)
            start = torch.full((rows, 1), first_id, device=device)
            words = together.get("input_ids", start[:, :0])
            tokens = torch.cat([start, words], dim=1)
            return Prefix(self.step.start(together["pixel_values"], tokens))

        if together["input_ids"].shape[1] == 0:
            raise InputError("the prompt is empty: give prompt", str(self.folder))
        return Prefix({"inputs": together})

    def _blip2_prefix(self, together: dict[str, torch.Tensor]) -> Prefix:
        embeddings = blip2_embeddings(self.loaded.model, together)
        if isinstance(self.step, PromptedStep):
            return Prefix({"embeddings": embeddings})
        step: Any = self.step
        mask = torch.ones(
            embeddings.shape[:2], dtype=torch.long, device=embeddings.device
        )
        start = self._start_tokens(len(embeddings)).to(embeddings.device)
        return Prefix(
            step.start({"inputs_embeds": embeddings, "attention_mask": mask}, start)
        )

    def _start_tokens(self, rows: int) -> torch.Tensor:
        start = self._setting("decoder_start_token_id", "bos_token_id")
        if start is None:
            raise InputError(
                "the configuration names no decoder_start_token_id", str(self.folder)
            )
        forced = self._setting("forced_bos_token_id")

        ids = [int(start)]
        if forced is not None and int(forced) != int(start):
            ids.append(int(forced))

        if self.builder.sound_only:
            ids += self._sound_prefix()
        return torch.tensor([ids]).expand(rows, -1)

    def _sound_prefix(self) -> list[int]:
        """Return the tokens after the start token of a speech decoder: those of
        ``prompt``, else English transcription without times.
        """
        if self.prompt:
            return list(self.tokenizer(self.prompt, add_special_tokens=False).input_ids)
        config = getattr(self.loaded.model, "generation_config", None)
        language = getattr(config, "lang_to_id", None) or {}
        task = getattr(config, "task_to_id", None) or {}
        ids = [
            language.get("<|en|>"),
            task.get("transcribe"),
            getattr(config, "no_timestamps_token_id", None),
        ]
        return [int(token) for token in ids if token is not None]

    def to_text(self, ids: list[int]) -> str:
        """Return the text of token ids without special tokens."""
        return self.tokenizer.decode(ids, skip_special_tokens=True).strip()

    def reference_tokens(self, text: str) -> list[int]:
        """Return the token ids of a reference and the end token."""
        return [
            *self.tokenizer(text, add_special_tokens=False).input_ids,
            *self.stop[:1],
        ]

    def longest_reference(self) -> int:
        """Return the maximum number of tokens of a reference."""
        return 4096

    def pieces(self, ids: list[int]) -> tuple[str, ...]:
        """Return the vocabulary entry of every token id."""
        return tuple(self.tokenizer.convert_ids_to_tokens(ids))

    def forced_logits(
        self, prefix: Prefix, owner: torch.Tensor, tokens: torch.Tensor
    ) -> torch.Tensor:
        """Return logits (N, T, V) of references: one pass over the prompts,
        one pass over the tokens.

        The pass over the prompts is repeated in every call, because caches grow in
        place.
        """
        step: Any = self.step
        first, state = step(None, prefix.state)
        owner = owner.to(first.device)
        first = first[owner]
        state = reorder(step, state, owner)
        if tokens.shape[1] == 1:
            return first[:, None]
        logits, _ = step.advance(tokens[:, :-1].to(first.device), state)
        return torch.cat([first[:, None], logits], dim=1)


def _events_of(
    events: str | None, time_unit: TimeUnit | None, fps: float | None
) -> AnswerEvents | None:
    """Return how answers become events; raise :class:`HarnessError` for another
    treatment than ``sets``.
    """
    if events not in (None, "sets"):
        raise HarnessError(
            f"transformers: events is sets, or left out; found {events!r}"
        )
    return AnswerEvents.of_parameters(events, time_unit, fps)


def _check_kind(kind: str) -> None:
    """Raise :class:`HarnessError` for an unknown kind of model."""
    if kind not in ("auto", *KINDS):
        raise HarnessError(
            f"transformers: kind is auto or one of {', '.join(KINDS)}; found {kind!r}"
        )


def _chat_of(chat: bool | None, loaded: LoadedModel, model: str) -> bool:
    """Return True where the prompt is formatted by the chat template of the model;
    raise :class:`HarnessError` for a chat without one.
    """
    template = getattr(loaded.processor, "chat_template", None)
    template = template or getattr(loaded.tokenizer, "chat_template", None)
    if chat is None:
        return bool(template)
    if chat and not template:
        raise HarnessError(
            f"transformers: chat is true, but {model} has no chat template"
        )
    return chat
