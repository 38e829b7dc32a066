"""Sentence vectors of any model of sentence-transformers, in batches by a budget of
tokens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from harness.encoders.long_texts import Long
from harness.encoders.model_folders import check_tokenizer
from harness.encoders.precision import Precision, computing, weight_dtype
from harness.encoders.token_batches import TokenBudget
from harness.encoders.towers import in_order
from harness.errors import HarnessError, InputError, require
from harness.files.announcements import announce
from harness.registry.torchvision_guard import guard_torchvision

TOKENISED = 4096
"""Texts that are tokenised at a time."""
MODULES = "modules.json"
"""File that tells a model of sentence-transformers from another of transformers."""


def check_sentence_model(folder: Path) -> None:
    """Raise :class:`InputError` for a folder whose model encodes no sentences: a
    classifier, such as a cross-encoder of pairs, or one without a tokenizer.
    """
    if (folder / MODULES).is_file():
        return
    content = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config = cast("Mapping[str, Any]", content)
    kinds = [str(name) for name in config.get("architectures") or ()]
    wrong = [name for name in kinds if name.endswith("ForSequenceClassification")]
    if wrong:
        raise InputError(
            f"a classifier ({wrong[0]}), as cross-encoders of pairs of texts are; "
            "expected a model that encodes one text",
            str(folder),
        )
    check_tokenizer(folder)


class LibraryEncoder:
    """A model of sentence-transformers run by its own modules.

    Parameters
    ----------
    folder : Path
        Folder of the model.
    device : str
        Name of a torch device.
    precision : str
        Number format of the forward pass.
    batch_size : int, optional
        Texts per forward pass; default: by a budget of tokens.
    long : {'cut', 'windows'}
        Reading of texts beyond the length of the model; windows are refused.

    Raises
    ------
    InputError
        For a model that encodes no sentences.
    """

    def __init__(
        self,
        folder: Path,
        device: str = "cpu",
        precision: Precision = "float32",
        batch_size: int | None = None,
        long: Long = "cut",
    ) -> None:
        self.name = f"the sentence model {folder.name}"
        if long == "windows":
            raise HarnessError(
                f"{self.name} reads texts in no windows (long: windows); CLIP and "
                "BERT models with mean pooling do",
                parameter="long",
            )
        check_sentence_model(folder)
        guard_torchvision()
        library = require(
            "sentence_transformers", extra="embeddings", needed_by=self.name
        )
        with announce(f"loading {self.name}"):
            self.model = library.SentenceTransformer(
                str(folder), device=device, local_files_only=True
            )
        self.model = self.model.eval().to(weight_dtype(precision))
        self.device = device
        self.precision: Precision = precision
        self.budget = TokenBudget(device, batch_size)
        self.context = int(self.model.max_seq_length or 1 << 30)
        tokenizer = self.model.tokenizer
        self.pads_behind = getattr(tokenizer, "padding_side", "right") == "right"
        name = self.model.default_prompt_name
        self.prompt = self.model.prompts[name] if name else ""

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of texts, whole, special ones included."""
        prompted = [self.prompt + text for text in texts]
        rows = self.model.tokenizer(prompted, truncation=False, verbose=False)
        return rows["input_ids"]

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return sentence vectors, float32, shape (T, d)."""
        if not texts:
            width = self.model.get_sentence_embedding_dimension()
            return np.empty((0, width), dtype=np.float32)
        blocks: list[tuple[np.ndarray, Any]] = []
        # similar lengths together: little padding, and each text is tokenised once
        order = np.argsort([len(text) for text in texts], kind="stable")
        with computing(self.precision):
            for start in range(0, len(order), TOKENISED):
                chunk = order[start : start + TOKENISED]
                self._encode_chunk([texts[int(k)] for k in chunk], chunk, blocks)
        return in_order(blocks)

    def _encode_chunk(
        self,
        texts: list[str],
        positions: np.ndarray,
        blocks: list[tuple[np.ndarray, Any]],
    ) -> None:
        """Add the vectors of texts, with their positions, to ``blocks``."""
        prompted = [self.prompt + text for text in texts]
        inputs = self._tokenise(prompted)
        mask = inputs.get("attention_mask")
        shapes = {value.shape for value in inputs.values() if hasattr(value, "shape")}
        # a model that reads more than tokens is given its texts batch by batch
        is_plain = False
        lengths = np.full(len(texts), self.context)
        if mask is not None and shapes == {mask.shape} and self.pads_behind:
            is_plain = True
            lengths = mask.sum(dim=1).numpy()

        def forward(batch: np.ndarray) -> None:
            longest = int(lengths[batch].max())
            if is_plain:
                part = {
                    key: value[batch, :longest] if hasattr(value, "shape") else value
                    for key, value in inputs.items()
                }
            else:
                part = self._tokenise([prompted[k] for k in batch])
            moved = {
                key: value.to(self.device) if hasattr(value, "to") else value
                for key, value in part.items()
            }
            blocks.append((positions[batch], self.model(moved)["sentence_embedding"]))

        self.budget.run(lengths, forward, self.name)

    def _tokenise(self, texts: list[str]) -> Any:
        """Return the inputs of the model for texts, by name."""
        if hasattr(self.model, "preprocess"):  # since version 6
            return self.model.preprocess(texts)
        return self.model.tokenize(texts)
