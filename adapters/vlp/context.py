"""What many captions of one image share: the keys and values of its regions, kept once per image and looked at by all its rows.

The regions never see text (VLP's masks), so their keys and values are the same for every reference, candidate and beam of an image.
A row's attention is one softmax over the scores of its image's context and of its own text; only the scores are put side by side.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import functional as F


@dataclass(frozen=True)
class Context:
    """Keys and values of E images, each layer's (E, heads, C, d), for R rows of text; row i belongs to image ``owner[i]``."""

    layers: tuple[tuple[torch.Tensor, torch.Tensor], ...]
    owner: torch.Tensor
    """(R,)."""
    place: torch.Tensor | None
    """(R,) where row i stands in a table of E x ``width`` rows, image by image; None where the rows stand so already."""
    width: int
    """Rows of the image that has most."""

    @classmethod
    def of(cls, layers: tuple[tuple[torch.Tensor, torch.Tensor], ...]) -> Context:
        """One row per image."""
        images = layers[0][0].shape[0]
        return cls(layers, torch.arange(images, device=layers[0][0].device), None, 1)

    def __len__(self) -> int:
        """C, the slots of the context."""
        return self.layers[0][0].shape[2]

    @property
    def images(self) -> int:
        return self.layers[0][0].shape[0]

    def take(self, index: torch.Tensor) -> Context:
        """Rows ``index`` (R',); images that are left without rows go once they are a quarter of all."""
        owner, layers, images = self.owner[index.to(self.owner.device)], self.layers, self.images
        left, dense = owner.unique(return_inverse=True)
        if 4 * len(left) <= 3 * images:
            layers = tuple((key.index_select(0, left), value.index_select(0, left)) for key, value in layers)
            owner, images = dense, len(left)
        counts = torch.bincount(owner, minlength=images)
        width, rows = int(counts.max()), torch.arange(len(owner), device=owner.device)
        order = owner.argsort(stable=True)
        rank = torch.empty_like(rows)
        rank[order] = rows - (counts.cumsum(0) - counts)[owner[order]]
        place = owner * width + rank
        stands = len(owner) == images * width and bool((place == rows).all())
        return Context(layers, owner, None if stands else place, width)

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor | None,
        dropped: float = 0.0,
    ) -> torch.Tensor:
        """(R, heads, T, d): what queries (R, heads, T, d) find in the context and in their own text (R, heads, S, d), of which slot t
        sees what ``mask`` (T, S) allows; ``dropped``: share of the attention that is dropped (training)."""
        seen_key, seen_value = self.layers[layer]
        query = query * query.shape[-1] ** -0.5
        seen = self._by_row(self._by_image(query) @ seen_key.transpose(-1, -2))
        own = query @ key.transpose(-1, -2)
        if mask is not None:
            own = own.masked_fill(~mask, float("-inf"))
        share = torch.cat([seen, own], dim=-1).softmax(-1)
        share = F.dropout(share, dropped) if dropped else share
        seen, own = share.split([len(self), key.shape[2]], dim=-1)
        return self._by_row(self._by_image(seen) @ seen_value) + own @ value

    def _by_image(self, x: torch.Tensor) -> torch.Tensor:
        """(R, heads, T, n) as (E, heads, width x T, n)."""
        _, heads, length, size = x.shape
        if self.place is not None:
            x = x.new_zeros(self.images * self.width, heads, length, size).index_copy_(0, self.place, x)
        return x.reshape(self.images, self.width, heads, length, size).transpose(1, 2).flatten(2, 3)

    def _by_row(self, x: torch.Tensor) -> torch.Tensor:
        """The way back."""
        _, heads, both, size = x.shape
        x = x.reshape(self.images, heads, self.width, both // self.width, size).transpose(1, 2).flatten(0, 1)
        return x if self.place is None else x.index_select(0, self.place)
