"""Tokens of captions in training: padded batches, their loss, and the vocabulary of a
run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import torch
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from harness_models.shared.training.loop import has_run

V = TypeVar("V")
IGNORED = -100
"""Target value of slots that do not count in the loss."""


def pad_rows(rows: Sequence[Sequence[int]], fill: int) -> torch.Tensor:
    """Return token ids of B captions as one tensor (B, T), int64; T is the longest
    caption, and ``fill`` follows shorter ones.

    >>> pad_rows([[4, 5, 6], [7]], 0).tolist()
    [[4, 5, 6], [7, 0, 0]]
    """
    return pad_sequence(
        [torch.tensor(row, dtype=torch.long) for row in rows],
        batch_first=True,
        padding_value=fill,
    )


def token_loss(
    logits: torch.Tensor, goal: torch.Tensor, ignored: int = IGNORED
) -> tuple[torch.Tensor, int]:
    """Return the mean cross-entropy of logits (B, T, V) over the slots of ``goal`` (B,
    T) that are not ``ignored``, and their number.
    """
    loss = F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]), goal.reshape(-1), ignore_index=ignored
    )
    return loss, int((goal != ignored).sum())


def open_vocabulary(
    folder: Path, write: Callable[[Path], object], read: Callable[[Path], V]
) -> tuple[V, Callable[[], object]]:
    """Return the vocabulary of the run in ``folder``, else a new one, and the function
    that writes the new one into the folder.

    The second is called after all checks, so that a training that is refused leaves no
    files.

    Parameters
    ----------
    folder
        Folder of the run.
    write
        Makes a vocabulary from the captions and writes its files into a folder.
    read
        Reads the files of a folder.
    """
    # Vocabulary files without a run are those of a training that failed: they are
    # replaced.
    if has_run(folder):
        return read(folder), lambda: None
    with TemporaryDirectory() as temporary:
        write(Path(temporary))
        return read(Path(temporary)), lambda: write(folder)
