"""Run the tests of equal digits as other processors compute.

    python -m tools.other_processors                 fast tests marked equal_bits
    python -m tools.other_processors -m equal_bits   the slow ones too

Arguments go to pytest.

OpenBLAS, numpy and the C library choose their machine code by the processor, and sums
and elementary functions differ in the last place. Each of them is told to choose as
another processor would. What this processor cannot run is left out, with one line.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# numpy publishes no other way to ask what a processor has
_numpy_core = importlib.import_module("numpy._core._multiarray_umath")
FEATURES: dict[str, bool] = _numpy_core.__cpu_features__
DISPATCHED: list[str] = _numpy_core.__cpu_dispatch__
AVX512 = ("AVX512", "X86_V4")
"""Beginnings of the names of numpy's features, which differ between its versions."""
AVX2 = (*AVX512, "X86_V3", "AVX2", "FMA3", "F16C", "AVX")
CORES = {"Prescott": "SSE3", "Haswell": "AVX2", "Zen": "AVX2", "SkylakeX": "AVX512F"}
"""Cores of OpenBLAS, and the feature that each of them needs."""


def surroundings() -> dict[str, dict[str, str]]:
    """Return the variables of each other processor by its name."""
    found = {
        f"OPENBLAS_CORETYPE={core}": {"OPENBLAS_CORETYPE": core}
        for core, need in CORES.items()
        if FEATURES.get(need)
    }
    for title, beginnings in (
        ("numpy without AVX-512", AVX512),
        ("numpy without AVX2 and FMA", AVX2),
    ):
        # numpy warns of features that it does not choose by, and of some that the
        # processor lacks: those are not named.
        names = [
            name
            for name in DISPATCHED
            if name.startswith(beginnings) and FEATURES.get(name)
        ]
        if names:
            found[title] = {"NPY_DISABLE_CPU_FEATURES": " ".join(names)}
    found["C library without AVX2 and FMA"] = {
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA"
    }
    return found


def main(arguments: Sequence[str]) -> int:
    """Run pytest in all surroundings; the exit status is 1 when a test fails in one of
    them.
    """
    others = surroundings()
    for core in CORES:
        if f"OPENBLAS_CORETYPE={core}" not in others:
            print(f"{core}: left out, this processor lacks {CORES[core]}", flush=True)
    # Only the files with such tests are collected: to import all tests six times takes
    # minutes.
    files = [
        str(path)
        for path in sorted(Path("tests").rglob("test_*.py"))
        if "mark.equal_bits" in path.read_text("utf-8")
    ]
    chosen = [*(arguments or ["-m", "equal_bits and not slow"]), *files]
    failed: list[str] = []
    for title, variables in others.items():
        print(f"{title}:", flush=True)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *chosen]
        if subprocess.run(
            command, env={**os.environ, **variables}, check=False
        ).returncode:
            failed.append(title)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
