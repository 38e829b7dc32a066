"""Interpreters of this machine, and new environments with a distribution installed."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.release.index import failure

MINORS = (11, 12, 13, 14)
"""Minor versions of Python 3 that are tried."""
FREE_THREADED = ("3.13t", "3.14t")
"""Versions of Python without the interpreter lock that the kernels are tried with."""
PROBE = "import ensurepip, sys; print('%d.%d.%d' % sys.version_info[:3])"


@dataclass(frozen=True)
class Environment:
    """A new environment with a distribution installed."""

    folder: Path
    seconds: float
    """Time of the installation."""
    processor_seconds: float
    """Processor time of the installation."""
    megabytes: float
    """Size of the environment, without the pip and setuptools that it began with."""

    @property
    def bin(self) -> Path:
        """The folder of its programs."""
        return self.folder / "bin"


def interpreters() -> dict[str, Path | None]:
    """Return the first usable interpreter of each version in :data:`MINORS`,
    None where there is none.

    Searched are the path and pyenv; an interpreter without ``ensurepip`` cannot make an
    environment.
    """
    return {f"3.{minor}": _interpreter(minor) for minor in MINORS}


def _interpreter(minor: int) -> Path | None:
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    candidates = sorted(pyenv.glob(f"3.{minor}.*/bin/python"), reverse=True)
    on_path = shutil.which(f"python3.{minor}")
    for python in [*candidates, *([Path(on_path)] if on_path else [])]:
        result = subprocess.run(
            [python, "-c", PROBE], capture_output=True, text=True, check=False
        )
        if result.returncode == 0 and result.stdout.startswith(f"3.{minor}."):
            return python
    return None


def free_threaded() -> dict[str, Path | None]:
    """Return the first usable interpreter of each version in :data:`FREE_THREADED`,
    None where there is none.
    """
    return {name: _free_threaded(name) for name in FREE_THREADED}


def _free_threaded(name: str) -> Path | None:
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    candidates = sorted(pyenv.glob(f"{name[:-1]}.*t/bin/python"), reverse=True)
    on_path = shutil.which(f"python{name}")
    probe = (
        "import ensurepip, sysconfig; "
        "print(sysconfig.get_config_var('Py_GIL_DISABLED'))"
    )
    for python in [*candidates, *([Path(on_path)] if on_path else [])]:
        result = subprocess.run(
            [python, "-c", probe], capture_output=True, text=True, check=False
        )
        if result.returncode == 0 and result.stdout.strip() == "1":
            return python
    return None


def create(python: Path, folder: Path) -> Path:
    """Create an environment with pip and return its interpreter."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    return folder / "bin" / "python"


def installed(
    python: Path,
    folder: Path,
    distribution: Path,
    commands: Sequence[Sequence[str]] = (),
) -> Environment:
    """Return a new environment with a distribution installed; others of this project
    that it needs lie beside it.

    Parameters
    ----------
    python : Path
        Interpreter that creates the environment.
    folder : Path
        Folder of the environment.
    distribution : Path
        Wheel or sdist.
    commands : sequence of commands, optional
        Commands that install, in place of ``pip install DISTRIBUTION``.

    Raises
    ------
    SystemExit
        When a command fails, with the end of its output.
    """
    interpreter = create(python, folder)
    before = size(folder)
    start = time.perf_counter()
    used = _processor_time()
    install = [
        str(interpreter),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--find-links",
        str(distribution.parent),
    ]
    for command in commands or ([*install, str(distribution)],):
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            raise failure(command, result.stderr)
    return Environment(
        folder,
        time.perf_counter() - start,
        _processor_time() - used,
        size(folder) - before,
    )


def _processor_time() -> float:
    """Return the processor time of all finished child processes in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def size(folder: Path) -> float:
    """Return the size of the files below a folder in MB (10^6 bytes)."""
    return (
        sum(
            file.stat().st_size
            for file in folder.rglob("*")
            if file.is_file() and not file.is_symlink()
        )
        / 1e6
    )


def largest(environment: Environment, count: int = 8) -> list[tuple[str, float]]:
    """Return the largest entries of the environment's packages as (name, MB),
    largest first.
    """
    site = next((environment.folder / "lib").glob("python*/site-packages"))
    sizes = [
        (entry.name, size(entry) if entry.is_dir() else entry.stat().st_size / 1e6)
        for entry in site.iterdir()
        if not entry.is_symlink()
    ]
    return sorted(sizes, key=lambda pair: -pair[1])[:count]
