"""Work of an adapter: tokens per second, requests, cost."""

from __future__ import annotations

from harness.contracts import CountsUsage, Timed, Values
from harness.run.progress import note


def work_of(adapter: object) -> Values:
    """Return the counts of an adapter since it was created; empty without any."""
    values: Values = {}
    if isinstance(adapter, Timed):
        values.update(adapter.timings())
    if isinstance(adapter, CountsUsage):
        values.update(adapter.usage())
    return values if any(values.values()) else {}


def print_speed(label: str, work: Values) -> None:
    """Print the tokens per second of a model on standard error, with the devices and the size of the batches."""
    speed = work.get("tokens_per_second")
    if speed:
        devices = ", ".join(map(str, work.get("devices") or ()))
        batches = f", batches of {work['batch_size']}" if work.get("batch_size") else ""
        note(f"{label}: {float(speed):,.0f} tokens/s{batches}{' on ' + devices if devices else ''}")
