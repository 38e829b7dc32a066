"""Deterministic pictures of the scenes by ray casting, 64 x 64 pixels; no download.

The scene is a room with a floor, four walls and one object in the middle. The camera is
on a circle around the object and is rotated by the orientation of the scene (-30 to 30
degrees), so that a corner of the room is visible behind the object. The lamp is above
the camera; shading is Lambertian, with a soft shadow of the object and a small
highlight.

Hues do not change the geometry: each of the 480 geometries (scale x shape x
orientation) is cast once, with 3 x 3 rays per pixel, and cached as four weights per
pixel (floor, wall, object, white). A picture is the weighted sum of three colours and
white.
"""

from __future__ import annotations

import colorsys
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from harness_tasks.a3ds.scene import check_ids, indices, labels

SIZE = 64
"""Width and height of a picture in pixels."""
VERSION = "a3ds-render-1"
"""Part of every cache key; it must change when a pixel changes."""

_RAYS = 3  # per side of a pixel
_HALF_ROOM = 3.0
_HEIGHT = 6.0
_EYE = np.array([0.0, 1.95, -5.2])
_LOOK_AT = np.array([0.0, 0.72, 0.0])
_FIELD = np.tan(np.radians(18.5))
_LAMP = np.array([-1.6, 5.0, -2.6])
_MATERIALS = 4  # floor, wall, object, white


class Hit(NamedTuple):
    """Intersections of rays with a surface."""

    distance: np.ndarray
    """``(R,)`` distances; inf for a miss."""
    normal: np.ndarray
    """``(R, 3)`` outward normals."""


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("...i,...i->...", a, b)


def _rotation(degrees: float) -> np.ndarray:
    angle = np.radians(degrees)
    cos = np.cos(angle)
    sin = np.sin(angle)
    return np.array([[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]])


def _camera_rays(degrees: float) -> tuple[np.ndarray, np.ndarray]:
    """Return origin ``(3,)`` and unit directions ``(R, 3)`` in the frame of the room,
    row by row from the top left.
    """
    forward = _LOOK_AT - _EYE
    forward /= np.linalg.norm(forward)
    right = np.cross([0.0, 1.0, 0.0], forward)
    up = np.cross(forward, right)
    count = SIZE * _RAYS
    grid = ((np.arange(count) + 0.5) / count * 2 - 1) * _FIELD
    x, y = np.meshgrid(grid, -grid)
    directions = forward + x[..., None] * right + y[..., None] * up
    directions /= np.sqrt(_dot(directions, directions))[..., None]
    turn = _rotation(degrees)
    return turn @ _EYE, directions.reshape(-1, 3) @ turn.T


def _box(
    origin: np.ndarray, rays: np.ndarray, low: np.ndarray, high: np.ndarray
) -> Hit:
    """Return the first intersections with an axis-aligned box (slab method)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        at_low = (low - origin) / rays
        at_high = (high - origin) / rays
    near = np.minimum(at_low, at_high)
    far = np.maximum(at_low, at_high)

    axis = near.argmax(-1)
    enter = near.max(-1)
    leave = far.min(-1)

    hit = (enter <= leave) & (enter > 1e-6)
    normal = np.zeros_like(rays)
    rows = np.arange(len(rays))
    normal[rows, axis] = -np.sign(rays[rows, axis])
    return Hit(np.where(hit, enter, np.inf), normal)


def _sphere(
    origin: np.ndarray, rays: np.ndarray, centre: np.ndarray, radius: float
) -> Hit:
    """Return the first intersections with a sphere."""
    offset = origin - centre
    b = _dot(rays, offset)
    root = b * b - (_dot(offset, offset) - radius * radius)
    distance = -b - np.sqrt(np.maximum(root, 0.0))
    distance = np.where((root > 0) & (distance > 1e-6), distance, np.inf)
    point = origin + np.where(np.isfinite(distance), distance, 0.0)[:, None] * rays
    return Hit(distance, (point - centre) / radius)


def _tube(
    origin: np.ndarray, rays: np.ndarray, radius: float, low: float, high: float
) -> Hit:
    """Return the first intersections with the side of an upright cylinder around the y
    axis.
    """
    a = rays[:, 0] ** 2 + rays[:, 2] ** 2
    b = rays[:, 0] * origin[..., 0] + rays[:, 2] * origin[..., 2]
    root = b * b - a * (origin[..., 0] ** 2 + origin[..., 2] ** 2 - radius * radius)
    distance = (-b - np.sqrt(np.maximum(root, 0.0))) / np.maximum(a, 1e-12)
    height = origin[..., 1] + distance * rays[:, 1]
    hit = (root > 0) & (distance > 1e-6) & (height >= low) & (height <= high)
    distance = np.where(hit, distance, np.inf)
    point = origin + np.where(hit, distance, 0.0)[:, None] * rays
    return Hit(distance, point * np.array([1.0, 0.0, 1.0]) / radius)


def _lid(origin: np.ndarray, rays: np.ndarray, radius: float, height: float) -> Hit:
    """Return the intersections with a horizontal disc around the y axis."""
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = (height - origin[..., 1]) / rays[:, 1]
    point = origin + np.where(np.isfinite(distance), distance, 0.0)[:, None] * rays
    hit = (distance > 1e-6) & (point[:, 0] ** 2 + point[:, 2] ** 2 <= radius * radius)
    return Hit(
        np.where(hit, distance, np.inf), np.broadcast_to([0.0, 1.0, 0.0], rays.shape)
    )


def _nearest(hits: list[Hit]) -> Hit:
    """Return the nearest of several intersections for each ray."""
    distances = np.stack([hit.distance for hit in hits])
    first = distances.argmin(0)
    rows = np.arange(distances.shape[1])
    return Hit(
        distances[first, rows], np.stack([hit.normal for hit in hits])[first, rows]
    )


def _object(origin: np.ndarray, rays: np.ndarray, shape: int, scale: float) -> Hit:
    """Return the first intersections with the block, cylinder, ball or pill on the
    floor in the middle of the room.
    """
    if shape == 0:
        half = 0.62 * scale
        low = np.array([-half, 0.0, -half])
        high = np.array([half, 2 * half, half])
        return _box(origin, rays, low, high)

    if shape == 1:
        radius = 0.62 * scale
        height = 1.3 * scale
        side = _tube(origin, rays, radius, 0.0, height)
        return _nearest([side, _lid(origin, rays, radius, height)])

    if shape == 2:
        radius = 0.74 * scale
        return _sphere(origin, rays, np.array([0.0, radius, 0.0]), radius)

    # The pill: a tube with a half sphere at each end.
    radius = 0.5 * scale
    height = 1.75 * scale
    ends = [
        _sphere(origin, rays, np.array([0.0, y, 0.0]), radius)
        for y in (radius, height - radius)
    ]
    return _nearest([_tube(origin, rays, radius, radius, height - radius), *ends])


def _room(origin: np.ndarray, rays: np.ndarray) -> tuple[Hit, np.ndarray]:
    """Return the intersections with the room from inside,
    and ``(R,)`` True where the surface is the floor.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        side = np.where(rays > 0, _HALF_ROOM, -_HALF_ROOM)
        side[:, 1] = np.where(rays[:, 1] > 0, _HEIGHT, 0.0)
        distances = (side - origin) / rays
    distances = np.where(np.abs(rays) < 1e-12, np.inf, distances)
    axis = distances.argmin(-1)
    rows = np.arange(len(rays))
    normal = np.zeros_like(rays)
    normal[rows, axis] = -np.sign(rays[rows, axis])
    return Hit(distances[rows, axis], normal), (axis == 1) & (rays[:, 1] < 0)


def _shadow(
    points: np.ndarray, lamp: np.ndarray, shape: int, scale: float
) -> np.ndarray:
    """Return ``(R,)`` shares of a lamp of 3 x 3 points that the object hides from each
    point.
    """
    hidden = np.zeros(len(points))
    for dx in (-0.35, 0.0, 0.35):
        for dz in (-0.35, 0.0, 0.35):
            ray = lamp + np.array([dx, 0.0, dz]) - points
            length = np.sqrt(_dot(ray, ray))
            hit = _object(points, ray / length[:, None], shape, scale)
            hidden += hit.distance < length
    return hidden / 9


def _behind_object(points: np.ndarray, lamp: np.ndarray) -> np.ndarray:
    """Return ``(R,)`` True for floor points near the line from the lamp through the
    object; only they can be in shadow.
    """
    away = -lamp[[0, 2]] / np.linalg.norm(lamp[[0, 2]])
    along = points[:, 0] * away[0] + points[:, 2] * away[1]
    across = points[:, 0] * away[1] - points[:, 2] * away[0]
    return (along > -1.6) & (np.abs(across) < 1.9)


def _shade(
    points: np.ndarray,
    normals: np.ndarray,
    lamp: np.ndarray,
    hidden: np.ndarray | float,
) -> np.ndarray:
    """Return ``(R,)`` Lambertian brightness with an ambient part."""
    towards = lamp - points
    towards /= np.sqrt(_dot(towards, towards))[:, None]
    lambert = np.clip(_dot(normals, towards), 0.0, None)
    return 0.45 + 0.6 * lambert * (1 - hidden)


def _corners(points: np.ndarray) -> np.ndarray:
    """Return ``(R,)`` factors that darken floor and walls towards their common
    edges.
    """
    gaps = np.sort(
        np.stack(
            [
                _HALF_ROOM - np.abs(points[:, 0]),
                _HALF_ROOM - np.abs(points[:, 2]),
                points[:, 1],
            ]
        ),
        axis=0,
    )
    return 1 - 0.3 * np.exp(-np.clip(gaps[1], 0.0, None) / 0.35)


@cache
def _geometry(scale_index: int, shape: int, orientation: int) -> np.ndarray:
    """Return float32 ``(64 * 64, 4)`` weights of the colours of floor, wall and object,
    and of white, in each pixel.
    """
    scales = labels()[3]
    angles = labels()[5]
    scale = float(scales[scale_index])
    # at -30 degrees the right corner of the room is visible
    angle = -float(angles[orientation])
    lamp = _rotation(angle) @ _LAMP
    origin, rays = _camera_rays(angle)
    weights = np.zeros((len(rays), _MATERIALS))

    behind, is_floor = _room(origin, rays)
    front = _object(origin, rays, shape, scale)
    on_object = front.distance < behind.distance
    distance = np.where(on_object, front.distance, behind.distance)
    points = origin + distance[:, None] * rays
    normals = np.where(on_object[:, None], front.normal, behind.normal)
    on_room = ~on_object
    hidden = np.zeros(len(rays))
    shaded = on_room & is_floor & _behind_object(points, lamp)
    hidden[shaded] = _shadow(points[shaded] + [0.0, 1e-4, 0.0], lamp, shape, scale)
    shade = _shade(points, normals, lamp, hidden)
    shade[on_room] *= _corners(points[on_room])

    # Each material has the light of the pixels that show it.
    weights[on_room & is_floor, 0] = shade[on_room & is_floor]
    weights[on_room & ~is_floor, 1] = shade[on_room & ~is_floor]
    weights[on_object, 2] = shade[on_object]
    weights[on_object, 3] = _highlight(
        points[on_object], normals[on_object], rays[on_object], lamp
    )

    grid = weights.reshape(SIZE, _RAYS, SIZE, _RAYS, _MATERIALS).mean((1, 3))
    return grid.reshape(SIZE * SIZE, _MATERIALS).astype(np.float32)


def _highlight(
    points: np.ndarray, normals: np.ndarray, rays: np.ndarray, lamp: np.ndarray
) -> np.ndarray:
    """Return ``(R,)`` weights of white: the specular highlight of the lamp."""
    half = lamp - points
    half = half / np.linalg.norm(half, axis=-1, keepdims=True) - rays
    half /= np.linalg.norm(half, axis=-1, keepdims=True)
    return 0.35 * np.clip(_dot(half, normals), 0.0, None) ** 60


@cache
def _palette() -> np.ndarray:
    """Return float32 ``(10, 3)`` colours of the hues 0, 0.1, ...,
    0.9 at saturation 0.9.
    """
    return np.array(
        [colorsys.hsv_to_rgb(hue, 0.9, 1.0) for hue in labels()[0]], dtype=np.float32
    )


def render(ids: Iterable[Any]) -> np.ndarray:
    """Return the pictures of scenes ``(B,)``, uint8 ``(B, 64, 64, 3)``;
    an id always has the same bytes.

    Raises :class:`~harness.errors.InputError` for an id outside 0...479,999.
    """
    values = indices(check_ids(ids))
    colours = np.ones((len(values), _MATERIALS, 3), dtype=np.float32)
    colours[:, :3] = _palette()[values[:, :3]]
    out = np.empty((len(values), SIZE * SIZE, 3), dtype=np.uint8)
    for row, (scale, shape, orientation) in enumerate(values[:, 3:].tolist()):
        light = _geometry(scale, shape, orientation) @ colours[row]
        np.minimum(light, 1.0, out=light)
        out[row] = light * 255.0 + 0.5
    return out.reshape(-1, SIZE, SIZE, 3)
