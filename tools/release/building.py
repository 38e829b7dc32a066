"""The distributions, built from the files that git tracks;
two builds have equal bytes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tools.release.index import failure
from tools.release.links import publish_readmes

FOLDERS = (".", "kernels/reference")
"""Folders of the distributions in pure Python; caption-harness first,
the reference engine of the kernels last.
"""


@dataclass(frozen=True)
class Distributions:
    """The files of one build: those of caption-harness first."""

    sdists: tuple[Path, ...]
    wheels: tuple[Path, ...]

    @property
    def sdist(self) -> Path:
        """The sdist of caption-harness."""
        return self.sdists[0]

    @property
    def wheel(self) -> Path:
        """The wheel of caption-harness."""
        return self.wheels[0]

    @property
    def reference_wheel(self) -> Path:
        """The wheel of the reference engine of the kernels."""
        return self.wheels[-1]


def tracked_files(root: Path) -> list[str]:
    """Return the paths of the files that git tracks, relative to ``root``."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True
    ).stdout.decode()
    return [name for name in names.split("\0") if name and (root / name).is_file()]


def version(root: Path) -> str:
    """Return the version of caption-harness, as its project file has it."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]["version"]


def source_date(root: Path) -> str:
    """Return ``SOURCE_DATE_EPOCH``: that of the environment,
    else the time of the last commit in seconds.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH")
    command = ["git", "log", "-1", "--format=%ct"]
    return (
        given
        or subprocess.run(
            command, cwd=root, capture_output=True, check=True, text=True
        ).stdout.strip()
    )


def build(root: Path, output: Path) -> Distributions:
    """Build sdists and wheels of the tracked files of ``root`` into ``output``, which
    is emptied, and return them.

    The wheels are built from the sdists, so that the sdists are complete. Raises
    :class:`SystemExit` when a build fails.
    """
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)

    environment = {**os.environ, "SOURCE_DATE_EPOCH": source_date(root)}
    sdists: list[Path] = []
    wheels: list[Path] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in tracked_files(root):
            target = Path(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target)

        publish_readmes(Path(folder), f"v{version(root)}")
        for place in FOLDERS:
            before = set(output.iterdir())
            command = [
                sys.executable,
                "-m",
                "build",
                "--outdir",
                str(output),
                str(Path(folder, place)),
            ]
            result = subprocess.run(
                command, capture_output=True, text=True, env=environment, check=False
            )
            if result.returncode:
                raise failure(command, f"{result.stdout}\n{result.stderr}")

            built = sorted(set(output.iterdir()) - before)
            sdists += [path for path in built if path.name.endswith(".tar.gz")]
            wheels += [path for path in built if path.suffix == ".whl"]
    return Distributions(tuple(sdists), tuple(wheels))


def sha256(file: Path) -> str:
    """Return the SHA-256 of a file, 64 hex digits."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
