"""A plugin of pytest: the file that ``CAPTION_KERNELS_EXTENSION`` names is the compiled
extension.
"""

from __future__ import annotations

import importlib.util
import os
import sys

NAME = "caption_kernels._compiled"
spec = importlib.util.spec_from_file_location(
    NAME, os.environ["CAPTION_KERNELS_EXTENSION"]
)
assert spec is not None
assert spec.loader is not None
sys.modules[NAME] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules[NAME])
