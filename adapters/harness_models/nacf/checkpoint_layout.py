"""Layout of published checkpoints of the NACF family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.errors import InputError
from harness_models.o2na.layers import VideoSizes
from harness_models.o2na.network import sizes_of
from harness_models.shared.weights.checkpoints import Checkpoint

UNUSED = (r"\.pos_LN\.",)
"""Keys of published checkpoints that no supported model uses."""
_SUPPORTED = {
    "pos_attention": (False,),
    "watch": (0,),
    "fusion": ("temporal_concat",),
    "enhance_input": (0, 2),
}
"""Setting of the authors' code -> its values that are supported."""


@dataclass(frozen=True, kw_only=True)
class NacfSizes(VideoSizes):
    """Sizes and options of a model of the NACF family."""

    method: str
    """ARB, ARB2, NAB or NACF."""
    enhance: int = 2
    """2: the mean memory is added to every slot (NAB, NACF); 0: nothing is added."""

    @property
    def left_to_right(self) -> bool:
        """True for autoregressive models (ARB, ARB2)."""
        return self.method.startswith("ARB")

    @property
    def is_disentangled(self) -> bool:
        """True for models whose decoder keys begin with ``decoder.bert.`` (ARB2,
        NACF).
        """
        return self.method in ("ARB2", "NACF")


def method_of(checkpoint: Checkpoint) -> str:
    """Return the method of a checkpoint, ARB, ARB2, NAB or NACF, from its keys.

    Raises :class:`InputError` for a checkpoint of another architecture.
    """
    keys = checkpoint.tensors
    checkpoint.shape("tgt_word_prj.weight", "NACF-family")
    predicts_length = any(key.startswith("auxiliary_task_predictor.") for key in keys)
    if any(key.startswith("decoder.bert.") for key in keys):
        return "NACF" if predicts_length else "ARB2"
    return "NAB" if predicts_length else "ARB"


def settings_of(data: Mapping[str, Any], method: str) -> dict[str, Any]:
    """Return the settings of a method.

    ``data`` holds the settings directly, under ``settings`` (published checkpoints), or
    by method (one file for several models).

    Examples
    --------
    >>> (
    ...     settings_of({"settings": {"max_len": 30}}, "NAB"),
    ...     settings_of({"NAB": {"max_len": 12}}, "NAB"),
    ... )
    ({'max_len': 30}, {'max_len': 12})
    """
    inner = data.get("settings", data)
    return dict(inner.get(method, inner))


def nacf_sizes(
    checkpoint: Checkpoint, settings: Mapping[str, Any], method: str
) -> NacfSizes:
    """Return the sizes of a model from the shapes of its tensors.

    Raises :class:`InputError` if a setting of ``settings`` is not supported, or
    contradicts a shape.
    """
    for name, allowed in _SUPPORTED.items():
        if settings.get(name, allowed[-1]) not in allowed:
            raise InputError(
                f"the setting {name} = {settings[name]!r} is not supported",
                str(checkpoint.path),
            )

    base = "decoder.bert." if method in ("ARB2", "NACF") else "decoder."
    sizes = sizes_of(checkpoint, settings, "NACF-family", base)
    return NacfSizes(method=method, enhance=settings.get("enhance_input", 2), **sizes)
