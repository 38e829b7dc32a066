"""Browser of examples in the terminal: a list of scores that is drawn line by line, and
the texts of the selected example.
"""

from __future__ import annotations

import asyncio
import math
import signal
from contextlib import suppress
from typing import ClassVar, cast

import numpy as np
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Footer, Input, Static

from caption_browser.example_list import (
    Detail,
    ExampleList,
    Quantity,
    Sort,
    Texts,
    matched,
    visible,
)
from harness.errors import HarnessError
from harness.reporting.table import ARROWS, number
from harness.results import Run

NO_BREAK = "\u00a0"
"""Space at which a line does not end."""
ID_WIDTH = 22
MIN_WIDTH = 12
MAX_WIDTH = 26
"""Width in characters of the column of ids, and smallest and largest width of a column
of numbers.
"""
TERMINATED = 143
"""Exit code after SIGTERM."""
MATCH = "bold green"
HEAD = "bold"
DIM = "dim"
HELP = "words of ids and texts, score<0.2, p<=0.05, diff>0.1"


class ScoreList(ScrollView, can_focus=True):
    """Heads, ids and numbers of the examples; only the visible lines are drawn,
    whatever the number of examples.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "previous", show=False),
        Binding("down,j", "move(1)", "next", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("home", "end(0)", "first", show=False),
        Binding("end", "end(1)", "last", show=False),
    ]

    class Selected(Message):
        """The cursor is on another example; ``number`` is that of the example."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(self, examples: ExampleList) -> None:
        super().__init__(id="list")
        self.examples = examples
        self.order = np.arange(len(examples))
        self.numbers = np.zeros((0, len(examples)))
        self.cursor = 0
        self.widths = [
            min(max(len(head) + 2, MIN_WIDTH), MAX_WIDTH) for head in examples.heads
        ]

    def show(self, order: np.ndarray, numbers: np.ndarray) -> None:
        """Show examples in an order, with numbers (S, E);
        the cursor goes to the first line.
        """
        self.order = order
        self.numbers = numbers
        self.cursor = 0
        self.virtual_size = Size(ID_WIDTH + sum(self.widths), len(order) + 1)
        self.scroll_to(0, 0, animate=False)
        self.refresh()
        self._announce()

    @property
    def selected(self) -> int | None:
        """Number of the example under the cursor; None for an empty list."""
        return int(self.order[self.cursor]) if len(self.order) else None

    def _announce(self) -> None:
        if self.selected is not None:
            self.post_message(self.Selected(self.selected))

    def move_to(self, line: int) -> None:
        """Put the cursor on a line and scroll to it."""
        self.cursor = min(max(line, 0), max(len(self.order) - 1, 0))
        self.scroll_to_region(
            Region(self.scroll_offset.x, self.cursor, 1, 2), animate=False
        )
        self.refresh()
        self._announce()

    def action_move(self, step: int) -> None:
        """Move the cursor by some lines."""
        self.move_to(self.cursor + step)

    def action_page(self, step: int) -> None:
        """Move the cursor by some pages."""
        self.move_to(self.cursor + step * max(self.size.height - 2, 1))

    def action_end(self, last: int) -> None:
        """Move the cursor to the first or last line."""
        self.move_to(len(self.order) - 1 if last else 0)

    def on_click(self, event: events.Click) -> None:
        """Select the line that was clicked."""
        if event.y > 0:
            self.move_to(self.scroll_offset.y + event.y - 1)

    def render_line(self, y: int) -> Strip:
        """Return a line of the visible part: the heads in the first one, below them id
        and numbers of an example each.
        """
        line = self.scroll_offset.y + y - 1
        if line >= len(self.order):
            return Strip.blank(self.size.width)
        if y == 0:
            first = "example"
            texts = list(self.examples.heads)
            style = Style(bold=True)
        else:
            example = int(self.order[line])
            first = self.examples.ids[example]
            texts = [number(float(value)) for value in self.numbers[:, example]]
            style = Style(reverse=True) if line == self.cursor else Style()
        cells = [
            cell(first, ID_WIDTH, right=False),
            *(cell(text, width) for text, width in zip(texts, self.widths)),
        ]
        strip = Strip([Segment("".join(cells), style)])
        return strip.crop_extend(
            self.scroll_offset.x, self.scroll_offset.x + self.size.width, style
        )


def cell(text: str, width: int, *, right: bool = True) -> str:
    """Return a text of exactly ``width`` terminal cells, cut with an ellipsis, with a
    blank at its end (left: at its start).
    """
    content = Text(visible(text))
    content.truncate(width - 1, overflow="ellipsis")
    room = " " * (width - 1 - content.cell_len)
    return f" {room}{content.plain}" if right else f"{content.plain}{room} "


class ExampleBrowser(App[None]):
    """The application ``harness inspect``."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #status { height: 1; background: $primary; color: $text; }
    #list { height: 2fr; }
    #detail { height: 3fr; border-top: solid $primary; }
    #query { display: none; }
    #query.open { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "metric(1)", "metric"),
        Binding("M", "metric(-1)", "previous metric", show=False),
        Binding("s", "sort(1)", "sort"),
        Binding("S", "sort(-1)", "previous order", show=False),
        Binding("r", "reverse", "reverse"),
        Binding("p", "quantity", "scores/p"),
        Binding("slash", "search", "search", key_display="/"),
        Binding("escape", "clear", "clear", show=False),
        Binding("tab", "switch", "texts/list", priority=True),
        Binding("q", "quit", "quit"),
    ]

    def __init__(self, run: Run, metric: str = "", query: str = "") -> None:
        super().__init__()
        self.examples = ExampleList(run)
        self.metric = metric or next(iter(self.examples.metrics), "")
        self.sort: Sort = "run"
        self.descending = True
        self.quantity: Quantity = "score"
        self.text_query = query
        self.directions = {
            record.metric: record.higher_is_better for record in run.records
        }
        self.title = f"harness inspect {run.path or run.provenance.task}"

    def compose(self) -> ComposeResult:
        """Yield the widgets."""
        with Vertical():
            yield Static(id="status", markup=False)
            yield ScoreList(self.examples)
            with VerticalScroll(id="detail"):
                yield Static(id="texts", markup=False)
            yield Input(self.text_query, placeholder=HELP, id="query")
        yield Footer()

    def on_mount(self) -> None:
        """Fill the list; SIGTERM ends the browser, so that the terminal is restored."""
        # Windows; a thread other than the main one
        with suppress(NotImplementedError, RuntimeError):
            asyncio.get_running_loop().add_signal_handler(
                signal.SIGTERM, self._terminated
            )
        self.query_one(ScoreList).focus()
        self._update()

    def _terminated(self) -> None:
        self.exit(return_code=TERMINATED)

    def _update(self) -> None:
        """Sort and filter the list anew, and draw the line of the state."""
        values = self.examples.values(self.metric, self.quantity)
        try:
            order = self.examples.order(
                self.metric,
                self.sort,
                quantity=self.quantity,
                descending=self.descending,
                query=self.text_query,
            )
        except HarnessError as error:
            self.notify(str(error), severity="warning")
            order = np.zeros(0, dtype=np.int64)
        self.query_one("#status", Static).update(Text(self.state(len(order))))
        self.query_one(ScoreList).show(order, values)
        if not len(order):
            self.query_one("#texts", Static).update(
                Text(
                    "no example matches"
                    if self.text_query
                    else "the run has no examples"
                )
            )

    def state(self, shown: int) -> str:
        """Return the line of the state: metric, quantity, order,
        numbers of examples, query.
        """
        arrow = ARROWS[self.directions.get(self.metric)].strip()
        order = (
            self.sort if isinstance(self.sort, str) else self.examples.heads[self.sort]
        )
        direction = "↓" if self.descending else "↑"
        parts = [
            f" {self.metric or 'no scores'} {arrow}".rstrip(),
            "p-values" if self.quantity == "p" else "scores",
            f"order: {visible(order)} {direction}",
            f"{shown:,} of {len(self.examples):,} examples",
            *([f"search: {visible(self.text_query)}"] if self.text_query else []),
        ]
        return " · ".join(parts)

    def on_score_list_selected(self, event: ScoreList.Selected) -> None:
        """Show the texts of the selected example."""
        detail = self.examples.detail(event.number)
        self.query_one("#texts", Static).update(detail_text(detail, self.metric))
        self.query_one("#detail", VerticalScroll).scroll_home(animate=False)

    def action_metric(self, step: int) -> None:
        """Show the next metric."""
        names = self.examples.metrics
        if names:
            self.metric = names[(names.index(self.metric) + step) % len(names)]
            if self.quantity == "p" and not self.examples.has_p(self.metric):
                self.quantity = "score"
            self._update()

    def action_sort(self, step: int) -> None:
        """Sort by the next key: order of the run, difference, each system."""
        keys: list[Sort] = [
            "run",
            *(["difference"] if len(self.examples.systems) > 1 else []),
        ]
        keys += list(range(len(self.examples.systems)))
        self.sort = keys[(keys.index(self.sort) + step) % len(keys)]
        self._update()

    def action_reverse(self) -> None:
        """Reverse the order."""
        self.descending = not self.descending
        self._update()

    def action_quantity(self) -> None:
        """Change between scores and p-values."""
        if not self.examples.has_p(self.metric):
            self.notify(
                f"{self.metric or 'the run'} has no p-values per example",
                severity="warning",
            )
            return
        self.quantity = "p" if self.quantity == "score" else "score"
        self._update()

    def action_search(self) -> None:
        """Open the search line."""
        field = self.query_one("#query", Input)
        field.add_class("open")
        field.focus()

    def action_clear(self) -> None:
        """Close the search line and show all examples."""
        field = self.query_one("#query", Input)
        field.value = ""
        field.remove_class("open")
        self.query_one(ScoreList).focus()
        if self.text_query:
            self.text_query = ""
            self._update()

    def action_switch(self) -> None:
        """Move the focus between the list and the texts."""
        target = "#detail" if self.query_one(ScoreList).has_focus else "#list"
        self.query_one(target).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Filter the list by the search line."""
        self.text_query = event.value.strip()
        if not self.text_query:
            event.input.remove_class("open")
        self.query_one(ScoreList).focus()
        self._update()


def detail_text(detail: Detail, metric: str) -> Text:
    """Return references and candidates of an example; words that occur in a reference
    are marked, scores stand above.
    """
    text = Text()
    text.append(f"{visible(detail.example)}\n", "bold underline")
    text.append("references\n", HEAD)
    _append_texts(text, detail.references, frozenset())
    for item in detail.systems:
        text.append(f"\n{visible(item.system)}", HEAD)
        for name, value, p in item.scores:
            score = f"{name} {number(value)}" + (
                "" if p is None or math.isnan(p) else f" (p {number(p)})"
            )
            text.append("  ")
            text.append(
                score.replace(" ", NO_BREAK), "bold cyan" if name == metric else DIM
            )
        text.append("\n")
        _append_texts(text, item.texts, detail.words)
    return text


def _append_texts(text: Text, texts: Texts, words: frozenset[str]) -> None:
    for content, times in texts.counted:
        text.append("  ")
        for part, hit in matched(content, words):
            text.append(visible(part), cast(str, MATCH if hit else ""))
        text.append(f"  × {times}\n" if times > 1 else "\n", DIM)
