"""What there is: names to components, read from manifests as data, imported only when used.

Manifests share one schema, whoever wrote them::

    api: 1
    provider: acme                      # defaults to the distribution or folder name
    requires_harness: ">=0.1,<1"
    metrics:
      my-metric: {import: "acme.metrics:Mine", summary: "...", extra: text, level: set}
    # or a list: [{name: my-metric, target: "acme.metrics:Mine", summary: "..."}]

They come from the harness itself, from installed distributions (entry-point group ``harness.manifests``, value = the
package that holds ``registry.yaml``; located without importing it), from ``registry.yaml`` in the working directory, and
from files given by hand. A name with two owners is an error when it is used; ``provider/name`` always works.
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, MissingExtra, UnknownName, did_you_mean
from harness.kinds import HIDDEN, KINDS, SINGULAR
from harness.manifests import Entry, Manifest, PluginFailure, find_manifests


@dataclass(frozen=True)
class Registry:
    """All entries by kind, and the plugins that could not be read."""

    manifests: tuple[Manifest, ...]
    failures: tuple[PluginFailure, ...] = ()

    def entries(self, kind: str | None = None) -> list[Entry]:
        """Entries of a kind (or all), sorted by kind, name, provider; raises :class:`UnknownName` for an unknown kind."""
        if kind is not None and kind not in (*KINDS, *HIDDEN):
            raise UnknownName(f"unknown kind '{kind}'{did_you_mean(kind, KINDS)}; kinds are {', '.join(KINDS)}")
        found = [entry for manifest in self.manifests for entry in manifest.entries if kind in (None, entry.kind)]
        return sorted(found, key=lambda entry: ((*KINDS, *HIDDEN).index(entry.kind), entry.name, entry.provider))

    def get(self, kind: str, name: str) -> Entry:
        """The one entry called ``name`` (or ``provider/name``, or an alias).

        Raises :class:`UnknownName` with the nearest name, :class:`HarnessError` naming both owners of a name given twice.
        """
        entries = self.entries(kind)
        found = [entry for entry in entries if name in (entry.name, entry.full_name, *entry.aliases)]
        if not found:
            names = [entry.name for entry in entries] + [alias for entry in entries for alias in entry.aliases]
            hint = did_you_mean(name, names) or (f" ('harness list {kind}' shows them)" if kind in KINDS else "")
            raise UnknownName(f"unknown {SINGULAR[kind]} '{name}'{hint}")
        if len(found) > 1:
            owners = " and ".join(f"'{entry.full_name}' ({entry.source})" for entry in found)
            raise HarnessError(
                f"the {SINGULAR[kind]} name '{name}' has {len(found)} owners: {owners}; use the full name"
            )
        return found[0]

    def load(self, kind: str, name: str) -> Any:
        """The object an entry points to, imported now; raises :class:`HarnessError` saying what failed and what to install."""
        entry = self.get(kind, name)
        if not entry.target:
            raise HarnessError(f"{SINGULAR[kind]} '{name}' is a file ({entry.path}), not an importable object")
        module_name, _, attribute = entry.target.partition(":")
        try:
            with entry.import_path():
                module = importlib.import_module(module_name)
            return getattr(module, attribute) if attribute else module
        except ModuleNotFoundError as error:
            raise MissingExtra(_missing_text(entry, error)) from error
        except HarnessError:
            raise
        except Exception as error:  # a broken plugin is reported by name; the original is chained
            raise HarnessError(
                f"{SINGULAR[kind]} '{entry.full_name}' ({entry.target}) could not be imported: {type(error).__name__}: {error}"
            ) from error

    def create(self, kind: str, name: str, params: Mapping[str, Any] | None = None) -> Any:
        """An instance: ``Class(**params)``; unknown parameters raise :class:`UnknownName` with the nearest one."""
        factory = self.load(kind, name)
        params = dict(params or {})
        _check_params(f"{SINGULAR[kind]} '{name}'", factory, params)
        made = factory(**params)
        if params and hasattr(made, "__dict__"):
            made.harness_parameters = params  # what default signatures are made of
        return made


def _missing_text(entry: Entry, error: ModuleNotFoundError) -> str:
    missing = (error.name or str(error)).split(".")[0]
    head = f"{SINGULAR[entry.kind]} '{entry.name}' needs the package '{missing}', which is not installed"
    if entry.provider == "harness" and entry.extra:
        return f"{head}: pip install 'caption-harness[{entry.extra}]'"
    return f"{head} (named by {entry.source})"


def parameters(factory: Any) -> dict[str, inspect.Parameter]:
    """Constructor parameters by name, without ``self`` and catch-alls."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {name: p for name, p in inspect.signature(factory).parameters.items() if p.kind in kinds}


def _check_params(what: str, factory: Any, params: Mapping[str, Any]) -> None:
    known = parameters(factory)
    catch_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in inspect.signature(factory).parameters.values())
    for name in params:
        if name not in known and not catch_all:
            expected = ", ".join(known) or "none"
            raise UnknownName(
                f"{what} has no parameter '{name}'{did_you_mean(name, known)}; parameters are: {expected}"
            )
    missing = [name for name, p in known.items() if p.default is inspect.Parameter.empty and name not in params]
    if missing:
        raise HarnessError(f"{what} needs the parameter '{missing[0]}'")


# --------------------------------------------------------------------------- the registry in use
@lru_cache(maxsize=8)
def _load(files: tuple[str, ...], directory: str, loaded: str | None) -> Registry:
    manifests, failures = find_manifests([Path(file) for file in files], Path(directory), loaded)
    return Registry(tuple(manifests), tuple(failures))


_extra_files: list[str] = []


def use_files(files: Sequence[str | Path]) -> None:
    """Add registry files for this process (``--registry FILE``)."""
    _extra_files.extend(str(Path(file).resolve()) for file in files)


def current() -> Registry:
    """The registry as seen from the working directory, with the files given by ``--registry``; cached."""
    return _load(tuple(dict.fromkeys(_extra_files)), os.getcwd(), os.environ.get("HARNESS_LOAD_PLUGINS"))


def split_spec(spec: Any, what: str) -> tuple[str, dict[str, Any]]:
    """``name`` or ``{name: {params}}`` as (name, params); raises :class:`HarnessError` for anything else.

    >>> split_spec({"trm": {"distance": "cider"}}, "metric")
    ('trm', {'distance': 'cider'})
    """
    if isinstance(spec, str):
        return spec, {}
    if isinstance(spec, Mapping) and len(spec) == 1:
        name, params = next(iter(spec.items()))
        if params is None or isinstance(params, Mapping):
            return str(name), dict(params or {})
    raise HarnessError(f"a {what} is a name or a mapping of one name to its parameters; found {spec!r}")


def resolve(kind: str, spec: Any) -> Any:
    """An instance from a name, a one-key mapping ``{name: {params}}``, or an instance (returned as it is)."""
    if not isinstance(spec, (str, Mapping)):
        return spec
    name, params = split_spec(spec, SINGULAR[kind])
    return current().create(kind, name, params)
