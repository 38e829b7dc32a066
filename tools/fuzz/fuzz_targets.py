"""All targets of the fuzzer, by name."""

from __future__ import annotations

from tools.fuzz import (
    fuzz_checkpoints,  # noqa: F401
    fuzz_files,  # noqa: F401
    fuzz_kernels,  # noqa: F401
    fuzz_run_directories,  # noqa: F401
    fuzz_scores,  # noqa: F401
    fuzz_servers,  # noqa: F401
    fuzz_sessions,  # noqa: F401
    fuzz_specs,  # noqa: F401
)
from tools.fuzz.fuzz_target import TARGETS

__all__ = ["TARGETS"]
