"""A new plugin as a package of its own, written from the templates beside this file."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from string import Template

from harness.errors import HarnessError, UnknownName, did_you_mean

TEMPLATES = Path(__file__).parent / "templates"
KINDS = ("metric", "adapter", "task")
SUMMARIES = {
    "metric": "Share of a candidate's words that some reference holds",
    "adapter": "The words of the source in another order",
    "task": "Five examples with three captions each",
}
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def new_plugin(name: str, kind: str, folder: str | Path | None = None) -> list[Path]:
    """Write a plugin called ``name`` into ``folder`` (``./name``) and return its files.

    Raises :class:`HarnessError` for a name that is no package name or is taken, an unknown kind, or a folder that is not empty.
    """
    if kind not in KINDS:
        raise UnknownName(f"new-plugin: no kind '{kind}'{did_you_mean(kind, KINDS)}; kinds are {', '.join(KINDS)}")
    if not _NAME.fullmatch(name):
        raise HarnessError(
            f"new-plugin: '{name}' is no name; expected lower-case letters, digits and hyphens: my-{kind}"
        )
    package, root = name.replace("-", "_"), Path(folder or name)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise HarnessError(f"new-plugin: {root} is there and not empty; give another folder with --output")
    if package == "harness" or importlib.util.find_spec(package) is not None:
        raise HarnessError(f"new-plugin: a module '{package}' is installed already; choose another name")
    values = _values(name, package, kind)
    written = []
    for path, template in _files(package, name, kind).items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (TEMPLATES / f"{template}.tmpl").read_text(encoding="utf-8") if template else values["init"]
        target.write_text(Template(text).substitute(values) if template else text, encoding="utf-8")
        written.append(target)
    return written


def _files(package: str, name: str, kind: str) -> dict[str, str]:
    """Path below the plugin's folder -> template; an empty one is the package's first line."""
    files = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        f"{package}/__init__.py": "",
        f"{package}/registry.yaml": f"{kind}-registry.yaml",
        "tests/test_contract.py": f"{kind}-test_contract.py",
    }
    if kind == "task":
        return {**files, f"{package}/{name}.yaml": "task.yaml", f"{package}/captions.jsonl": "captions.jsonl"}
    return {**files, f"{package}/{kind}.py": f"{kind}.py"}


def _values(name: str, package: str, kind: str) -> dict[str, str]:
    made = "".join(part.capitalize() for part in name.split("-"))
    target = f"{package}/{name}.yaml" if kind == "task" else f"{package}.{kind}:{made}"
    use = {
        "metric": f"harness score --candidates captions.json --references references.json -m {name}",
        "adapter": f"harness show {name}",
        "task": f"harness run {name}",
    }
    rows = {
        "metric": [("Measures", SUMMARIES[kind]), ("Range", "0 to 1, higher is better"), ("Undefined", "never"),
                   ("Parameters", "`lower`: whether case is passed over (true)")],
        "adapter": [("Says", SUMMARIES[kind]), ("Decoding", "any; `candidates` many"), ("Parameters", "`keep`: share of the words (1)")],
        "task": [("Data", "`captions.jsonl`, beside the spec"), ("Models", "people, shuffled captions"), ("Metrics", "cr, distinct")],
    }  # fmt: skip
    return {
        "name": name, "package": package, "Class": made, "kind": kind, "kinds": f"{kind}s", "summary": SUMMARIES[kind],
        "use": use[kind], "check": f"harness check {target}", "init": f'"""{SUMMARIES[kind]}."""\n',
        "rows": "\n".join(f"| {left} | {right} |" for left, right in rows[kind]),
    }  # fmt: skip
