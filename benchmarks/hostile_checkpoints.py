"""Checkpoints that try to run code, for :mod:`benchmarks.hostile`."""

from __future__ import annotations

import builtins
import importlib
import io
import os
import pickle
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.captions import take_few
from benchmarks.hostile_trace import MARK, TOUCH, WRITE, happened
from harness.errors import HarnessError


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
    for number, attack in enumerate(take_few(calls())):
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
