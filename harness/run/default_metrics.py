"""The metrics of a call that names none."""

from __future__ import annotations

from collections.abc import Mapping

from harness.contracts import ChecksInstallation
from harness.errors import HarnessError
from harness.registry import current


def default_metrics() -> tuple[list[str], Mapping[str, str]]:
    """Return the names of the default metrics, and the reason for each one that is left out.

    The registry gives built-in metrics the role ``default``, or ``default-if-installed``: these are left out where they lack
    a program or a file.
    """
    registry = current()
    names = [entry.name for entry in registry.all_with_role("metrics", "default")]
    left_out: dict[str, str] = {}
    for entry in registry.all_with_role("metrics", "default-if-installed"):
        try:
            metric = registry.create("metrics", entry.name)
            if isinstance(metric, ChecksInstallation):
                metric.check_installation()
            names.append(entry.name)
        except HarnessError as error:
            left_out[entry.name] = str(error)
    return names, left_out
