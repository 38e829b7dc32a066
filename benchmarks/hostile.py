"""Checkpoints, registries and captions that try to run code: none of it may run.

    python -m benchmarks.hostile

At least twenty attacks of each kind. A checkpoint or a registry creates a file when its
code runs; a caption sets a variable of the page. Each attack is tried first where it
works: by ``pickle.loads``, by an import, in a page without escapes. One that does not
work there is not counted. The exit status is 1 when code runs, or when fewer than
twenty attacks of a kind work where they are tried.
"""

from __future__ import annotations

import builtins
import importlib
import io
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness
from harness.errors import HarnessError

COUNT = 20
MARK = "PWNED"
"""File, or variable of a page, that exists once an attack has run."""
TOUCH = f"touch {MARK}"
WRITE = f"open({MARK!r}, 'w')"
HARNESS = [sys.executable, "-m", "harness.cli.main"]


def happened(folder: Path) -> bool:
    """Return True when an attack has run, and remove its trace."""
    path = folder / MARK
    ran = path.exists() or path.is_symlink() or (folder / f"{MARK}.npy").exists()
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    for name in (MARK, f"{MARK}.npy"):
        (folder / name).unlink(missing_ok=True)
    return ran


# --------------------------------------------------------------------------- checkpoints
class Call:
    """An object whose pickle calls a function."""

    def __init__(self, function: Callable[..., Any], *arguments: object) -> None:
        self._call = (function, arguments)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[object, ...]]:
        return self._call


def calls() -> list[Call]:
    """Return objects that create the file when they are unpickled."""
    module: Callable[[str], Any] = importlib.import_module
    return [
        Call(os.system, TOUCH),
        Call(os.popen, TOUCH),
        Call(subprocess.call, ["touch", MARK]),
        Call(subprocess.check_output, ["touch", MARK]),
        Call(subprocess.run, ["touch", MARK]),
        Call(eval, WRITE),
        Call(exec, WRITE),
        Call(builtins.open, MARK, "w"),
        Call(io.FileIO, MARK, "w"),
        Call(os.mkdir, MARK),
        Call(os.symlink, "/", MARK),
        Call(shutil.copyfile, "attack.py", MARK),
        Call(pickle.loads, pickle.dumps(Call(os.system, TOUCH))),
        Call(module("timeit").timeit, WRITE, "pass", module("time").perf_counter, 1),
        Call(module("cProfile").run, WRITE, MARK),
        Call(module("runpy").run_path, "attack.py"),
        Call(Path.touch, Path(MARK)),
        Call(zipfile.ZipFile, MARK, "w"),
        Call(module("sqlite3").connect, MARK),
        Call(module("logging").FileHandler, MARK),
        Call(module("numpy").save, MARK, [1]),
        Call(module("torch").save, [1], MARK),
    ]


def formats(attack: Call) -> dict[str, bytes]:
    """Return the files of an attack, by their suffix: two pickles,
    a zip archive of torch, and one of numpy.
    """
    import numpy as np
    import torch

    archive = io.BytesIO()
    arrays = io.BytesIO()
    torch.save({"weight": torch.ones(2), "settings": attack}, archive)
    holder = np.empty(1, dtype=object)
    holder[0] = attack
    np.savez(arrays, weight=holder)
    content = pickle.dumps({"weight": [1.0], "settings": attack})
    return {
        ".pkl": content,
        ".pt": archive.getvalue(),
        ".bin": content,
        ".npz": arrays.getvalue(),
    }


def checkpoints(folder: Path) -> tuple[int, int, int]:
    """Return the numbers of attacks that work, of their files,
    and of files whose code runs.
    """
    from harness_models.shared.inputs.features import FeatureFile
    from harness_models.shared.weights.checkpoints import load_checkpoint
    from harness_models.shared.weights.safe_unpickle import load_plain_pickle

    readers: tuple[Callable[[str], object], ...] = (
        load_checkpoint,
        load_plain_pickle,
        FeatureFile,
    )
    (folder / "attack.py").write_text(WRITE)
    working = files = ran = 0
    os.chdir(folder)
    for number, attack in enumerate(calls()):
        script = "import pickle, sys; pickle.loads(sys.stdin.buffer.read())"
        subprocess.run(
            [sys.executable, "-c", script],
            input=pickle.dumps(attack),
            cwd=folder,
            capture_output=True,
        )
        if not happened(folder):
            print(f"  attack {number} on checkpoints does not work here")
            continue
        working += 1
        for suffix, content in formats(attack).items():
            name = f"c{number}{suffix}"
            (folder / name).write_bytes(content)
            files += 1
            for read in readers:
                try:
                    read(name)
                except HarnessError as error:
                    if "\n" in str(error):
                        print(f"  a message of several lines: {error}")
                else:
                    print(f"  {read.__name__} accepts {name}")
                if happened(folder):
                    ran += 1
                    print(f"  {read.__name__} runs the code of {name}")
    return working, files, ran


# --------------------------------------------------------------------------- registries
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
    spec = importlib.util.spec_from_file_location("attack", os.path.realpath(module + ".py"))
    value = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(value)
else:
    value = importlib.import_module(module)
for part in filter(None, name.split(".")):
    value = getattr(value, part)
for arguments in ([{TOUCH!r}], [["touch", {MARK!r}]], [{WRITE!r}], ["attack.py"], ["attack.py", {MARK!r}]):
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
    for number, (text, control) in enumerate(registries()):
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


# --------------------------------------------------------------------------- pages
SET = f"window.{MARK}=1"
TEXTS = [
    f"<script>{SET}</script>",
    f"</script><script>{SET}</script>",
    f"</SCRIPT ><script>{SET}</script>",
    f"<!--</script><script>{SET}</script>-->",
    f"]]></script><script>{SET}</script>",
    f'"></script><script>{SET}</script>',
    f"</style></script><script>{SET}</script>",
    f"</textarea></title></script><script>{SET}</script>",
    f"<img src=x onerror={SET}>",
    f"<img src=x onerror='{SET}' alt=dog>",
    f'"><img src=x onerror={SET}>',
    f"'><img src=x onerror={SET}>",
    f"<svg onload={SET}>",
    f"<svg><script>{SET}</script></svg>",
    f"<svg><animate onbegin={SET} attributeName=x dur=1s>",
    f"<body onload={SET}>",
    f"<iframe srcdoc='<script>parent.{MARK}=1</script>'></iframe>",
    f"<iframe src='javascript:parent.{MARK}=1'></iframe>",
    f"<input autofocus onfocus={SET}>",
    f"<details open ontoggle={SET}>",
    f"<video><source onerror={SET}></video>",
    f"<audio src=x onerror={SET}></audio>",
    f"<style>@keyframes a{{}}</style><b style='animation:a 1s' onanimationstart={SET}>",
    f"<math><mtext></form><form><mglyph><style></math><img src=x onerror={SET}>",
]
"""Captions, ids, names of models and titles."""


def write_report(folder: Path, text: str) -> Path:
    """Run a spec whose texts are an attack, and return the path of its page."""
    folder.mkdir()
    ids = [text, "2", "3"]
    references = [
        {"id": name, "references": [text, "a dog runs", f"a {k} dog"]}
        for k, name in enumerate(ids)
    ]
    candidates = [{"id": name, "candidates": [f"{text} dog", "a dog"]} for name in ids]
    for name, rows in (("data", references), ("candidates", candidates)):
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows)
        )
    spec = {
        "task": "attack",
        "description": text,
        "notice": text,
        "dataset": {"reader": "jsonl", "path": "data.jsonl"},
        "models": [
            "human",
            {"predictions": {"label": text, "path": "candidates.jsonl"}},
        ],
        "metrics": ["rouge", {"trm": {"distance": "rouge"}}],
        "views": [
            {
                "plot": "table",
                "title": text,
                "note": text,
                "x": "metric",
                "by": "model",
                "y": "*",
            },
            {"plot": "bar", "title": text, "x": "model", "y": "rouge"},
            {"plot": "texts", "title": text, "examples": 2},
        ],
        "bootstrap": {"samples": 50},
    }
    (folder / "spec.yaml").write_text(json.dumps(spec))
    harness.evaluate(folder / "spec.yaml", output=folder / "out")
    harness.report(folder / "out", output=folder / "page.html")
    return folder / "page.html"


def pages(folder: Path, chromium: str) -> tuple[int, int, int]:
    """Return the numbers of attacks that work, of pages, and of pages whose code runs
    or that ask for another file.
    """
    from playwright.sync_api import sync_playwright

    working = opened = ran = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        for number, text in enumerate(TEXTS):
            plain = folder / f"plain{number}.html"
            plain.write_text(
                f"<body><div>{text}</div><script type=data>{text}</script><a "
                f"title='{text}'>x</a>"
            )
            view = browser.new_page()
            view.goto(plain.as_uri())
            view.wait_for_timeout(150)
            works = view.evaluate(f"window.{MARK} === 1")
            view.close()
            if not works:
                print(f"  text {number} does not work here: {text}")
                continue
            working += 1
            page = write_report(folder / str(number), text)
            view = browser.new_page()
            asked = list[str]()
            view.on("request", lambda request, asked=asked: asked.append(request.url))
            view.on("dialog", lambda dialog: dialog.dismiss())
            view.goto(page.as_uri())
            view.wait_for_selector(".tabs a")
            for link in view.locator(".tabs a").all():
                link.click()
                view.wait_for_timeout(250)
            opened += 1
            others = [
                url
                for url in asked
                if not url.startswith((page.as_uri(), "data:", "blob:"))
            ]
            if view.evaluate(f"window.{MARK} === 1") or others:
                ran += 1
                print(f"  page {number} runs code or asks for {others}: {text}")
            view.close()
        browser.close()
    return working, opened, ran


def main() -> int:
    """Try all attacks and print the counts; return the number of problems,
    at most 1 of each kind.
    """
    problems = 0
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        for kind in ("checkpoints", "registries", "pages"):
            (Path(name) / kind).mkdir()
        try:
            working, tried, ran = checkpoints(Path(name, "checkpoints"))
        finally:
            os.chdir(before)
        print(
            f"checkpoints: {working} attacks in {tried} files read by three readers, "
            f"{ran} executed",
            flush=True,
        )
        problems += working < COUNT or ran > 0
        working, tried, ran = attack_by_registries(Path(name, "registries"))
        print(
            f"registries: {working} attacks, {tried} commands, {ran} executed",
            flush=True,
        )
        problems += working < COUNT or ran > 0
        if chromium is None:
            print("pages: not tried, there is no chromium on PATH")
            return problems
        working, tried, ran = pages(Path(name, "pages"), chromium)
        print(
            f"pages: {working} attacks in captions, ids, "
            f"names and titles of {tried} pages, {ran} executed",
            flush=True,
        )
        problems += working < COUNT or ran > 0
    return problems


if __name__ == "__main__":
    sys.exit(main() > 0)
