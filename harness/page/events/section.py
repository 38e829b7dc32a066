"""The section of a page with the events of a run: the entry ``events`` of
``report_sections``.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping

from harness.contracts import Values
from harness.page.events.boards import Picture, boards_html
from harness.page.events.pictures import pictures_of
from harness.page.events.scenes import Scenes, scenes_of
from harness.page.events.timeline import timeline_html, words_table
from harness.reporting.table import number
from harness.results import Run


class EventSection:
    """Timelines of videos and boxes over images."""

    title = "Events"

    def lines(self, run: Run) -> Iterator[str]:
        """Yield nothing: a terminal has the numbers."""
        yield from ()

    def values(self, run: Run) -> list[Values]:
        """Return nothing: the sets of events are in the samples."""
        return []

    def html(self, run: Run) -> str:
        """Return a drawing of each example, with its events in a table to unfold; empty
        for a run without sets of events.
        """
        drawn = scenes_of(run)
        boxes = [scene.id for scene in drawn.scenes if scene.geometry == "box"]
        return _drawings(drawn, pictures_of(run, boxes) if boxes else {})

    def html_without_images(self, run: Run) -> str:
        """Return the same with boxes alone, for ``--no-images``."""
        return _drawings(scenes_of(run), {})


def _drawings(drawn: Scenes, pictures: Mapping[str, Picture]) -> str:
    """Return the drawings of a run; empty without any."""
    if not drawn.scenes:
        return ""
    parts = [*_remarks(drawn)]
    for scene in drawn.scenes:
        if scene.geometry == "time":
            drawing = timeline_html(scene, drawn.largest)
        else:
            drawing = boards_html(scene, pictures.get(scene.id), drawn.largest)
        parts.append(
            f"<figure class='events'><figcaption><strong dir='auto'>"
            f"{html.escape(scene.id)}</strong></figcaption>{drawing}"
            "<div class='event-words' role='status'></div>"
            f"{words_table(scene)}</figure>"
        )
    return "".join(parts)


def _remarks(drawn: Scenes) -> Iterator[str]:
    """Yield how the drawings are read, and what they leave out."""
    geometries = {scene.geometry for scene in drawn.scenes}
    text = (
        "Annotators above, systems below; "
        if "time" in geometries
        else "A board for each system with the boxes of the annotators (dashed); "
    )
    matches = drawn.matches
    if matches.name and drawn.largest:
        text += (
            f"a line joins the two events of a pair that {matches.name} matched. The "
            "fuller the colour of a predicted event, the more its pair adds to the "
            f"score, at most {number(drawn.largest)} here; one with a broken edge adds "
            "nothing."
        )
    else:
        text += "the colour tells them apart."
    if "box3d" in geometries:
        text += " Boxes in scenes are their hulls, seen from above."
    yield f"<p class='soft'>{html.escape(text)}"
    yield (
        "<span class='script-only'> Select an event for its words and those of its "
        "partners; the arrow keys go from event to event.</span></p>"
    )
    if matches.name and drawn.largest:
        yield _scale(drawn.largest)
    for note in filter(None, (matches.note, drawn.note)):
        yield f"<p class='soft'>{html.escape(note)}</p>"


def _scale(largest: float) -> str:
    """Return the key of the colours."""
    steps = "".join(
        f"<span class='event system' style='--share:{k / 4:g}'></span>"
        for k in range(5)
    )
    return (
        "<p class='event-scale soft'><span><span class='event people'></span>annotator"
        f"</span><span>predicted, adds 0{steps}{number(largest)}</span>"
        "<span><span class='event system alone'></span>adds nothing</span></p>"
    )


SECTION = EventSection()
