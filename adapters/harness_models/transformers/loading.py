"""Loading of models of transformers from local folders: kind of the model, processors,
completeness of the weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.encoders.memory import is_out_of_memory
from harness.errors import HarnessError, InputError, MissingExtra, require
from harness.files.announcements import announce
from harness.registry.torchvision_guard import guard_torchvision
from harness_models.shared.media.kinds import Medium
from harness_models.shared.weights.checkpoint_config import torch_dtype

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
        video = getattr(self.processor, "video_processor", None) is not None
        video = video or getattr(config, "num_image_with_embedding", None)

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
    with _folder_errors(folder, safetensors.SafetensorError):
        config = transformers.AutoConfig.from_pretrained(folder, **local)
        kind = kind if kind != "auto" else _kind_of(transformers, config, folder)
        factory = _factory(transformers, config, kind, folder)
        options = {"dtype": torch_dtype(dtype), **local}
        if device_map is not None:
            options["device_map"] = device_map

        with (
            _without_bars(transformers),
            announce(f"loading the model '{folder.name}'"),
        ):
            model, info = factory.from_pretrained(
                folder, output_loading_info=True, **options
            )
        processor, tokenizer, images = _processors(transformers, folder, kind, local)

    if strict:
        _check_weights(info, folder)

    model = model.eval()
    if device_map is None:
        model = _move(model, device, folder)
    return LoadedModel(kind, model, processor, tokenizer, images)


@contextmanager
def _folder_errors(
    folder: Path, safetensor_error: type[BaseException]
) -> Iterator[None]:
    """Raise what transformers raises for a folder that it cannot load, and the error of
    safetensors, as :class:`InputError`.
    """
    try:
        yield
    except HarnessError:
        raise
    except (
        OSError,
        ValueError,
        KeyError,
        RuntimeError,
        ImportError,
        safetensor_error,
    ) as error:
        raise InputError(_first_line(error), str(folder)) from error


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
    tokenizer = getattr(processor, "tokenizer", None)
    tokenizer = tokenizer or transformers.AutoTokenizer.from_pretrained(folder, **local)
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
