"""Boxes as HTML: a board for each system over the image, where it is at hand, with the
boxes of the annotators.
"""

from __future__ import annotations

import html
from typing import NamedTuple

import numpy as np

from harness.contracts import Event
from harness.page.events.scenes import EventPair, Scene
from harness.page.events.timeline import event_button, join_line, lane_name

MARGIN = 0.03
"""Space around the boxes of a board without an image, as a share of its size."""
FLATTEST, TALLEST = 2.5, 1.4
"""Largest width over height, and height over width, of a board without an image."""


class Picture(NamedTuple):
    """An image, as small as a page has it."""

    address: str
    """Data URL."""
    size: tuple[int, int]
    """Width and height in the pixels in which boxes are given."""


class BoardFrame(NamedTuple):
    """Part of the plane that a board shows."""

    left: float
    top: float
    width: float
    height: float


def boards_html(scene: Scene, picture: Picture | None, largest: float) -> str:
    """Return a board for each system, or one for the annotators alone."""
    frame = frame_of(scene, picture)
    style = f" style='--picture:url({picture.address})'" if picture else ""
    parts = [f"<div class='boards'{style}>"]
    for system in scene.systems or [None]:
        parts.append(_board(scene, system, frame, picture is not None, largest))
    return "".join([*parts, "</div>"])


def box_of(event: Event) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of a box; of one in a scene the hull as seen
    from above, y upwards.
    """
    if event.geometry == "box":
        left, top, right, bottom = event.place
        return left, top, right, bottom
    corners = np.array(event.place).reshape(8, 3)
    low: list[float] = corners.min(axis=0).tolist()
    high: list[float] = corners.max(axis=0).tolist()
    return low[0], -high[1], high[0], -low[1]


def frame_of(scene: Scene, picture: Picture | None) -> BoardFrame:
    """Return the frame of the boards: the image, or all boxes with a margin."""
    boxes = np.array(
        [box_of(event) for lane in scene.lanes for _, event in lane.events]
    )
    if picture is not None:
        return BoardFrame(0.0, 0.0, *map(float, picture.size))
    low = np.minimum(boxes[:, :2], boxes[:, 2:]).min(axis=0)
    high = np.maximum(boxes[:, :2], boxes[:, 2:]).max(axis=0)
    centre = (low + high) / 2
    width, height = np.maximum(high - low, 1e-9) * (1 + 2 * MARGIN)
    # thin frames would have no room for what they show
    height = max(height, width / FLATTEST)
    width = max(width, height / TALLEST)
    left, top = centre[0] - width / 2, centre[1] - height / 2
    return BoardFrame(*map(float, (left, top, width, height)))


def _board(
    scene: Scene,
    system: int | None,
    frame: BoardFrame,
    has_picture: bool,
    largest: float,
) -> str:
    """Return the board of a system with the boxes of the annotators."""
    lanes = [*scene.annotators, *([] if system is None else [system])]
    kind = " with-picture" if has_picture else ""
    heading = "" if system is None else lane_name(scene, system)
    name = "annotators" if system is None else scene.lanes[system].name
    label = html.escape(f"Boxes of {name} in {scene.id}", quote=True)
    lines = [
        join_line(pair, _line(scene, pair, frame), largest)
        for pair in scene.pairs
        if pair.system == system
    ]
    # the smallest box is on top, so that it can be chosen within others
    shapes = [
        (k, position, event) for k in lanes for position, event in scene.lanes[k].events
    ]
    shapes.sort(key=lambda shape: -_area(shape[2]))
    buttons = "".join(
        event_button(
            scene,
            lane,
            position,
            event,
            _place(event, frame),
            largest,
            is_first=number == 0,
        )
        for number, (lane, position, event) in enumerate(shapes)
    )
    return (
        f"<div class='board-of'>{heading}<div class='board{kind}' data-scope "
        f"role='group' aria-label='{label}' "
        f"style='aspect-ratio:{frame.width:.6g}/{frame.height:.6g}'>{buttons}"
        "<svg class='joins' viewBox='0 0 1000 1000' preserveAspectRatio='none' "
        f"aria-hidden='true'>{''.join(lines)}</svg></div></div>"
    )


def _area(event: Event) -> float:
    left, top, right, bottom = box_of(event)
    return abs((right - left) * (bottom - top))


def _place(event: Event, frame: BoardFrame) -> str:
    """Return the place of a box on a board as style."""
    left, top, right, bottom = box_of(event)
    x = 100 * (min(left, right) - frame.left) / frame.width
    y = 100 * (min(top, bottom) - frame.top) / frame.height
    width = 100 * abs(right - left) / frame.width
    height = 100 * abs(bottom - top) / frame.height
    return f"left:{x:.2f}%;top:{y:.2f}%;width:{width:.2f}%;height:{height:.2f}%"


def _line(scene: Scene, pair: EventPair, frame: BoardFrame) -> str:
    """Return the ends of the line between the centres of two boxes."""
    ends: list[str] = []
    places = ((pair.annotator, pair.reference), (pair.system, pair.prediction))
    for number, (lane, position) in enumerate(places, 1):
        left, top, right, bottom = box_of(dict(scene.lanes[lane].events)[position])
        x = 1000 * ((left + right) / 2 - frame.left) / frame.width
        y = 1000 * ((top + bottom) / 2 - frame.top) / frame.height
        ends.append(f"x{number}='{x:.1f}' y{number}='{y:.1f}'")
    return " ".join(ends)
