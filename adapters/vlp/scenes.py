"""Regions of rendered scenes: no detector knows them, so windows of the picture stand in for its boxes.

The regions are the whole picture and ``grid`` x ``grid`` windows of half its side, evenly spaced. A region's feature is what
EfficientNet-lite0 sees in it (a window is first enlarged to the picture's size); its box is real. In place of a detector's class
probabilities stand the shares of the window's pixels by hue (12 steps) and grey, and in place of its score the largest of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from harness.adapters.shared.inputs.a3ds_inputs import scene_of
from harness.adapters.vlp.regions import Regions, geometry
from harness.contracts import Example
from harness.errors import HarnessError
from harness.tasks.a3ds.efficientnet import WIDTHS, EfficientNetLite0
from harness.tasks.a3ds.render import SIZE, VERSION, render

HUES = 12
_GREY = 40
"""A pixel whose largest and smallest colour differ by less is grey."""


class SceneRegions:
    """``grid``: windows along each side. ``view``: ``middle`` (640 numbers) or ``last`` (1280) of the network."""

    def __init__(self, grid: int = 3, view: str = "middle") -> None:
        if not isinstance(grid, int) or not 2 <= grid <= 9:
            raise HarnessError(f"scenes: grid is a number of windows from 2 to 9; found {grid!r}")
        self.network = EfficientNetLite0(view=view)
        half = SIZE // 2
        places = np.linspace(0, SIZE - half, grid).round().astype(int).tolist()
        self.boxes = [(0, 0, SIZE, SIZE), *((x, y, x + half, y + half) for y in places for x in places)]
        self.widths = (WIDTHS[view], 6 + HUES + 1)
        """Of a region and of its geometry vector."""
        self.name = f"scenes:{VERSION}:efficientnet-lite0:{view}:{grid}"
        self._known: dict[int, Regions] = {}

    def files(self) -> list[Path]:
        return []

    def check(self, examples: Sequence[Example]) -> None:
        """Compute the regions of all examples; raises :class:`~harness.errors.InputError` for one that is no scene."""
        self.fetch(scene_of(example) for example in examples)

    def fetch(self, scenes: Iterable[int]) -> None:
        wanted = sorted(set(scenes) - set(self._known))
        for start in range(0, len(wanted), 16):
            part = wanted[start : start + 16]
            self._known.update(zip(part, self._regions(render(part))))

    def read(self, example: Example) -> Regions:
        scene = scene_of(example)
        self.fetch([scene])
        return self._known[scene]

    def _regions(self, pictures: np.ndarray) -> Iterable[Regions]:
        """One :class:`Regions` per picture (B, 64, 64, 3)."""
        windows = [pictures[:, y1:y2, x1:x2] for x1, y1, x2, y2 in self.boxes]
        enlarged = [w.repeat(SIZE // w.shape[1], axis=1).repeat(SIZE // w.shape[2], axis=2) for w in windows]
        features = np.stack([self.network(window) for window in enlarged], axis=1)
        classes = np.stack([hue_shares(window) for window in windows], axis=1)
        for rows, shares in zip(features, classes):
            best = shares.argmax(1)
            boxes = np.column_stack([self.boxes, best, shares.max(1)]).astype(np.float32)
            yield Regions(rows.astype(np.float32), geometry(boxes, shares))


def hue_shares(pictures: np.ndarray) -> np.ndarray:
    """(B, 13) shares of the pixels of pictures (B, H, W, 3) uint8: twelve steps of hue from red on, then grey; rows sum to 1."""
    flat = pictures.reshape(len(pictures), -1, 3).astype(np.int64)
    high, low = flat.max(-1), flat.min(-1)
    spread = np.maximum(high - low, 1)
    red, green, blue = np.moveaxis(flat, -1, 0)
    hue = np.where(
        high == red,
        (green - blue) / spread % 6,
        np.where(high == green, (blue - red) / spread + 2, (red - green) / spread + 4),
    )  # sixths of the circle
    step = np.where(high - low < _GREY, HUES, (hue * (HUES / 6) + 0.5).astype(np.int64) % HUES)
    return np.stack([(step == value).mean(1) for value in range(HUES + 1)], axis=1)
