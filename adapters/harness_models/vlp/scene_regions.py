"""Regions of rendered scenes: windows of the picture in place of a detector's boxes.

The regions are the whole picture and ``grid`` x ``grid`` evenly spaced windows of
half its side. The feature of a region is the EfficientNet-lite0 feature of its
window, enlarged to the size of the picture; its box is the window. The shares of the
window's pixels by hue (12 steps) and grey take the place of class probabilities, and
the largest share takes the place of the score.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from harness.contracts import Example
from harness.errors import HarnessError
from harness_models.shared.inputs.scenes import scene_of
from harness_models.vlp.regions import Regions, geometry
from harness_tasks.a3ds.efficientnet import WIDTHS, EfficientNetLite0
from harness_tasks.a3ds.render import SIZE, VERSION, render

HUES = 12
_GREY = 40
"""A pixel is grey if its largest and smallest colour values (0 to 255) differ by less
than this.
"""


class SceneRegions:
    """Regions of rendered A3DS scenes.

    Parameters
    ----------
    grid
        Number of windows along each side, 2 to 9.
    view
        Layer of the network: ``middle`` (640 numbers) or ``last`` (1280).
    """

    def __init__(self, grid: int = 3, view: str = "middle") -> None:
        if not isinstance(grid, int) or not 2 <= grid <= 9:
            raise HarnessError(
                f"scenes: grid is a whole number of windows from 2 to 9; found {grid!r}"
            )

        self.network = EfficientNetLite0(view=view)
        half = SIZE // 2
        offsets = np.linspace(0, SIZE - half, grid).round().astype(int).tolist()
        self.boxes = [
            (0, 0, SIZE, SIZE),
            *((x, y, x + half, y + half) for y in offsets for x in offsets),
        ]

        self.widths = (WIDTHS[view], 6 + HUES + 1)
        """Widths of a region's feature and of its geometry vector."""
        self.name = f"scenes:{VERSION}:efficientnet-lite0:{view}:{grid}"
        self._cache: dict[int, Regions] = {}

    def files(self) -> list[Path]:
        """Return an empty list: the regions are computed."""
        return []

    def check(self, examples: Sequence[Example]) -> None:
        """Compute the regions of all examples; raise
        :class:`~harness.errors.InputError` for an example that names no scene.
        """
        self.fetch(scene_of(example) for example in examples)

    def fetch(self, scenes: Iterable[int]) -> None:
        """Compute and store the regions of scenes that are not stored yet."""
        missing = sorted(set(scenes) - set(self._cache))
        for start in range(0, len(missing), 16):
            chunk = missing[start : start + 16]
            self._cache.update(zip(chunk, self._regions(render(chunk))))

    def read(self, example: Example) -> Regions:
        """Return the regions of the example's scene, features (1 + grid^2, 640 or
        1280).
        """
        scene = scene_of(example)
        self.fetch([scene])
        return self._cache[scene]

    def _regions(self, pictures: np.ndarray) -> Iterable[Regions]:
        """Yield the regions of each of the pictures (B, 64, 64, 3)."""
        windows = [pictures[:, y1:y2, x1:x2] for x1, y1, x2, y2 in self.boxes]
        enlarged = [
            w.repeat(SIZE // w.shape[1], axis=1).repeat(SIZE // w.shape[2], axis=2)
            for w in windows
        ]

        features = np.stack([self.network(window) for window in enlarged], axis=1)
        classes = np.stack([hue_shares(window) for window in windows], axis=1)

        for rows, shares in zip(features, classes):
            best = shares.argmax(1)
            boxes = np.column_stack([self.boxes, best, shares.max(1)])
            boxes = boxes.astype(np.float32)
            yield Regions(rows.astype(np.float32), geometry(boxes, shares))


def hue_shares(pictures: np.ndarray) -> np.ndarray:
    """Return the shares (B, 13) of the pixels of pictures (B, H, W, 3) uint8 by hue:
    twelve steps from red, then grey.

    Rows sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> hue_shares(np.array([[[[255, 0, 0], [128, 128, 128]]]], dtype=np.uint8))[
    ...     0, [0, 12]
    ... ].tolist()
    [0.5, 0.5]
    """
    flat = pictures.reshape(len(pictures), -1, 3).astype(np.int64)
    high = flat.max(-1)
    low = flat.min(-1)

    spread = np.maximum(high - low, 1)
    red, green, blue = np.moveaxis(flat, -1, 0)

    # in sixths of the circle
    near_green = (blue - red) / spread + 2
    near_blue = (red - green) / spread + 4
    other = np.where(high == green, near_green, near_blue)
    hue = np.where(high == red, (green - blue) / spread % 6, other)

    nearest = (hue * (HUES / 6) + 0.5).astype(np.int64) % HUES
    step = np.where(high - low < _GREY, HUES, nearest)
    return np.stack([(step == value).mean(1) for value in range(HUES + 1)], axis=1)
