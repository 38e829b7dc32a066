"""A judge model of transformers in a local folder, for texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from harness.contracts.parameters import Count, check_arguments
from harness.encoders.devices import first_device
from harness.encoders.fingerprints import weights_fingerprint
from harness.encoders.model_folders import check_config
from harness.errors import HarnessError, InputError, require
from harness.files.user_path import user_path
from harness_metrics.embeddings.local_model import (
    LoadsModel,
    load_transformer,
)
from harness_metrics.judges.likeliest_tokens import LikeliestTokens
from harness_metrics.judges.replies import Conversation, Reply

_ANCHOR = "a"
"""Text in front of a token whose own text is asked for: decoders drop the blank that
begins a text.
"""


@dataclass(frozen=True)
class LoadedJudge:
    """A model on its device, with its tokenizer."""

    tokenizer: Any
    model: Any
    processor: Any = None
    """Processor of texts and images of a model that sees images."""
    lock: Lock = field(default_factory=Lock)
    """Held by the thread that generates: tokenizers, and models such as Qwen-VL, keep
    the state of a batch.
    """


_loading = Lock()
"""Held by the thread that loads a judge."""
_in_use: WeakValueDictionary[tuple[str, ...], LoadedJudge] = WeakValueDictionary()
"""Judges by class, weights, device and number format, as long as a metric has them: the
judges of several metrics are one model in memory.
"""


class LocalModel(LoadsModel):
    """A causal language model, decoded greedily. Nothing is downloaded.

    Parameters
    ----------
    path : str
        Folder with model and tokenizer. A chat template formats the conversation;
        without one, its messages are joined by lines.
    max_tokens : int, default 512
        Maximum number of tokens of an answer.
    batch_size : int, default 8
        Conversations per batch, sorted by length. Padding may change an answer in the
        last digits of its logits.
    device : str, default "auto"
        Device of the model: ``auto`` (the first accelerator, else the CPU), or a device
        of torch.
    dtype : str, default "float32"
        Name of a torch dtype.

    Raises
    ------
    InputError
        If there is no such folder, or it has no config.json; at first use, if
        transformers cannot load the model, or the device has no memory for it.
    HarnessError
        At first use, for a device that this machine lacks, and an unknown dtype.
    """

    top_log_probs = 0
    """Number of likeliest texts of each token that a reply has; 0 for none."""

    @check_arguments
    def __init__(
        self,
        *,
        path: str,
        max_tokens: Count = 512,
        batch_size: Count = 8,
        device: str = "auto",
        dtype: str = "float32",
    ) -> None:
        self.path = user_path(path)
        self.max_tokens = max_tokens
        self.batch_size = batch_size
        self.device = device
        self.dtype = dtype
        check_config(self.path, "the judge")

    def signature(self) -> str:
        """Return the hash of the model and the settings that change answers."""
        fingerprint = weights_fingerprint(self.path)
        top = f"|top_logprobs:{self.top_log_probs}" if self.top_log_probs else ""
        return f"local:{fingerprint}|max_tokens:{self.max_tokens}|{self.dtype}{top}"

    @cached_property
    def _loaded_model(self) -> LoadedJudge:
        """The model, which judges of the same settings share."""
        torch: Any = require("torch", extra="models", needed_by="a local judge")
        if not isinstance(dtype := getattr(torch, self.dtype, None), torch.dtype):
            raise HarnessError(
                f"judge: dtype is {self.dtype!r}; expected the name of a torch "
                "dtype, such as bfloat16"
            )
        device = first_device(self.device, "judge")
        weights = weights_fingerprint(self.path)
        key = (type(self).__name__, weights, device, self.dtype)
        with _loading:
            if (loaded := _in_use.get(key)) is None:
                _in_use[key] = loaded = self._load_on(device, dtype)
            return loaded

    def _load_on(self, device: str, dtype: Any) -> LoadedJudge:
        """Return the model on a device."""
        import torch

        try:
            loaded = self._load(dtype)
        except (OSError, ValueError, KeyError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"the judge cannot be loaded: {reason}", str(self.path)
            ) from error

        # answers follow the prompts, which end in one column
        tokenizer = loaded.tokenizer
        tokenizer.padding_side = "left"
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        try:
            loaded.model.to(device)
        except torch.OutOfMemoryError as error:
            raise InputError(
                f"the judge does not fit on {device}; device: cpu has more memory, and "
                "dtype: bfloat16 needs half of it",
                str(self.path),
            ) from error
        return loaded

    def _load(self, dtype: Any) -> LoadedJudge:
        """Return the model on the CPU."""
        return LoadedJudge(
            *load_transformer(
                self.path, "AutoModelForCausalLM", "judge", "a local judge", dtype=dtype
            )
        )

    def complete(
        self, conversations: Sequence[Conversation], store: Callable[[int, Reply], None]
    ) -> None:
        """Answer all conversations; see
        :meth:`~harness_metrics.judges.replies.Backend.complete`.
        """
        texts = [self._text(conversation) for conversation in conversations]
        order = sorted(range(len(texts)), key=lambda index: (len(texts[index]), index))
        for start in range(0, len(order), self.batch_size):
            rows = order[start : start + self.batch_size]
            with self._loaded_model.lock:
                replies = self._batch(
                    [texts[index] for index in rows],
                    [conversations[index] for index in rows],
                )
            for index, reply in zip(rows, replies):
                store(index, reply)

    def _text(self, conversation: Conversation) -> str:
        """Return the prompt of a conversation."""
        tokenizer = self._loaded_model.tokenizer
        if tokenizer.chat_template:
            return tokenizer.apply_chat_template(
                list(conversation), tokenize=False, add_generation_prompt=True
            )
        return "\n".join(message["content"] for message in conversation) + "\n"

    def _inputs(
        self, texts: list[str], conversations: Sequence[Conversation]
    ) -> Mapping[str, Any]:
        """Return the inputs of the model for prompts, as tensors."""
        tokenizer = self._loaded_model.tokenizer
        # a chat template writes the special tokens itself
        special = not tokenizer.chat_template
        inputs = tokenizer(
            texts, padding=True, return_tensors="pt", add_special_tokens=special
        )
        return {name: inputs[name] for name in ("input_ids", "attention_mask")}

    def _batch(
        self, texts: list[str], conversations: Sequence[Conversation]
    ) -> list[Reply]:
        import torch
        from transformers import LogitsProcessorList

        tokenizer, model = self._loaded_model.tokenizer, self._loaded_model.model
        inputs = {
            name: value.to(model.device)
            for name, value in self._inputs(texts, conversations).items()
        }
        likeliest = LikeliestTokens(self.top_log_probs)
        has_top = bool(self.top_log_probs)
        try:
            with (
                torch.inference_mode(),
                likeliest.watch(model) if has_top else nullcontext(),
            ):
                sequences = model.generate(
                    **inputs,
                    do_sample=False,
                    num_beams=1,
                    max_new_tokens=self.max_tokens,
                    pad_token_id=tokenizer.pad_token_id,
                    return_dict_in_generate=False,
                    logits_processor=LogitsProcessorList([likeliest] * has_top),
                )
        except torch.OutOfMemoryError as error:
            raise InputError(
                f"out of memory on {model.device} with {len(texts)} conversations; "
                "a smaller batch_size of the judge takes less, device: cpu has more",
                str(self.path),
            ) from error

        stops: int | list[int] | None = model.generation_config.eos_token_id
        ends = set[int | None](stops if isinstance(stops, list) else [stops])
        answers = sequences[:, inputs["input_ids"].shape[1] :].tolist()
        lengths = inputs["attention_mask"].sum(dim=1).tolist()
        return [
            self._reply(tokens, ends, length, likeliest.of_row(row))
            for row, (tokens, length) in enumerate(zip(answers, lengths))
        ]

    def _token_text(self, number: int) -> str:
        """Return the text of a token, with the blank that it may begin with."""
        tokenizer = self._loaded_model.tokenizer
        anchor = tokenizer.encode(_ANCHOR, add_special_tokens=False)
        settings = {"clean_up_tokenization_spaces": False}
        before = tokenizer.decode(anchor, **settings)
        return tokenizer.decode([*anchor, number], **settings)[len(before) :]

    def _reply(
        self,
        tokens: list[int],
        ends: set[int | None],
        prompt_tokens: int,
        likeliest: Sequence[Mapping[int, float]],
    ) -> Reply:
        stop = next((k for k, token in enumerate(tokens) if token in ends), None)
        content = tokens if stop is None else tokens[:stop]
        tokenizer = self._loaded_model.tokenizer
        text = tokenizer.decode(content, skip_special_tokens=True).strip()
        count = len(content) + (stop is not None)
        finish = "length" if stop is None else "stop"
        texts = [self._texts_of_token(step) for step in likeliest[: len(content)]]
        return Reply(text, finish, prompt_tokens, count, tokens=texts)

    def _texts_of_token(self, log_probs: Mapping[int, float]) -> dict[str, float]:
        """Return the log-probabilities of a token by text; a text of two tokens has
        that of the first.
        """
        texts: dict[str, float] = {}
        for number, value in log_probs.items():
            texts.setdefault(self._token_text(number), value)
        return texts
