"""Networks with the values of the authors' code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from safetensors.torch import load_file

from harness_models.nacf.model import Nacf


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of the authors' values."""
    return Path(__file__).parents[2] / "golden" / "nacf"


@pytest.fixture(scope="session")
def authors(golden):
    """Return the golden models by method, the values of their forward passes,
    and the runs of their decoding.
    """
    models = {
        m: Nacf.from_checkpoint(golden / f"{m}.state_dict.safetensors")
        for m in ("ARB", "NAB", "NACF")
    }
    return (
        models,
        load_file(golden / "forward.safetensors"),
        json.loads((golden / "decode.json").read_text()),
    )
