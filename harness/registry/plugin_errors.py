"""Exceptions that come from the code of a plugin, in one line that names the plugin and the place."""

from __future__ import annotations

import traceback
from pathlib import Path

from harness.errors import HarnessError
from harness.registry.catalogue import current
from harness.registry.manifest_files import BUILT_IN
from harness.registry.manifest_schema import Manifest


def plugin_failure(error: BaseException) -> str | None:
    """Return a line for an exception that was raised in, or below, the code of a plugin; None for any other.

    The innermost frame of a module that a manifest of a plugin names decides. A registry that cannot be read has no plugins; nor has
    one in a process that cannot open another file.
    """
    try:
        owners = _owners()
    except (HarnessError, OSError):
        return None
    frames = [(frame.f_globals.get("__name__", ""), frame, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    for name, frame, line in reversed(frames):
        provider = owners.get(str(name)) or owners.get(str(name).partition(".")[0])
        if provider is not None:
            text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            location = f"{Path(frame.f_code.co_filename).name}, line {line}"
            return f"the plugin '{provider}' failed: {text} ({location}; --debug shows the traceback)"
    return None


def _owners() -> dict[str, str]:
    """Return module, or package of a module, -> provider, for the modules that manifests of plugins name."""
    modules = [(module, manifest.provider) for manifest in current().manifests for module in _modules_of(manifest)]
    built_in = {"harness"} | {module.partition(".")[0] for module, provider in modules if provider == BUILT_IN}
    owners: dict[str, str] = {}
    for module, provider in modules:
        if module.partition(".")[0] not in built_in:  # a manifest may name a built-in component
            owners.setdefault(module, provider)
            owners.setdefault(module.partition(".")[0], provider)
    return owners


def _modules_of(manifest: Manifest) -> list[str]:
    """Return the modules of the components and hooks of a manifest."""
    targets = [*(entry.target for entry in manifest.entries), *manifest.hooks]
    return [module for module in (target.partition(":")[0] for target in targets) if module]
