"""A judge model of transformers in a local folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from harness.contracts.parameters import Count, check_arguments
from harness.encoders.devices import first_device
from harness.encoders.fingerprints import weights_fingerprint
from harness.errors import HarnessError, InputError, require
from harness.files.user_path import user_path
from harness_metrics.embeddings.local_model import (
    LoadsModel,
    load_transformer,
)
from harness_metrics.judges.replies import Conversation, Reply


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
        If the folder has no config.json; at first use, if transformers cannot load the
        model, or the device has no memory for it.
    HarnessError
        At first use, for a device that this machine lacks, and an unknown dtype.
    """

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
        if not (self.path / "config.json").is_file():
            raise InputError(
                "the judge's folder has no config.json; "
                "expected a model of transformers",
                str(self.path),
            )

    def signature(self) -> str:
        """Return the hash of the model and the settings that change answers."""
        fingerprint = weights_fingerprint(self.path)
        return f"local:{fingerprint}|max_tokens:{self.max_tokens}|{self.dtype}"

    @cached_property
    def _loaded_model(self) -> tuple[Any, Any]:
        """Tokenizer and model."""
        torch: Any = require("torch", extra="models", needed_by="a local judge")
        if not isinstance(dtype := getattr(torch, self.dtype, None), torch.dtype):
            raise HarnessError(
                f"judge: dtype is {self.dtype!r}; expected the name of a torch "
                "dtype, such as bfloat16"
            )
        device = first_device(self.device, "judge")
        try:
            tokenizer, model = load_transformer(
                self.path, "AutoModelForCausalLM", "judge", "a local judge", dtype=dtype
            )
        except (OSError, ValueError, KeyError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"the judge cannot be loaded: {reason}", str(self.path)
            ) from error

        # answers follow the prompts, which end in one column
        tokenizer.padding_side = "left"
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        try:
            return tokenizer, model.to(device)
        except torch.OutOfMemoryError as error:
            raise InputError(
                f"the judge does not fit on {device}; device: cpu has more memory, and "
                "dtype: bfloat16 needs half of it",
                str(self.path),
            ) from error

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
            replies = self._batch([texts[index] for index in rows])
            for index, reply in zip(rows, replies):
                store(index, reply)

    def _text(self, conversation: Conversation) -> str:
        tokenizer, _ = self._loaded_model
        if tokenizer.chat_template:
            return tokenizer.apply_chat_template(
                list(conversation), tokenize=False, add_generation_prompt=True
            )
        return "\n".join(message["content"] for message in conversation) + "\n"

    def _batch(self, texts: list[str]) -> list[Reply]:
        import torch

        tokenizer, model = self._loaded_model
        # a chat template writes the special tokens itself
        special = not tokenizer.chat_template
        inputs = tokenizer(
            texts, padding=True, return_tensors="pt", add_special_tokens=special
        ).to(model.device)

        try:
            with torch.inference_mode():
                out = model.generate(
                    input_ids=inputs["input_ids"],
                    attention_mask=inputs["attention_mask"],
                    do_sample=False,
                    num_beams=1,
                    max_new_tokens=self.max_tokens,
                    pad_token_id=tokenizer.pad_token_id,
                )
        except torch.OutOfMemoryError as error:
            raise InputError(
                f"out of memory on {model.device} with {len(texts)} conversations; "
                "a smaller batch_size of the judge takes less, device: cpu has more",
                str(self.path),
            ) from error

        stops: int | list[int] | None = model.generation_config.eos_token_id
        ends = set[int | None](stops if isinstance(stops, list) else [stops])
        answers = out[:, inputs["input_ids"].shape[1] :].tolist()
        lengths = inputs["attention_mask"].sum(dim=1).tolist()
        return [
            self._reply(tokens, ends, length)
            for tokens, length in zip(answers, lengths)
        ]

    def _reply(
        self, tokens: list[int], ends: set[int | None], prompt_tokens: int
    ) -> Reply:
        stop = next((k for k, token in enumerate(tokens) if token in ends), None)
        content = tokens if stop is None else tokens[:stop]
        text = self._loaded_model[0].decode(content, skip_special_tokens=True).strip()
        count = len(content) + (stop is not None)
        return Reply(text, "length" if stop is None else "stop", prompt_tokens, count)
