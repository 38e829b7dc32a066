"""Files of a run on a disk that loses what was not synced: after a power cut at any
call, the old ones or the new ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.soak.shim import build

ROOT = Path(__file__).resolve().parents[3]
SEEDS = range(12)
"""What reaches the disk unsynced: nothing, all names and no content,
and ten times what chance says.
"""
PROGRAM = '''
import json, os, shutil, sys
from pathlib import Path
from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.rundir.answers import AnswerFile
from harness.rundir.run_folder import RunFolder
from harness.rundir.sample_file import SampleWriter
from tools.soak.power import Disk, chances, keep_disk, write_files
from tools.soak.shim import POWER_CUT, Fault, SharedPage, arm
import numpy as np

# what a reader completes need not be on the disk of the test
fsync = os.fsync
os.fsync = lambda descriptor: None
place, task, seeds = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
OLD = dict.fromkeys(
    ["manifest.json", "results.json", "samples.parquet", "report.html", "scores/a.npz"],
    b"old",
)
ROWS = {f"k{k}": {"candidates": [str(k)]} for k in range(3)}


def write_samples(folder, name):
    stamped = folder.create(name)
    with SampleWriter(stamped, ["x"], [], has_meta=False) as writer:
        writer.write("m", {}, [CaptionSet("1", ("a",), ("b",))], {"x": np.ones(1)}, {})
    return stamped.stamp


def commit(folder):
    folder.write(".next/manifest.json", b"new")
    folder.write(".next/scores/b.npz", b"new")
    with folder.append(".next/log.jsonl") as log:
        log.write(b"new")
    stamp = write_samples(folder, ".next/samples.parquet")
    folder.write(".next/results.json", b"new")
    folder.commit(["report.html", "scores"], {"samples.parquet": stamp})


def write(folder):
    folder.write("manifest.json", b"new")


def answer(folder):
    for name in ("candidates/new.jsonl", "candidates/old.jsonl"):
        file = AnswerFile(folder, name)
        for key, row in ROWS.items():
            file.append(key, row)
        file.close()


def read(path):
    """Return the files of a run after its commit has been completed, its answers, or
    the refusal.
    """
    folder = RunFolder(path)
    try:
        folder.complete()
        if task == "answer":
            names = ("candidates/new.jsonl", "candidates/old.jsonl")
            return [AnswerFile(folder, name).read() for name in names]
        names = [name for name in folder.names() if name != "scores"]
        names += [f"scores/{name}" for name in folder.names("scores")]
        shown = [name for name in names if not name.startswith(".")]
        contents = {name: folder.read(name) for name in shown}
    except HarnessError as error:
        return str(error)
    if contents.get("samples.parquet", b"old") != b"old":
        is_whole = contents["samples.parquet"][-4:] == b"PAR1"
        contents["samples.parquet"] = b"new" if is_whole else b"torn"
    return {name: content.decode() for name, content in sorted(contents.items())}


def cut_power(at):
    """Cut the power at a call; return whether the task had ended, and what the
    directory may hold then.
    """
    below, kept, page = place / f"at{at}", place / f"kept{at}", SharedPage()
    answers = {"candidates/old.jsonl": b""} if task == "answer" else {}
    write_files(below, OLD | answers)
    child = os.fork()
    if child == 0:
        os.fsync = fsync
        keep_disk(below, kept)
        arm(below, Fault(POWER_CUT, at), page, kept)
        globals()[task](RunFolder(below))
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -9), code
    found, disk = [], Disk(below, kept)
    for seed in seeds:
        files = disk.after(chances(seed))
        key = repr(files)
        if key not in states:
            after = place / "after"
            after.mkdir()
            write_files(after, files)
            states[key] = read(after)
            shutil.rmtree(after)
        found.append(states[key])
    return code == 0, found


globals()[task](RunFolder(place / "warm"))  # so that children have nothing to import
states = {}
results, ended = [], False
while not ended:
    ended, found = cut_power(len(results))
    results.append(found)
print(json.dumps(results))
'''
OLD = {
    "manifest.json": "old",
    "report.html": "old",
    "results.json": "old",
    "samples.parquet": "old",
    "scores/a.npz": "old",
}
NEW = {
    "log.jsonl": "new",
    "manifest.json": "new",
    "results.json": "new",
    "samples.parquet": "new",
    "scores/b.npz": "new",
}
ROWS = {f"k{k}": {"candidates": [str(k)]} for k in range(3)}


def cut_power_at_every_call(folder: Path, task: str) -> list[list[object]]:
    """Return what the directory holds after a power cut at each call of a task, and
    after its end, by call and seed.
    """
    paths = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(ROOT))))
    environment = {**os.environ, "LD_PRELOAD": str(build()), "PYTHONPATH": paths}
    command = [
        sys.executable,
        "-c",
        PROGRAM,
        str(folder),
        task,
        json.dumps(list(SEEDS)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_commit_is_carried_out_whole_or_not_at_all(tmp_path):
    """Without the fsync of any file, of the waiting folder, of its folders, or of the
    directory before or after the renames, it is torn.
    """
    results = cut_power_at_every_call(tmp_path, "commit")
    assert len(results) > 20
    states = [state for found in results for state in found]
    assert [state for state in states if state not in (OLD, NEW)] == []
    assert OLD in states and all(state == NEW for state in results[-1]), (
        "what was committed is on the disk when the call returns"
    )


def test_a_file_that_is_written_has_its_old_or_its_new_content(tmp_path):
    results = cut_power_at_every_call(tmp_path, "write")
    contents = [state["manifest.json"] for found in results for state in found]
    assert set(contents) == {"old", "new"}


@pytest.mark.slow
def test_answers_are_on_the_disk_when_their_file_is_closed(tmp_path):
    """Those that were paid for, in a file that was there before and in a new one."""
    assert cut_power_at_every_call(tmp_path, "answer")[-1] == [
        [ROWS, ROWS] for _ in SEEDS
    ]


def test_the_disk_loses_what_is_not_synced(tmp_path):
    """The simulated disk itself: a file that is replaced without any fsync."""
    program = PROGRAM.replace(
        "def write(folder):\n",
        "def write(folder):\n    import os\n    os.fsync = lambda descriptor: None\n",
    )
    assert program != PROGRAM
    environment = {
        **os.environ,
        "LD_PRELOAD": str(build()),
        "PYTHONPATH": f"{os.environ.get('PYTHONPATH', '')}{os.pathsep}{ROOT}",
    }
    command = [
        sys.executable,
        "-c",
        program,
        str(tmp_path),
        "write",
        json.dumps(list(SEEDS)),
    ]
    results = json.loads(
        subprocess.run(
            command, capture_output=True, text=True, env=environment, check=True
        ).stdout
    )
    assert {state["manifest.json"] for state in results[-1]} == {"old", "new", ""}
