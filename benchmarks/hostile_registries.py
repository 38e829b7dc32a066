"""Registries that try to run code, for :mod:`benchmarks.hostile`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.captions import take_few
from benchmarks.hostile_trace import MARK, TOUCH, WRITE, happened

HARNESS = [sys.executable, "-m", "harness.cli.main"]


TARGETS = [
    "os:system",
    "os.path:os.system",
    "subprocess:getoutput",
    "subprocess:run",
    "subprocess:check_output",
    "builtins:eval",
    "builtins:exec",
    "runpy:run_path",
    "timeit:timeit",
    "cProfile:run",
    "shutil:copyfile",
    "outside:Attack",
    "linked:Attack",
    "linkedfolder.attack:Attack",
    "../outside:Attack",
    "linkedfolder/../outside:Attack",
]
"""Code outside of the folder of a registry. ``outside``, ``linked`` and
``linkedfolder.attack`` create the file when they are imported.
"""
TAGS = [
    f'metrics: {{m: !!python/object/apply:os.system ["{TOUCH}"]}}',
    f'metrics: {{m: {{import: !!python/object/apply:os.system ["{TOUCH}"]}}}}',
    f'metrics: {{m: !!python/object/apply:subprocess.call [["touch", "{MARK}"]]}}',
    f"provider: !!python/object/apply:builtins.exec [{json.dumps(WRITE)}]",
]
"""Registries whose YAML calls functions."""
VERBS = [
    ["--help"],
    ["list"],
    ["show", "m"],
    ["validate", "spec.yaml"],
    ["run", "spec.yaml", "--output", "out"],
    ["m", TOUCH],
]
"""Commands that read the registry of the working directory."""
LOADER = f"""
import importlib, importlib.util, os, pickle, sys
module, _, name = sys.argv[1].partition(":")
if "/" in module:
    path = os.path.realpath(module + ".py")
    spec = importlib.util.spec_from_file_location("attack", path)
    value = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(value)
else:
    value = importlib.import_module(module)
for part in filter(None, name.split(".")):
    value = getattr(value, part)
for arguments in (
    [{TOUCH!r}],
    [["touch", {MARK!r}]],
    [{WRITE!r}],
    ["attack.py"],
    ["attack.py", {MARK!r}],
):
    try:
        value(*arguments)
    except Exception:
        continue
"""
"""A loader of targets that trusts everything, to try the attacks."""
YAML_LOADER = "import sys, yaml; yaml.unsafe_load(sys.argv[1])"


def registries() -> list[tuple[str, list[str]]]:
    """Return the texts of the registries, each with the command by which its attack
    works.
    """
    import_target = [sys.executable, "-c", LOADER]
    load_tag = [sys.executable, "-c", YAML_LOADER]
    mine = "provider: mine\n"
    texts = [
        (f'{mine}metrics: {{m: {{import: "{target}"}}}}', [*import_target, target])
        for target in TARGETS
    ]
    for kind in ("commands", "adapters", "readers", "distances", "embeddings"):
        texts.append(
            (
                f'{mine}{kind}: {{m: {{import: "outside:Attack"}}}}',
                [*import_target, "outside"],
            )
        )
    texts.append((f"{mine}hooks: [outside]", [*import_target, "outside"]))
    return [*texts, *((text, [*load_tag, text]) for text in TAGS)]


def write_project(folder: Path, text: str) -> Path:
    """Write a project with a registry, and code that attacks beside it;
    return the folder of the project.
    """
    inside = folder / "inside"
    inside.mkdir(parents=True)
    for path in (folder / "outside.py", folder / "package" / "attack.py"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{WRITE}\nclass Attack: pass\n")
    (inside / "linked.py").symlink_to(folder / "outside.py")
    (inside / "linkedfolder").symlink_to(folder / "package")
    (inside / "attack.py").write_text(f"{WRITE}\n")
    (inside / "registry.yaml").write_text(text + "\n")
    (inside / "data.jsonl").write_text(
        '{"id": "1", "references": ["a dog", "a cat"]}\n'
    )
    spec = {
        "task": "t",
        "dataset": {"reader": "jsonl", "path": "data.jsonl"},
        "models": ["human"],
    }
    metrics = [
        {"m": {"command": TOUCH, "cmd": TOUCH, "args": ["touch", MARK]}},
        "rouge",
    ]
    (inside / "spec.yaml").write_text(json.dumps({**spec, "metrics": metrics}))
    return inside


def attack_by_registries(folder: Path) -> tuple[int, int, int]:
    """Return the numbers of attacks that work, of commands in such a folder, and of
    commands after which code has run.
    """
    working = commands = ran = 0
    for number, (text, control) in enumerate(take_few(registries())):
        inside = write_project(folder / str(number), text)
        subprocess.run(
            control,
            cwd=inside,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": ".:.."},
        )
        if not happened(inside):
            print(f"  registry {number} does not work here: {text!r}")
            continue
        working += 1
        for arguments in VERBS:
            done = subprocess.run(
                [*HARNESS, *arguments], cwd=inside, capture_output=True, text=True
            )
            commands += 1
            if "Traceback" in done.stderr:
                print(
                    f"  harness {arguments[0]} with registry {number} ends with a "
                    f"traceback:\n{done.stderr}"
                )
            if happened(inside):
                ran += 1
                print(
                    f"  harness {arguments[0]} runs the code of registry {number}: "
                    f"{text!r}"
                )
    return working, commands, ran
