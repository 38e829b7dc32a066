"""Hooks: behaviour that plugins add. All of them are additive; an error names the plugin.

A distribution names its hook module with entry-point group ``harness``; it is imported when a run starts (or when an
unknown command is asked for), never by ``harness list``. Implementations are marked with :data:`hookimpl`.
"""

from __future__ import annotations

import importlib.metadata
import os
from typing import Any

import pluggy

from harness.errors import HarnessError
from harness.manifests import PluginFailure

spec = pluggy.HookspecMarker("harness")
hookimpl = pluggy.HookimplMarker("harness")


class Hooks:
    """The hook specifications."""

    @spec
    def harness_run_started(self, manifest: dict[str, Any]) -> None:
        """A run begins; ``manifest`` is what manifest.json holds."""

    @spec
    def harness_scores_ready(self, record: dict[str, Any]) -> None:
        """One result record (as in results.json) is there."""

    @spec
    def harness_run_finished(self, manifest: dict[str, Any], results: list[dict[str, Any]]) -> None:
        """The run is done and on disk."""

    @spec
    def harness_report_sections(self, manifest: dict[str, Any], results: list[dict[str, Any]]) -> list[dict[str, str]]:  # type: ignore[empty-body]
        """Further sections of the report: mappings with ``title`` and ``html``."""

    @spec
    def harness_commands(self, subparsers: Any) -> None:
        """Add subcommands to the command line (an argparse subparsers object); each sets ``run=function(args) -> int``."""


class Plugins:
    """The loaded hook modules and what failed to load."""

    def __init__(self) -> None:
        self.manager = pluggy.PluginManager("harness")
        self.manager.add_hookspecs(Hooks)
        self.failures: list[PluginFailure] = []

    def load(self) -> Plugins:
        """Import every hook module; a broken one is recorded (or raised when HARNESS_STRICT_PLUGINS=1)."""
        only = os.environ.get("HARNESS_LOAD_PLUGINS")
        keep = None if only is None else {name.strip() for name in only.split(",") if name.strip()}
        for point in sorted(importlib.metadata.entry_points(group="harness"), key=lambda p: (p.name, p.value)):
            if keep is not None and point.name not in keep and (point.dist is None or point.dist.name not in keep):
                continue
            try:
                self.manager.register(point.load(), name=point.name)
                self.manager.check_pending()
            except Exception as error:
                if os.environ.get("HARNESS_STRICT_PLUGINS") == "1":
                    raise
                if self.manager.has_plugin(point.name):
                    self.manager.unregister(name=point.name)
                self.failures.append(PluginFailure(point.name, "hooks", f"{type(error).__name__}: {error}", error))
        return self

    def call(self, hook: str, **arguments: Any) -> list[Any]:
        """Call one hook on every plugin; a plugin that raises is named."""
        out: list[Any] = []
        for implementation in getattr(self.manager.hook, hook).get_hookimpls():
            names = {name: arguments[name] for name in implementation.argnames}
            try:
                value = implementation.function(**names)
            except Exception as error:
                raise HarnessError(
                    f"plugin '{implementation.plugin_name}' failed in {hook}: {type(error).__name__}: {error}"
                ) from error
            if value is not None:
                out.append(value)
        return out
