"""Clients of a program with faults, for tests of the exchange."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.programs.client import ProgramClient
from harness.programs.program import Limits, Program
from harness.programs.values import read_numbers

FAULTY = Path(__file__).parent / "faulty_program.py"
"""A program with the fault that its argument names."""
TEXTS = ["one", "two and three", "bad", "", "four"]


def client_of(
    fault: str = "", kind: str = "metric", *, stored: bool = False, **limits: Any
) -> ProgramClient:
    """Return a client of the program with a fault, and with limits."""
    program = Program(
        f"{kind} 'faulty'",
        (sys.executable, "-S", str(FAULTY), fault),
        Path.cwd(),
        limits=Limits(**limits),
    )
    return ProgramClient(program, kind, {}, stored=stored)


def scores(
    client: ProgramClient,
    texts: Sequence[str] = TEXTS,
    bounds: tuple[float, float] | None = None,
) -> np.ndarray:
    """Return the scores of texts: their lengths / 100, without a fault."""

    def read(answers, name_of):
        return read_numbers(
            answers, name_of, label=client.program.label, bounds=bounds, may_fail=True
        )

    items = [{"candidate": text} for text in texts]
    return client.values(items, lambda position: f"text {position}", read)
