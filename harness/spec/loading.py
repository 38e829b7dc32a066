"""Loading of specs: includes, variants, environment variables, ``--set``, and errors
with file and line.

* ``include: [a.yaml, b.yaml]``: the keys of this file override those of the included
  files. When several included files have a ``dataset`` and this file has none, the file
  is a suite: one run per included data set, each with the keys of this file.
* ``variants:``: a list of ``{name, when: {exists: path}, ...keys}``; the first one
  whose ``when`` holds (or that has no ``when``) is merged into the spec. Models and
  metrics with a ``when`` that does not hold are left out
  (:mod:`harness.spec.conditions`).
* ``${NAME}`` and ``${NAME:-default}`` are expanded in every string; a variable that is
  not set is an error outside of ``when``. ``${secret:NAME}`` is expanded too, where the
  user allows it (:mod:`harness.registry.permissions`), and its value is kept out of
  everything that is written (:mod:`harness.files.secrets`).
* A relative path is resolved beside the spec file, and where no such file exists, in
  the working directory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from pydantic import ValidationError

from harness.contracts import Parameters
from harness.errors import InputError, did_you_mean, nearest_name
from harness.files.secrets import remember_keys
from harness.files.yaml_source import Located, YamlValue
from harness.registry.permissions import check_permissions
from harness.spec.includes import VIEWS, read_with_includes
from harness.spec.models import Spec
from harness.spec.overrides import apply_override
from harness.spec.task_kinds import find_kind, load_kind
from harness.spec.validation import check_scalars, explain
from harness.spec.variants import expand_variables, settle_variant

AnySpec = TypeVar("AnySpec")


@dataclass(frozen=True)
class Loaded:
    """The places of the parts of a spec, for errors after validation."""

    located: Located

    def where(self, *key: str | int | float | bool) -> str:
        """Return ``file:line`` of a part of the spec."""
        return self.located.where(key)

    def in_file(self, *key: str | int | float | bool) -> bool:
        """Return True for a part of the spec that comes from a line of a file, not
        from the command line.
        """
        return self.located.place(key)[1] > 0


@dataclass(frozen=True)
class LoadedSpec(Loaded):
    """The spec of a run and the places of its parts."""

    spec: Spec


@dataclass(frozen=True)
class LoadedTask(Loaded, Generic[AnySpec]):
    """The spec of a task of another kind (:mod:`harness.spec.task_kinds`), and the
    places of its parts.
    """

    kind: str
    spec: AnySpec


AnyLoaded = LoadedSpec | LoadedTask[Any]
"""The spec of a task of any kind."""


SpecSource = str | Path | Parameters | Spec | Located
"""A file, the name of a shipped task, the content of a spec, or a content with its
places.
"""


def load_specs(
    source: SpecSource, overrides: Sequence[str] = (), **replace: YamlValue
) -> list[AnyLoaded]:
    """Return the specs of a source: one, or several for a suite.

    Parameters
    ----------
    source : str, Path, mapping, Spec or Located
        A file, the name of a shipped task, or the content of a spec.
    overrides : sequence of str
        ``a.b=value`` texts, as for ``--set``.
    **replace
        Top-level values; None leaves a key unchanged.

    Raises
    ------
    InputError
        A mistake in the spec, with ``file:line``.
    """
    if isinstance(source, Spec):
        source = source.model_dump()
    if isinstance(source, Mapping):
        source = Located(deepcopy(dict(cast("Parameters", source))), {(): ("spec", 0)})
    if isinstance(source, Located):
        trees = [settle_variant(source, Path())]
    else:
        trees = read_with_includes(*_find(str(source)), stack=())
    loaded: list[AnyLoaded] = []
    for tree in trees:
        loaded += _split(_finish(tree, overrides, replace))
    return loaded


def load_written_spec(content: Parameters) -> AnyLoaded:
    """Return the spec that a run has written into its manifest; paths in it are kept as
    they are.

    Raises :class:`InputError` for a secret whose environment variable is not set.
    """
    tree = Located(deepcopy(dict(content)), {(): ("manifest.json", 0)})
    tree.data = expand_variables(tree, tree.data, (), Path())
    return _finish(tree, (), {})


def _find(name: str) -> tuple[Path, str]:
    """Return path and displayed name of the file ``name``, or of a task (``coco``,
    ``tasks/coco.yaml``, ``provider/name`` of a plugin).

    A shipped task keeps its bare name. Raises :class:`HarnessError` with both owners
    for a name that two plugins share.
    """
    path = Path(name)
    if os.path.isfile(path):
        return path, name
    from harness.registry import current
    from harness.registry.manifest_files import BUILT_IN

    short = re.sub(r"\.ya?ml$", "", name.removeprefix("tasks/"))
    tasks = {entry.name for entry in current().entries("tasks")}
    tasks |= {entry.full_name for entry in current().entries("tasks")}
    if short in tasks and not name.endswith(".yml"):
        entry = current().get("tasks", short)
        if entry.provider == BUILT_IN:
            return entry.file, f"tasks/{entry.file.name}"
        return entry.file, str(entry.file)

    # A folder, a pipe: a task keeps its name beside a folder of that name.
    if os.path.exists(path):
        return path, name
    nearest = _nearest(path, short, tasks) or " ('harness list tasks' shows the tasks)"
    raise InputError(f"no such spec file or task{nearest}", name)


def _nearest(path: Path, short: str, tasks: Iterable[str]) -> str:
    """Return ``; did you mean ...?`` with the nearest file beside ``path``, else with
    the nearest task.
    """
    folder = path.parent
    files: list[Path] = []
    if folder.is_dir():
        files = sorted(folder.glob("*.yaml")) + sorted(folder.glob("*.yml"))
    nearest = nearest_name(path.name, [file.name for file in files])
    if nearest:
        return f"; did you mean '{folder / nearest}'?"
    return did_you_mean(short, tasks)


def _finish(tree: Located, overrides: Sequence[str], replace: Parameters) -> AnyLoaded:
    """Return the validated spec of a tree with overrides and replaced top-level
    values.
    """
    for text in overrides:
        apply_override(tree, text)
    for name, value in replace.items():
        if value is not None:
            tree.put((name,), value, {(): (f"argument '{name}'", 0)})

    # Views of the file are for its keys: those that were replaced may name others.
    keys = {re.split(r"[.=]", text, maxsplit=1)[0] for text in overrides}
    keys |= {name for name, value in replace.items() if value is not None}
    tree.replaced = frozenset[str]() if VIEWS in keys else tree.replaced | keys

    kind = find_kind(tree.data)
    model = load_kind(kind).spec if kind else Spec
    remember_keys(tree.data)
    check_scalars(tree)
    check_permissions(tree)
    try:
        spec = model.model_validate(tree.data)
    except ValidationError as error:
        raise explain(error, tree, model) from None
    return LoadedTask(tree, kind, spec) if kind else LoadedSpec(tree, spec)


def _split(loaded: AnyLoaded) -> list[AnyLoaded]:
    """Return the tasks that the spec of a task describes."""
    if isinstance(loaded, LoadedSpec):
        return [loaded]
    specs = load_kind(loaded.kind).split(loaded.spec)
    return [LoadedTask(loaded.located, loaded.kind, spec) for spec in specs]
