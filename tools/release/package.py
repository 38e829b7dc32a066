"""Build the distributions, check them, install them into new environments and exercise
them.

    python -m tools.release.package [--only kernels tools 3.11 3.12 sdist lowest]
    [--output dist]

Printed are the time and the size of a bare installation, the time of each command, and
what could not be had on this machine. The exit code is 1 when two builds differ, a
check fails, a command fails, or the values differ between environments; 3 when nothing
fails, and something was not tried because no package index can be reached.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.release.building import Distributions, build, sha256
from tools.release.environments import (
    Environment,
    free_threaded,
    installed,
    interpreters,
    largest,
)
from tools.release.exercise import Exercise, Failed, differences, exercise
from tools.release.index import line_of, print_problems, run_step
from tools.release.kernels import build_kernels, try_kernels
from tools.release.tool_runs import try_tools

ROOT = Path(__file__).resolve().parents[2]


def main(argv: Sequence[str] | None = None) -> int:
    """Run all steps and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        help="some of the environments: kernels, tools, 3.11, 3.12, ..., sdist, lowest",
    )
    parser.add_argument(
        "--output", type=Path, default=ROOT / "dist", help="folder of the distributions"
    )
    args = parser.parse_args(argv)
    distributions = build(ROOT, args.output)
    work, missing = _environments(distributions)
    unknown = set(args.only or ()) - work.keys() - set(missing) - {"kernels", "tools"}
    if unknown:
        raise SystemExit(
            f"no environment {', '.join(sorted(unknown))}; there are kernels, tools, "
            f"{', '.join(work)}"
        )

    free = free_threaded()
    found = interpreters() | free
    kernels = build_kernels(ROOT, args.output, found)

    problems = [
        *_reproduced(distributions),
        *_checked(
            [
                *distributions.sdists,
                *distributions.wheels,
                kernels.sdist,
                *kernels.wheels,
            ]
        ),
    ]

    if not args.only or "kernels" in args.only:
        problems += try_kernels(kernels, distributions.reference_wheel, found)
    if not args.only or "tools" in args.only:
        problems += try_tools(distributions.wheel)
    problems += _exercised(
        {
            name: make
            for name, make in work.items()
            if not args.only or name in args.only
        }
    )

    for name in [*missing, *(name for name in free if free[name] is None)]:
        print(f"Python {name}: not on this machine, not tried")
    return print_problems(problems)


def _reproduced(first: Distributions) -> list[str]:
    """Build again, print the sizes, and return a line when the bytes of the wheel
    differ.
    """
    with tempfile.TemporaryDirectory() as folder:
        second = build(ROOT, Path(folder, "dist"))
        for file in (*first.sdists, *first.wheels):
            print(
                f"{file.name}: {file.stat().st_size / 1e6:.1f} MB, "
                f"sha256 {sha256(file)[:16]}"
            )
        if [*map(sha256, first.wheels)] != [*map(sha256, second.wheels)]:
            return ["two builds of a wheel have different bytes"]
    print("two builds of the wheels have equal bytes")
    return []


def _checked(files: Sequence[Path]) -> list[str]:
    """Return a line when ``twine check --strict`` refuses a distribution."""
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, files)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    print(f"twine check --strict: {'passed' if result.returncode == 0 else 'failed'}")
    return [f"twine check: {result.stdout}{result.stderr}"] if result.returncode else []


Maker = Callable[[Path], Environment]


def _environments(distributions: Distributions) -> tuple[dict[str, Maker], list[str]]:
    """Return name -> function that makes the environment in a folder; and the versions
    of Python that are not here.
    """
    found = interpreters()
    here = {name: python for name, python in found.items() if python is not None}
    if not here:
        raise SystemExit(
            "no interpreter of Python 3.11 or newer can make an environment"
        )
    work: dict[str, Maker] = {}
    for name, python in here.items():
        work[name] = lambda folder, python=python: installed(
            python, folder, distributions.wheel
        )
    oldest = next(iter(here.values()))
    work["sdist"] = lambda folder: installed(oldest, folder, distributions.sdist)
    work["lowest"] = lambda folder: installed(
        oldest, folder, distributions.wheel, _lowest(folder, distributions.wheel)
    )
    return work, [name for name in found if name not in here]


def _lowest(folder: Path, wheel: Path) -> list[list[str]]:
    """Return the commands that install the lowest versions that the metadata allow,
    then the wheel.
    """
    pip = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "install",
        "--quiet",
        "--python",
        str(folder / "bin" / "python"),
    ]
    return [
        [
            *pip,
            "--resolution",
            "lowest-direct",
            "--find-links",
            str(wheel.parent),
            "-r",
            str(ROOT / "pyproject.toml"),
        ],
        [*pip, "--no-deps", str(wheel)],
    ]


def _installation(environment: Environment) -> str:
    times = (
        f"{environment.seconds:.0f} s ({environment.processor_seconds:.0f} s of "
        "processor)"
    )
    return f"installed in {times}, {environment.megabytes:.0f} MB"


def _exercised(work: dict[str, Maker]) -> list[str]:
    """Make each environment, exercise it, print its figures, remove it;
    return the problems.
    """
    problems: list[str] = []
    first: Exercise | None = None
    for name, make in work.items():
        folder = Path(tempfile.mkdtemp(prefix="package-"))
        try:
            environment = make(folder / "environment")
            print(f"{name}: {_installation(environment)}")

            if first is None:
                print(
                    "   "
                    + ", ".join(
                        f"{package} {megabytes:.0f}"
                        for package, megabytes in largest(environment)
                    )
                )

            outcome = exercise(environment.bin, folder / "work")
            print(
                "   "
                + ", ".join(
                    f"{command} {seconds:.1f} s"
                    for command, seconds in outcome.seconds.items()
                )
            )

            if first is not None and (others := differences(first, outcome)):
                problems.append(
                    f"{name}: other values than the first environment: "
                    f"{', '.join(others)}"
                )

            first = first or outcome
        except SystemExit as error:
            problems.append(line_of(name, error))
        except Failed as error:
            problems.append(f"{name}: {error}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return problems


if __name__ == "__main__":
    sys.exit(run_step("make package", main))
