"""From a YAML file to specs: includes, variants, environment variables, ``--set``, and errors with file and line.

* ``include: [a.yaml, b.yaml]``: what the included files give lies beneath this file's own keys. When several of them bring a
  ``dataset`` and this file brings none, it is a suite: one run for each, this file's keys on top.
* ``variants:``: a list of ``{name, when: {exists: path}, ...keys}``; the first whose ``when`` holds (or that has none) is merged in.
* ``${NAME}`` and ``${NAME:-default}`` are expanded in every string; a name that is not set is an error outside of ``when``.
* a relative path is looked up beside the spec file first, then in the working directory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from harness.errors import InputError, did_you_mean, nearest_name
from harness.files.yaml_source import Key, Located, load, loads
from harness.spec.models import Spec
from harness.spec.path_parameters import is_path

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


@dataclass(frozen=True)
class LoadedSpec:
    """A spec and the places of its parts, for errors found later than by validation."""

    spec: Spec
    located: Located

    def where(self, *key: str | int | float | bool) -> str:
        """``file:line`` of a part of the spec."""
        return self.located.where(key)

    def in_file(self, *key: str | int | float | bool) -> bool:
        """Whether a part of the spec stands in a line of a file (and not on the command line)."""
        return self.located.place(key)[1] > 0


SpecSource = str | Path | Mapping[str, Any] | Spec | Located
"""A file, the name of a shipped task, the content of a spec, or a content with places."""


def load_specs(source: SpecSource, overrides: Sequence[str] = (), **replace: Any) -> list[LoadedSpec]:
    """The specs of a file (one, or several for a suite), a mapping (with places, where it has any), or a :class:`Spec`.

    ``overrides`` are ``a.b=value`` strings, ``replace`` top-level values. Raises :class:`InputError` with ``file:line``.
    """
    if isinstance(source, Spec):
        source = source.model_dump()
    if isinstance(source, Mapping):
        source = Located(dict(source), {(): ("spec", 0)})
    if isinstance(source, Located):
        trees = [_variant(source, Path.cwd())]
    else:
        trees = _with_includes(*_find(str(source)), stack=())
    return [_finish(tree, overrides, replace) for tree in trees]


def _find(name: str) -> tuple[Path, str]:
    """The file called ``name``, or the shipped task of that name (``coco``, ``tasks/coco.yaml``)."""
    path = Path(name)
    if path.exists():
        return path, name
    from harness.registry import current

    tasks = {entry.name: entry for entry in current().entries("tasks")}
    short = re.sub(r"\.ya?ml$", "", name.removeprefix("tasks/"))
    if short in tasks and not name.endswith(".yml"):
        return tasks[short].file, f"tasks/{tasks[short].file.name}"
    raise InputError(f"no such spec file or task{_nearest(path, short, tasks)}", name)


def _nearest(path: Path, short: str, tasks: Iterable[str]) -> str:
    """The nearest file beside ``path``, else the nearest task."""
    folder = path.parent
    files = sorted(folder.glob("*.yaml")) + sorted(folder.glob("*.yml")) if folder.is_dir() else []
    nearest = nearest_name(path.name, [file.name for file in files])
    return f"; did you mean '{folder / nearest}'?" if nearest else did_you_mean(short, tasks)


# --------------------------------------------------------------------------- include
def _with_includes(path: Path, shown: str, stack: tuple[Path, ...]) -> list[Located]:
    resolved = path.resolve()
    tree = load(path, shown)
    if not isinstance(tree.data, dict):
        raise InputError(f"a spec is a mapping of keys; found {type(tree.data).__name__}", shown)
    tree = _variant(tree, path.parent)
    includes = tree.data.pop("include", None)
    if includes is None:
        return [tree]
    places = tree.part(("include",))
    names = [includes] if isinstance(includes, str) else includes
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError("include is a file name or a list of file names", Located(None, places).where(()))
    bases: list[Located] = []
    for index, name in enumerate(names):
        where = Located(None, places).where((index,))
        target = Path(name) if Path(name).is_absolute() or Path(name).exists() else path.parent / name
        if target.resolve() in (*stack, resolved):
            chain = " -> ".join(p.name for p in (*stack, resolved, target.resolve()))
            raise InputError(f"the spec includes itself: {chain}", where)
        if not target.is_file():
            raise InputError(f"included file '{name}' does not exist", where)
        bases.extend(_with_includes(target, str(target), (*stack, resolved)))
    full = [base for base in bases if "dataset" in base.data]
    fragments = [base for base in bases if "dataset" not in base.data]
    if "dataset" in tree.data or not full:
        return [_merge([*full, *fragments, tree])]
    if len(full) > 1 and "task" in tree.data:
        raise InputError(
            "a suite's parts keep their own task names (each has a run directory by that name); take 'task' out",
            tree.where(("task",)),
        )
    return [_merge([base, *fragments, tree]) for base in full]


def _merge(trees: Iterable[Located]) -> Located:
    """Top-level keys, later trees win."""
    merged = Located({}, {})
    for tree in trees:
        merged.places[()] = tree.places.get((), ("spec", 0))
        for key, value in tree.data.items():
            merged.put((key,), value, tree.part((key,)))
    return merged


# --------------------------------------------------------------------------- variants and strings
def _variant(tree: Located, folder: Path) -> Located:
    variants = tree.data.pop("variants", None)
    if variants is not None:
        places = tree.part(("variants",))
        if not isinstance(variants, list) or not all(isinstance(item, dict) for item in variants):
            raise InputError("variants is a list of mappings", Located(None, places).where(()))
        for index, item in enumerate(variants):
            at = Located(None, places)
            if not _holds(item.pop("when", None), folder, at.where((index, "when"))):
                continue
            item["variant"] = item.pop("name", f"variant {index + 1}")
            for key, value in item.items():
                tree.put((key,), value, at.part((index, key)))
            break
        else:
            raise InputError("no variant's 'when' holds", Located(None, places).where(()))
    tree.data = _expand(tree, tree.data, (), folder)
    return tree


def _holds(when: Any, folder: Path, where: str) -> bool:
    if when is None:
        return True
    if not isinstance(when, dict) or set(when) != {"exists"}:
        raise InputError("when is a mapping 'exists: PATH'", where)
    values = when["exists"] if isinstance(when["exists"], list) else [when["exists"]]
    for value in values:
        missing = [m[1] for m in _VARIABLE.finditer(str(value)) if m[2] is None and not os.environ.get(m[1])]
        if missing:
            return False
        text = _VARIABLE.sub(lambda m: os.environ.get(m[1]) or m[2] or "", str(value))
        if not Path(text).exists() and not (folder / text).exists():
            return False
    return True


def _expand(tree: Located, value: Any, key: Key, folder: Path) -> Any:
    if isinstance(value, dict):
        return {name: _expand(tree, item, (*key, name), folder) for name, item in value.items()}
    if isinstance(value, list):
        return [_expand(tree, item, (*key, index), folder) for index, item in enumerate(value)]
    if not isinstance(value, str):
        return value

    def replace(match: re.Match[str]) -> str:
        found = os.environ.get(match[1]) or match[2]
        if found is None:
            raise InputError(f"the environment variable {match[1]} is not set", tree.where(key))
        return found

    text = _VARIABLE.sub(replace, value)
    if text and is_path(tree.data, key) and not Path(text).is_absolute() and (folder / text).exists():
        return str(folder / text)
    return text


# --------------------------------------------------------------------------- --set and validation
def _finish(tree: Located, overrides: Sequence[str], replace: Mapping[str, Any]) -> LoadedSpec:
    for text in overrides:
        _set(tree, text)
    for name, value in replace.items():
        if value is not None:
            tree.put((name,), value, {(): (f"argument '{name}'", 0)})
    try:
        return LoadedSpec(Spec.model_validate(tree.data), tree)
    except ValidationError as error:
        raise explain(error, tree) from None


def _set(tree: Located, text: str) -> None:
    name, equals, raw = text.partition("=")
    if not equals or not name:
        raise InputError(f"expected KEY=VALUE (for example decoding.temperature=0.7); found '{text}'", "--set")
    value = loads(raw, "--set").data if raw.strip() else ""
    parts = [int(part) if part.isdigit() else part for part in name.split(".")]
    here: Any = tree.data
    for depth, part in enumerate(parts):
        last = depth == len(parts) - 1
        try:
            if last:
                here[part] = value
            elif isinstance(here, dict):
                if isinstance(here.get(part), str):  # a bare component name gains parameters
                    here[part] = {here[part]: {}}
                here = here.setdefault(part, {})
            else:
                if isinstance(here[part], str):
                    here[part] = {here[part]: {}}
                here = here[part]
        except (TypeError, IndexError, KeyError):
            raise InputError(
                f"'{name}' does not lead anywhere: no '{part}' in {type(here).__name__}", "--set"
            ) from None
    tree.places = {path: place for path, place in tree.places.items() if path[: len(parts)] != tuple(parts)}
    tree.places[tuple(parts)] = (f"--set {text}", 0)


def explain(error: ValidationError, tree: Located) -> InputError:
    """The first problem of a validation as one line with file, line, what was found and what was expected."""
    problems = sorted(error.errors(), key=lambda e: (e["type"] != "extra_forbidden", tuple(map(str, e["loc"]))))
    problem = problems[0]
    loc: Key = tuple(part for part in problem["loc"] if _in_data(tree.data, problem["loc"], part))
    where = tree.where(loc)
    label = ".".join(map(str, loc))
    if problem["type"] == "extra_forbidden":
        options = _fields_at(loc[:-1])
        text = f"unknown key '{loc[-1]}'{did_you_mean(str(loc[-1]), options)}; keys here are {', '.join(options)}"
        return InputError(text, where)
    if problem["type"] == "missing":
        parent = tree.where(tuple(problem["loc"][:-1]))
        return InputError(f"'{'.'.join(map(str, problem['loc']))}' is missing", parent)
    message = problem["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    found = "" if "found" in message else f"; found {_short(problem.get('input'))}"
    return InputError(f"{label}: {message}{found}" if label else message, where)


def _in_data(data: Any, loc: Sequence[Any], part: Any) -> bool:
    """Whether ``part`` of a pydantic location is a key of the data (and not the name of a union branch)."""
    here = data
    for step in loc:
        known = (isinstance(here, dict) and step in here) or (
            isinstance(here, list) and isinstance(step, int) and step < len(here)
        )
        if step == part:
            return known
        if known:
            here = here[step]
    return False


def _fields_at(loc: Key) -> list[str]:
    """Names of the fields of the model that stands at a path of :class:`Spec`."""
    model: Any = Spec
    for part in loc:
        if isinstance(part, int):
            continue
        model = {
            "decoding": "DecodingSpec",
            "significance": "SignificanceSpec",
            "bootstrap": "BootstrapSpec",
            "views": "ViewSpec",
        }.get(str(part))
        if model is None:
            return []
        import harness.spec.models as spec

        model = getattr(spec, model)
    return [name for name in model.model_fields if name != "variant"] + ([] if loc else ["include", "variants"])


def _short(value: Any) -> str:
    text = (
        yaml.safe_dump(value, default_flow_style=True).strip().removesuffix("\n...")
        if not isinstance(value, str)
        else repr(value)
    )
    return text if len(text) <= 80 else text[:77] + "..."
