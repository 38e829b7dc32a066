"""Hooks that log every run to the services that ``HARNESS_LOGGERS`` names.

Without that variable they do nothing.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from caption_loggers.settings import VARIABLE, read_loggers
from harness.contracts import Parameters, Values
from harness.files.secrets import redact
from harness.registry.hooks import hookimpl

if TYPE_CHECKING:
    from caption_loggers.services import Service

_log = logging.getLogger(__name__)
_active: list[tuple[str, Service]] = []
"""Name and service of the loggers of the run in progress."""


@hookimpl
def harness_run_started(manifest: Values) -> None:
    """Open a run in every read_loggers service; raises HarnessError for an unknown
    logger, parameter or missing package.
    """
    _active.clear()
    if not os.environ.get(VARIABLE):
        return
    from caption_loggers.services import SERVICES

    names = {service: name for name, service in SERVICES.items()}
    with contextlib.redirect_stdout(sys.stderr):  # stdout belongs to the results
        for service, params in read_loggers(SERVICES):
            _active.append((names[service], service(manifest, **params)))


@hookimpl
def harness_scores_ready(record: Values) -> None:
    """Log the numbers of a record."""
    values = numbers_of(record)
    if values:
        _each(lambda service: service.record(values))


@hookimpl
def harness_run_finished(manifest: Values, results: list[Values]) -> None:
    """Log the table of results and end the runs."""
    rows = [row_of(record) for record in results]
    _each(lambda service: service.finish(rows))
    _active.clear()


@hookimpl
def harness_run_stopped(manifest: Values, error: BaseException | None) -> None:
    """End the runs as failed, with the error, or as interrupted;
    those of a part of a run without results.
    """
    if error is None:
        harness_run_finished(manifest, [])
        return
    text = " ".join(
        f"{type(error).__name__}: {redact(str(error))}".rstrip(": ").split()
    )[:300]
    _each(
        lambda service: service.stop(text, interrupted=not isinstance(error, Exception))
    )
    _active.clear()


def _each(action: Callable[[Service], None]) -> None:
    """Call an action on every logger; one that fails is reported once and left out of
    the rest of the run.
    """
    for item in list(_active):
        try:
            with contextlib.redirect_stdout(sys.stderr):
                action(item[1])
        except Exception as error:
            # a lost connection must not end a run that computes for hours
            _active.remove(item)
            text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            _log.warning(
                "note: logger %s failed and is left out of the rest of this run: %s",
                item[0],
                text,
            )


def numbers_of(record: Parameters) -> dict[str, float]:
    """Return the numbers of a result record by name, ``METRIC/SYSTEM`` and the same
    with ``/low``, ``/high`` and ``/p``, finite ones alone.

    >>> numbers_of(
    ...     {
    ...         "model": "m",
    ...         "metric": "cider",
    ...         "value": 1.0,
    ...         "ci95": [0.5, 1.5],
    ...     }
    ... )
    {'cider/m': 1.0, 'cider/m/low': 0.5, 'cider/m/high': 1.5}
    """
    model, decoding, metric, value, low, high, p_value, *_ = row_of(record)
    key = f"{metric}/{' '.join(filter(None, [str(model), str(decoding)]))}"
    values = {key: value, f"{key}/low": low, f"{key}/high": high, f"{key}/p": p_value}
    return {
        name: float(x)
        for name, x in values.items()
        if isinstance(x, (int, float)) and math.isfinite(x)
    }


def row_of(record: Parameters) -> list[object]:
    """Return a result record as a row of the table of results."""
    low, high = record.get("ci95") or (None, None)
    options: Parameters = record.get("decoding") or {}
    decoding = ", ".join(f"{name}={value}" for name, value in options.items())
    numbers = [record.get(name) for name in ("p_value", "n", "skipped")]
    return [
        record.get("model"),
        decoding,
        record.get("metric"),
        record.get("value"),
        low,
        high,
        *numbers,
    ]
