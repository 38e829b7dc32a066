"""Package of a new plugin, written from the templates beside this module."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from string import Template

from harness.errors import HarnessError, UnknownName

TEMPLATES = Path(__file__).parent / "templates"
KINDS = ("metric", "distance", "embedding", "adapter", "reader", "task")
SUMMARIES = {
    "metric": "Share of a candidate's words that occur in a reference",
    "distance": "Share of distinct words that only one of two texts has",
    "embedding": "Counts of character trigrams by hash",
    "adapter": "Words of the source in random order",
    "reader": "Text files with blocks of an id and its captions",
    "task": "Five examples with three captions each",
}
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def new_plugin(name: str, kind: str, folder: str | Path | None = None) -> list[Path]:
    """Write a plugin package with manifest, component, test and card, and return its files.

    Parameters
    ----------
    name : str
        Name of the distribution and of the component: lower-case letters, digits and hyphens.
    kind : str
        ``metric``, ``distance``, ``embedding``, ``adapter``, ``reader`` or ``task``.
    folder : path, optional
        Folder of the package. Default: ``./name``.

    Raises
    ------
    UnknownName
        For an unknown kind.
    HarnessError
        For an invalid name, a name that an installed module has, or a folder that is not empty.
    """
    if kind not in KINDS:
        raise UnknownName.of_name("new-plugin: no kind", kind, KINDS, "kinds are")
    if not _NAME.fullmatch(name):
        raise HarnessError(
            f"new-plugin: '{name}' is not a valid name; expected lower-case letters, digits and hyphens: my-{kind}"
        )
    package, root = name.replace("-", "_"), Path(folder or name)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise HarnessError(f"new-plugin: {root} exists and is not empty; give another folder with --output")
    if package == "harness" or importlib.util.find_spec(package) is not None:
        raise HarnessError(f"new-plugin: a module '{package}' is installed already; choose another name")
    values = _values(name, package, kind)
    paths = []
    for path, template in _files(package, name, kind).items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (TEMPLATES / f"{template}.tmpl").read_text(encoding="utf-8") if template else values["init"]
        target.write_text(Template(text).substitute(values) if template else text, encoding="utf-8")
        paths.append(target)
    return paths


def _files(package: str, name: str, kind: str) -> dict[str, str]:
    """Return path below the plugin's folder -> template; an empty template stands for the package's docstring."""
    files = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        f"{package}/__init__.py": "",
        f"{package}/registry.yaml": f"{kind}-registry.yaml",
        "tests/test_contract.py": f"{kind}-test_contract.py",
    }
    if kind == "task":
        return {**files, f"{package}/{name}.yaml": "task.yaml", f"{package}/captions.jsonl": "captions.jsonl"}
    sample = {f"{package}/sample.txt": "sample.txt"} if kind == "reader" else {}
    return {**files, f"{package}/{kind}.py": f"{kind}.py", **sample}


def _values(name: str, package: str, kind: str) -> dict[str, str]:
    """Return the values of the placeholders in the templates."""
    class_name = "".join(word.capitalize() for word in name.split("-"))
    member = package if kind in ("distance", "embedding") else class_name
    target = f"{package}/{name}.yaml" if kind == "task" else f"{package}.{kind}:{member}"
    use = {
        "metric": f"harness score candidates.json --references references.json -m {name}",
        "distance": f"harness score candidates.json --references references.json -m trm:distance={name}",
        "embedding": f"harness score candidates.json --references references.json -m mmd:embedding={name}",
        "adapter": f"harness show {name}",
        "reader": f"harness show {name}",
        "task": f"harness run {name}",
    }
    rows = {
        "metric": [("Measures", SUMMARIES[kind]), ("Range", "0 to 1, higher is better"), ("Undefined", "never"),
                   ("Parameters", "`lower` (true): ignore case")],
        "distance": [("Measures", SUMMARIES[kind]), ("Range", "0 to 1; symmetric; 0 for equal texts"),
                     ("Parameters", "`lower` (true): ignore case")],
        "embedding": [("Vectors", SUMMARIES[kind]), ("Shape", "(T, size)"), ("Parameters", "`size` (64): length of a vector")],
        "reader": [("Files", SUMMARIES[kind]), ("Ids", "the first line of a block"),
                   ("Parameters", "`path`, `limit_references`: the first references of each example")],
        "adapter": [("Captions", SUMMARIES[kind]), ("Decoding", "any strategy; `candidates` sets the number of captions"),
                    ("Parameters", "`share` (1): share of the words that a caption has")],
        "task": [("Data", "`captions.jsonl`, beside the spec"), ("Models", "held-out references, shuffled captions"),
                 ("Metrics", "cr, distinct")],
    }  # fmt: skip
    return {
        "name": name, "package": package, "Class": class_name, "function": package, "kind": kind, "kinds": f"{kind}s",
        "summary": SUMMARIES[kind],
        "use": use[kind], "check": f"harness check {target}", "init": f'"""{SUMMARIES[kind]}."""\n',
        "rows": "\n".join(f"| {left} | {right} |" for left, right in rows[kind]),
    }  # fmt: skip
