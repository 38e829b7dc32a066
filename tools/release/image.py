"""Size of the image of the Dockerfile without an engine of containers: its base, and
what its installation adds, measured here.

    python -m tools.release.image [--output dist]

``make package`` builds the wheels before. The base is not downloaded: its size is the
one that ``docker images`` prints for ``python:3.12-slim`` on amd64, rounded up. Goal:
at most 700 MB. The exit code is 1 above it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.release.environments import installed, interpreters, largest, size

BASE = 130.0
"""Size of the base image in MB."""
ROOT = Path(__file__).resolve().parents[2]
GOAL = 700.0


def main(argv: Sequence[str] | None = None) -> int:
    """Install the wheel as the Dockerfile does, print the parts and their sum."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--output", type=Path, default=ROOT / "dist", help="folder of the distributions"
    )
    args = parser.parse_args(argv)

    wheel = next(args.output.resolve().glob("caption_harness-[0-9]*.whl"))
    kernels = [file.name for file in wheel.parent.glob("caption_kernels-*.whl")]
    tags = {name: f"cp{name.replace('.', '')}" for name in interpreters()}
    python = next(
        path
        for name, path in interpreters().items()
        if path and any(tags[name] in file for file in kernels)
    )

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        environment = installed(python, folder / "environment", wheel)
        site = next((environment.folder / "lib").glob("python*/site-packages"))
        subprocess.run(
            ["sh", "-e", "-c", removals()],
            check=True,
            env={**os.environ, "site": str(site)},
        )

        command = [
            str(environment.bin / "harness"),
            "run",
            "coco",
            "--limit",
            "4",
            "--output",
            str(folder / "run"),
        ]
        subprocess.run(
            command,
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "HARNESS_CACHE": str(folder / "cache")},
        )

        sizes = {
            "base (documented)": BASE,
            "installation": size(environment.folder),
            "METEOR's tables": size(folder / "cache"),
        }
        for name, megabytes in {**sizes, "image": sum(sizes.values())}.items():
            print(f"{name:<20} {megabytes:6.0f} MB")
        print(
            "   "
            + ", ".join(
                f"{package} {megabytes:.0f}"
                for package, megabytes in largest(environment)
            )
        )
    return int(sum(sizes.values()) > GOAL)


def removals() -> str:
    """Return the commands of the Dockerfile that remove files of packages below
    ``$site``.
    """
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    return "\n".join(
        line.strip().removeprefix("&& ").removesuffix(" \\")
        for line in lines
        if '"$site' in line
    )


if __name__ == "__main__":
    sys.exit(main())
