"""Model folders by path or by name on the Hugging Face hub."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import InputError, require
from harness.files.user_path import nearest_beside, user_path

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_BARE_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
"""Names of the oldest models of the hub, such as ``roberta-large``."""
_FILES = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja", "*.tiktoken"]
"""Files of a model that are fetched; weights only as safetensors."""

TOKENIZERS = (
    "tokenizer.json",
    "vocab.json",
    "vocab.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
)
"""Files of which a tokenizer has at least one."""


def check_tokenizer(folder: Path) -> None:
    """Raise :class:`InputError` for a folder without a tokenizer; transformers would
    make one without words.
    """
    if not any((folder / name).is_file() for name in TOKENIZERS):
        raise InputError(
            f"the folder has no tokenizer ({', '.join(TOKENIZERS)})", str(folder)
        )


def check_config(folder: Path, subject: str) -> None:
    """Raise :class:`InputError` for a folder that does not exist, with the nearest name
    beside it, or holds no configuration of a model of transformers.

    >>> check_config(Path("models/judge"), "the judge")
    Traceback (most recent call last):
    harness.errors.InputError: models/judge: the judge: no such folder
    """
    if not folder.exists():
        raise InputError(f"{subject}: no such folder{_nearest(folder)}", str(folder))
    if not (folder / "config.json").is_file():
        raise InputError(
            f"{subject}: the folder has no config.json; expected a model of "
            "transformers",
            str(folder),
        )


@dataclass(frozen=True)
class ModelFolder:
    """A folder with a model, and where it comes from."""

    path: Path
    name: str
    """The parameter ``model``."""
    commit: str | None = None
    """Commit of the hub, for a model that was found there."""


def model_folder(
    model: str,
    revision: str | None = None,
    *,
    code: bool = False,
    bare_names: bool = False,
) -> ModelFolder:
    """Return the folder of a model.

    A name ``owner/name`` that is no local folder is taken from the hub's cache,
    or fetched into it.

    Parameters
    ----------
    model
        Local folder, or name on the hub.
    revision
        Branch, tag or commit; default: ``main``. Only for names on the hub.
    code
        If true, Python files are fetched too.
    bare_names
        If true, a name without an owner is one of the hub too.

    Raises
    ------
    InputError
        For a path that is neither a folder nor a name, a model that the hub does not
        have or does not give, a revision that does not exist, weights in another format
        than safetensors, and a hub that cannot be reached while the model is not in the
        cache.
    MissingExtra
        If huggingface_hub is not installed.
    """
    path = user_path(model)
    is_name = bool(_NAME.fullmatch(model)) or (
        bare_names and bool(_BARE_NAME.fullmatch(model))
    )
    if not path.is_dir() and not is_name:
        raise InputError(
            f"no such folder{_nearest(model)}, and not a name on the hub (owner/name)",
            model,
            parameter="model",
            value=model,
        )

    if path.is_dir():
        if revision is not None:
            raise InputError(
                "revision is for models of the hub; this is a path",
                model,
                parameter="revision",
                value=revision,
            )
        return ModelFolder(path, model)

    folder = _snapshot(model, revision, [*_FILES, "*.py"] if code else _FILES)
    if not any(folder.rglob("*.safetensors")):
        raise InputError(
            "the model has no weights as safetensors; convert them (save_pretrained) "
            "and give the folder",
            model,
        )
    return ModelFolder(folder, model, folder.name)


def _nearest(model: str | Path) -> str:
    """Return the hint at a folder of a similar name beside the path."""
    name = nearest_beside(model)
    return f"; did you mean '{name}'?" if name else ""


def _snapshot(name: str, revision: str | None, patterns: list[str]) -> Path:
    """Return the folder of a snapshot in the cache of the hub."""
    needed_by = f"the model '{name}'"
    hub: Any = require("huggingface_hub", extra="models", needed_by=needed_by)
    errors: Any = require("huggingface_hub.errors", extra="models", needed_by=needed_by)
    constants: Any = require(
        "huggingface_hub.constants", extra="models", needed_by=needed_by
    )

    offline = bool(constants.HF_HUB_OFFLINE)
    fetch = f"hf download {name}" + (f" --revision {revision}" if revision else "")

    try:
        folder = hub.snapshot_download(
            name,
            revision=revision,
            allow_patterns=patterns,
            local_files_only=offline,
        )
        return Path(folder)
    except errors.GatedRepoError as error:
        raise InputError(
            "the model is gated: accept its conditions on the hub, "
            "then run 'hf auth login'",
            name,
        ) from error
    except errors.RevisionNotFoundError as error:
        raise InputError(
            f"the hub has no revision '{revision or 'main'}' of this model",
            name,
            parameter="revision",
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise InputError(
            f"no such folder{_nearest(name)}, and no such model on the hub (for a "
            "private one run 'hf auth login')",
            name,
        ) from error
    except errors.LocalEntryNotFoundError as error:
        why = "HF_HUB_OFFLINE is set" if offline else "the hub cannot be reached"
        raise InputError(
            f"no such folder{_nearest(name)}; {why} and the model is not in its "
            f"cache: fetch it before with '{fetch}'",
            name,
        ) from error
    except (errors.HfHubHTTPError, OSError, ValueError) as error:
        line = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"the hub does not give the model ({line[:200]})", name
        ) from error
