"""Devices of this machine and the number format that suits them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from harness.contracts.parameters import WholeMark
from harness.errors import HarnessError

Devices = str | Annotated[list[str], WholeMark]
"""Parameter ``device`` of an encoder: ``auto`` (the first accelerator, else the CPU),
``all`` (every accelerator), a device of torch, or a list of them.
"""


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


def devices_of(device: str | Sequence[str], subject: str = "transformers") -> list[str]:
    """Return the devices of the parameter ``device``: ``auto`` is all visible ones,
    a list is taken as it is. ``subject`` begins the messages.

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
            f"{subject}: device is an empty list; name a device, or auto",
            parameter="device",
        )

    present = visible_devices()
    for name in names:
        try:
            parsed = torch.device(name)
        except (RuntimeError, TypeError) as error:
            raise HarnessError(
                f"{subject}: device is auto, cpu, or a device of torch such as "
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
                f"{subject}: no device '{name}'; this machine has {', '.join(present)}",
                parameter="device",
            )

    return names


def first_device(device: str, subject: str) -> str:
    """Return the device of a model that runs on one: under ``auto`` the first
    accelerator, else the CPU. Raises as :func:`devices_of`.

    >>> first_device("cpu", "embedding 'clip'")
    'cpu'
    """
    return devices_of(device, subject)[0]


def encoder_devices(device: str | Sequence[str], subject: str) -> list[str]:
    """Return the devices of an encoder, each with a copy of its model: under ``auto``
    the first accelerator, under ``all`` every one, else the CPU. Raises as
    :func:`devices_of`.

    >>> encoder_devices(["cpu", "cpu"], "embedding 'clip'")
    ['cpu', 'cpu']
    """
    if device == "all":
        return visible_devices()
    names = devices_of(device, subject)
    return names[:1] if device == "auto" else names


def device_kind(device: str | Sequence[str]) -> str:
    """Return the kind of the devices of an encoder, such as ``cuda``; those of several
    kinds are joined.

    >>> device_kind("cpu"), device_kind(["cuda:0", "cuda:1"])
    ('cpu', 'cuda')
    """
    names = [device] if isinstance(device, str) else device
    if device in ("auto", "all"):
        names = visible_devices()[:1]
    return "+".join(dict.fromkeys(name.partition(":")[0] for name in names))


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
