"""Scenarios of the soak test: generators that disturb one run at a time and check what the next run makes of it."""

from __future__ import annotations

import json
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.soak.cases import SPECS
from tools.soak.faults import Fault
from tools.soak.processes import Child, End, Limits, state, whole_process
from tools.soak.workshop import Workshop

Scenario = Callable[[Workshop], Iterator[bool]]
SCENARIOS: dict[str, Scenario] = {}


def scenario(function: Scenario) -> Scenario:
    """Add a generator to :data:`SCENARIOS`; it yields after every run that it has disturbed and checked."""
    SCENARIOS[function.__name__.replace("_", "-")] = function
    return function


# --------------------------------------------------------------------------- crashes
@scenario
def crash_points(shop: Workshop) -> Iterator[bool]:
    """Kill a new run at every call that changes the file system, in random order."""
    yield from _at_every_call(shop, "crash-points", "kill")


@scenario
def disk_full(shop: Workshop) -> Iterator[bool]:
    """Let the disk be full from every call on that needs space."""
    yield from _at_every_call(shop, "disk-full", "full")


@scenario
def read_only(shop: Workshop) -> Iterator[bool]:
    """Let the file system become read-only from every call on; a finished run stays readable."""
    yield from _at_every_call(shop, "read-only", "read-only")


@scenario
def terminated(shop: Workshop) -> Iterator[bool]:
    """Send SIGTERM at every call that changes the file system."""
    yield from _at_every_call(shop, "terminated", "term")


def _at_every_call(shop: Workshop, own_name: str, kind: str) -> Iterator[bool]:
    points = [(name, at) for name in shop.names for at in range(shop.count(name))]
    for name, at in shop.share(points):
        out, where = shop.new_folder(), f"{name} at call {at}"
        end = shop.run(name, out, fault=Fault(kind, at))
        shop.first_end(own_name, where, end)
        if end.code == 0:
            shop.compare(own_name, f"{where} (no error)", name, out, end, locked=kind == "read-only")
        if kind == "term" and end.code not in (0, 143):
            shop.problem(own_name, "traceback", f"{where} (expected exit 143)", end)
        shop.check(own_name, where, name, out)
        yield True


@scenario
def fresh_crashes(shop: Workshop) -> Iterator[bool]:
    """Kill ``--fresh`` over the run of other data at random calls, then run without it: equal, or refused as another run."""
    limits = {name: 2 * shop.count(name) for name in shop.names}
    _ = shop.others
    while True:
        name = shop.random.choice(shop.names)
        out, at = shop.new_folder(), shop.random.randrange(limits[name])
        where = f"{name} --fresh at call {at}"
        shutil.copytree(shop.folder / f"undisturbed-other-{name}", out)
        shop.first_end("fresh-crashes", where, shop.run(name, out, "--fresh", fault=Fault("kill", at)))
        end = shop.run(name, out)
        if end.code == 2 and "holds another run" in end.text and _has_old_manifest(shop, name, out):
            shop.check("fresh-crashes", where, name, out, fresh=True)
        elif end.code != 0:
            shop.problem("fresh-crashes", "refused" if end.code == 2 else "traceback", where, end)
        else:
            shop.compare("fresh-crashes", where, name, out, end)
        shutil.rmtree(out, ignore_errors=True)
        yield True


def _has_old_manifest(shop: Workshop, name: str, out: Path) -> bool:
    """Return True while ``--fresh`` has not removed the manifest of the run that it replaces."""
    old = shop.folder / f"undisturbed-other-{name}" / "manifest.json"
    return (out / "manifest.json").is_file() and (out / "manifest.json").read_bytes() == old.read_bytes()


@scenario
def random_kills(shop: Workshop) -> Iterator[bool]:
    """Kill a run with SIGKILL or SIGTERM after random times, again and again until it ends by itself."""
    while True:
        name = shop.random.choice(shop.names)
        out = shop.new_folder()
        for attempt in range(6):
            child = shop.start(name, out, *(["--resume"] if attempt and (out / "manifest.json").is_file() else []))
            time.sleep(shop.random.uniform(0, 1.1 * shop.seconds[name]))
            child.send(number := shop.random.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM)))
            end = child.wait()
            shop.first_end("random-kills", f"{name}, signal {number:d}", end)
            if end.code not in (0, 143, -signal.SIGKILL, -signal.SIGTERM):
                shop.problem("random-kills", "refused", f"{name}, signal {number:d}", end)
            if end.code == 0:
                break
        shop.check("random-kills", name, name, out)
        yield True


@scenario
def whole_processes(shop: Workshop) -> Iterator[bool]:
    """Kill a process of its own, as a user starts it, at a random time that includes its start."""
    while True:
        name = shop.random.choice(shop.names)
        out = shop.new_folder()
        arguments = ["run", f"{name}.yaml", "--output", str(out)]
        process = whole_process(arguments, shop.folder / "project", shop.environment)
        time.sleep(shop.random.uniform(0.1, 4.0))
        process.send_signal(shop.random.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT)))
        text, _ = process.communicate()
        end = End(process.returncode, text.decode(errors="replace"))
        early = end.code == 1 and "KeyboardInterrupt" in end.text and "harness/" not in end.text.replace("harness/cli/main", "")
        if early:  # the interpreter's own report of Ctrl-C before the program begins
            end = End(130, "")
        shop.first_end("whole-processes", name, end)
        shop.check("whole-processes", name, name, out)
        yield True


# --------------------------------------------------------------------------- limits
@scenario
def limits(shop: Workshop) -> Iterator[bool]:
    """Give a run few descriptors, little memory or small files."""
    while True:
        name, kind = shop.random.choice(shop.names), shop.random.choice(("descriptors", "memory", "file_bytes"))
        most = {"descriptors": 30, "memory": 60_000_000, "file_bytes": 20_000}[kind]
        least = {"descriptors": 4, "memory": 100_000, "file_bytes": 0}[kind]
        bound = Limits(**{kind: shop.random.randint(least, most)})
        out, where = shop.new_folder(), f"{name}, {kind} {getattr(bound, kind)}"
        end = shop.start(name, out, limits=bound).wait()
        shop.first_end("limits", where, end)
        if end.code == 0:
            shop.compare("limits", f"{where} (no error)", name, out, end)
        shop.check("limits", where, name, out)
        yield True


@scenario
def descriptors(shop: Workshop) -> Iterator[bool]:
    """Let every later call of ``open`` fail, from a random one on."""
    while True:
        name, at = shop.random.choice(shop.names), shop.random.randrange(60)
        out, where = shop.new_folder(), f"{name} from open {at} on"
        end = shop.run(name, out, fault=Fault("descriptors", at))
        shop.first_end("descriptors", where, end)
        shop.check("descriptors", where, name, out)
        yield True


@scenario
def clock(shop: Workshop) -> Iterator[bool]:
    """Let the clock jump by years during a run, and kill one in two."""
    while True:
        name = shop.random.choice(shop.names)
        out = shop.new_folder()
        child = shop.start(name, out, fault=Fault("clock", seed=shop.random.randrange(1 << 30)))
        if shop.random.random() < 0.5:
            time.sleep(shop.random.uniform(0, shop.seconds[name]))
            child.send(signal.SIGKILL)
        end = child.wait()
        shop.first_end("clock", name, end)
        if end.code == 0:
            shop.compare("clock", name, name, out, end)
        shop.check("clock", name, name, out)
        yield True


# --------------------------------------------------------------------------- several at once
@scenario
def at_once(shop: Workshop) -> Iterator[bool]:
    """Run two or three processes in one folder, and kill one in two rounds: each ends well or says that another one writes."""
    while True:
        name = shop.random.choice(shop.names)
        out = shop.new_folder()
        children = []
        for _ in range(shop.random.choice((2, 3))):
            children.append(shop.start(name, out))
            time.sleep(shop.random.choice((0, 0, shop.random.uniform(0, shop.seconds[name]))))
        killed = shop.random.random() < 0.5
        if killed:
            time.sleep(shop.random.uniform(0, shop.seconds[name]))
            children[0].send(signal.SIGKILL)
        ends = [child.wait() for child in children]
        for end in ends:
            shop.first_end("at-once", name, end)
            if end.code == 2 and "another process is writing this run" not in end.text:
                shop.problem("at-once", "refused", name, end)
        if not killed and not any(end.code == 0 for end in ends):
            shop.problem("at-once", "lost", f"{name}: none of {len(ends)} finished", ends[0])
        shop.check("at-once", name, name, out)
        yield True


# --------------------------------------------------------------------------- torn files
def tears(data: bytes, generator: random.Random) -> dict[str, bytes]:
    """Return damaged copies of a file: cut off, empty, one byte altered."""
    if not data:
        return {"filled": b"\x00" * 16}
    at = generator.randrange(len(data))
    flipped = data[:at] + bytes([data[at] ^ (1 << generator.randrange(8))]) + data[at + 1 :]
    return {"half": data[: len(data) // 2], "empty": b"", "flipped": flipped}


@scenario
def torn_runs(shop: Workshop) -> Iterator[bool]:
    """Tear every file of finished and of unfinished runs in three ways: the run goes on, report and compare say so in one line."""
    todo: list[tuple[str, str, bool]] = []
    for name in shop.names:
        for file in shop.expected[name]:
            todo += [(name, file, finished) for finished in (True, False)]
    for name, file, finished in shop.share(todo):
        if not finished and file in ("results.json", "samples.parquet"):
            continue
        original = shop.folder / f"undisturbed-project-{name}"
        for kind, content in tears((original / file).read_bytes(), shop.random).items():
            _torn_run(shop, name, file, f"{name}/{file} {kind}{'' if finished else ', unfinished'}", content, finished)
        yield True


def _torn_run(shop: Workshop, name: str, file: str, where: str, content: bytes, finished: bool) -> None:
    """Check one torn file: shown or refused in one line, then run again."""
    out = shop.new_folder()
    shutil.copytree(shop.folder / f"undisturbed-project-{name}", out)
    if not finished:
        (out / "results.json").unlink()
        (out / "samples.parquet").unlink()
    (out / file).write_bytes(content)
    page = shop.folder / "page.html"
    arguments = ["report", str(out), "--output", str(page)]
    end = Child(arguments, shop.folder / "project", environment=shop.environment).wait()
    shop.first_end("torn-runs", f"{where}, report", end)
    if file.startswith(("scores/", "candidates/")) and finished:
        _torn_artifact(shop, name, file, where, out)
        return
    if file != "manifest.json":
        shop.check("torn-runs", where, name, out)
        return
    end = shop.run(name, out)  # a damaged manifest may be that of another run: it is refused, and --fresh replaces it
    if end.code == 0 and state(out) != shop.expected[name]:
        shop.compare("torn-runs", where, name, out, end)
    shop.check("torn-runs", where, name, out, fresh=True)


def _torn_artifact(shop: Workshop, name: str, file: str, where: str, out: Path) -> None:
    """Check a torn artifact of a finished run: the run has its results; paired tests, which read artifacts, are as before."""
    end = shop.run(name, out)
    found, expected = state(out), shop.expected[name]
    different = sorted(name for name in {*found, *expected} - {file} if found.get(name) != expected.get(name))
    if end.code != 0 or different:
        kind = "wrong" if end.code == 0 else "refused"
        shop.problem("torn-runs", kind, f"{where}: {', '.join(different[:4])}", end)
    elif name not in ("judged", "tokens", "variants") and shop.comparison(out) != shop.comparison_of(name):
        shop.problem("torn-runs", "lost", f"{where}: other paired tests after the next run", end)
    shutil.rmtree(out)


@scenario
def torn_caches(shop: Workshop) -> Iterator[bool]:
    """Tear every file of the caches (machine code, METEOR's lexicon) in three ways: built again, with the same numbers."""
    spec = {
        **SPECS["classic"],
        "task": "cached",
        "metrics": ["bleu", "rouge", "cider", "meteor"],
        "models": ["shuffled"],
    }
    project = shop.folder / "project"
    (project / "cached.yaml").write_text(json.dumps(spec), encoding="utf-8")
    cache = shop.folder / "torn-cache"
    environment = {"HARNESS_CACHE": str(cache)}

    def run() -> tuple[End, Path]:
        out = shop.new_folder()
        process = whole_process(["run", "cached.yaml", "--output", str(out)], project, environment)
        text, _ = process.communicate()
        return End(process.returncode, text.decode(errors="replace")), out

    end, out = run()
    if end.code != 0:
        raise SystemExit(f"the undisturbed run with caches ends with {end.code}: {end.text}")
    expected = state(out)
    files = sorted(path.relative_to(cache) for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock")
    for file in shop.share(files):
        if not (cache / file).is_file():
            continue  # a rebuilt cache may have other names
        for kind, content in tears((cache / file).read_bytes(), shop.random).items():
            (cache / file).write_bytes(content)
            end, out = run()
            where = f"{file} {kind}"
            shop.first_end("torn-caches", where, end)
            if end.code != 0:
                shop.problem("torn-caches", "refused", where, end)
            elif state(out) != expected:
                shop.problem("torn-caches", "wrong", where, end)
            shutil.rmtree(out, ignore_errors=True)
        yield True


if __name__ == "__main__":
    sys.exit("run python -m tools.soak.run")
