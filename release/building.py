"""The distributions, built from the files that git tracks; two builds have equal bytes."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Distributions:
    """The files of one build."""

    sdist: Path
    wheel: Path


def tracked_files(root: Path) -> list[str]:
    """Return the paths of the files that git tracks, relative to ``root``."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout.decode()
    return [name for name in names.split("\0") if name and (root / name).is_file()]


def source_date(root: Path) -> str:
    """Return ``SOURCE_DATE_EPOCH``: that of the environment, else the time of the last commit in seconds."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    command = ["git", "log", "-1", "--format=%ct"]
    return given or subprocess.run(command, cwd=root, capture_output=True, check=True, text=True).stdout.strip()


def build(root: Path, output: Path) -> Distributions:
    """Build sdist and wheel of the tracked files of ``root`` into ``output``, which is emptied, and return them.

    The wheel is built from the sdist, so that the sdist is complete. Raises :class:`SystemExit` when the build fails.
    """
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": source_date(root)}
    with tempfile.TemporaryDirectory() as folder:
        for name in tracked_files(root):
            target = Path(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target)
        command = [sys.executable, "-m", "build", "--outdir", str(output), folder]
        result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if result.returncode:
        raise SystemExit(f"the build failed:\n{result.stdout[-3000:]}\n{result.stderr[-3000:]}")
    return Distributions(next(output.glob("*.tar.gz")), next(output.glob("*.whl")))


def sha256(file: Path) -> str:
    """Return the SHA-256 of a file, 64 hex digits."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
