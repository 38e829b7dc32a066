"""Models whose weights are local files: loading, and pickling without them; base class
of such embeddings.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.encoders.pretrained import POOLER, load_pretrained
from harness.errors import require
from harness.files.announcements import announce


class LoadsModel:
    """Base of objects that load a model at first use and keep it in the attribute
    ``_loaded_model``.
    """

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without the loaded model;
        another process loads the model itself.
        """
        return {
            name: value
            for name, value in self.__dict__.items()
            if name != "_loaded_model"
        }


class LocalModelEmbedding(LoadsModel):
    """Base of an embedding with fixed weights."""

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """Do nothing: the weights are fixed."""


def load_transformer(
    path: Path, kind: str, role: str, needed_by: str, **options: Any
) -> tuple[Any, Any]:
    """Return the tokenizer and the model of a local folder of transformers;
    nothing is downloaded.

    Parameters
    ----------
    path : Path
        Folder with model and tokenizer.
    kind : str
        Class of transformers that loads the model, such as ``AutoModelForCausalLM``.
    role : str
        Role of the model in the note that it is being loaded, such as ``judge``.
    needed_by : str
        Subject of the message when transformers is missing.
    **options
        Further parameters of the model.

    Raises
    ------
    InputError
        For a model that transformers cannot load, and weights that are missing.
    """
    from harness.registry.torchvision_guard import guard_torchvision

    guard_torchvision()
    transformers = require("transformers", extra="models", needed_by=needed_by)
    with announce(f"loading the {role} '{path.name}'"):
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            str(path), local_files_only=True
        )
        model = load_pretrained(
            getattr(transformers, kind), path, unread=(POOLER,), **options
        )
    return tokenizer, model.eval()
