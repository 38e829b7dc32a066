"""Test the tests: ``python -m tools.mutants.run``, or ``make mutants``.

Small changes of the sources (:mod:`tools.mutants.mutants`) are drawn with a seed and
become the work of a session of cosmic-ray (``cosmic_ray.toml``). Its runner changes a
copy of the sources, one place after the other, and runs the fast tests that execute the
changed line (:mod:`tools.mutants.near_tests`). The sources themselves stay as they are.
A second call goes on where the first one was interrupted.

Those that no test notices are listed. ``equivalent.json`` says of each why it cannot
change a result. The exit status is 1 when one is missing there, or fewer than 95 % of
those that can change a result are noticed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cosmic_ray.commands import execute
from cosmic_ray.config import load_config
from cosmic_ray.testing import run_tests
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkItem

from tools.mutants import lines
from tools.mutants.mutants import Mutant, mutants_of, sample, sources
from tools.mutants.near_tests import CHANGED, ORIGINAL, RECORD
from tools.mutants.processes import ROOT

CONFIGURATION = Path(__file__).with_name("cosmic_ray.toml")
REASONS = Path(__file__).with_name("equivalent.json")
PACKAGES = (".", "plugins", "adapters", "tasks", "kernels/reference")
"""Folders that hold the packages, which come before the installed ones."""
GOAL = 0.95


def draw(
    config: dict[str, Any], count: int | None, seed: int, only: Sequence[str]
) -> list[Mutant]:
    """Return the sampled mutants of every group, in proportion to the group's count."""
    total = sum(group["count"] for group in config["groups"].values())
    drawn: list[Mutant] = []
    for number, (name, group) in enumerate(sorted(config["groups"].items())):
        if only and name not in only:
            continue
        every: list[Mutant] = []
        for file in sources(ROOT, group["sources"], group.get("exclude", [])):
            every += mutants_of(file, (ROOT / file).read_text(encoding="utf-8"))
        size = group["count"]
        if count is not None:
            size = round(count * group["count"] / total)
        drawn += sample(every, size, 1000 * seed + number)
    return drawn


def key(mutant: Mutant, source: str) -> str:
    """Return the name of a mutant: its file and the changed line, before and after."""
    before, after = mutant.change(source)
    return f"{mutant.path}: {before} -> {after}"


def identify(mutant: Mutant, source: str) -> str:
    """Return the number of the work of a mutant: another one where the sources have
    moved.
    """
    text = f"{key(mutant, source)} {mutant.line} {mutant.code(source)}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def copy_sources(tree: Path) -> None:
    """Copy the files of the repository that git does not ignore to ``tree``."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    shutil.rmtree(tree, ignore_errors=True)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)


def record_lines(folder: Path, tree: Path) -> None:
    """Record the tests of every line, again when a source has changed since."""
    changed = max(
        path.stat().st_mtime for name in CHANGED for path in (tree / name).rglob("*.py")
    )
    record = folder / lines.SECONDS
    if record.is_file() and record.stat().st_mtime >= changed:
        return
    print("recording the lines that each fast test executes (10 minutes)", flush=True)
    subprocess.run(
        [sys.executable, "-m", "tools.mutants.lines", "--out", str(folder)],
        cwd=tree,
        stdout=subprocess.DEVNULL,
    )


def fill_session(session: WorkDB, work: Mapping[str, Mutant]) -> None:
    """Make the mutants the work of the session; results of the same ones are kept."""
    results = {
        job: result for job, result in session.results if job in work and result.diff
    }
    session.clear()
    session.add_work_items(
        WorkItem.single(job, mutant.specification()) for job, mutant in work.items()
    )
    for job, result in results.items():
        session.set_result(job, result)


def main() -> int:
    """Run the mutants; return 1 when too many are unnoticed,
    or one without a reason.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "--count", type=int, help="number of mutants (default: that of pyproject.toml)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--groups", nargs="*", default=[])
    parser.add_argument(
        "--report", action="store_true", help="run nothing; print the results so far"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=lines.OUT,
        help="folder of the session, of the copy and of the record of executed lines",
    )
    args = parser.parse_args()
    out = args.out.absolute()
    out.mkdir(exist_ok=True)

    # The sample reads the sources by their names below the root.
    os.chdir(ROOT)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    work: dict[str, Mutant] = {}
    for mutant in draw(project["tool"]["mutants"], args.count, args.seed, args.groups):
        source = (ROOT / mutant.path).read_text(encoding="utf-8")
        work[identify(mutant, source)] = mutant

    tree = out / "tree"
    with use_db(str(out / "session.sqlite")) as session:
        fill_session(session, work)
        if not args.report:
            copy_sources(tree)
            os.environ.setdefault("OMP_NUM_THREADS", "1")
            paths = [str(tree / name) for name in PACKAGES]
            os.environ["PYTHONPATH"] = os.pathsep.join(paths)
            os.environ[ORIGINAL] = str(ROOT)
            os.environ[RECORD] = str(out)
            record_lines(out, tree)
            # cosmic-ray changes files by their names below the working directory.
            os.chdir(tree)
            config = load_config(str(CONFIGURATION))
            outcome, output = run_tests(config.test_command, config.timeout)
            if outcome != TestOutcome.SURVIVED:
                raise SystemExit(
                    f"{config.test_command} fails without a change {output}"
                )
            execute(session, config)
            os.chdir(ROOT)
        noticed = {job: result.is_killed for job, result in session.results}
    return summary([(work[job], end) for job, end in noticed.items()])


def summary(results: Sequence[tuple[Mutant, bool]]) -> int:
    """Print what was noticed, by folder, and the unnoticed ones;
    return the exit status.
    """
    reasons: dict[str, str] = json.loads(REASONS.read_text(encoding="utf-8"))
    folders: dict[str, list[bool]] = {}
    missing: list[str] = []
    for mutant, noticed in results:
        folders.setdefault(str(Path(mutant.path).parent), []).append(noticed)
        if noticed:
            continue
        name = key(mutant, (ROOT / mutant.path).read_text(encoding="utf-8"))
        if name not in reasons:
            missing.append(name)
        print(
            f"unnoticed: {mutant.path}:{mutant.line} "
            f"{name.partition(': ')[2]}\n    {reasons.get(name, 'NO REASON')}"
        )

    for folder, ends in sorted(folders.items()):
        print(f"{folder:<28} {len(ends):>4} mutants, {ends.count(False):>3} unnoticed")
    unnoticed = sum(not noticed for _, noticed in results)
    equal = unnoticed - len(missing)
    share = 1 - len(missing) / max(1, len(results) - equal)
    print(
        f"{len(results)} mutants, {1 - unnoticed / max(1, len(results)):.1%} noticed;"
        f" {equal} cannot change a result; of the others {share:.1%} noticed"
    )
    print(
        f"{len(missing)} unnoticed without a reason in {os.path.relpath(REASONS, ROOT)}"
    )
    return int(share < GOAL or bool(missing))


if __name__ == "__main__":
    sys.exit(main())
