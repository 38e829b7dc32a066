"""TorchScript archives with given tensors, as OpenAI publishes CLIP."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch


class Holder(torch.nn.Module):
    """A module of tensors and modules."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


class QuickGELU(torch.nn.Module):
    """The activation of OpenAI's models."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(1.702 * x)


def write_archive(
    tensors: Mapping[str, torch.Tensor], path: Path, *, quick_gelu: bool
) -> None:
    """Write an archive of tensors by their names in half precision."""
    root = Holder()
    for name, tensor in tensors.items():
        *parts, last = name.split(".")
        module: torch.nn.Module = root
        for part in parts:
            if not hasattr(module, part):
                module.add_module(part, Holder())
            module = getattr(module, part)
        module.register_buffer(last, tensor.clone())
    if quick_gelu:
        root.add_module("activation", QuickGELU())
    torch.jit.script(root.half()).save(str(path))
