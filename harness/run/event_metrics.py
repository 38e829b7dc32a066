"""Metrics of events beside metrics of captions: how files with times are read for
them.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from harness.errors import HarnessError, UnknownName
from harness.registry import current
from harness.run.file_options import FileOptions

NEED = "events"
"""Need of a metric that scores sets of events."""


def options_for(names: Iterable[str], options: FileOptions) -> FileOptions:
    """Return the options by which files are read for registered metrics: as sets of
    events where the metrics score these.

    Raises :class:`HarnessError` for metrics of events beside metrics of captions, and
    for events that are joined or separated before a metric of events.
    """
    by_name: dict[str, bool] = {}
    for name in names:
        with suppress(UnknownName):  # reported with its place when it is created
            by_name[name] = NEED in current().get("metrics", name).needs
    return options_by_need(by_name, options)


def options_by_need(of_events: dict[str, bool], options: FileOptions) -> FileOptions:
    """Return the options for metrics by name -> True for one of events; raises as
    :func:`options_for`.
    """
    events = [name for name, is_of_events in of_events.items() if is_of_events]
    others = [name for name in of_events if name not in events]
    if not events:
        if options.events == "sets" and others:
            raise HarnessError(
                f"metric '{others[0]}' scores captions, not sets of events; expected "
                "events: paragraph or separate, or a metric such as dense",
                parameter="events",
            )
        return options
    if others:
        raise HarnessError(
            f"metric '{events[0]}' scores sets of events and '{others[0]}' captions; "
            f"score them in two runs: '{others[0]}' with events: paragraph or "
            f"separate, or by the events as dense:text={others[0]}",
            parameter="metrics",
        )
    if options.events not in ("", "sets"):
        raise HarnessError(
            f"metric '{events[0]}' scores sets of events, and events: "
            f"{options.events} makes captions of them; leave events out",
            parameter="events",
        )
    return replace(options, events="sets")
