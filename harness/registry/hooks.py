"""Hooks: behaviour that plugins add to a run, called by pluggy (ordering, wrappers and
historic calls as pluggy documents them).

A distribution names its hook module with the entry-point group ``harness``, a manifest
with the key ``hooks:``. Hook modules are imported when a run starts (or when an unknown
command is given), never by ``harness list``. Implementations are marked with
:data:`hookimpl`.
"""

from __future__ import annotations

import importlib
import os
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pluggy

from harness.contracts import Values
from harness.errors import HarnessError, MissingExtra
from harness.registry.catalogue import Registry
from harness.registry.in_use import current
from harness.registry.local_code import import_from
from harness.registry.manifest_files import BUILT_IN, kept_providers
from harness.registry.manifest_schema import Manifest, PluginFailure

spec = pluggy.HookspecMarker("harness")
hookimpl = pluggy.HookimplMarker("harness")


class Hooks:
    """Hook specifications."""

    @spec
    def harness_run_started(self, manifest: Values) -> None:
        """Called when a run begins; ``manifest`` is the content of manifest.json."""

    @spec
    def harness_scores_ready(self, record: Values) -> None:
        """Called with each result record (as in results.json)."""

    @spec
    def harness_run_finished(self, manifest: Values, results: list[Values]) -> None:
        """Called when the run is finished and on disk."""

    @spec
    def harness_run_stopped(
        self, manifest: Values, error: BaseException | None
    ) -> None:
        """Called in place of ``harness_run_finished`` when the run ends with an
        exception, also by Ctrl-C or SIGTERM.

        ``error`` is None at the end of a part of a run (``--shard``), which has no
        results of its own.
        """

    @spec
    def harness_report_sections(
        self, manifest: Values, results: list[Values]
    ) -> list[dict[str, str]]:  # type: ignore[empty-body]
        """Return further sections of the report: mappings with ``title`` and
        ``html``.
        """

    @spec
    def harness_commands(self, subparsers: Any) -> None:
        """Add subcommands to the command line (an argparse subparsers object); each
        sets ``run=function(args) -> int``.
        """


class Plugins:
    """Loaded hook modules and the failures of those that could not be loaded."""

    def __init__(self) -> None:
        self.manager = pluggy.PluginManager("harness")
        self.manager.add_hookspecs(Hooks)
        self.failures: list[PluginFailure] = []

    def load(self, registry: Registry) -> Plugins:
        """Import the hook modules of entry points and of the registry's manifests, and
        return self.

        A module that cannot be imported is recorded in ``failures``, or raised when
        ``HARNESS_STRICT_PLUGINS=1``.
        """
        for name, load in (*_entry_points(registry), *_manifest_hooks(registry)):
            if self.manager.has_plugin(name):
                continue
            try:
                module = load()
                # Named by an entry point and by a manifest.
                if self.manager.is_registered(module):
                    continue
                self.manager.register(module, name=name)
                self.manager.check_pending()
            except Exception as error:
                if os.environ.get("HARNESS_STRICT_PLUGINS") == "1":
                    raise
                if self.manager.has_plugin(name):
                    self.manager.unregister(name=name)
                reason = f"{type(error).__name__}: {error}"
                self.failures.append(PluginFailure(name, "hooks", reason, error))
        return self

    @contextmanager
    def running(self, manifest: Values) -> Generator[None]:
        """Context of a run: calls ``harness_run_started``, and ``harness_run_stopped``
        where the start or the block raises.
        """
        try:
            self.call("harness_run_started", manifest=manifest)
            yield
        except BaseException as error:
            try:
                self.call("harness_run_stopped", manifest=manifest, error=error)
            except HarnessError as other:
                # The first error is the one to report.
                error.add_note(str(other))
            raise

    def call(self, hook: str, **arguments: Any) -> list[Any]:
        """Call one hook through pluggy and return the results of the plugins.

        Raises :class:`HarnessError` with the names of the plugins that implement the
        hook when one of them raises.
        """
        caller = getattr(self.manager.hook, hook)
        try:
            return caller(**arguments)
        except MissingExtra:
            # One plain line, which names the package and how to install it.
            raise
        except Exception as error:
            name = _plugin_of(error, caller)
            text = str(error)
            if not isinstance(error, HarnessError):
                text = f"{type(error).__name__}: {text}"
            raise HarnessError(f"plugin '{name}' failed in {hook}: {text}") from error


def _entry_points(registry: Registry) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield name and import of each hook module that an entry point names."""
    providers = kept_providers(os.environ.get("HARNESS_LOAD_PLUGINS"))
    for point in registry.hook_points:
        distribution = point.dist.name if point.dist is not None else ""
        if providers is None or point.name in providers or distribution in providers:
            yield point.name, point.load


def _manifest_hooks(registry: Registry) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield name and import of each hook module that a manifest names."""
    for manifest in registry.manifests:
        for target in manifest.hooks:

            def load(target: str = target, manifest: Manifest = manifest) -> object:
                module, _, attribute = target.partition(":")
                if manifest.local:
                    owner = f"hooks of {manifest.source}"
                    imported = import_from(manifest.folder, module, owner)
                else:
                    imported = importlib.import_module(module)
                return getattr(imported, attribute) if attribute else imported

            yield f"{manifest.provider}:{target}", load


def _plugin_of(error: BaseException, caller: pluggy.HookCaller) -> str:
    """Return the name of the plugin whose implementation is on the traceback, else the
    names of all implementations.
    """
    implementations = caller.get_hookimpls()
    by_code = {
        getattr(implementation.function, "__code__", None): implementation.plugin_name
        for implementation in implementations
    }
    traceback = error.__traceback__
    name = ""
    while traceback is not None:
        name = by_code.get(traceback.tb_frame.f_code, name)
        traceback = traceback.tb_next
    if name:
        return name
    return ", ".join(implementation.plugin_name for implementation in implementations)


def plugin_failure(error: BaseException) -> str | None:
    """Return a line for an exception that was raised in, or below, the code of a
    plugin; None for any other.

    The innermost frame of a module that a manifest of a plugin names decides. A
    registry that cannot be read has no plugins; nor has one in a process that cannot
    open another file.
    """
    try:
        owners = _owners()
    except (HarnessError, OSError):
        return None

    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        name = str(frame.f_globals.get("__name__", ""))
        provider = owners.get(name) or owners.get(name.partition(".")[0])
        if provider is not None:
            text = type(error).__name__
            if str(error):
                text = f"{text}: {error}"
            location = f"{Path(frame.f_code.co_filename).name}, line {line}"
            return (
                f"the plugin '{provider}' failed: {text} ({location}; "
                "--debug shows the traceback)"
            )
    return None


def _owners() -> dict[str, str]:
    """Return module, or package of a module, -> provider, for the modules that
    manifests of plugins name.
    """
    modules = [
        (module, manifest.provider)
        for manifest in current().manifests
        for module in _modules_of(manifest)
    ]
    built_in = {"harness"} | {
        module.partition(".")[0] for module, provider in modules if provider == BUILT_IN
    }
    owners: dict[str, str] = {}
    for module, provider in modules:
        # A manifest may name a built-in component.
        if module.partition(".")[0] not in built_in:
            owners.setdefault(module, provider)
            owners.setdefault(module.partition(".")[0], provider)
    return owners


def _modules_of(manifest: Manifest) -> list[str]:
    """Return the modules of the components and hooks of a manifest."""
    targets = [*(entry.target for entry in manifest.entries), *manifest.hooks]
    modules = [target.partition(":")[0] for target in targets]
    return [module for module in modules if module]
