"""CLIP weights with low-rank adaptations (LoRA), as the authors of PAC-S++ publish
them, as weights of a plain CLIP.

A matrix W of the model was frozen, and W + B A / r was trained, where A (r, in) and B
(out, r) stand beside it. The sum is a matrix of W's shape, so that the model behind it
is any CLIP.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.encoders.open_clip_towers import OpenClipTowers
from harness.encoders.precision import Precision
from harness.encoders.towers import TwoTowers
from harness.errors import InputError
from harness_metrics.embeddings.clip import Clip

if TYPE_CHECKING:
    import torch

EXAMPLE = "PAC++_clip_ViT-B-32.pth of github.com/aimagelab/pacscore"
"""Weights that messages name."""
_FACTOR = re.compile(r"(?P<layer>.+?)(?P<joint>[._])lora_(?P<side>[AB])")
"""Name of a factor: ``out_proj.lora_A`` of ``out_proj.weight``, and
``in_proj_weight_lora_A`` of ``in_proj_weight``.
"""
_STORED_MERGED = (".mlp.c_fc.weight", ".mlp.c_proj.weight")
"""Endings of the weights that hold their product already: the authors' program marks
these layers as merged before it reads the file, and adds nothing to what it reads
(``Linear.train`` in ``models/custom_loralib/layers.py`` of
github.com/aimagelab/pacscore).
"""


class LowRankTowers(OpenClipTowers):
    """A model of open_clip whose file of weights has low-rank factors.

    Parameters are those of
    :class:`~harness.encoders.open_clip_towers.OpenClipTowers`.

    Raises
    ------
    InputError
        For a folder, and weights without factors.
    """

    def __init__(
        self, weights: Path, model: str, device: str, precision: Precision
    ) -> None:
        if weights.is_dir():
            raise InputError(
                "a folder; expected a file of weights with low-rank factors, such as "
                f"{EXAMPLE}",
                str(weights),
                parameter="weights",
            )
        super().__init__(weights, model, device, precision)

    def _load_state(
        self, open_clip: Any, architectures: Sequence[str]
    ) -> dict[str, Any]:
        """Return the tensors of a plain CLIP by name."""
        state = super()._load_state(open_clip, architectures)
        return merge_factors(state, self.weights)


class LowRankClip(Clip):
    """CLIP with low-rank adaptations.

    Parameters are those of :class:`~harness_metrics.embeddings.clip.Clip`.
    """

    def signature(self) -> str:
        """Return the signature of the model and weights, followed by ``|lora``."""
        return f"{super().signature()}|lora"

    def load_towers(self, device: str) -> TwoTowers:
        """Return the model on a device."""
        return LowRankTowers(self.found.path, self.found.model, device, self.dtype)


def merge_factors(
    state: Mapping[str, torch.Tensor], where: Path
) -> dict[str, torch.Tensor]:
    """Return the tensors of a model in which each weight W with factors A and B is
    W + B A / r.

    Parameters
    ----------
    state : mapping of str to tensor
        Tensors by name. A is (r, in), B is (out, r). Those of a convolution with
        kernels of k x k are (r k, in k) and (out k, r k), and their product takes the
        shape of W. The rank r is read from A.
    where : Path
        File, for messages.

    Raises
    ------
    InputError
        Without factors, for one factor without the other, and for factors that do not
        fit their weight.
    """
    factors: dict[str, dict[str, torch.Tensor]] = {}
    merged: dict[str, torch.Tensor] = {}
    for name, tensor in state.items():
        match = _FACTOR.fullmatch(name)
        if match is None:
            merged[name] = tensor
            continue
        suffix = ".weight" if match["joint"] == "." else ""
        factors.setdefault(match["layer"] + suffix, {})[match["side"]] = tensor

    if not factors:
        raise InputError(
            "the weights have no low-rank factors (lora_A, lora_B): not those of "
            "PAC-S++; the metrics pac-score and ref-pac-score take them",
            str(where),
        )
    for name, sides in factors.items():
        weight = merged.get(name)
        if weight is None or sides.keys() != {"A", "B"}:
            missing = "weight" if weight is None else "factor A or B"
            raise InputError(
                f"the low-rank factors of '{name}' lack their {missing}", str(where)
            )
        if not name.endswith(_STORED_MERGED):
            merged[name] = _add_product(name, weight, sides["A"], sides["B"], where)
    return merged


def _add_product(
    name: str,
    weight: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
    where: Path,
) -> torch.Tensor:
    """Return W + B A / r, with W's shape and type."""
    kernel = weight.shape[-1] if weight.ndim == 4 else 1
    fits = first.ndim == second.ndim == 2 and first.shape[0] == second.shape[1]
    rank = first.shape[0] // kernel
    if not fits or second.shape[0] * first.shape[1] != weight.numel() or not rank:
        raise InputError(
            f"the low-rank factors {tuple(first.shape)} and {tuple(second.shape)} do "
            f"not fit '{name}' of shape {tuple(weight.shape)}",
            str(where),
        )
    # in double precision: the sum is rounded once
    product = second.double() @ first.double() / rank
    return (weight.double() + product.view(weight.shape)).to(weight.dtype)
