"""Models with a tower for texts and one for images that share a space, such as CLIP:
vectors of texts and images from any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from harness.encoders.decoded_images import decode_ahead
from harness.encoders.long_texts import Long, divide, mean_of_windows
from harness.encoders.precision import Precision, computing, to_numpy
from harness.encoders.token_batches import TokenBudget

IMAGES_PER_BATCH = 64
"""Images per forward pass where no number is asked for."""


class TwoTowers(Protocol):
    """A model of texts and images on a device."""

    name: str
    device: str
    precision: Precision
    context: int
    """Largest number of tokens of a text, special ones included."""

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of texts, whole, special ones included."""
        ...

    def encode_ids(self, rows: Sequence[Sequence[int]]) -> Any:
        """Return the vectors of texts by their tokens, at most ``context`` each: a
        tensor (B, d), not normalised.
        """
        ...

    def pixels(self, image: Any) -> np.ndarray:
        """Return the resized pixels of a Pillow image: an array of one shape for all
        images.
        """
        ...

    def encode_pixels(self, pixels: np.ndarray) -> Any:
        """Return the vectors of images by their pixels (B, ...): a tensor (B, d), not
        normalised.
        """
        ...


def encode_texts(
    towers: TwoTowers,
    texts: Sequence[str],
    *,
    batch_size: int | None = None,
    long: Long = "cut",
) -> np.ndarray:
    """Return unit vectors of texts, float32, shape (T, d).

    Parameters
    ----------
    towers : TwoTowers
        The model.
    texts : sequence of str
        Texts.
    batch_size : int, optional
        Texts per forward pass; default: by a budget of tokens.
    long : {'cut', 'windows'}
        Reading of texts beyond the context of the model.

    Raises
    ------
    HarnessError
        If one text alone runs out of memory.
    """
    import torch

    rows, owners = divide(towers.token_ids(texts), towers.context, long)
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    blocks: list[tuple[np.ndarray, Any]] = []

    def forward(batch: np.ndarray) -> None:
        encoded = towers.encode_ids([rows[k] for k in batch])
        unit = torch.nn.functional.normalize(encoded.float(), dim=-1)
        blocks.append((batch, unit))

    with computing(towers.precision):
        TokenBudget(towers.device, batch_size).run(lengths, forward, towers.name)
    return mean_of_windows(in_order(blocks), owners, len(texts), normalize=True)


def encode_images(
    towers: TwoTowers,
    names: Sequence[str],
    open_image: Any,
    *,
    batch_size: int | None = None,
    workers: int | None = None,
) -> np.ndarray:
    """Return unit vectors of images, float32, shape (len(names), d).

    Parameters
    ----------
    towers : TwoTowers
        The model.
    names : sequence of str
        Names of images.
    open_image : callable
        Function from a name to a Pillow image; its errors are raised.
    batch_size : int, optional
        Images per forward pass.
    workers : int, optional
        Threads that decode; default: one per core of this process.

    Raises
    ------
    HarnessError
        If one image alone runs out of memory.
    """
    import torch

    size = batch_size or IMAGES_PER_BATCH
    budget = TokenBudget(towers.device, size, item="image")
    vectors: list[np.ndarray] = []
    held: list[np.ndarray] = []

    def encode_held() -> None:
        pixels = np.stack(held)
        held.clear()
        blocks: list[tuple[np.ndarray, Any]] = []

        def forward(batch: np.ndarray) -> None:
            encoded = towers.encode_pixels(pixels[batch])
            unit = torch.nn.functional.normalize(encoded.float(), dim=-1)
            blocks.append((batch, unit))

        with computing(towers.precision):
            budget.run(np.ones(len(pixels), dtype=np.int64), forward, towers.name)
        vectors.append(in_order(blocks))

    def decode(name: str) -> np.ndarray:
        return towers.pixels(open_image(name))

    # Images in parallel, one thread of torch each. The call of get_num_threads fixes
    # the number of this thread before that of later ones is set.
    torch.get_num_threads()
    one_thread = partial(torch.set_num_threads, 1)
    for pixels in decode_ahead(names, decode, workers, begin=one_thread):
        held.append(pixels)
        if len(held) == size:
            encode_held()
    if held:
        encode_held()
    return np.concatenate(vectors)


def in_order(blocks: Sequence[tuple[np.ndarray, Any]]) -> np.ndarray:
    """Return the vectors of batches in the order of their items, float32, shape (T, d).

    Parameters
    ----------
    blocks : sequence of (ndarray, tensor)
        Item numbers of each batch, and its vectors.
    """
    # The first copy waits for the device; on it the blocks are never in memory twice.
    vectors = np.concatenate([to_numpy(block) for _, block in blocks])
    ordered = np.empty_like(vectors)
    ordered[np.concatenate([batch for batch, _ in blocks])] = vectors
    return ordered
