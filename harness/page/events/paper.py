"""Timelines and boxes as SVG for papers, in the widths and the font of the charts."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.contracts import Event
from harness.page.charts.chart import FONT, Layout
from harness.page.events.boards import BoardFrame, Picture, box_of, frame_of
from harness.page.events.layout import clock_text, lay_out_lanes, length_of, ticks
from harness.page.events.scenes import EventPair, Scene, Scenes, score_text
from harness.reporting.table import number

MOST_FIGURES = 6
"""Examples that become figures: the lowest and the highest ones."""
PEOPLE, SYSTEM, INK, SOFT = "#1a7f37", "#1f5fa8", "#000000", "#666666"
EDGE = 0.5
"""Width of lines in points."""
SPACE = 1.5
"""Space on both sides of a figure, so that no edge is cut."""


@dataclass(frozen=True)
class Figure:
    """A figure of an example."""

    id: str
    title: str
    caption: str
    scene: Scene
    largest: float
    picture: Picture | None = None

    def svg(self, layout: Layout) -> str:
        """Return the figure for a layout."""
        if self.scene.geometry == "time":
            return _timeline(self, layout)
        return _boards(self, layout)


def figures_of(
    drawn: Scenes, pictures: dict[str, Picture], prefix: str = ""
) -> list[Figure]:
    """Return the figures of the examples of a run."""
    figures: list[Figure] = []
    for k, scene in enumerate(drawn.scenes, 1):
        is_video = scene.geometry == "time"
        figures.append(
            Figure(
                f"{prefix}events-{k}",
                f"{'Timeline' if is_video else 'Boxes'} of {scene.id}",
                _caption(drawn, is_video=is_video),
                scene,
                drawn.largest,
                pictures.get(scene.id),
            )
        )
    return figures


def _caption(drawn: Scenes, *, is_video: bool) -> str:
    """Return how a figure is read."""
    caption = "Boxes of annotators (green, dashed) and of each system (blue)."
    if is_video:
        caption = "Annotators above (green), systems below (blue) with their scores."
    name = drawn.matches.name
    if not name or not drawn.largest:
        return caption
    if is_video:
        caption += (
            f" Lines join the pairs that {name} matched; a broken edge adds nothing."
        )
    return (
        f"{caption} The fuller the colour of a predicted event, the more its pair by "
        f"{name} adds to the score, at most {number(drawn.largest)}."
    )


def _svg(width: float, height: float, font: float, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" '
        f'height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
        f'font-family="{FONT}" font-size="{font:g}">'
        f'<rect width="{width:g}" height="{height:g}" fill="white"/>'
        f"{''.join(parts)}</svg>"
    )


def _text(
    x: float, y: float, text: str, colour: str = INK, anchor: str = "start"
) -> str:
    return (
        f'<text x="{x:.2f}" y="{y:.2f}" fill="{colour}" text-anchor="{anchor}">'
        f"{html.escape(text)}</text>"
    )


def fit_text(text: str, width: float, layout: Layout) -> str:
    """Return as much of a text as has room; empty where too little has.

    >>> from harness.page.charts.chart import SINGLE
    >>> (
    ...     fit_text("a dog runs", 100, SINGLE),
    ...     fit_text("a dog runs over grass", 40, SINGLE),
    ... )
    ('a dog runs', 'a dog runs…')
    """
    if layout.text_width(text) <= width:
        return text
    size = len(text)
    while size and layout.text_width(text[:size] + "…") > width:
        size -= 1
    return f"{text[:size].rstrip()}…" if size > 2 else ""


def _timeline(figure: Figure, layout: Layout) -> str:
    """Return the lanes of a video."""
    scene = figure.scene
    font = layout.font
    name, row, thickness = 1.35 * font, 1.75 * font, 1.45 * font
    width = layout.width - 2 * SPACE
    lanes = lay_out_lanes(scene, name, row)
    shapes: list[str] = []
    places: dict[tuple[int, int], tuple[float, float]] = {}
    for k, (lane, top, _, bars) in enumerate(lanes):
        score = score_text(lane) if lane.is_system else ""
        heading = fit_text(f"{lane.name} {score}".strip(), width, layout)
        shapes.append(_text(SPACE, top + font, heading))
        for bar in bars:
            x, y, size = SPACE + bar.left * width, top + bar.top, bar.width * width
            places[k, bar.position] = (x + size / 2, y)
            frame = BoardFrame(x, y, size, thickness)
            shapes.append(_rectangle(figure, k, bar.position, frame))
            words = fit_text(bar.event.text, size - 0.6 * font, layout)
            shapes.append(_text(x + 0.3 * font, y + 1.05 * font, words))

    joins = [_join(figure, pair, thickness, places) for pair in scene.pairs]
    height = sum(own.height for own in lanes)
    length = length_of(scene)
    axis: list[str] = []
    for tick in ticks(length, 4):
        share = tick / length
        anchor = "start" if share < 0.05 else "end" if share > 0.9 else "middle"
        place = SPACE + share * width
        axis.append(
            _text(place, height + 1.3 * font, clock_text(tick, length), SOFT, anchor)
        )
    return _svg(layout.width, height + 1.7 * font, font, [*joins, *shapes, *axis])


def _join(
    figure: Figure,
    pair: EventPair,
    thickness: float,
    places: dict[tuple[int, int], tuple[float, float]],
) -> str:
    """Return the line of a pair, from bar to bar."""
    x, y = places[pair.annotator, pair.reference]
    end_x, end_y = places[pair.system, pair.prediction]
    share = pair.match.score / figure.largest
    return (
        f'<line x1="{x:.2f}" y1="{y + thickness:.2f}" '
        f'x2="{end_x:.2f}" y2="{end_y:.2f}" '
        f'stroke="{INK}" stroke-opacity="{0.25 + 0.6 * share:.2f}" '
        f'stroke-width="{EDGE}"/>'
    )


def _rectangle(
    figure: Figure,
    lane: int,
    position: int,
    frame: BoardFrame,
    *,
    is_board: bool = False,
) -> str:
    """Return the shape of an event: edge, filling and dashes by its kind and score."""
    own = figure.scene.lanes[lane]
    pairs = figure.scene.partners.get((lane, position), ())
    best = max((pair.match.score for pair in pairs), default=0.0)
    colour = colour_inside = SYSTEM if own.is_system else PEOPLE
    opacity = 0.0 if is_board else 0.25
    if own.is_system:
        opacity = 0.5 * best / figure.largest if figure.largest else 0.0
    dashed = not own.is_system if is_board else own.is_system and not best
    if not is_board:
        # lines between pairs do not shine through
        colour_inside, opacity = _mix_with_white(colour, opacity), 1.0
    dash = f' stroke-dasharray="{4 * EDGE} {2 * EDGE}"' if dashed else ""
    left, top, width, height = (f"{value:.2f}" for value in frame)
    return (
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="1" '
        f'fill="{colour_inside}" fill-opacity="{opacity:.2f}" stroke="{colour}" '
        f'stroke-width="{EDGE * (2 if is_board else 1)}"{dash}/>'
    )


def _mix_with_white(colour: str, share: float) -> str:
    """Return a colour of which so much is left in white.

    >>> _mix_with_white("#1f5fa8", 0.0), _mix_with_white("#1f5fa8", 1.0)
    ('#ffffff', '#1f5fa8')
    """
    parts = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    mixed = (round(255 + (part - 255) * share) for part in parts)
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _boards(figure: Figure, layout: Layout) -> str:
    """Return the boards of an image or a scene side by side, in as many rows as they
    need.
    """
    scene = figure.scene
    font = layout.font
    frame = frame_of(scene, figure.picture)
    boards: list[int | None] = list(scene.systems) or [None]
    columns = layout.columns(len(boards))
    width = (layout.width - 2 * SPACE - layout.gap * (columns - 1)) / columns
    height = width * frame.height / frame.width
    parts: list[str] = []
    step = height + 2.2 * font
    for k, system in enumerate(boards):
        left = SPACE + (k % columns) * (width + layout.gap)
        top = step * (k // columns) + 1.4 * font
        parts += _board(
            figure, system, frame, BoardFrame(left, top, width, height), layout
        )
    rows = -(-len(boards) // columns)
    return _svg(layout.width, rows * step, font, parts)


def _board(
    figure: Figure,
    system: int | None,
    frame: BoardFrame,
    place: BoardFrame,
    layout: Layout,
) -> Iterator[str]:
    """Yield the heading, the image and the boxes of a board."""
    scene = figure.scene
    if system is not None:
        lane = scene.lanes[system]
        heading = fit_text(f"{lane.name} {score_text(lane)}", place.width, layout)
        yield _text(place.left, place.top - 0.4 * layout.font, heading)
    size = (
        f'x="{place.left:.2f}" y="{place.top:.2f}" width="{place.width:.2f}" '
        f'height="{place.height:.2f}"'
    )
    if figure.picture is not None:
        yield f'<image {size} href="{figure.picture.address}"/>'
    yield f'<rect {size} fill="none" stroke="{SOFT}" stroke-width="{EDGE}"/>'
    lanes = [*scene.annotators, *([] if system is None else [system])]
    for lane in lanes:
        for position, event in scene.lanes[lane].events:
            box = _on_board(event, frame, place)
            yield _rectangle(figure, lane, position, box, is_board=True)


def _on_board(event: Event, frame: BoardFrame, place: BoardFrame) -> BoardFrame:
    """Return the place of a box on a board, in the units of the figure."""
    left, top, right, bottom = box_of(event)
    scale = place.width / frame.width
    return BoardFrame(
        place.left + (min(left, right) - frame.left) * scale,
        place.top + (min(top, bottom) - frame.top) * scale,
        abs(right - left) * scale,
        abs(bottom - top) * scale,
    )
