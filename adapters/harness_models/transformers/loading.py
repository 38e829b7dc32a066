"""Loading of models of transformers from local folders: kind of the model, processors,
completeness of the weights.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, InputError, MissingExtra, require
from harness.files.announcements import announce
from harness.files.user_path import nearest_beside, user_path
from harness.registry.torchvision_guard import guard_torchvision
from harness_models.shared.decoding.batches import is_out_of_memory
from harness_models.shared.media import Medium
from harness_models.shared.weights.checkpoint_config import torch_dtype

# --------------------------------------------------------------------------- hub
# Model folders by path or by name on the Hugging Face hub.
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_FILES = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja", "*.tiktoken"]
"""Files of a model that are fetched; weights only as safetensors."""


@dataclass(frozen=True)
class ModelFolder:
    """A folder with a model, and where it comes from."""

    path: Path
    name: str
    """The parameter ``model``."""
    commit: str | None = None
    """Commit of the hub, for a model that was found there."""


def model_folder(
    model: str, revision: str | None = None, *, code: bool = False
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
    if not path.is_dir() and not _NAME.fullmatch(model):
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
    if not any(folder.glob("*.safetensors")):
        raise InputError(
            "the model has no weights as safetensors; convert them (save_pretrained) "
            "and give the folder",
            model,
        )
    return ModelFolder(folder, model, folder.name)


def _nearest(model: str) -> str:
    """Return the hint at a folder of a similar name beside the path."""
    name = nearest_beside(model)
    return f"; did you mean '{name}'?" if name else ""


def _snapshot(name: str, revision: str | None, patterns: list[str]) -> Path:
    """Return the folder of a snapshot in the cache of the hub."""
    hub: Any = require(
        "huggingface_hub", extra="models", needed_by=f"the model '{name}'"
    )
    errors: Any = require(
        "huggingface_hub.errors", extra="models", needed_by=f"the model '{name}'"
    )
    constants: Any = require(
        "huggingface_hub.constants", extra="models", needed_by=f"the model '{name}'"
    )
    offline = bool(constants.HF_HUB_OFFLINE)
    fetch = f"hf download {name}" + (f" --revision {revision}" if revision else "")
    try:
        return Path(
            hub.snapshot_download(
                name,
                revision=revision,
                allow_patterns=patterns,
                local_files_only=offline,
            )
        )
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


# --------------------------------------------------------------------------- devices
# Devices of this machine and the number format that suits them.


def visible_devices() -> list[str]:
    """Return the accelerators that torch sees (``cuda:0``, ``cuda:1``, ... or ``mps``),
    or ``["cpu"]`` where there is none.
    """
    import torch

    accelerator: Any = getattr(torch, "accelerator", None)
    if accelerator is not None and accelerator.is_available():
        kind = accelerator.current_accelerator().type
        count = accelerator.device_count()
    elif torch.cuda.is_available():
        kind = "cuda"
        count = torch.cuda.device_count()
    else:
        return ["cpu"]
    return [kind] if kind == "mps" else [f"{kind}:{i}" for i in range(count)]


def devices_of(device: str | Sequence[str]) -> list[str]:
    """Return the devices of the parameter ``device``: ``auto`` is all visible ones,
    a list is taken as it is.

    Raises :class:`HarnessError` for an empty list, a name that torch does not know, and
    an accelerator that this machine lacks.

    >>> devices_of("cpu"), devices_of(["cpu", "cpu"])
    (['cpu'], ['cpu', 'cpu'])
    """
    import torch

    if device == "auto":
        return visible_devices()
    names = [device] if isinstance(device, str) else list(device)
    if not names:
        raise HarnessError(
            "transformers: device is an empty list; name a device, or auto",
            parameter="device",
        )
    present = visible_devices()
    for name in names:
        try:
            parsed = torch.device(name)
        except (RuntimeError, TypeError) as error:
            raise HarnessError(
                "transformers: device is auto, cpu, or a device of torch such as "
                f"cuda:0; found {name!r}",
                parameter="device",
            ) from error
        kinds = {torch.device(item).type for item in present}
        if parsed.type not in ("cpu", "meta") and (
            parsed.type not in kinds
            or (
                parsed.index is not None
                and f"{parsed.type}:{parsed.index}" not in [*present, "mps:0"]
            )
        ):
            raise HarnessError(
                f"transformers: no device '{name}'; this machine has "
                f"{', '.join(present)}",
                parameter="device",
            )
    return names


def number_format(dtype: str, device: str) -> str:
    """Return the number format of weights: under ``auto`` bfloat16 on accelerators that
    compute in it, else float32.

    >>> number_format("auto", "cpu"), number_format("float16", "cpu")
    ('float32', 'float16')
    """
    if dtype != "auto":
        return dtype
    return "bfloat16" if _computes_in_bfloat16(device) else "float32"


def _computes_in_bfloat16(device: str) -> bool:
    import torch

    kind = torch.device(device).type
    if kind == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    module: Any = getattr(torch, kind, None)
    return kind == "xpu" and bool(module.is_bf16_supported())


KINDS = ("image-text", "audio-text", "text-to-text", "causal")
"""Kinds of models by what they read and how they write: images (and video, sound) and
text; sound and text; text, by an encoder and a decoder; text, by a decoder.
"""
_MAPPINGS = (
    ("image-text", "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES"),
    ("audio-text", "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES"),
    ("audio-text", "MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES"),
    ("text-to-text", "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES"),
    ("causal", "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES"),
)


@dataclass(frozen=True)
class LoadedModel:
    """A model with its processors."""

    kind: str
    """One of :data:`KINDS`."""
    model: Any
    """The model, in evaluation mode."""
    processor: Any
    """The processor of a model that reads images or sound, else the tokenizer."""
    tokenizer: Any
    images: Any
    """The image processor of an image-text model, else None."""

    @property
    def media(self) -> tuple[Medium, ...]:
        """Media that the model reads, of ``image``, ``video`` and ``audio``;
        the first is the usual one.
        """
        if self.images is None and self.kind != "audio-text":
            return ()
        config = self.model.config
        if (
            config.model_type == "vision-encoder-decoder"
            and getattr(config.encoder, "num_frames", 0) > 1
        ):
            return ("video",)
        video = getattr(self.processor, "video_processor", None) is not None or getattr(
            config, "num_image_with_embedding", None
        )
        audio = getattr(self.processor, "feature_extractor", None) is not None
        names: list[tuple[Medium, bool]] = [
            ("image", self.images is not None),
            ("video", bool(video)),
            ("audio", audio),
        ]
        return tuple(name for name, reads in names if reads)


def load_model(
    path: str,
    *,
    kind: str,
    dtype: str,
    device: str,
    device_map: Any,
    trust_remote_code: bool,
    strict: bool,
) -> LoadedModel:
    """Return the model in a local folder with its processors. Nothing is downloaded.

    Parameters
    ----------
    path
        Folder with ``config.json``, weights and processors.
    kind
        One of :data:`KINDS`, or ``auto``.
    dtype
        Name of a torch dtype.
    device
        Device of the model, unless ``device_map`` is set.
    device_map
        A device, or a layout over devices, which needs the package accelerate.
    trust_remote_code
        If true, code in the folder is executed.
    strict
        If true, missing and unexpected weights are an error.

    Raises
    ------
    InputError
        For a folder without a model, an unsupported architecture, and weights that do
        not fit.
    MissingExtra
        If a package is not installed.
    """
    guard_torchvision()
    transformers: Any = require(
        "transformers", extra="models", needed_by="the transformers adapter"
    )
    safetensors: Any = require(
        "safetensors", extra="models", needed_by="the transformers adapter"
    )
    folder = Path(path)
    if not (folder / "config.json").is_file():
        raise InputError(
            "no config.json in it; expected a local folder with a model of "
            "transformers",
            str(folder),
        )
    device, device_map = _placement(device, device_map)
    local = {"local_files_only": True, "trust_remote_code": trust_remote_code}
    try:
        config = transformers.AutoConfig.from_pretrained(folder, **local)
        kind = kind if kind != "auto" else _kind_of(transformers, config, folder)
        factory = _factory(transformers, config, kind, folder)
        more = {"device_map": device_map} if device_map is not None else {}
        with (
            _without_bars(transformers),
            announce(f"loading the model '{folder.name}'"),
        ):
            model, info = factory.from_pretrained(
                folder,
                dtype=torch_dtype(dtype),
                output_loading_info=True,
                **local,
                **more,
            )
        processor, tokenizer, images = _processors(transformers, folder, kind, local)
    except HarnessError:
        raise
    except (
        OSError,
        ValueError,
        KeyError,
        RuntimeError,
        ImportError,
        safetensors.SafetensorError,
    ) as error:
        raise InputError(_first_line(error), str(folder)) from error
    if strict:
        _check_weights(info, folder)
    model = (
        model.eval() if device_map is not None else _move(model.eval(), device, folder)
    )
    return LoadedModel(kind, model, processor, tokenizer, images)


@contextmanager
def _without_bars(transformers: Any) -> Iterator[None]:
    """Hide the progress bars of transformers."""
    log = transformers.utils.logging
    enabled = log.is_progress_bar_enabled()
    log.disable_progress_bar()
    try:
        yield
    finally:
        if enabled:
            log.enable_progress_bar()


def _move(model: Any, device: str, folder: Path) -> Any:
    """Return the model on a device; raise :class:`InputError` for a device without
    memory for it.
    """
    try:
        return model.to(device)
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        raise InputError(
            f"the model does not fit on {device}; device_map: "
            "auto divides it among devices",
            str(folder),
        ) from error


def _placement(device: str, device_map: Any) -> tuple[str, Any]:
    """Return (device, device_map).

    A map that is one device becomes the device;
    for any other map accelerate must be installed.
    """
    import importlib.util

    import torch

    if isinstance(device_map, str):
        try:
            return str(torch.device(device_map)), None
        except RuntimeError:
            pass  # a layout: auto, balanced, ...
    if device_map is not None and importlib.util.find_spec("accelerate") is None:
        raise MissingExtra(
            f"transformers: device_map {device_map!r} needs the package "
            "'accelerate', which is not installed: "
            "pip install accelerate, or name one device (device: cuda)"
        )
    return device, device_map


def _processors(
    transformers: Any, folder: Path, kind: str, local: dict[str, Any]
) -> tuple[Any, Any, Any]:
    """Return (processor, tokenizer, image processor); models that combine two models
    have no processor and get both parts.
    """
    if kind in ("text-to-text", "causal"):
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **local)
        return tokenizer, tokenizer, None
    processor = transformers.AutoProcessor.from_pretrained(folder, **local)
    tokenizer = getattr(
        processor, "tokenizer", None
    ) or transformers.AutoTokenizer.from_pretrained(folder, **local)
    images = getattr(processor, "image_processor", None)
    if images is None and kind == "image-text":
        images = transformers.AutoImageProcessor.from_pretrained(folder, **local)
    return processor, tokenizer, images


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def _kind_of(transformers: Any, config: Any, folder: Path) -> str:
    auto = transformers.models.auto.modeling_auto
    for kind, name in _MAPPINGS:
        if config.model_type in getattr(auto, name, ()):
            return kind
    if config.model_type == "vision-encoder-decoder":
        return "image-text"
    if getattr(config, "auto_map", None):
        raise InputError(
            f"the model brings its own code; give kind ({', '.join(KINDS)})",
            str(folder),
        )
    raise InputError(
        f"models of type '{config.model_type}' do not generate text", str(folder)
    )


def _factory(transformers: Any, config: Any, kind: str, folder: Path) -> Any:
    if config.model_type == "vision-encoder-decoder":
        return transformers.VisionEncoderDecoderModel
    auto = transformers.models.auto.modeling_auto
    if (
        kind == "audio-text"
        and config.model_type in auto.MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES
    ):
        return transformers.AutoModelForSpeechSeq2Seq
    if kind == "audio-text" and not hasattr(transformers, "AutoModelForMultimodalLM"):
        return transformers.AutoModelForSeq2SeqLM  # before version 5
    names = {
        "image-text": "AutoModelForImageTextToText",
        "audio-text": "AutoModelForMultimodalLM",
        "text-to-text": "AutoModelForSeq2SeqLM",
        "causal": "AutoModelForCausalLM",
    }
    return getattr(transformers, names[kind])


def _check_weights(info: Any, folder: Path) -> None:
    lists = []
    for title, name in (
        ("missing", "missing_keys"),
        ("unexpected", "unexpected_keys"),
        ("of another shape", "mismatched_keys"),
    ):
        keys = sorted(str(key) for key in info.get(name, ()))
        if keys:
            more = f", and {len(keys) - 12} more" if len(keys) > 12 else ""
            lists.append(f"{len(keys)} {title}: {', '.join(keys[:12])}{more}")
    if lists:
        raise InputError(
            "the weights do not fit the model (strict: false loads them anyway): "
            f"{'; '.join(lists)}",
            str(folder),
        )
