"""Keys and values of image regions, stored once per image and used by all rows of text
about the image.

Regions do not attend to text in VLP, so their keys and values are the same for every
reference, candidate and beam of an image. The attention of a row is one softmax over
the scores of its image's context and of its text; only the scores are concatenated.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import functional as F


@dataclass(frozen=True)
class Context:
    """Keys and values of E images for R rows of text;
    row i belongs to image ``owner[i]``.
    """

    layers: tuple[tuple[torch.Tensor, torch.Tensor], ...]
    """Keys and values of each layer, (E, heads, C, d)."""
    owner: torch.Tensor
    """Image of each row, (R,)."""
    table_row: torch.Tensor | None
    """Index (R,) of each row in a table of E x ``width`` rows, ordered by image; None
    if the rows have that order already.
    """
    width: int
    """Largest number of rows of an image."""

    @classmethod
    def of(cls, layers: tuple[tuple[torch.Tensor, torch.Tensor], ...]) -> Context:
        """Return the context of keys and values (E, heads, C, d) in each layer,
        with one row per image.
        """
        images = layers[0][0].shape[0]
        return cls(layers, torch.arange(images, device=layers[0][0].device), None, 1)

    def __len__(self) -> int:
        """Return C, the number of context slots."""
        return self.layers[0][0].shape[2]

    @property
    def images(self) -> int:
        """Number E of images."""
        return self.layers[0][0].shape[0]

    def take(self, index: torch.Tensor) -> Context:
        """Return the context of the rows ``index`` (R',).

        Images without rows are dropped when they are at least a quarter of all images.
        """
        owner = self.owner[index.to(self.owner.device)]
        layers = self.layers

        images = self.images
        left, dense = owner.unique(return_inverse=True)
        if 4 * len(left) <= 3 * images:
            layers = tuple(
                (key.index_select(0, left), value.index_select(0, left))
                for key, value in layers
            )
            owner = dense
            images = len(left)
        # Rows of one image need not be neighbours after a beam search has reordered
        # them. Each row gets a place in a table of E x width rows, ordered by image, so
        # that one batched product per image serves all its rows.
        counts = torch.bincount(owner, minlength=images)
        width = int(counts.max())
        rows = torch.arange(len(owner), device=owner.device)
        order = owner.argsort(stable=True)
        rank = torch.empty_like(rows)
        rank[order] = rows - (counts.cumsum(0) - counts)[owner[order]]
        table_row = owner * width + rank
        ordered = len(owner) == images * width and bool((table_row == rows).all())
        return Context(layers, owner, None if ordered else table_row, width)

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor | None,
        dropout: float = 0.0,
    ) -> torch.Tensor:
        """Return the attention results (R, heads, T,
        d) of queries over the context and the text.

        Parameters
        ----------
        layer
            Number of the layer.
        query
            Queries (R, heads, T, d).
        key, value
            Keys and values of the text, (R, heads, S, d).
        mask
            (T, S), True where text slot t attends to text slot s, or None for all.
            Every slot attends to the whole context.
        dropout
            Dropout probability of the attention weights (training).
        """
        context_key, context_value = self.layers[layer]
        # One softmax over both parts needs the scores of both side by side, but not the
        # keys: the context keys of an image, by far the larger part, are never copied
        # for its rows.
        query = query * query.shape[-1] ** -0.5
        context = self._by_row(self._by_image(query) @ context_key.transpose(-1, -2))

        text = query @ key.transpose(-1, -2)
        if mask is not None:
            text = text.masked_fill(~mask, float("-inf"))
        share = torch.cat([context, text], dim=-1).softmax(-1)
        share = F.dropout(share, dropout) if dropout else share

        context, text = share.split([len(self), key.shape[2]], dim=-1)
        return self._by_row(self._by_image(context) @ context_value) + text @ value

    def _by_image(self, x: torch.Tensor) -> torch.Tensor:
        """Return values (R, heads, T, n) grouped by image, as (E, heads, width x T, n);
        missing rows are 0.
        """
        _, heads, length, size = x.shape
        if self.table_row is not None:
            x = x.new_zeros(self.images * self.width, heads, length, size).index_copy_(
                0, self.table_row, x
            )
        return (
            x.reshape(self.images, self.width, heads, length, size)
            .transpose(1, 2)
            .flatten(2, 3)
        )

    def _by_row(self, x: torch.Tensor) -> torch.Tensor:
        """Return values (E, heads, width x T, n) as rows (R, heads, T, n):
        the inverse of :meth:`_by_image`.
        """
        _, heads, rows_and_slots, size = x.shape
        x = (
            x.reshape(
                self.images, heads, self.width, rows_and_slots // self.width, size
            )
            .transpose(1, 2)
            .flatten(0, 1)
        )
        return x if self.table_row is None else x.index_select(0, self.table_row)
