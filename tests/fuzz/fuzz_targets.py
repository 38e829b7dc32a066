"""All targets of the fuzzer, by name."""

from __future__ import annotations

import fuzz_files  # noqa: F401
import fuzz_scores  # noqa: F401
from fuzz_target import TARGETS

__all__ = ["TARGETS"]
