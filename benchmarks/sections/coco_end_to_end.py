"""Whole COCO scoring: PTB tokens, BLEU-1..4, METEOR, ROUGE-L and CIDEr of 5000 images x 5 references x 1 candidate.

    python benchmarks/sections/coco_end_to_end.py

Each contestant is a process of its own, timed from its start to its end, imports included; captions are read from one JSON file.
The toolkit runs its Java tokeniser and METEOR. Ours runs twice: cold (own empty cache folders: lexical data and compiled kernels
are built in the time) and warm (the caches left by the cold run). Goals are judged by wall time. CPU time (of the process and all it
started and waited for) stands beside it, to tell a busy machine from slow code; it is no goal.
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
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

GOAL_WARM, GOAL_COLD = 10, 1
LABELS = {**{f"bleu{n}": f"Bleu_{n}" for n in (1, 2, 3, 4)}, "meteor": "METEOR", "rouge": "ROUGE_L", "cider": "CIDEr"}
TOLERANCE = 1e-9


def score_with_toolkit(data: dict) -> dict[str, float]:
    """The steps of COCOEvalCap.evaluate, SPICE left out."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.meteor.meteor import Meteor
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    tokenizer, scores = PTBTokenizer(), {}
    gts = tokenizer.tokenize({i: [{"caption": t} for t in texts] for i, texts in enumerate(data["references"])})
    res = tokenizer.tokenize({i: [{"caption": t}] for i, t in enumerate(data["candidates"])})
    with contextlib.redirect_stdout(io.StringIO()):
        for n, value in enumerate(Bleu(4).compute_score(gts, res)[0], start=1):
            scores[f"Bleu_{n}"] = float(value)
        for name, scorer in (("METEOR", Meteor()), ("ROUGE_L", Rouge()), ("CIDEr", Cider())):
            scores[name] = float(scorer.compute_score(gts, res)[0])
    return scores


def score_with_harness(data: dict) -> dict[str, float]:
    """One call; features are shared between the metrics."""
    import harness

    results = harness.score([[t] for t in data["candidates"]], data["references"], list(LABELS))
    return {LABELS[label]: result.value for label, result in results.items()}


def child(who: str, path: str) -> None:
    data = json.loads(Path(path).read_text(encoding="utf-8"))
    print("SCORES " + json.dumps({"toolkit": score_with_toolkit, "harness": score_with_harness}[who](data)))


class Cost(NamedTuple):
    """Seconds that one process took."""

    wall: float
    cpu: float


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def contest(who: str, path: Path, environment: dict[str, str]) -> tuple[dict[str, float], Cost]:
    """(scores, cost) of one process."""
    start, cpu = time.perf_counter(), _children_cpu()
    done = subprocess.run(
        [sys.executable, __file__, who, str(path)],
        env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    cost = Cost(time.perf_counter() - start, _children_cpu() - cpu)
    lines = [line for line in done.stdout.splitlines() if line.startswith("SCORES ")]
    if done.returncode or not lines:
        raise SystemExit(f"{who} failed:\n{done.stderr[-3000:]}")
    return json.loads(lines[-1].removeprefix("SCORES ")), cost


def report(shared: Path) -> bool:
    """Print the table; True when the goals are met and the numbers agree."""
    import coco_data

    folder = Path(tempfile.mkdtemp(prefix="end-to-end-"))
    try:
        captions = folder / "captions.json"
        data = {"candidates": coco_data.one_candidate(shared), "references": coco_data.references(shared)}
        captions.write_text(json.dumps(data), encoding="utf-8")
        caches = {"HARNESS_CACHE": str(folder / "lexical"), "NUMBA_CACHE_DIR": str(folder / "compiled")}
        cold_scores, cold = contest("harness", captions, caches)
        warm_scores, warm = contest("harness", captions, caches)
        known, toolkit = contest("toolkit", captions, {})
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return _table(known, warm_scores, toolkit, cold, warm) and cold_scores == warm_scores


def _table(known: dict, ours: dict, toolkit: Cost, cold: Cost, warm: Cost) -> bool:
    print("\nWhole COCO scoring, 5000 images x 5 references x 1 candidate (PTB, BLEU, METEOR, ROUGE-L, CIDEr)")
    print(
        f"  {'':<22} {'wall s':>8} {'ratio':>7} {'cpu s':>8} {'ratio':>7}   (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)"
    )
    for name, cost in (("toolkit", toolkit), ("harness, cold caches", cold), ("harness, warm", warm)):
        ratios = toolkit.wall / cost.wall, toolkit.cpu / cost.cpu
        print(f"  {name:<22} {cost.wall:>8.1f} {ratios[0]:>6.1f}x {cost.cpu:>8.1f} {ratios[1]:>6.1f}x")
    worst = max(known, key=lambda name: abs(known[name] - ours[name]))
    for name in known:
        print(
            f"  {name:<10} toolkit {known[name]:.12f}  harness {ours[name]:.12f}  {abs(known[name] - ours[name]):.1e}"
        )
    goals = {
        f"warm at least {GOAL_WARM}x": toolkit.wall / warm.wall >= GOAL_WARM,
        "cold faster": toolkit.wall / cold.wall > GOAL_COLD,
        f"equal within {TOLERANCE:g}": abs(known[worst] - ours[worst]) <= TOLERANCE,
    }
    for goal, met in goals.items():
        print(f"  goal (wall time): {goal}: {'met' if met else 'MISSED'}")
    return all(goals.values())


if __name__ == "__main__":
    if len(sys.argv) == 3:
        child(sys.argv[1], sys.argv[2])
        sys.exit(0)
    from coco_data import shared_folder

    sys.exit(0 if report(shared_folder()) else 1)
