"""Pages that a release has, which the repository holds: score.html and one report.

    python -m tools.release.artefacts [--check]

``docs/artefacts/score.html`` is built by ``make wasm``, ``docs/artefacts/report.html``
is the report of the example captions. ``SHA256SUMS`` has their checksums and one of the
sources of each; ``--check`` compares both and builds nothing. The sources of the report
are those of the page and the captions: its numbers are the metrics', which tests of
their own hold.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.release.building import sha256, tracked_files
from tools.release.package import ROOT

FOLDER = ROOT / "docs" / "artefacts"
SUMS = FOLDER / "SHA256SUMS"
LARGEST = 2_000_000
"""Largest sum of the sizes of both pages in bytes."""
CAPTIONS = "examples/captions"
SOURCES = {
    "score.html": (
        "kernels/core/",
        "kernels/include/",
        "kernels/wasm/",
        "kernels/js/",
        "tools/score_page/",
        "harness/page/assets/base.css",
    ),
    "report.html": ("harness/page/", f"{CAPTIONS}/"),
}
"""Page -> beginnings of the paths of its sources."""


def hash_sources(root: Path, page: str) -> str:
    """Return the SHA-256 of the names and contents of the sources of a page."""
    digest = hashlib.sha256()
    for name in sorted(tracked_files(root)):
        if name.startswith(SOURCES[page]) and not name.endswith(".md"):
            digest.update(f"{name}\n{sha256(root / name)}\n".encode())
    return digest.hexdigest()


def expected_lines(root: Path, folder: Path) -> list[str]:
    """Return the lines of SHA256SUMS for the pages of a folder."""
    lines = [f"{sha256(folder / page)}  {page}" for page in SOURCES]
    lines += [f"{hash_sources(root, page)}  sources of {page}" for page in SOURCES]
    return lines


def find_problems(root: Path, folder: Path) -> list[str]:
    """Return what does not hold of the committed pages, in words."""
    stored: dict[str, str] = {}
    for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split("  ", 1)
        stored[name] = digest
    problems: list[str] = []
    for line in expected_lines(root, folder):
        digest, name = line.split("  ", 1)
        if stored.get(name) != digest:
            problems.append(f"{name}: changed since it was built; make artefacts")
    size = sum((folder / page).stat().st_size for page in SOURCES)
    if size > LARGEST:
        problems.append(f"the pages have {size} bytes; at most {LARGEST}")
    return problems


def write_pages(folder: Path) -> None:
    """Copy the built score.html, make the report, and write the checksums."""
    built = ROOT / "out" / "score.html"
    if not built.is_file():
        raise SystemExit(f"{built.relative_to(ROOT)} is not built: make wasm")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(built, folder / "score.html")

    # In a folder of its own, so that no path of this machine is in the page.
    with tempfile.TemporaryDirectory() as name:
        os.symlink(ROOT / "examples", Path(name, "examples"))
        _harness(
            name,
            "score",
            f"{CAPTIONS}/init_1.json",
            f"{CAPTIONS}/par_1.json",
            "--references",
            f"{CAPTIONS}/references.json",
            "--metric",
            "bleu4,meteor,rouge,cider",
            "--output",
            "captions",
        )
        _harness(name, "report", "captions", "--output", "report.html")
        shutil.copyfile(Path(name, "report.html"), folder / "report.html")
    lines = expected_lines(ROOT, folder)
    (folder / "SHA256SUMS").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _harness(folder: str, *arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "harness", *arguments],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Write the pages, or check them; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare, build nothing")
    args = parser.parse_args(argv)
    if not args.check:
        write_pages(FOLDER)
    problems = find_problems(ROOT, FOLDER)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
