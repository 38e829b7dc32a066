"""Batches of texts by a budget of tokens: similar lengths together, so that little is
computed for padding, and fewer texts where they are long.

A batch that runs out of memory is divided, and later batches keep to what fitted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np

from harness.encoders.memory import free_memory, is_out_of_memory
from harness.errors import HarnessError

CPU_TOKENS = 1024
"""Tokens per batch on the CPU: enough for full speed, few enough for its caches."""
ACCELERATOR_TOKENS = 16_384
"""Tokens per batch on an accelerator, before memory is known to be short."""
_log = logging.getLogger(__name__)


class TokenBudget:
    """Largest number of tokens of a batch, padding included, on one device.

    Parameters
    ----------
    device : str
        Name of a torch device.
    rows : int, optional
        Largest number of texts of a batch.
    tokens : int, optional
        Tokens to begin with. The default is that of the kind of device.
    equal_lengths : bool
        Texts of one length alone share a batch: a model without a mask needs that.
    item : str
        Word for one text, in messages.
    """

    def __init__(
        self,
        device: str,
        rows: int | None = None,
        tokens: int | None = None,
        *,
        equal_lengths: bool = False,
        item: str = "text",
    ) -> None:
        default = CPU_TOKENS if device == "cpu" else ACCELERATOR_TOKENS
        # a stated number of texts is not divided by their length
        self.tokens = tokens or (default if rows is None else 1 << 40)
        self.rows = rows
        self.equal_lengths = equal_lengths
        self.item = item

    def rows_of(self, length: int) -> int:
        """Return the number of texts of ``length`` tokens that share a batch."""
        rows = max(1, self.tokens // max(1, length))
        return rows if self.rows is None else min(rows, self.rows)

    def batches(self, lengths: np.ndarray) -> list[np.ndarray]:
        """Return the text numbers of each batch, longest texts first, for numbers of
        tokens (T,).

        >>> budget = TokenBudget("cpu", tokens=8)
        >>> [rows.tolist() for rows in budget.batches(np.array([2, 4, 4, 1]))]
        [[1, 2], [0, 3]]
        """
        order = np.argsort(-lengths, kind="stable")
        batches: list[np.ndarray] = []
        start = 0
        while start < len(order):
            length = int(lengths[order[start]])
            batch = order[start : start + self.rows_of(length)]
            if self.equal_lengths:
                batch = batch[lengths[batch] == length]
            batches.append(batch)
            start += len(batch)
        return batches

    def run(
        self, lengths: np.ndarray, forward: Callable[[np.ndarray], None], subject: str
    ) -> None:
        """Call ``forward`` with the text numbers of each batch.

        Parameters
        ----------
        lengths : ndarray, shape (T,)
            Numbers of tokens.
        forward : callable
            Function that computes and keeps the vectors of a batch.
        subject : str
            Name of the model, for messages.

        Raises
        ------
        HarnessError
            If a single text runs out of memory.
        """
        waiting = self.batches(lengths)[::-1]
        while waiting:
            rows = waiting.pop()
            try:
                forward(rows)
                continue
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                self._halve(len(rows), int(lengths[rows].max()), subject, error)

            # outside of the handler, whose traceback holds the tensors of the batch
            free_memory()
            left = np.concatenate([rows, *waiting[::-1]])
            waiting = [left[part] for part in self.batches(lengths[left])][::-1]

    def _halve(
        self, rows: int, length: int, subject: str, error: BaseException
    ) -> None:
        if rows <= 1:
            raise HarnessError(
                f"{subject}: out of memory with {self._describe(1, length)}; "
                "use a smaller precision (dtype) or another device"
            ) from error
        self.tokens = max(1, rows * length // 2)
        _log.warning(
            "%s: out of memory with %s: batches now have at most %s",
            subject,
            self._describe(rows, length),
            self._describe(self.rows_of(length), length),
        )

    def _describe(self, rows: int, length: int) -> str:
        """Return a number of texts with their length; an image has none."""
        number = f"one {self.item}" if rows == 1 else f"{rows} {self.item}s"
        return number if length == 1 else f"{number} of {length} tokens"
