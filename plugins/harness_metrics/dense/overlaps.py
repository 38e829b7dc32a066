"""Overlap of places: times, boxes in images and boxes in scenes.

Times are (n, 2): start and end in seconds. Boxes in images are (n, 4): left, top, right
and bottom. Boxes in scenes are (n, 8, 3): the corners, z up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

ACTIVITYNET_EPSILON = 1e-8
"""Term of the denominator of the tIoU of ``densevid_eval``, which puts an overlap of
exactly .5 below the threshold .5.
"""
BOX_TOLERANCE = 1e-3
"""Largest deviation of the corners from those of a box, in its longest side."""


def time_overlaps(
    first: np.ndarray, second: np.ndarray, epsilon: float = 0.0
) -> np.ndarray:
    """Return the tIoU of all pairs of times, (n, m), in [0, 1].

    The union is the smaller of the hull and the sum of both lengths, to whose value
    ``epsilon`` is added. Two times of no length have the overlap 0.

    >>> time_overlaps(np.array([[0.0, 10.0]]), np.array([[5.0, 15.0]])).round(
    ...     3
    ... ).tolist()
    [[0.333]]
    """
    start, end = first[:, None, 0], first[:, None, 1]
    other_start, other_end = second[None, :, 0], second[None, :, 1]
    common = np.maximum(
        0.0, np.minimum(end, other_end) - np.maximum(start, other_start)
    )
    hull = np.maximum(end, other_end) - np.minimum(start, other_start)
    lengths = (end - start) + (other_end - other_start)
    union = np.minimum(hull, lengths) + epsilon
    return np.divide(common, union, out=np.zeros_like(common), where=union > 0)


def box_overlaps(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the IoU of all pairs of boxes in an image, (n, m), in [0, 1].

    >>> box_overlaps(np.array([[0.0, 0, 2, 2]]), np.array([[1.0, 0, 3, 2]])).round(3)
    array([[0.333]])
    """
    return _aligned(first[:, :2], first[:, 2:], second[:, :2], second[:, 2:])


def scene_overlaps(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the IoU of the axis-aligned hulls of all pairs of boxes in a scene,
    (n, m), in [0, 1].
    """
    return _aligned(
        first.min(axis=1), first.max(axis=1), second.min(axis=1), second.max(axis=1)
    )


def _aligned(
    low: np.ndarray, high: np.ndarray, other_low: np.ndarray, other_high: np.ndarray
) -> np.ndarray:
    """Return the IoU of boxes (n, d) and (m, d) by their lowest and highest corners."""
    sides = np.minimum(high[:, None], other_high[None]) - np.maximum(
        low[:, None], other_low[None]
    )
    common = np.maximum(0.0, sides).prod(axis=2)
    sizes = (high - low).prod(axis=1)[:, None] + (other_high - other_low).prod(axis=1)
    union = sizes - common
    return np.divide(common, union, out=np.zeros_like(common), where=union > 0)


def oriented_scene_overlaps(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the IoU by volume of all pairs of boxes that are turned about z, (n, m),
    in [0, 1].
    """
    common, union = _volumes(first, second)
    return np.divide(common, union, out=np.zeros_like(common), where=union > 0)


def are_turned_boxes(places: np.ndarray) -> np.ndarray:
    """Return the mask of eight corners (n, 8, 3) that are a box turned about z, or have
    no volume, shape (n,).

    >>> corners = [
    ...     (x, y, z) for z in (0, 1) for x, y in ((0, 0), (0, 1), (1, 1), (1, 0))
    ... ]
    >>> are_turned_boxes(np.array([corners], dtype=float)).tolist()
    [True]
    """
    return np.array([_is_turned_box(box) for box in places], dtype=bool)


def _is_turned_box(box: np.ndarray) -> bool:
    sizes = np.ptp(box, axis=0)
    tolerance = BOX_TOLERANCE * sizes.max()
    ordered = box[np.argsort(box[:, 2], kind="stable")]
    base = _footprint(box)
    if not sizes.all() or _area(base) <= tolerance**2:
        return True
    top = ordered[4:, :2]
    levels = np.ptp(ordered[:4, 2]), np.ptp(ordered[4:, 2])
    # both diagonals of a rectangle have one middle and one length
    first, second = base[2] - base[0], base[3] - base[1]
    middles = base[0] + base[2] - base[1] - base[3]
    lengths = np.linalg.norm(first) - np.linalg.norm(second)
    distances = np.linalg.norm(base[:, None] - top[None], axis=2)
    gaps = [*levels, *abs(middles), abs(lengths)]
    gaps += [distances.min(axis=0).max(), distances.min(axis=1).max()]
    return max(gaps) <= tolerance


def generalised_scene_overlaps(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the generalised IoU (Rezatofighi et al. 2019) of all pairs of boxes that
    are turned about z, (n, m), in (-1, 1]; what encloses two boxes is aligned with the
    axes.
    """
    common, union = _volumes(first, second)
    low, high = first.min(axis=1)[:, None], first.max(axis=1)[:, None]
    other_low, other_high = second.min(axis=1), second.max(axis=1)
    sides = np.maximum(high, other_high) - np.minimum(low, other_low)
    hull = sides.prod(axis=2)
    return common / union - (hull - union) / hull


def _volumes(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the volumes of the intersection and of the union of all pairs of boxes
    that are turned about z, two arrays (n, m).

    The common area of the two footprints is that of a convex polygon, clipped edge by
    edge (Sutherland & Hodgman 1974); it is multiplied by the common height.
    """
    common = np.zeros((len(first), len(second)))
    footprints = [_footprint(box) for box in first]
    others = [_footprint(box) for box in second]
    touching: list[list[int]] = np.argwhere(scene_overlaps(first, second)).tolist()
    for row, column in touching:
        box, other = first[row, :, 2], second[column, :, 2]
        height = min(box.max(), other.max()) - max(box.min(), other.min())
        common[row, column] = height * _area(_clip(footprints[row], others[column]))
    volumes = _box_volumes(first, footprints)[:, None]
    return common, volumes + _box_volumes(second, others) - common


def _box_volumes(boxes: np.ndarray, footprints: Sequence[np.ndarray]) -> np.ndarray:
    """Return the volumes of boxes, shape (n,)."""
    areas = np.array([_area(polygon) for polygon in footprints])
    return areas * np.ptp(boxes[:, :, 2], axis=1)


def _footprint(box: np.ndarray) -> np.ndarray:
    """Return the four corners (4, 2) of a box seen from above, counter-clockwise."""
    lowest = box[np.argsort(box[:, 2], kind="stable")[:4], :2]
    centre = lowest.mean(axis=0)
    angles = np.arctan2(lowest[:, 1] - centre[1], lowest[:, 0] - centre[0])
    return lowest[np.argsort(angles)]


def _area(polygon: np.ndarray) -> float:
    """Return the area of a polygon (k, 2), by the shoelace formula."""
    if len(polygon) < 3:
        return 0.0
    x, y = polygon[:, 0], polygon[:, 1]
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def _clip(polygon: np.ndarray, window: np.ndarray) -> np.ndarray:
    """Return the part of a convex polygon that lies in a convex window, both
    counter-clockwise.
    """
    points = list(polygon)
    for start, end in zip(window, np.roll(window, -1, axis=0)):
        edge = end - start
        sides = [
            edge[0] * (point[1] - start[1]) - edge[1] * (point[0] - start[0])
            for point in points
        ]
        kept: list[np.ndarray] = []
        for k, point in enumerate(points):
            before, side = sides[k - 1], sides[k]
            if (before >= 0) != (side >= 0):
                share = before / (before - side)
                kept.append(points[k - 1] + share * (point - points[k - 1]))
            if side >= 0:
                kept.append(point)
        points = kept
    return np.array(points)
