"""Loading of specs: includes, variants, environment variables, ``--set``,
and errors with file and line.

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
from typing import Any, cast, get_args

import yaml
from pydantic import BaseModel, ValidationError

from harness.contracts import Parameters, Values
from harness.errors import InputError, did_you_mean, nearest_name
from harness.files.captions import check_text
from harness.files.secrets import (
    MIN_LENGTH,
    is_secret_variable,
    looks_like_key,
    remember,
    remember_keys,
)
from harness.files.yaml_source import MAX_DEPTH, Key, Located, YamlValue, load, loads
from harness.registry.permissions import check_permissions, check_secret
from harness.spec.conditions import VARIABLE, drop_unmet, extend_notice, holds
from harness.spec.judgment_models import JudgmentSpec
from harness.spec.models import Spec
from harness.spec.path_parameters import is_path
from harness.spec.published import resolve_references

_CONTENT = ("dataset", "judgments")
"""Keys that make a file a task of its own, not a fragment."""

MAX_BITS = 1024
"""Maximum size of a whole number."""
VIEWS = "views"


@dataclass(frozen=True)
class Loaded:
    """The places of the parts of a spec, for errors after validation."""

    located: Located

    def where(self, *key: str | int | float | bool) -> str:
        """Return ``file:line`` of a part of the spec."""
        return self.located.where(key)

    def in_file(self, *key: str | int | float | bool) -> bool:
        """Return True for a part of the spec that comes from a line of a file,
        not from the command line.
        """
        return self.located.place(key)[1] > 0


@dataclass(frozen=True)
class LoadedSpec(Loaded):
    """The spec of a run and the places of its parts."""

    spec: Spec


@dataclass(frozen=True)
class LoadedJudgments(Loaded):
    """A task of human judgments and the places of its parts."""

    spec: JudgmentSpec


SpecSource = str | Path | Parameters | Spec | Located
"""A file, the name of a shipped task, the content of a spec,
or a content with its places.
"""


def load_specs(
    source: SpecSource, overrides: Sequence[str] = (), **replace: YamlValue
) -> list[LoadedSpec | LoadedJudgments]:
    """Return the specs of a source: one, or several for a suite; a spec with the key
    ``judgments`` is a task of judgments.

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
        trees = [_variant(source, Path())]
    else:
        trees = _with_includes(*_find(str(source)), stack=())
    return [
        part
        for tree in trees
        for part in _split_aspects(_finish(tree, overrides, replace))
    ]


def load_written_spec(content: Parameters) -> LoadedSpec | LoadedJudgments:
    """Return the spec that a run has written into its manifest;
    paths in it are kept as they are.

    Raises :class:`InputError` for a secret whose environment variable is not set.
    """
    tree = Located(deepcopy(dict(content)), {(): ("manifest.json", 0)})
    tree.data = _expand(tree, tree.data, (), Path())
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
        return (
            entry.file,
            f"tasks/{entry.file.name}"
            if entry.provider == BUILT_IN
            else str(entry.file),
        )
    # a folder, a pipe: a task keeps its name beside a folder of that name
    if os.path.exists(path):
        return path, name
    nearest = _nearest(path, short, tasks) or " ('harness list tasks' shows the tasks)"
    raise InputError(f"no such spec file or task{nearest}", name)


def _nearest(path: Path, short: str, tasks: Iterable[str]) -> str:
    """Return ``; did you mean ...?`` with the nearest file beside ``path``,
    else with the nearest task.
    """
    folder = path.parent
    files = (
        sorted(folder.glob("*.yaml")) + sorted(folder.glob("*.yml"))
        if folder.is_dir()
        else []
    )
    nearest = nearest_name(path.name, [file.name for file in files])
    return (
        f"; did you mean '{folder / nearest}'?"
        if nearest
        else did_you_mean(short, tasks)
    )


# --------------------------------------------------------------------------- include
def _with_includes(path: Path, name: str, stack: tuple[Path, ...]) -> list[Located]:
    """Return the specs of a file with its includes merged;
    ``stack`` holds the files that include it.
    """
    resolved = path.resolve()
    tree = load(path, name)
    if not isinstance(tree.data, dict):
        raise InputError(
            f"a spec is a mapping of keys; found {type(tree.data).__name__}", name
        )
    tree = _variant(tree, path.parent)
    includes: YamlValue = tree.data.pop("include", None)
    if includes is None:
        return [tree]
    include_tree = Located(None, tree.part(("include",)))
    names: YamlValue = [includes] if isinstance(includes, str) else includes
    if not isinstance(names, list) or not all(
        isinstance(item, str) for item in cast("list[YamlValue]", names)
    ):
        raise InputError(
            "include is a file name or a list of file names", include_tree.where(())
        )
    bases: list[Located] = []
    for index, item in enumerate(cast("list[str]", names)):
        beside = path.parent / item
        target = beside if os.path.isfile(beside) else Path(item)
        # False, not an error, for a name that no file can have
        if not os.path.isfile(target):
            raise InputError(
                f"included file {_short(item)} does not exist",
                include_tree.where((index,)),
            )
        if target.resolve() in (*stack, resolved):
            chain = " -> ".join(p.name for p in (*stack, resolved, target.resolve()))
            raise InputError(
                f"the spec includes itself: {chain}", include_tree.where((index,))
            )
        bases.extend(_with_includes(target, str(target), (*stack, resolved)))
    full = [base for base in bases if _is_task(base)]
    fragments = [base for base in bases if not _is_task(base)]
    if _is_task(tree) or not full:
        return [_merge([*full, *fragments, tree])]
    if len(full) > 1 and "task" in tree.data:
        raise InputError(
            "a suite has no task name: each part has a run directory named after its "
            "own task; remove 'task'",
            tree.where(("task",)),
        )
    return [_merge([base, *fragments, tree]) for base in full]


def _is_task(tree: Located) -> bool:
    return any(name in tree.data for name in _CONTENT)


def _merge(trees: Iterable[Located]) -> Located:
    """Return the trees merged by their top-level keys;
    later trees override earlier ones.
    """
    merged = Located({}, {})
    for tree in trees:
        merged.locations[()] = tree.locations.get((), ("spec", 0))
        merged.replaced |= tree.replaced | (merged.data.keys() & tree.data.keys())
        merged.dropped |= tree.dropped
        if VIEWS in tree.data:  # views of the later file are for its keys
            merged.replaced = tree.replaced
        for key, value in tree.data.items():
            merged.put((key,), value, tree.part((key,)))
    return merged


# --------------------------------------------------------------------------- variants and strings
def _variant(tree: Located, folder: Path) -> Located:
    """Return the tree with its variant merged in, environment variables expanded and
    paths resolved beside ``folder``.
    """
    variants: YamlValue = tree.data.pop("variants", None)
    if variants is not None:
        variants_tree = Located(None, tree.part(("variants",)))
        if not isinstance(variants, list) or not all(
            isinstance(item, dict) for item in cast("list[YamlValue]", variants)
        ):
            raise InputError("variants is a list of mappings", variants_tree.where(()))
        for index, item in enumerate(cast("list[Values]", variants)):
            if not holds(
                item.pop("when", None), folder, variants_tree.where((index, "when"))
            ):
                continue
            item["variant"] = item.pop("name", f"variant {index + 1}")
            for key, value in item.items():
                tree.put((key,), value, variants_tree.part((index, key)))
            break
        else:
            raise InputError("no variant's 'when' holds", variants_tree.where(()))
    notes = drop_unmet(tree, folder)
    tree.data = _expand(tree, tree.data, (), folder)
    extend_notice(tree, notes)
    resolve_references(tree, folder)
    return tree


def _expand(tree: Located, value: YamlValue, key: Key, folder: Path) -> YamlValue:
    """Return a value with environment variables expanded and path parameters resolved
    beside ``folder``.
    """
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return {name: _expand(tree, item, (*key, name), folder) for name, item in items}
    if isinstance(value, list):
        return [
            _expand(tree, item, (*key, index), folder)
            for index, item in enumerate(cast("list[YamlValue]", value))
        ]
    if not isinstance(value, str):
        return value

    def replace(match: re.Match[str]) -> str:
        name = match["name"]
        text = os.environ.get(name) or match["default"]
        if text is None:
            raise InputError(
                f"the environment variable {name} is not set", tree.where(key)
            )
        if match["secret"] and len(text) < MIN_LENGTH:
            raise InputError(
                f"the secret {name} has {len(text)} characters; "
                f"expected at least {MIN_LENGTH}",
                tree.where(key),
            )
        if match["secret"] or is_secret_variable(name) or looks_like_key(text):
            if os.environ.get(name):
                check_secret(name, tree.where(key))
            remember(text, f"${{secret:{name}}}")
        return text

    text = VARIABLE.sub(replace, value)
    if (
        text
        and is_path(tree.data, key)
        and not Path(text).is_absolute()
        and os.path.exists(folder / text)
    ):
        return str(folder / text)
    return text


# --------------------------------------------------------------------------- --set and validation
def _finish(
    tree: Located, overrides: Sequence[str], replace: Parameters
) -> LoadedSpec | LoadedJudgments:
    """Return the validated spec of a tree with overrides and replaced top-level
    values.
    """
    for text in overrides:
        _set(tree, text)
    for name, value in replace.items():
        if value is not None:
            tree.put((name,), value, {(): (f"argument '{name}'", 0)})
    keys = {re.split(r"[.=]", text, maxsplit=1)[0] for text in overrides}
    keys |= {name for name, value in replace.items() if value is not None}
    tree.replaced = frozenset[str]() if VIEWS in keys else tree.replaced | keys
    model = JudgmentSpec if "judgments" in tree.data else Spec
    remember_keys(tree.data)
    _check_scalars(tree)
    check_permissions(tree)
    try:
        spec = model.model_validate(tree.data)
    except ValidationError as error:
        raise explain(error, tree, model) from None
    return (
        LoadedJudgments(tree, spec)
        if isinstance(spec, JudgmentSpec)
        else LoadedSpec(tree, spec)
    )


def _split_aspects(
    loaded: LoadedSpec | LoadedJudgments,
) -> list[LoadedSpec | LoadedJudgments]:
    """Return the tasks of a task: one per aspect of judgments whose column of scores is
    a mapping from aspects.
    """
    if not isinstance(loaded, LoadedJudgments) or not isinstance(
        loaded.spec.judgments.columns.score, dict
    ):
        return [loaded]
    source = loaded.spec.judgments
    parts: list[LoadedSpec | LoadedJudgments] = []
    for aspect, column in loaded.spec.judgments.columns.score.items():
        judgments = source.model_copy(
            update={"columns": source.columns.model_copy(update={"score": column})}
        )
        spec = loaded.spec.model_copy(
            update={"task": f"{loaded.spec.task}-{aspect}", "judgments": judgments}
        )
        parts.append(LoadedJudgments(loaded.located, spec))
    return parts


def _check_scalars(tree: Located) -> None:
    """Raise :class:`InputError` for texts that are no Unicode, and for numbers that no
    parameter holds, which cannot be printed either.
    """
    for key, value in tree.walk():
        if isinstance(value, str) and not value.isascii():
            check_text(value, tree.where(key), what="value")
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            raise InputError(
                f"a whole number of {value.bit_length():,} bits; "
                f"expected at most {MAX_BITS}",
                tree.where(key),
            )


def _set(tree: Located, text: str) -> None:
    """Apply a ``KEY=VALUE`` text to the tree;
    raise :class:`InputError` for a key that does not fit.
    """
    name, equals, raw = text.partition("=")
    if not equals or not name:
        raise InputError(
            "expected KEY=VALUE (for example decoding.temperature=0.7); "
            f"found '{text}'",
            "--set",
        )
    value = loads(raw, "--set").data if raw.strip() else ""
    steps = [
        int(step) if re.fullmatch(r"[0-9]{1,9}", step) else step
        for step in name.split(".")
    ]
    if len(steps) > MAX_DEPTH:
        raise InputError(
            f"a key has at most {MAX_DEPTH} parts; found {len(steps)}", "--set"
        )
    here: YamlValue = tree.data
    for depth, step in enumerate(steps):
        last = depth == len(steps) - 1
        try:
            if last:
                here[step] = value
            elif isinstance(here, dict):
                mapping = cast("dict[Any, Any]", here)
                # a component name without parameters becomes a mapping
                if isinstance(mapping.get(step), str):
                    mapping[step] = {mapping[step]: {}}
                here = mapping.setdefault(step, {})
            else:
                if isinstance(here[step], str):
                    here[step] = {here[step]: {}}
                here = here[step]
        except (TypeError, IndexError, KeyError):
            raise InputError(
                f"'{name}' is no key of the spec: no '{step}' in "
                f"{type(cast(object, here)).__name__}",
                "--set",
            ) from None
    tree.locations = {
        path: location
        for path, location in tree.locations.items()
        if path[: len(steps)] != tuple(steps)
    }
    short = text if len(text) <= 100 else f"{text[:97]}..."
    tree.locations[tuple(steps)] = (f"--set {short}", 0)


def explain(
    error: ValidationError, tree: Located, model: type[BaseModel] = Spec
) -> InputError:
    """Return the first problem of a validation as an error with file and line, the
    value and the expected ones.
    """
    problems = sorted(
        error.errors(),
        key=lambda e: (e["type"] != "extra_forbidden", tuple(map(str, e["loc"]))),
    )
    problem = problems[0]
    loc: Key = tuple(
        step for step in problem["loc"] if _in_data(tree.data, problem["loc"], step)
    )
    location = tree.where(loc)
    label = ".".join(map(str, loc))
    if problem["type"] == "extra_forbidden":
        options = _fields_at(loc[:-1], model)
        text = (
            f"unknown key '{loc[-1]}'{did_you_mean(str(loc[-1]), options)}; "
            f"keys here are {', '.join(options)}"
        )
        return InputError(text, location)
    if problem["type"] == "missing":
        return InputError(
            f"'{'.'.join(map(str, (*loc, problem['loc'][-1])))}' is missing", location
        )
    message = problem["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    suffix = "" if "found" in message else f"; found {_short(problem.get('input'))}"
    return InputError(f"{label}: {message}{suffix}" if label else message, location)


def _in_data(data: YamlValue, loc: Sequence[Any], last_step: YamlValue) -> bool:
    """Return True when ``part`` of a pydantic location is a key of the data,
    not the name of a union branch.
    """
    here: YamlValue = data
    for step in loc:
        is_key = isinstance(here, dict) and step in here
        is_index = (
            isinstance(here, list)
            and isinstance(step, int)
            and step < len(cast("list[YamlValue]", here))
        )
        if step == last_step:
            return is_key or is_index
        if is_key or is_index:
            here = cast("Any", here)[step]
    return False


def _fields_at(loc: Key, root: type[BaseModel]) -> list[str]:
    """Return the field names of the model at a path of ``root``;
    empty where there is none.
    """
    model: type[BaseModel] | None = root
    for step in loc:
        if isinstance(step, int):
            continue
        field = model.model_fields.get(str(step)) if model is not None else None
        model = _model_in(field.annotation) if field is not None else None
    if model is None:
        return []
    return [name for name in model.model_fields if name != "variant"] + (
        [] if loc else ["include", "variants"]
    )


def _model_in(annotation: object) -> type[BaseModel] | None:
    """Return the first model in a type annotation, such as that of
    ``list[ViewSpec] | None``.
    """
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(
        (
            model
            for argument in get_args(annotation)
            if (model := _model_in(argument)) is not None
        ),
        None,
    )


def _short(value: YamlValue) -> str:
    """Return a value as YAML on one line of at most 80 characters."""
    text = (
        yaml.safe_dump(value, default_flow_style=True).strip().removesuffix("\n...")
        if not isinstance(value, str)
        else repr(value)
    )
    return text if len(text) <= 80 else text[:77] + "..."
