"""Planted faults: ``python -m tools.soak.planted [NAME ...]`` lets the adversary find
each fault of ``planted_faults.toml``.

A fault is a small change of a copy of the sources. The adversary runs there until it
finds a problem of the fault's kinds; a fault that it does not find is a hole in it. The
exit status is 1 when there is one.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FAULTS: dict[str, dict[str, Any]] = {
    fault["name"]: fault
    for fault in tomllib.loads(
        Path(__file__).with_name("planted_faults.toml").read_text()
    )["fault"]
}
COPIED = ("harness", "tools", "adapters", "plugins", "tasks")
"""Folders of the sources; those of distributions hold their packages,
which come before the installed ones.
"""


def plant(fault: dict[str, Any], tree: Path) -> None:
    """Copy the sources to ``tree`` and apply a fault.

    Raises
    ------
    SystemExit
        The text that the fault replaces does not occur once.
    """
    for name in COPIED:
        shutil.copytree(
            ROOT / name,
            tree / name,
            ignore=shutil.ignore_patterns("__pycache__", "node_modules", "*.egg-info"),
        )
    for change in (fault, *fault.get("also", ())):
        path = tree / change["file"]
        text = path.read_text(encoding="utf-8")
        if text.count(change["old"]) != 1:
            raise SystemExit(
                f"{fault['name']}: {change['file']} has {text.count(change['old'])} "
                f"times {change['old']!r}; expected once"
            )
        path.write_text(text.replace(change["old"], change["new"]), encoding="utf-8")


def find(
    fault: dict[str, Any], minutes: float, seed: int, workers: int, aimed: bool = False
) -> str:
    """Let the adversary look for a planted fault, ``aimed`` by its rules alone, and
    return the problem that it finds; empty for none.
    """
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        tree = Path(folder)
        plant(fault, tree)
        paths = os.pathsep.join(str(tree / name) for name in ("", *COPIED[2:]))

        command = [
            sys.executable,
            "-m",
            "tools.soak.run",
            "--until",
            ",".join(fault["kinds"]),
            "--minutes",
            str(minutes),
        ]
        command += [
            "--seed",
            str(seed),
            "--workers",
            str(workers),
            *(["--rules", ",".join(fault["rules"])] if aimed else []),
        ]

        environment = {
            **os.environ,
            "PYTHONPATH": paths,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True
        )

    problems = [
        line
        for line in done.stdout.splitlines()
        if line.startswith("seed ") and ": " in line
    ]

    if not problems and "histories" not in done.stdout:
        raise SystemExit(
            f"{fault['name']}: the adversary does not start: {done.stdout}{done.stderr}"
        )

    return next(
        (line for line in problems if line.split(": ")[1] in fault["kinds"]), ""
    )


def cpu_seconds() -> float:
    """Return the CPU time of all processes that this one has started and awaited."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    """Look for every fault; return 1 when one is not found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"{', '.join(FAULTS)} (default: all)"
    )
    parser.add_argument("--minutes", type=float, default=5.0, help="time for one fault")
    parser.add_argument(
        "--aimed",
        action="store_true",
        help="histories of the rules alone by which the fault is to be found",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()

    names = args.names or list(FAULTS)
    missed = 0
    if unknown := set(names) - set(FAULTS):
        parser.error(
            f"no fault is called {', '.join(sorted(unknown))}; "
            f"there are {', '.join(FAULTS)}"
        )

    for name in names:
        began = time.monotonic()
        used = cpu_seconds()
        problem = find(FAULTS[name], args.minutes, args.seed, args.workers, args.aimed)
        missed += not problem
        cost = f"{time.monotonic() - began:5.0f} s  {cpu_seconds() - used:5.0f} CPU s"
        print(f"{name:<28} {cost}  {problem[:160] or 'NOT FOUND'}", flush=True)

    print(f"{len(names) - missed} of {len(names)} planted faults found")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
