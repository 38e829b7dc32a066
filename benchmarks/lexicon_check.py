"""Cost of the check of METEOR's lexicon.

    python -m benchmarks.lexicon_check [--repetitions 5]

Each repetition is two new processes, which map the lexicon of the cache with and
without the comparison of its checksum. It is printed what the comparison adds in CPU
time and wall time, with the file in memory (warm) and after its pages were dropped
(cold), and to the peak of the memory. Linux alone.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from caption_kernels.lexicon import installed
from caption_kernels.lexicon.file_format import VERSION

CHILD = """
import json, sys, time
from pathlib import Path
from caption_kernels.lexicon import installed
if sys.argv[2] == "unchecked":
    installed.verify = lambda stream: None
cpu, wall = time.process_time(), time.perf_counter()
lexicon = installed._map_file(Path(sys.argv[1]))
times = time.process_time() - cpu, time.perf_counter() - wall
# What getrusage says begins with the memory of the parent.
peak = [line for line in open("/proc/self/status") if line.startswith("VmHWM:")]
print(json.dumps([*times, int(peak[0].split()[1]) / 1024]))
"""
BUDGET = 0.05
"""CPU seconds that the check may take in a process."""


def measure(path: Path, kind: str, cold: bool) -> list[float]:
    """Return CPU seconds, wall seconds and peak memory in MB of a process that maps the
    lexicon.
    """
    if cold:
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), kind],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(child.stdout)


def main() -> int:
    """Print the costs; return 1 where the check takes more CPU time than its budget."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--repetitions", type=int, default=5)
    args = parser.parse_args()
    sources = installed.find_sources()
    installed.load_lexicon(sources)
    path = installed._folder() / f"{VERSION}-{installed.content_key(sources)}.lexicon"
    print(
        f"{path}: {path.stat().st_size / 1e6:.0f} MB; "
        f"medians of {args.repetitions} processes, and the largest of them"
    )
    slowest = 0.0
    for cold in (False, True):
        for kind in ("unchecked", "checked"):
            runs = [measure(path, kind, cold) for _ in range(args.repetitions)]
            cpu, wall, memory = zip(*runs, strict=True)
            print(
                f"  {'cold' if cold else 'warm'}, {kind:<9}  CPU "
                f"{statistics.median(cpu):.3f} s ({max(cpu):.3f}),"
                f" wall {statistics.median(wall):.3f} s ({max(wall):.3f}), "
                f"peak {statistics.median(memory):.1f} MB"
            )
            if kind == "checked" and not cold:
                slowest = statistics.median(cpu)
    print(f"the check takes {slowest:.3f} CPU s of the {BUDGET} that it may")
    return 1 if slowest > BUDGET else 0


if __name__ == "__main__":
    sys.exit(main())
