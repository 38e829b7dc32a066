"""Start-up time of the command line, beside bare Python;
time and size of a bare installation.

    python -m benchmarks.startup [--repeats 15] [--install] [--first]

Measured as processes, interleaved, with the medians of wall and processor time:
``harness --help`` (goal: at most 8 times bare Python), ``harness list`` with 50
manifests of third parties (goal: below 0.5 s), ``harness score`` on two small files.
With ``--first`` alone: the first ``harness score`` of two files of 50 captions in a
terminal, with an empty folder of caches (goals: a number within 2 s of processor time,
all within 4 s); beside it the time of a loop of Python, for machines that are slow or
busy. With ``--install`` a wheel is built and installed into a new environment (goal:
below a minute, without torch).
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import pty
import re
import resource
import statistics
import struct
import subprocess
import sys
import sysconfig
import tempfile
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

MANIFESTS = 50
COMPONENTS = 10
"""Components of each manifest."""
RATIO = 8.0
LIST_SECONDS = 0.5
INSTALL_SECONDS = 60.0
FIRST_SECONDS = 2.0
ALL_SECONDS = 4.0
"""Goals."""
MANIFEST = """api: 1
provider: third-party-{k}
requires_harness: ">=0.1,<2"
metrics:
"""
ENTRY = (
    '  third-{k}-metric-{n}: {{import: "third_{k}.metrics:M{n}", summary: '
    '"Metric {n} of package {k}", level: item, needs: [references]}}\n'
)


def third_parties(folder: Path, count: int = MANIFESTS) -> None:
    """Write ``count`` installed distributions with a manifest of :data:`COMPONENTS`
    metrics each into a folder of packages.
    """
    for k in range(count):
        package = folder / f"third_{k}"
        information = folder / f"third_{k}-1.0.dist-info"
        package.mkdir()
        information.mkdir()
        (package / "__init__.py").touch()
        entries = "".join(ENTRY.format(k=k, n=n) for n in range(COMPONENTS))
        (package / "registry.yaml").write_text(MANIFEST.format(k=k) + entries)
        (information / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: third-{k}\nVersion: 1.0\n"
        )
        (information / "entry_points.txt").write_text(
            f"[harness.manifests]\nthird-{k} = third_{k}\n"
        )


def small_files(folder: Path, examples: int = 20) -> None:
    """Write ``A.json`` and ``R.json``: a caption and two references for each of some
    examples.
    """
    ids = [str(k) for k in range(examples)]
    candidates = [
        {"image_id": name, "caption": f"a dog number {name} runs on grass"}
        for name in ids
    ]
    (folder / "A.json").write_text(json.dumps(candidates))
    (folder / "R.json").write_text(
        json.dumps(
            {name: ["a dog runs on grass", f"dog {name} is running"] for name in ids}
        )
    )


def processes(
    commands: Mapping[str, tuple[Sequence[str], Mapping[str, str]]],
    folder: Path,
    repeats: int,
) -> dict[str, tuple[float, float]]:
    """Return name -> (median wall seconds, median processor seconds) of commands with
    environments, run in turn.
    """
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for repeat in range(repeats + 1):  # the first round fills the caches of the system
        for name, (command, environment) in commands.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            start = time.perf_counter()
            subprocess.run(
                command,
                cwd=folder,
                env={**os.environ, **environment},
                stdout=subprocess.DEVNULL,
                check=True,
            )
            seconds = time.perf_counter() - start
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            if repeat:
                times[name].append((seconds, used))
    return {
        name: tuple(map(statistics.median, zip(*values)))
        for name, values in times.items()
    }  # type: ignore[misc]


def start_up(repeats: int) -> bool:
    """Print the times of the commands and return True when the goals are met."""
    harness = str(Path(sysconfig.get_path("scripts"), "harness"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "packages").mkdir()
        third_parties(folder / "packages")
        small_files(folder)
        crowded = {"PYTHONPATH": str(folder / "packages")}
        score = [harness, "score", "A.json", "--references", "R.json", "-m", "cider"]
        times = processes(
            {
                "python -c pass": ([sys.executable, "-c", "pass"], {}),
                "harness --version": ([harness, "--version"], {}),
                "harness --help": ([harness, "--help"], {}),
                "harness list": ([harness, "list"], {}),
                f"harness list, {MANIFESTS} manifests": ([harness, "list"], crowded),
                "harness score, one metric": (score, {}),
            },
            folder,
            repeats,
        )
    bare = times["python -c pass"]
    print(f"{'command':<28}  wall s  times python  processor s  times python")
    for name, (wall, used) in times.items():
        print(
            f"{name:<28}  {wall:6.3f}  {wall / bare[0]:12.1f}  {used:11.3f}  "
            f"{used / bare[1]:12.1f}"
        )
    ratio = times["harness --help"][0] / bare[0]
    listed = times[f"harness list, {MANIFESTS} manifests"][0]
    met = ratio <= RATIO and listed < LIST_SECONDS
    print(
        f"goals: --help at most {RATIO:g} x Python: {ratio:.1f}; "
        f"list below {LIST_SECONDS} s: {listed:.2f} s"
    )
    return met


def first_score(folder: Path) -> tuple[float, float]:
    """Return the processor seconds until the first number is on the screen and those of
    the whole command, with empty caches.
    """
    small_files(folder, 50)
    (folder / "B.json").write_text(
        (folder / "A.json").read_text().replace("runs", "walks")
    )
    terminal, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
    command = [
        str(Path(sysconfig.get_path("scripts"), "harness")),
        "score",
        "A.json",
        "B.json",
        "--references",
        "R.json",
    ]
    environment = {
        **os.environ,
        "HARNESS_CACHE": str(folder / "caches"),
        "TERM": "xterm-256color",
    }
    first = None
    received = b""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        command, cwd=folder, stdin=child, stdout=child, stderr=child, env=environment
    ) as process:
        os.close(child)
        with contextlib.suppress(OSError):  # EIO: the process has closed the terminal
            while data := os.read(terminal, 65536):
                received += data
                if first is None and re.search(rb"\D[01]\.\d{4}\D", received):
                    user, system = (
                        Path(f"/proc/{process.pid}/stat")
                        .read_text()
                        .rpartition(")")[2]
                        .split()[11:13]
                    )
                    first = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    os.close(terminal)
    if process.returncode or first is None:
        raise SystemExit(received.decode("utf-8", "replace"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return first, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first_use() -> bool:
    """Print the processor time of a first score and return True when the goals are
    met.
    """
    with tempfile.TemporaryDirectory() as name:
        first, whole = first_score(Path(name))
    started = time.process_time()
    total = 0
    for k in range(3_000_000):
        total += k
    loop = time.process_time() - started
    print(
        f"first harness score of 2 x 50 captions: the first number after {first:.1f} "
        f"s of processor time, all after {whole:.1f} s"
    )
    print(
        f"goals: {FIRST_SECONDS:g} s and {ALL_SECONDS:g} s; "
        f"a loop of 3 million additions takes {loop:.2f} s here"
    )
    return first <= FIRST_SECONDS and whole <= ALL_SECONDS


def installation() -> bool:
    """Print time and size of a bare installation, and the largest packages;
    return True when the goal is met.
    """
    from tools.release.building import build
    from tools.release.environments import installed, largest
    from tools.release.package import ROOT

    with tempfile.TemporaryDirectory() as name:
        wheel = build(ROOT, Path(name, "dist")).wheel
        environment = installed(Path(sys.executable), Path(name, "environment"), wheel)
        print(
            f"pip install {wheel.name}: {environment.seconds:.0f} s wall, "
            f"{environment.processor_seconds:.0f} s processor, "
            f"{environment.megabytes:.0f} MB"
        )
        print(
            "  "
            + ", ".join(
                f"{package} {size:.0f}" for package, size in largest(environment)
            )
        )
        heavy = [
            name
            for name in ("torch", "transformers", "datasets", "pandas")
            if _has(environment.folder, name)
        ]
    if heavy:
        print(f"heavy packages: {', '.join(heavy)}")
    return environment.seconds < INSTALL_SECONDS and not heavy


def _has(folder: Path, package: str) -> bool:
    return any(folder.glob(f"lib/python*/site-packages/{package}"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the measurements and return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=15,
        metavar="N",
        help="number of rounds (default: 15)",
    )
    parser.add_argument(
        "--install",
        action="store_true",
        help="also install a wheel into a new environment",
    )
    parser.add_argument(
        "--first",
        action="store_true",
        help="only the first score, with an empty folder of caches",
    )
    args = parser.parse_args(argv)
    if args.first:
        return 0 if first_use() else 1
    met = start_up(args.repeats)
    if args.install:
        met = installation() and met
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
