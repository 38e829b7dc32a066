"""Key-value cache of a decoder: new entries are written in place into buffers with
spare room, so a step does not copy earlier entries.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass
class KeyValues:
    """Keys and values of all layers.

    A step writes into the buffers of its input state; that state must not be used
    again. The decoder guarantees this.
    """

    keys: list[torch.Tensor | None]
    """Buffer of each layer, shape (R, room, heads, d), or None before the first entry.
    """
    values: list[torch.Tensor | None]
    """Buffers of the same shapes."""
    length: int
    """Number of filled positions."""
    room: int
    """Number of positions of the buffers."""

    @classmethod
    def empty(cls, layers: int, room: int) -> KeyValues:
        """Return an empty cache of ``layers`` layers for ``room`` positions."""
        return cls([None] * layers, [None] * layers, 0, room)

    def put(
        self, layer: int, key: torch.Tensor, value: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append keys and values to a layer; return all of them, shape (R,
        length + T, heads, d) each.

        Parameters
        ----------
        layer
            Index of the layer.
        key, value
            New entries, shape (R, T, heads, d). The caller adds T to ``length`` after
            the last layer.
        """
        after = self.length + key.shape[1]
        # Doubling keeps the number of copies logarithmic in the length; torch.cat at
        # every step would copy the whole cache each time.
        if after > self.room:
            self.room = max(after, 2 * self.room)
        out = []
        for store, new in ((self.keys, key), (self.values, value)):
            buffer = store[layer]
            if buffer is None or buffer.shape[1] < self.room:
                grown = new.new_empty(new.shape[0], self.room, *new.shape[2:])
                if buffer is not None:
                    grown[:, : self.length] = buffer[:, : self.length]
                store[layer] = buffer = grown
            # `length` stays until the caller has run all layers, so that every layer
            # writes to the same positions.
            buffer[:, self.length : after] = new
            out.append(buffer[:, :after])
        return out[0], out[1]

    def take(self, index: torch.Tensor) -> KeyValues:
        """Return rows ``index`` (R',) in new buffers."""
        return KeyValues(
            [self._rows(buffer, index) for buffer in self.keys],
            [self._rows(buffer, index) for buffer in self.values],
            self.length,
            self.room,
        )

    def _rows(
        self, buffer: torch.Tensor | None, index: torch.Tensor
    ) -> torch.Tensor | None:
        if buffer is None:
            return None
        # Only the filled positions are copied; the rest of the room need not hold
        # anything.
        rows = buffer.new_empty(len(index), self.room, *buffer.shape[2:])
        rows[:, : self.length] = buffer[:, : self.length].index_select(
            0, index.to(buffer.device)
        )
        return rows
