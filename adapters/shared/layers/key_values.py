"""Keys and values of a decoder's past, written in place into buffers with room to spare: a step copies nothing that is there already."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass
class KeyValues:
    """Per layer keys and values (R, room, heads, d), of which the first ``length`` positions are filled.

    A step writes into the buffers of the state it was given, so that state is not to be used again (as the decoder promises).
    """

    keys: list[torch.Tensor | None]
    values: list[torch.Tensor | None]
    length: int
    room: int

    @classmethod
    def empty(cls, layers: int, room: int) -> KeyValues:
        return cls([None] * layers, [None] * layers, 0, room)

    def put(self, layer: int, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """All keys and values (R, length + T, heads, d) of a layer after new ones (R, T, heads, d) stand behind ``length``.

        ``length`` itself is moved on by the caller, once all layers are done.
        """
        after = self.length + key.shape[1]
        if after > self.room:
            self.room = max(after, 2 * self.room)
        out = []
        for store, new in ((self.keys, key), (self.values, value)):
            held = store[layer]
            if held is None or held.shape[1] < self.room:
                grown = new.new_empty(new.shape[0], self.room, *new.shape[2:])
                if held is not None:
                    grown[:, : self.length] = held[:, : self.length]
                store[layer] = held = grown
            held[:, self.length : after] = new
            out.append(held[:, :after])
        return out[0], out[1]

    def take(self, index: torch.Tensor) -> KeyValues:
        """Rows ``index`` (R',) in buffers of their own."""
        return KeyValues(
            [self._rows(held, index) for held in self.keys],
            [self._rows(held, index) for held in self.values],
            self.length,
            self.room,
        )

    def _rows(self, held: torch.Tensor | None, index: torch.Tensor) -> torch.Tensor | None:
        if held is None:
            return None
        taken = held.new_empty(len(index), self.room, *held.shape[2:])
        taken[:, : self.length] = held[:, : self.length].index_select(0, index.to(held.device))
        return taken
