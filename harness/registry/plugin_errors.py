"""Exceptions that come from the code of a plugin, in one line that names the plugin and the place."""

from __future__ import annotations

import traceback
from pathlib import Path

from harness.errors import HarnessError
from harness.registry.catalogue import current
from harness.registry.manifest_files import BUILT_IN


def plugin_failure(error: BaseException) -> str | None:
    """Return a line for an exception that was raised in, or below, the code of a plugin; None for any other.

    The innermost frame of a module that a manifest of a plugin names decides. A registry that cannot be read has no plugins; nor has
    one in a process that cannot open another file.
    """
    try:
        owners = _owners()
    except (HarnessError, OSError):
        return None
    frames = [
        (frame.f_globals.get("__name__", ""), frame, line) for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    for name, frame, line in reversed(frames):
        provider = owners.get(str(name)) or owners.get(str(name).partition(".")[0])
        if provider is not None:
            text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            place = f"{Path(frame.f_code.co_filename).name}, line {line}"
            return f"the plugin '{provider}' failed: {text} ({place}; --debug shows the traceback)"
    return None


def _owners() -> dict[str, str]:
    """Return module, or package of a module, -> provider, for the modules that manifests of plugins name."""
    owners: dict[str, str] = {}
    for manifest in current().manifests:
        if manifest.provider == BUILT_IN:
            continue
        modules = [entry.target.partition(":")[0] for entry in manifest.entries] + [
            hook.partition(":")[0] for hook in manifest.hooks
        ]
        for module in filter(None, modules):
            if module.partition(".")[0] != BUILT_IN:  # a manifest may name a built-in component
                owners.setdefault(module, manifest.provider)
                owners.setdefault(module.partition(".")[0], manifest.provider)
    return owners
