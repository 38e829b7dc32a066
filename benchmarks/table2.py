"""Items per second of every metric in the setting of the paper's Table 2: 5 references, 10 candidates (Chan et al. 2022).

    HARNESS_DATA=../shared/data python benchmarks/table2.py --limit 500

With HARNESS_DATA the candidates are ten of the captioners of the COCO Karpathy test split; without it the shipped sample is used (five
captions of a scene held out, five of the next scene). Each metric is timed twice: ``cold`` with features of its own (tokens, embeddings and
distance matrices included), ``warm`` on features that a former metric has left behind. Compiled kernels are warmed up on four items first.
The paper's column was measured by its authors on their machine; it is printed to compare the order of metrics, not the machines.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from pathlib import Path

from harness.contracts import CaptionSet
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.metric_plan import caption_plans, metric_plans

PAPER = {"meteor": 298, "trm(meteor)": 161, "cider": 131, "trm(cider)": 98, "mmd(minilm)": 54, "frechet(minilm)": 17}
METRICS = [
    "bleu", "rouge", "cider", "meteor",
    {"trm": {"distance": ["cider", "bleu", "rouge", "meteor", "bert"]}},
    "mmd", "frechet",
]  # fmt: skip


def real(folder: Path, limit: int) -> list[CaptionSet]:
    """Ten captioners against five references of COCO images."""
    with gzip.open(folder / "coco_karpathy_test/references.jsonl.gz", "rt", encoding="utf-8") as file:
        references = {row["image_id"]: row["references"] for row in map(json.loads, file)}
    sets = []
    with gzip.open(folder / "coco_karpathy_test/candidates_where_image.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            systems = [text for name, text in row["candidates"].items() if name != "human_1"][:10]
            sets.append(CaptionSet(str(row["image_id"]), tuple(systems), tuple(references[row["image_id"]][:5])))
            if len(sets) == limit:
                break
    return sets


def sample(limit: int) -> list[CaptionSet]:
    """Five captions of a scene and five of the next one against the scene's other five."""
    import harness.tasks

    data = json.loads((Path(harness.tasks.__path__[0]) / "sample/captions.json").read_text(encoding="utf-8"))
    captions: dict[int, list[str]] = {}
    for row in data["annotations"]:
        captions.setdefault(row["image_id"], []).append(row["caption"])
    scenes = list(captions.values())
    sets = [
        CaptionSet(str(i), (*scenes[i][:5], *scenes[(i + 1) % len(scenes)][:5]), tuple(scenes[i][5:10]))
        for i in range(len(scenes))
    ]
    return sets[:limit]


def seconds(plan, sets, features, significance=None) -> float:  # type: ignore[no-untyped-def]
    """Wall time of one metric on all sets."""
    started = time.perf_counter()
    scoring.score(plan.metric, scoring.batches(sets, features), features, significance, 0)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=500)
    args = parser.parse_args()
    folder = os.environ.get("HARNESS_DATA")
    sets = real(Path(folder), args.limit) if folder else sample(args.limit)
    print(
        f"{len(sets)} items, {len(sets[0].candidates)} candidates, {len(sets[0].references)} references; {os.cpu_count()} cores; items/s"
    )
    print(f"{'metric':<18}{'cold':>12}{'warm':>12}{'paper':>10}")
    shared = FeatureCache([item.references for item in sets])
    for plan in caption_plans(metric_plans(METRICS)):
        warm_up = FeatureCache([item.references for item in sets[:4]])
        scoring.score(plan.metric, scoring.batches(sets[:4], warm_up), warm_up, None, 0)
        cold = seconds(plan, sets, FeatureCache([item.references for item in sets]))
        seconds(plan, sets, shared)
        warm = seconds(plan, sets, shared)
        told = PAPER.get(plan.label)
        print(
            f"{plan.label:<18}{len(sets) / cold:>12.1f}{len(sets) / warm:>12.1f}{told if told else '':>10}", flush=True
        )


if __name__ == "__main__":
    main()
