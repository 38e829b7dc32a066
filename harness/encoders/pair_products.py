"""Inner products of all pairs of many vectors, in blocks on an accelerator.

A corpus of tens of thousands of texts has a matrix of billions of pairs. It is never
held: a block of rows is multiplied where it is reduced, and the numbers that are left
of it come back. The CPU takes no part in this: below :data:`LEAST_PAIRS`, and without
an accelerator, metrics compute in numpy.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np

from harness.encoders.devices import encoder_devices
from harness.encoders.memory import free_memory, is_out_of_memory
from harness.encoders.precision import computing
from harness.errors import HarnessError

R = TypeVar("R")

LEAST_PAIRS = 1 << 26
"""Pairs from which an accelerator is worth its start: numpy takes 0.7 to 1.8 seconds
for them on one core, and the import of torch, which a run over stored vectors would
spend for them alone, 2.6 (``python -m benchmarks.encoder_choices --only pairs``).
"""
BLOCK_PAIRS = 1 << 26
"""Products that an accelerator holds at a time, before memory is known to be short: 256
MiB, and as much again for what is compared with them.
"""
_log = logging.getLogger(__name__)


def pairs_device(embedding: object, pairs: int) -> str | None:
    """Return the accelerator for the products of many pairs of vectors: the first one
    on which the model of their embedding runs; None for numpy.

    Numpy computes fewer pairs than :data:`LEAST_PAIRS`, those of an embedding without
    an attribute ``device`` or on the CPU, and those of stored vectors on a machine that
    lacks the device of their model: that they need no model is their point, and where
    one has to encode, it reports the device itself.

    >>> pairs_device(object(), 1 << 40) is None
    True
    """
    device: Any = getattr(embedding, "device", None)
    if device is None or pairs < LEAST_PAIRS or find_spec("torch") is None:
        return None
    try:
        name = encoder_devices(device, "matrix of pairs")[0]
    except HarnessError:
        return None
    return None if name in ("cpu", "meta") else name


def reduce_products(
    rows: np.ndarray,
    table: np.ndarray,
    reduce: Callable[[slice, Any], R],
    device: str,
    subject: str,
) -> Iterator[R]:
    """Yield what is left of the products of each block of rows with all of a table.

    Blocks have :data:`BLOCK_PAIRS` products. One that runs out of memory is halved, and
    later ones keep to what fitted.

    Parameters
    ----------
    rows, table : ndarray, shapes (N, d) and (T, d)
        Vectors, multiplied in float32 with all bits.
    reduce : callable
        Function of the slice of the rows and their products, a tensor (rows, T) on the
        device that it may overwrite. It has no other effect than its value, since it is
        called anew with fewer rows where memory ran out.
    device : str
        Name of a torch device.
    subject : str
        Name of the metric, for messages.

    Raises
    ------
    HarnessError
        If the table, or a single row, runs out of memory.
    """
    columns = _move(table, device, subject).T
    step = max(1, BLOCK_PAIRS // max(1, len(table)))
    start = 0
    while start < len(rows):
        block = slice(start, min(start + step, len(rows)))
        count = block.stop - start
        try:
            with computing("float32"):
                value = reduce(block, _to_device(rows[block], device) @ columns)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if count == 1:
                raise _of_memory(
                    subject, f"one row of {len(table):,} products", device
                ) from error
            step = count // 2
            _log.warning(
                "%s: out of memory with %s rows of %s products on %s: "
                "blocks now have %s rows",
                subject,
                f"{count:,}",
                f"{len(table):,}",
                device,
                f"{step:,}",
            )
        else:
            yield value
            start = block.stop
            continue

        # outside of the handler, whose traceback holds the tensors of the block
        free_memory()


def _move(table: np.ndarray, device: str, subject: str) -> Any:
    """Return a table of vectors as a tensor on a device."""
    try:
        return _to_device(table, device)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise _of_memory(subject, f"{len(table):,} vectors", device) from error


def _to_device(vectors: np.ndarray, device: str) -> Any:
    """Return vectors as a float32 tensor on a device."""
    torch: Any = import_module("torch")
    # a copy: torch warns of arrays that are read-only, as stored vectors are
    return torch.from_numpy(np.array(vectors, dtype=np.float32)).to(device)


def _of_memory(subject: str, contents: str, device: str) -> HarnessError:
    return HarnessError(
        f"{subject}: out of memory on {device} with {contents}; free the device of "
        "other programs, or set device=cpu for the embedding",
        parameter="device",
    )
