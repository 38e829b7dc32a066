"""The target that reads checkpoints and feature files."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from harness.errors import HarnessError
from tools.fuzz.fuzz_inputs import altered
from tools.fuzz.fuzz_target import NotAnInput, check_one_line, target


@cache
def _weights() -> list[bytes]:
    import pickle

    import torch
    from safetensors.numpy import save

    arrays = {"w": np.ones((2, 3), np.float32), "b": np.zeros(3, np.float32)}
    archive = io.BytesIO()
    file = io.BytesIO()
    np.savez(archive, **arrays)
    torch.save({name: torch.from_numpy(value) for name, value in arrays.items()}, file)
    data = [
        b".npz\n" + archive.getvalue(),
        b".safetensors\n" + save(arrays),
        b".pt\n" + file.getvalue(),
    ]
    return [
        *data,
        *(
            b".pkl\n" + pickle.dumps(arrays, protocol=protocol)
            for protocol in (2, 4, 5)
        ),
    ]


@target(st.deferred(lambda: altered(_weights())))
def checkpoints(data: bytes, folder: Path) -> None:
    """Checkpoints and feature files."""
    from harness_models.shared.inputs.features import _read
    from harness_models.shared.weights.checkpoints import load_checkpoint

    ending, _, content = data.partition(b"\n")
    if ending not in (b".npz", b".safetensors", b".pt", b".pkl"):
        raise NotAnInput
    path = folder / f"c{ending.decode()}"
    path.write_bytes(content)
    problems: list[str] = []
    readers = (load_checkpoint, _read) if ending != b".pt" else (load_checkpoint,)
    for read in readers:
        try:
            read(path)
        except HarnessError as error:
            problems.append(str(error))
    path.unlink()
    check_one_line(*problems)
