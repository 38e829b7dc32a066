"""Makes an installed torchvision without working operators importable.

torchvision's wheels are built against one build of torch. Beside a CPU torch a CUDA
wheel of torchvision fails at import ("operator torchvision::nms does not exist"), and
with it open_clip, timm, sentence_transformers and the models of transformers, none of
which need those operators here. Declaring the two missing operators is enough for all
of them; calling ``torchvision.ops.nms`` itself still raises.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

_MISSING = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)
_libraries: list[object] = []
"""The operator library lives as long as the process: its operators vanish with it."""


def guard_torchvision() -> None:
    """Call before the first import of open_clip, timm, sentence_transformers or a model
    of transformers.

    Does nothing without torchvision and where torchvision imports by itself; cheap when
    called again. Any other failure of torchvision is left to those who need it, whose
    error then names the cause.
    """
    if "torchvision" in sys.modules or importlib.util.find_spec("torchvision") is None:
        return
    try:
        importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
        _declare_operators()
        importlib.import_module("torchvision")


def _declare_operators() -> None:
    import torch

    # What the failed import left behind would be taken for the whole package.
    for name in list(sys.modules):
        if name == "torchvision" or name.startswith("torchvision."):
            del sys.modules[name]
    library: Any = torch.library.Library("torchvision", "FRAGMENT")
    for schema in _MISSING:
        library.define(schema)
    _libraries.append(library)
