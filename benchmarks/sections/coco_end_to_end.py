"""Whole COCO scoring: PTB tokens, BLEU-1..4, METEOR, ROUGE-L and CIDEr of 5000 images x
5 references x 1 candidate.

    python -m benchmarks.sections.coco_end_to_end

Each program runs in a process of its own, timed from start to end with imports;
captions are read from one JSON file. The toolkit runs its Java tokeniser and METEOR.
The harness runs twice: cold (empty cache folders, so that lexical data and compiled
kernels are built) and warm (with the caches of the cold run). Goals refer to wall time;
CPU time (of the process and its children) is printed beside it, to distinguish a busy
machine from slow code.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import captions

GOAL_COLD = 6
GOAL_WARM = 15
GOAL_SECOND = 30
LABELS = {
    **{f"bleu{n}": f"Bleu_{n}" for n in (1, 2, 3, 4)},
    "meteor": "METEOR",
    "rouge": "ROUGE_L",
    "cider": "CIDEr",
}
TOLERANCE = 1e-9


def score_with_toolkit(data: dict[str, Any]) -> dict[str, float]:
    """Return the scores of COCOEvalCap.evaluate, without SPICE."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.meteor.meteor import Meteor
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    tokenizer = PTBTokenizer()
    scores = {}
    gts = tokenizer.tokenize(
        {
            i: [{"caption": t} for t in texts]
            for i, texts in enumerate(data["references"])
        }
    )
    res = tokenizer.tokenize(
        {i: [{"caption": t}] for i, t in enumerate(data["candidates"])}
    )
    with contextlib.redirect_stdout(io.StringIO()):
        for n, value in enumerate(Bleu(4).compute_score(gts, res)[0], start=1):
            scores[f"Bleu_{n}"] = float(value)
        for name, scorer in (
            ("METEOR", Meteor()),
            ("ROUGE_L", Rouge()),
            ("CIDEr", Cider()),
        ):
            scores[name] = float(scorer.compute_score(gts, res)[0])
    return scores


def score_with_harness(data: dict[str, Any]) -> dict[str, float]:
    """Return the scores of one call of ``harness.score``, whose metrics share features;
    without intervals, which the toolkit has not.
    """
    import harness

    results = harness.score(
        [[t] for t in data["candidates"]], data["references"], list(LABELS), bootstrap=0
    )
    return {LABELS[label]: result.value for label, result in results.items()}


def child(program: str, path: str) -> None:
    """Print the scores of one program for a file of captions; ``second`` prints the
    seconds of a second call too.
    """
    data = json.loads(Path(path).read_text(encoding="utf-8"))
    scores = (score_with_toolkit if program == "toolkit" else score_with_harness)(data)
    if program == "second":
        clock = time.perf_counter(), time.process_time()
        scores = score_with_harness(data)
        print(
            f"SECOND {time.perf_counter() - clock[0]} {time.process_time() - clock[1]}"
        )
    print("SCORES " + json.dumps(scores))


class Cost(NamedTuple):
    """Seconds of one process, or of one call."""

    wall: float
    cpu: float


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(
    program: str, path: Path, environment: dict[str, str]
) -> tuple[dict[str, float], Cost]:
    """Return scores and cost of one program in a new process; for ``second`` the cost
    of the second call in it.
    """
    start = time.perf_counter()
    cpu = _children_cpu()
    process = subprocess.run(
        [
            sys.executable,
            "-m",
            "benchmarks.sections.coco_end_to_end",
            program,
            str(path),
        ],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        cwd=captions.ROOT,
    )
    cost = Cost(time.perf_counter() - start, _children_cpu() - cpu)
    lines = [line for line in process.stdout.splitlines() if line.startswith("SCORES ")]
    if process.returncode or not lines:
        raise SystemExit(f"{program} failed:\n{process.stderr[-3000:]}")
    if program == "second":
        (second,) = (
            line.split()[1:]
            for line in process.stdout.splitlines()
            if line.startswith("SECOND ")
        )
        cost = Cost(*map(float, second))
    return json.loads(lines[-1].removeprefix("SCORES ")), cost


def report() -> bool:
    """Print the table; return True when the goals are met and the numbers agree."""
    folder = Path(tempfile.mkdtemp(prefix="end-to-end-"))
    try:
        file = folder / "captions.json"
        data = {
            "candidates": captions.one_candidate(),
            "references": captions.references(),
        }
        file.write_text(json.dumps(data), encoding="utf-8")
        caches = {"HARNESS_CACHE": str(folder / "lexical")}
        cold_scores, cold = measure("harness", file, caches)
        warm_scores, warm = measure("harness", file, caches)
        second_scores, second = measure("second", file, caches)
        expected, toolkit = measure("toolkit", file, {})
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    met = _table(expected, warm_scores, toolkit, cold, warm, second)
    return met and cold_scores == warm_scores == second_scores


def _table(
    expected: dict[str, float],
    ours: dict[str, float],
    toolkit: Cost,
    cold: Cost,
    warm: Cost,
    second: Cost,
) -> bool:
    """Print costs, scores and goals; return True when all goals are met."""
    print(
        "\nWhole COCO scoring, 5000 images x 5 references x 1 candidate (PTB, BLEU, "
        "METEOR, ROUGE-L, CIDEr)"
    )
    load = f"(load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)"
    print(f"  {'':<24} {'wall s':>8} {'ratio':>7} {'cpu s':>8} {'ratio':>7}   {load}")

    rows = {
        "toolkit": toolkit,
        "harness, cold cache": cold,
        "harness, warm": warm,
        "second call in a process": second,
    }

    for name, cost in rows.items():
        ratios = toolkit.wall / cost.wall, toolkit.cpu / cost.cpu
        print(
            f"  {name:<24} {cost.wall:>8.2f} {ratios[0]:>6.1f}x {cost.cpu:>8.2f} "
            f"{ratios[1]:>6.1f}x"
        )

    differences = {name: abs(expected[name] - ours[name]) for name in expected}
    for name, difference in differences.items():
        print(
            f"  {name:<10} toolkit {expected[name]:.12f}  harness {ours[name]:.12f}  "
            f"{difference:.1e}"
        )

    goals = {
        f"cold at least {GOAL_COLD}x": toolkit.wall / cold.wall >= GOAL_COLD,
        f"warm at least {GOAL_WARM}x": toolkit.wall / warm.wall >= GOAL_WARM,
        f"second call at least {GOAL_SECOND}x": toolkit.wall / second.wall
        >= GOAL_SECOND,
        f"equal within {TOLERANCE:g}": max(differences.values()) <= TOLERANCE,
    }
    for goal, met in goals.items():
        print(f"  goal (wall time): {goal}: {'met' if met else 'MISSED'}")
    return all(goals.values())


if __name__ == "__main__":
    if len(sys.argv) == 3:
        child(sys.argv[1], sys.argv[2])
        sys.exit(0)
    sys.exit(0 if report() else 1)
