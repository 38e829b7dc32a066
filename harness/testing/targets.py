"""From what the user names to what is checked: an instance, a class, ``package.module:Class``, or a name of the registry."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.contracts import CaptionSet, Decoding, Example
from harness.errors import HarnessError, MissingExtra, UnknownName, did_you_mean
from harness.registry import current, split_spec
from harness.registry.component_kinds import KINDS, SINGULAR
from harness.registry.manifest_schema import Entry
from harness.registry.parameter_checks import check_parameters
from harness.testing import sample_captions as samples
from harness.testing.results import Checks

_MARKS = {
    "metrics": ("stats", "evaluate_scores"),
    "distances": ("matrices",),
    "embeddings": ("encode",),
    "adapters": ("generate",),
}


def checks_of(kind: str) -> Checks:
    """The checks of a kind."""
    if kind == "metrics":
        from harness.testing import metric_conduct, model_metrics, null_checks
        from harness.testing.metrics import METRIC_CHECKS

        _ = metric_conduct, model_metrics, null_checks  # they add theirs
        return METRIC_CHECKS
    if kind == "distances":
        from harness.testing.distances import DISTANCE_CHECKS

        return DISTANCE_CHECKS
    if kind == "embeddings":
        from harness.testing.embeddings import EMBEDDING_CHECKS

        return EMBEDDING_CHECKS
    if kind == "adapters":
        from harness.testing.adapters import ADAPTER_CHECKS

        return ADAPTER_CHECKS
    from harness.testing.tasks import READER_CHECKS, TASK_CHECKS

    if kind not in ("readers", "tasks"):
        raise UnknownName(f"unknown kind '{kind}'{did_you_mean(kind, KINDS)}; kinds are {', '.join(KINDS)}")
    return READER_CHECKS if kind == "readers" else TASK_CHECKS


def subject_of(
    kind: str,
    component: Any,
    *,
    sets: Sequence[CaptionSet] | None = None,
    examples: Sequence[Example] | None = None,
    decoding: Decoding | None = None,
) -> Any:
    """What the checks of a kind take. Raises :class:`HarnessError` where the component cannot be made."""
    if kind == "tasks":
        from harness.testing.tasks import TaskSubject

        return TaskSubject(component)
    entry = None
    if isinstance(component, (str, Mapping)):
        entry = current().get(kind, split_spec(component, SINGULAR[kind])[0])
    made = instance(kind, component)
    if kind == "metrics":
        from harness.testing.metric_subject import MetricSubject

        return MetricSubject(made, sets, entry)
    if kind == "distances":
        from harness.testing.distances import DistanceSubject

        return DistanceSubject(made, sets or samples.caption_sets())
    if kind == "adapters":
        from harness.testing.adapters import AdapterSubject

        return AdapterSubject(made, examples or samples.examples(), decoding or Decoding())
    if kind == "embeddings":
        from harness.testing.embeddings import EmbeddingSubject

        return EmbeddingSubject(made)
    from harness.testing.tasks import ReaderSubject

    return ReaderSubject(made)


def instance(kind: str, component: Any, params: Mapping[str, Any] | None = None) -> Any:
    """A component from a name, ``{name: {params}}``, a class or function that makes one, or an instance."""
    if isinstance(component, (str, Mapping)):
        name, given = split_spec(component, SINGULAR[kind])
        return current().create(kind, name, {**given, **(params or {})})
    if not inspect.isclass(component) and not inspect.isfunction(component):
        return component
    values = dict(params or {})
    try:
        check_parameters(component.__name__, component, values)
    except UnknownName:
        raise
    except HarnessError as error:
        hint = f": give an instance, or --set {error.parameter}=..." if error.parameter not in values else ""
        raise HarnessError(f"{error.message}{hint}", parameter=error.parameter) from None
    return component(**values)


@dataclass(frozen=True)
class Target:
    """One thing to check, as ``harness check`` finds it."""

    kind: str
    label: str
    component: Any
    entry: Entry | None = field(default=None, compare=False)


def targets(text: str, kind: str | None = None, params: Mapping[str, Any] | None = None) -> list[Target]:
    """What ``text`` names: ``package.module:Class``, a task file, or a name of the registry (of every kind that has it).

    Raises :class:`UnknownName` or another :class:`HarnessError` where there is no such thing or it cannot be made.
    """
    if kind is not None:
        kind = kind if kind in KINDS else {SINGULAR[k]: k for k in KINDS}.get(kind, kind)
        checks_of(kind)
    if Path(text).suffix in (".yaml", ".yml"):
        if not Path(text).is_file():
            raise HarnessError(f"{text}: no such task file")
        return [Target("tasks", text, text)]
    if ":" in text:
        return [_imported(text, kind, params or {})]
    return _registered(text, kind, params or {})


def _imported(text: str, kind: str | None, params: Mapping[str, Any]) -> Target:
    module_name, _, attribute = text.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)  # code beside the working directory's registry.yaml
    try:
        found = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and not (module_name + ".").startswith(error.name + "."):
            raise MissingExtra(f"{module_name} needs the package '{error.name}', which is not installed") from error
        raise UnknownName(f"there is no module '{module_name}' (looked in the installation and in {here})") from error
    if not hasattr(found, attribute):
        raise UnknownName(f"{module_name} has no '{attribute}'{did_you_mean(attribute, vars(found))}")
    component = getattr(found, attribute)
    kind = kind or kind_of(component)
    if kind is None:
        raise HarnessError(f"{text}: tell what it is with --kind ({', '.join(KINDS)})")
    return Target(kind, text, instance(kind, component, params))


def kind_of(component: Any) -> str | None:
    """The kind whose methods the component has; None where there is none."""
    for kind, names in _MARKS.items():
        if any(hasattr(component, name) for name in names):
            return kind
    return "readers" if hasattr(component, "__iter__") and hasattr(component, "fingerprint") else None


def _registered(text: str, kind: str | None, params: Mapping[str, Any]) -> list[Target]:
    registry = current()
    prefix, _, rest = text.partition("/")
    if kind is None and prefix in KINDS and rest:
        kind, text = prefix, rest
    kinds = [kind] if kind else list(KINDS)
    entries = [e for e in registry.entries() if e.kind in kinds and text in (e.name, e.full_name, *e.aliases)]
    if not entries:
        names = [e.name for e in registry.entries() if e.kind in kinds]
        raise UnknownName(f"there is nothing called '{text}'{did_you_mean(text, names)} (or give package.module:Class)")
    found = []
    for entry in entries:
        if entry.kind == "tasks":
            found.append(Target("tasks", entry.full_name, str(entry.file), entry))
        else:
            found.append(Target(entry.kind, entry.full_name, {entry.full_name: dict(params)}, entry))
    return found
