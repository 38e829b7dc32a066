"""A timeline as HTML: a lane for each annotator and system, bars that can be chosen,
and lines between matched pairs.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from harness.contracts import Event
from harness.page.events.layout import (
    DrawnLane,
    clock_text,
    lay_out_lanes,
    length_of,
    ticks,
)
from harness.page.events.scenes import (
    EventPair,
    Scene,
    lane_text,
    score_text,
)
from harness.page.events.words import place_text
from harness.reporting.table import number

NAME, ROW, BAR, GAP = 20, 22, 18, 6
"""Heights of a name, of a row of bars, of a bar, and below a lane, in pixels."""
WORDY = 0.03
"""Width of a bar from which on its caption stands in it, as a share of the drawing."""
LAST = 85
"""Percentage of the drawing behind which a tick has its name on the left."""
SCALE = 1000
"""Width of the drawing of lines, which is stretched to that of the lanes."""


def timeline_html(scene: Scene, largest: float) -> str:
    """Return the lanes of a video; ``largest`` is the addend with the full colour."""
    lanes = lay_out_lanes(scene, NAME, ROW, GAP)
    name = html.escape(scene.id, quote=True)
    parts = [
        f"<div class='lanes' data-scope role='group' aria-label='Timeline of {name}'>",
        _joins(scene, lanes, largest),
    ]
    for k, own in enumerate(lanes):
        parts += _lane(scene, k, own, largest)
    length = length_of(scene)
    for tick in ticks(length):
        share = 100 * tick / length
        # the last name stands before its tick, inside the drawing
        place = f"class='tick' style='left:{share:.2f}%'"
        if share > LAST:
            place = f"class='tick end' style='right:{100 - share:.2f}%'"
        parts.append(f"<span {place}>{clock_text(tick, length)}</span>")
    return "".join([*parts, "</div>"])


def _joins(scene: Scene, lanes: Sequence[DrawnLane], largest: float) -> str:
    """Return the lines between matched pairs, from bar to bar."""
    centres = [
        {
            bar.position: (SCALE * (bar.left + bar.width / 2), own.top + bar.top)
            for bar in own.bars
        }
        for own in lanes
    ]
    height = sum(own.height for own in lanes)
    lines: list[str] = []
    for pair in scene.pairs:
        x, y = centres[pair.annotator][pair.reference]
        end_x, end_y = centres[pair.system][pair.prediction]
        place = f"x1='{x:.1f}' y1='{y + BAR}' x2='{end_x:.1f}' y2='{end_y}'"
        lines.append(join_line(pair, place, largest))
    return (
        f"<svg class='joins' viewBox='0 0 {SCALE} {height}' "
        f"style='height:{height}px' preserveAspectRatio='none' aria-hidden='true'>"
        f"{''.join(lines)}</svg>"
    )


def join_line(pair: EventPair, place: str, largest: float) -> str:
    """Return the line of a pair, with the numbers that a click shows."""
    match = pair.match
    share = match.score / largest if largest else 0.0
    return (
        f"<line {place} data-from='{pair.system}.{pair.prediction}' "
        f"data-to='{pair.annotator}.{pair.reference}' "
        f"data-words='overlap {number(match.overlap)} · words {number(match.text)} · "
        f"adds {number(match.score)}' style='--share:{share:.2f}'/>"
    )


def _lane(scene: Scene, number: int, own: DrawnLane, largest: float) -> Iterator[str]:
    """Yield a lane: its name, and its events as buttons."""
    first = min(k for k, lane in enumerate(scene.lanes) if lane.events)
    yield f"<div class='lane' style='height:{own.height}px'>{lane_name(scene, number)}"
    for bar in own.bars:
        place = (
            f"left:{100 * bar.left:.2f}%;width:{100 * bar.width:.2f}%;top:{bar.top}px"
        )
        yield event_button(
            scene,
            number,
            bar.position,
            bar.event,
            place,
            largest,
            is_first=number == first and bar is own.bars[0],
            has_words=bar.width >= WORDY,
        )
    yield "</div>"


def lane_name(scene: Scene, lane: int) -> str:
    """Return the heading of a lane: name, score, and what is not drawn."""
    own = scene.lanes[lane]
    remarks = [score_text(own)] if own.is_system else []
    if not own.events:
        remarks.append(lane_text(own))
    if own.left_out:
        total = len(own.events) + own.left_out
        remarks.append(f"the first {len(own.events):,} of {total:,} events")
    text = html.escape(own.name)
    rest = html.escape(" · ".join(filter(None, remarks)))
    return (
        f"<p class='who' dir='auto'>{text}"
        f"{f' <span class=soft>{rest}</span>' if rest else ''}</p>"
    )


def event_button(
    scene: Scene,
    lane: int,
    position: int,
    event: Event,
    place: str,
    largest: float,
    *,
    is_first: bool,
    has_words: bool = False,
) -> str:
    """Return the button of an event; its title is what it says, and ``has_words`` puts
    the caption into it.

    The first of a drawing is the one stop of the tab key: the arrow keys go on.
    """
    own = scene.lanes[lane]
    pairs = scene.partners.get((lane, position), ())
    best = max((pair.match.score for pair in pairs), default=0.0)
    share = best / largest if largest and own.is_system else 0.0
    kind = "system" if own.is_system else "people"
    alone = " alone" if own.is_system and not best else ""
    title = html.escape(f"{own.name}, {place_text(event)}: {event.text}", quote=True)
    index = "" if is_first else " tabindex='-1'"
    return (
        f"<button type='button' class='event {kind}{alone}'{index} "
        f"data-event='{lane}.{position}' style='{place};--share:{share:.2f}' "
        f"title='{title}'>{html.escape(event.text) if has_words else ''}</button>"
    )


def words_table(scene: Scene) -> str:
    """Return the events in words, with the partners of those of systems."""
    rows: list[str] = []
    for k, lane in enumerate(scene.lanes):
        for position, event in lane.events:
            cells = [lane.name, place_text(event), event.text]
            partners = scene.partners.get((k, position), ()) if lane.is_system else ()
            rows.append(_row([*cells, "; ".join(_partner(scene, p) for p in partners)]))
        if not lane.events:
            rows.append(_row([lane.name, "", lane_text(lane), ""]))
    heads = ("who", "place", "caption", "matched with")
    head = "".join(f"<th scope='col'>{text}</th>" for text in heads)
    name = html.escape(scene.id, quote=True)
    return (
        "<details><summary>All events in words</summary>"
        f"<div class='scroll' tabindex='0' role='region' aria-label='Events of {name}'>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        "</div></details>"
    )


def _row(cells: list[str]) -> str:
    texts = "".join(f"<td dir='auto'>{html.escape(cell)}</td>" for cell in cells)
    return f"<tr>{texts}</tr>"


def _partner(scene: Scene, pair: EventPair) -> str:
    """Return a partner of a predicted event in words."""
    lane = scene.lanes[pair.annotator]
    event = dict(lane.events)[pair.reference]
    match = pair.match
    return (
        f"{lane.name}, {place_text(event)}, {event.text!r}: overlap "
        f"{number(match.overlap)}, words {number(match.text)}, adds "
        f"{number(match.score)}"
    )
