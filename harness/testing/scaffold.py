"""Package of a new plugin, written from the templates beside this module."""

from __future__ import annotations

import importlib.util
import json
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from string import Template

from harness.contracts import WrittenFiles
from harness.errors import HarnessError, UnknownName
from harness.files.whole_folder import whole_folder

TEMPLATES = Path(__file__).parent / "templates"
KINDS = ("metric", "distance", "embedding", "adapter", "reader", "task", "command")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def new_plugin(
    name: str, kind: str = "metric", output: str | Path | None = None
) -> WrittenFiles:
    """Write a plugin package with manifest, component, test and card,
    and return its files.

    Parameters
    ----------
    name : str
        Name of the distribution and of the component: lower-case letters, digits and
        hyphens.
    kind : str
        ``metric``, ``distance``, ``embedding``, ``adapter``, ``reader``, ``task``, or
        ``command``: a metric that is a program.
    output : path, optional
        Folder of the package. Default: ``./name``.

    Raises
    ------
    UnknownName
        For an unknown kind.
    HarnessError
        For an invalid name, a name that an installed module has, or a folder that is
        not empty.
    """
    package = name.replace("-", "_")
    root = Path(output or name)
    _check_plugin(name, kind, package, root)

    class_name = "".join(word.capitalize() for word in name.split("-"))
    values = {
        "name": name,
        "package": package,
        "Class": class_name,
        "kind": kind,
        "kinds": "metrics" if kind == "command" else f"{kind}s",
    }

    plugin = json.loads(_fill("kinds.json", values))[kind]
    files = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        f"{package}/__init__.py": "__init__.py",
        f"{package}/registry.yaml": f"{kind}-registry.yaml",
        "tests/test_contract.py": f"{kind}-test_contract.py",
        **plugin["files"],
    }

    rows = "\n".join(f"| {left} | {right} |" for left, right in plugin["card"].items())
    values |= {
        "function": package,
        "summary": plugin["summary"],
        "use": plugin["use"],
        "rows": rows,
    }
    values["check"] = f"harness check {plugin['target']}"

    with whole_folder(root) as folder:
        for path, template in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(_fill(template, values), encoding="utf-8")
    commands = f"\ncd {root} && python -m pytest, then: pip install ."
    return WrittenFiles([root / path for path in files], [commands])


def _check_plugin(name: str, kind: str, package: str, root: Path) -> None:
    """Raise the errors of :func:`new_plugin` before anything is written."""
    if kind not in KINDS:
        raise UnknownName.of_name("new-plugin: no kind", kind, KINDS, "kinds are")
    if not _NAME.fullmatch(name):
        raise HarnessError(
            f"new-plugin: '{name}' is not a valid name; expected lower-case letters, "
            f"digits and hyphens: {_valid_name(name) or f'my-{kind}'}",
            value=name,
        )
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise HarnessError(
            f"new-plugin: {root} exists and is not empty; give another folder"
        )
    # a module of the standard library or of another distribution would hide it
    if package == "harness" or importlib.util.find_spec(package) is not None:
        raise HarnessError(
            f"new-plugin: a module '{package}' is installed already; "
            "choose another name"
        )


def _valid_name(text: str) -> str:
    """Return the words of a text as a valid name; empty without a letter or digit."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    # The capitals of MyScore are where its words begin.
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", plain)
    words = re.findall(r"[a-z0-9]+", plain.lower())
    name = "-".join(words)
    return f"my-{name}" if name[:1].isdigit() else name


def _fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its placeholders filled."""
    text = (TEMPLATES / f"{template}.tmpl").read_text(encoding="utf-8")
    return Template(text).substitute(values)
