"""Targets of a check: an instance, a class, ``package.module:Class``, a path,
or a name of the registry.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.contracts import CaptionSet, Decoding, Example, Parameters
from harness.contracts.parameters import check_parameters
from harness.errors import HarnessError, MissingExtra, UnknownName, did_you_mean
from harness.files.user_path import nearest_beside
from harness.programs.declared import component_of_entry
from harness.registry import Component, current, split_spec
from harness.registry.component_kinds import KINDS, SINGULAR
from harness.registry.function_components import component_of
from harness.registry.instance_checks import check_instance
from harness.registry.local_code import import_from
from harness.registry.manifest_files import BUILT_IN, FILE_NAME, find_manifests
from harness.registry.manifest_schema import Entry
from harness.testing import sample_captions
from harness.testing.adapters import ADAPTER_CHECKS, AdapterSubject
from harness.testing.distances import DISTANCE_CHECKS, DistanceSubject
from harness.testing.embeddings import EMBEDDING_CHECKS, EmbeddingSubject
from harness.testing.metric_conduct import CONDUCT_CHECKS, TOKEN_SCORE_CHECKS
from harness.testing.metric_dependence import DEPENDENCE_CHECKS
from harness.testing.metric_invariance import INVARIANCE_CHECKS
from harness.testing.metric_null import NULL_CHECKS
from harness.testing.metric_scores import SCORE_CHECKS
from harness.testing.metric_spec import SPEC_CHECKS
from harness.testing.metric_subject import MetricSubject, TokenScoreSubject
from harness.testing.metric_unusual_sets import UNUSUAL_SET_CHECKS
from harness.testing.results import Checks, Instance, describe_error
from harness.testing.tasks import READER_CHECKS, TASK_CHECKS, ReaderSubject, TaskSubject

METRIC_CHECKS = Checks("metrics").include(
    SPEC_CHECKS,
    SCORE_CHECKS,
    INVARIANCE_CHECKS,
    UNUSUAL_SET_CHECKS,
    CONDUCT_CHECKS,
    TOKEN_SCORE_CHECKS,
    NULL_CHECKS,
    DEPENDENCE_CHECKS,
)
ALL_CHECKS = {
    "adapters": ADAPTER_CHECKS,
    "tasks": TASK_CHECKS,
    "readers": READER_CHECKS,
    "metrics": METRIC_CHECKS,
    "distances": DISTANCE_CHECKS,
    "embeddings": EMBEDDING_CHECKS,
}
_METHODS = {
    "metrics": ("stats", "evaluate_scores"),
    "distances": ("matrices",),
    "embeddings": ("encode",),
    "adapters": ("generate",),
}
"""Methods that tell the kind of a component."""


def checks_of(kind: str) -> Checks:
    """Return the checks of a kind (``metrics``, ``adapters``, ...); raises
    :class:`UnknownName` for an unknown kind.
    """
    if kind not in ALL_CHECKS:
        raise UnknownName.of_name("unknown kind", kind, KINDS, "kinds are")
    return ALL_CHECKS[kind]


def subject_of(
    kind: str,
    component: Instance,
    *,
    sets: Sequence[CaptionSet] | None = None,
    examples: Sequence[Example] | None = None,
    decoding: Decoding | None = None,
) -> Instance:
    """Return the subject of the checks of a kind.

    Parameters
    ----------
    kind : str
        Plural kind: ``metrics``, ``adapters``, ...
    component : object
        An instance, a class or factory function, a name of the registry, or
        ``{name: {params}}``; the path of a task.
    sets : sequence of CaptionSet, optional
        Caption sets for metrics and distances.
    examples : sequence of Example, optional
        Examples for adapters.
    decoding : Decoding, optional
        Decoding for adapters.

    Raises
    ------
    HarnessError
        When the component cannot be constructed or lacks a member of its kind.
    """
    if kind == "tasks":
        return TaskSubject(component)

    entry = None
    if isinstance(component, (str, Mapping)):
        entry = current().get(kind, split_spec(component, SINGULAR[kind])[0])

    created = create_component(kind, component)
    instance = created.instance
    parameters = created.parameters or None
    check_instance(kind, f"{SINGULAR[kind]} '{_name(component, instance)}'", instance)

    if kind == "metrics":
        if instance.spec.level == "model":
            return TokenScoreSubject(instance, entry=entry, parameters=parameters)
        return MetricSubject(
            instance, captions=sets, entry=entry, parameters=parameters
        )
    if kind == "distances":
        return DistanceSubject(
            instance, sets=sets or sample_captions.caption_sets(), parameters=parameters
        )
    if kind == "adapters":
        return AdapterSubject(
            instance,
            examples=examples or sample_captions.examples(),
            decoding=decoding or Decoding(),
            parameters=parameters,
        )
    subject = {"embeddings": EmbeddingSubject, "readers": ReaderSubject}[kind]
    return subject(instance, parameters=parameters)


def _name(component: Instance, instance: Instance) -> str:
    if isinstance(component, (str, Mapping)):
        return split_spec(component, "component")[0]
    return type(instance).__name__


def create_component(
    kind: str, component: Instance, params: Parameters | None = None
) -> Component:
    """Return an instance with its parameters, from a name, ``{name: {params}}``, a
    class, a function, or an instance.

    Raises :class:`HarnessError` with one line for unknown parameters and for a
    constructor that raises.
    """
    component = component_of(component)
    if isinstance(component, Component):
        return component
    if isinstance(component, (str, Mapping)):
        name, values = split_spec(component, SINGULAR[kind])
        values = {**values, **(params or {})}
        label = f"{SINGULAR[kind]} '{name}'"
        factory = current().load(kind, name)
    elif inspect.isclass(component) or inspect.isfunction(component):
        label = component.__name__
        factory = component
        values = dict(params or {})
    else:
        return Component(component)

    try:
        check_parameters(label, factory, values)
    except UnknownName:
        raise
    except HarnessError as error:
        message = error.message
        if error.parameter not in values:
            message += f": give an instance, or params={{'{error.parameter}': ...}}"
        raise HarnessError(message, parameter=error.parameter) from None

    try:
        return Component(factory(**values), values)
    except HarnessError:
        raise
    except Exception as error:  # a constructor may raise anything; the cause is chained
        raise HarnessError(
            f"{label} cannot be constructed: {describe_error(error)}"
        ) from error


@dataclass(frozen=True)
class Target:
    """A component or task file to check, as ``harness check`` resolves it."""

    kind: str
    label: str
    component: Instance
    """A :class:`~harness.registry.Component`, a name with parameters,
    or the path of a task.
    """
    entry: Entry | None = field(default=None, compare=False)
    """Catalogue entry, for a name of the registry."""


def builtins() -> list[Target]:
    """Return the built-in metrics, distances and embeddings."""
    return [
        Target(kind, entry.name, entry.name)
        for kind in ("metrics", "distances", "embeddings")
        for entry in current().entries(kind)
        if entry.provider == BUILT_IN
    ]


def targets(
    text: str, kind: str | None = None, params: Parameters | None = None
) -> list[Target]:
    """Return the targets that a text names.

    Parameters
    ----------
    text : str
        ``package.module:Class``, a task file, a Python file, the folder of a plugin, or
        a name of the registry, which may exist in several kinds.
    kind : str, optional
        Restricts the kind; singular or plural.
    params : mapping, optional
        Constructor parameters.

    Raises
    ------
    UnknownName
        When nothing has the name.
    HarnessError
        When the component cannot be imported or constructed.
    """
    if kind is not None:
        plurals = {SINGULAR[name]: name for name in KINDS}
        kind = plurals.get(kind, kind)
        checks_of(kind)

    if Path(text).suffix in (".yaml", ".yml"):
        if not Path(text).is_file():
            raise HarnessError(f"{text}: no such task file")
        return [Target("tasks", text, text)]

    if ":" in text:
        return [_import_target(text, kind, params or {})]

    path = Path(text)
    if path.suffix == ".py":
        return _file_targets(path, kind, params or {})
    # a folder that has the name of a component does not hide it
    if path.is_dir() and not current().match_entries(kind or "metrics", text):
        return _folder_targets(path, kind, params or {})
    return _registry_targets(text, kind, params or {})


def _file_targets(path: Path, kind: str | None, params: Parameters) -> list[Target]:
    """Return the components that a Python file defines."""
    if not path.is_file():
        raise HarnessError(f"{path}: no such file")

    folder = path.resolve().parent
    name = path.stem
    # a module of a package is imported as one
    while (folder / "__init__.py").is_file():
        name = f"{folder.name}.{name}"
        folder = folder.parent

    values = vars(_import(name, folder))
    # what the module imports is not its own
    kinds = {
        key: kind_of(value)
        for key, value in values.items()
        if not key.startswith("_") and getattr(value, "__module__", "") == name
    }
    keys = [key for key, own in kinds.items() if own and kind in (None, own)]
    if not keys:
        raise HarnessError(
            f"{path} defines no component of "
            f"{kind or 'a kind that its methods tell'}: "
            "give package.module:Class with kind='KIND'"
        )
    return [_import_target(f"{name}:{key}", kind, params, folder) for key in keys]


def _folder_targets(path: Path, kind: str | None, params: Parameters) -> list[Target]:
    """Return the components that the manifest of a plugin's folder declares; it lies
    there, or in the package there.
    """
    files = sorted(
        file
        for pattern in ("", "*/", "src/*/")
        for file in path.glob(pattern + FILE_NAME)
    )

    if not files:
        raise HarnessError(
            f"{path} is a folder without {FILE_NAME}; "
            "expected the folder of a plugin ('harness new-plugin' writes one)"
        )

    # the package is imported from the folder that holds it
    folder = files[0].resolve().parent
    root = folder.parent if (folder / "__init__.py").is_file() else folder

    manifest = find_manifests(files[:1], path, "", local=False)[0][-1]
    entries = [entry for entry in manifest.entries if kind in (None, entry.kind)]
    return [
        Target("tasks", entry.name, str(entry.file), entry)
        if entry.kind == "tasks"
        else _program_target(entry, params)
        if entry.declaration
        else _import_target(entry.target, entry.kind, params, root)
        for entry in entries
        if entry.kind in KINDS
    ]


def _program_target(entry: Entry, params: Parameters) -> Target:
    """Return the target of an entry with ``command``, created."""
    created = create_component(entry.kind, component_of_entry(entry), params)
    return Target(entry.kind, entry.full_name, created, entry)


def _import_target(
    text: str, kind: str | None, params: Parameters, folder: Path | None = None
) -> Target:
    module_name, _, attribute = text.partition(":")

    module = _import(module_name, folder)
    if not hasattr(module, attribute):
        raise UnknownName.of_name(f"{module_name} has no", attribute, vars(module))

    component = component_of(getattr(module, attribute))
    kind = kind or kind_of(component)
    if kind is None:
        raise HarnessError(
            f"{text}: its kind is not clear from its methods; "
            f"give kind='KIND' ({', '.join(KINDS)})"
        )

    created = create_component(kind, component, params)
    check_instance(kind, f"{SINGULAR[kind]} '{text}'", created.instance)
    return Target(kind, text, created)


def _import(module_name: str, below: Path | None = None) -> Instance:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)  # code beside the working directory's registry.yaml
    try:
        if below is None:
            return importlib.import_module(module_name)
        return import_from(below, module_name, f"'harness check {below}'")
    except ModuleNotFoundError as error:
        if error.name and not (module_name + ".").startswith(error.name + "."):
            raise MissingExtra(
                f"{module_name} needs the package '{error.name}', "
                "which is not installed"
            ) from error
        raise UnknownName(
            f"there is no module '{module_name}' (searched the installation and "
            f"{folder})",
            value=module_name,
        ) from error
    except HarnessError:
        raise
    except Exception as error:  # a module may raise anything; the cause is chained
        raise HarnessError(
            f"{module_name} cannot be imported: {describe_error(error)}"
        ) from error


def kind_of(component: Instance) -> str | None:
    """Return the kind whose methods the component has, or None."""
    component = component_of(component)
    for kind, names in _METHODS.items():
        if any(hasattr(component, name) for name in names):
            return kind
    # iterables are many, so a reader is told by its fingerprint too
    if hasattr(component, "__iter__") and hasattr(component, "fingerprint"):
        return "readers"
    return None


def _registry_targets(text: str, kind: str | None, params: Parameters) -> list[Target]:
    registry = current()
    prefix, _, bare_name = text.partition("/")
    if kind is None and prefix in KINDS and bare_name:
        kind = prefix
        text = bare_name

    kinds = [kind] if kind else list(KINDS)
    entries = [
        entry
        for single_kind in kinds
        for entry in registry.match_entries(single_kind, text)
    ]

    if not entries:
        names = [entry.name for entry in registry.entries() if entry.kind in kinds]
        folder = nearest_beside(text)
        if folder and Path(text).with_name(folder).is_dir():
            names.append(str(Path(text).with_name(folder)))
        raise UnknownName(
            f"there is nothing called '{text}'{did_you_mean(text, names)} (or give "
            "package.module:Class)"
        )

    return [
        Target("tasks", entry.full_name, str(entry.file), entry)
        if entry.kind == "tasks"
        else Target(entry.kind, entry.full_name, {entry.full_name: dict(params)}, entry)
        for entry in entries
    ]
