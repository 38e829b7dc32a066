"""Time of scoring a captioner before generation, against generating captions and scoring them, in one run.

    python -m benchmarks.pregen_speed [--images 1000] [--width 64] [--architecture merge]

One captioner (trained on first use and stored in the user's cache; for two epochs only at a width other than 64), A3DS scenes with five
references each. Before generation: a forced pass over all references and the 504 functions. After it: beam search (3) or greedy captions,
CIDEr and METEOR. All on one thread. Tanti et al. (2018) report 28 s against 1246 s, a ratio of 44, for their models on their machine.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

import harness
from harness.contracts import Decoding, Example
from harness_metrics.pregen.functions import NAMES, evaluate
from harness_metrics.pregen.tokens import from_token_scores
from harness_models.captioner.adapter import TrainedCaptioner
from harness_tasks.readers.generated import ReferenceGames

REFERENCES = 5
PUBLISHED = (28.0, 1246.0)


def seconds(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Return the seconds of the fastest of ``repeats`` calls, and the result of the last one."""
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def examples(count: int) -> list[Example]:
    """Return ``count`` scenes with five of their captions as references."""
    games = list(ReferenceGames(sets="three", pairs=-(-count // 3), seed=12))[:count]
    return [replace(game, references=game.references[::4][:REFERENCES]) for game in games]


def captions(model: TrainedCaptioner, data: list[Example], decoding: Decoding) -> list[str]:
    """Return one caption per example."""
    return [result.candidates[0] for result in model.generate(data, decoding, range(len(data)))]  # type: ignore[union-attr]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=1000, help="number of scenes (default 1000)")
    parser.add_argument("--width", type=int, default=64, help="width of the captioner (default 64)")
    parser.add_argument("--architecture", default="merge", help="init, pre, par or merge (default merge)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    train = {"architecture": args.architecture, "images": 800, "epochs": 12 if args.width == 64 else 2, "width": args.width}
    one = TrainedCaptioner(train=train, batch_size=1)
    many = TrainedCaptioner(train=train)
    data = examples(args.images)
    beam, greedy = Decoding("beam", beams=3, candidates=1), Decoding("greedy", candidates=1)
    for model in (one, many):
        captions(model, data[:8], beam)  # loads the weights and selects the kernels

    scoring, scores = seconds(lambda: list(many.score_references(data)))
    functions, _ = seconds(lambda: evaluate(from_token_scores(scores)))
    by_beam, texts = seconds(lambda: captions(many, data, beam))
    by_greedy, _ = seconds(lambda: captions(many, data, greedy))
    part = data[: max(1, args.images // 5)]
    alone = seconds(lambda: captions(one, part, beam), 1)[0] * len(data) / len(part)
    alone_greedy = seconds(lambda: captions(one, part, greedy), 1)[0] * len(data) / len(part)

    metrics = {}
    candidates = [[text] for text in texts]
    references = [list(example.references) for example in data]
    for name in ("cider", "meteor"):
        metric = harness.metric(name)
        metric(candidates[:8], references[:8])
        metrics[name] = seconds(lambda metric=metric: metric(candidates, references), 1)[0]
    post = sum(metrics.values())

    before = scoring + functions
    print(f"{args.architecture}, width {args.width}; {len(data)} images, {REFERENCES} references each, one thread, seconds")
    print(f"{'before: forced pass over the references':<56}{scoring:>9.3f}")
    print(f"{f'before: {len(NAMES)} functions':<56}{functions:>9.3f}")
    print(f"{'after: CIDEr and METEOR':<56}{post:>9.3f}")
    print(f"{'':<56}{'seconds':>9}{'/ before':>10}{'with metrics / before':>23}")
    rows = [
        ("greedy, 256 images at a time", by_greedy),
        ("beam 3, 256 images at a time", by_beam),
        ("greedy, one image at a time (from a fifth)", alone_greedy),
        ("beam 3, one image at a time (from a fifth)", alone),
    ]
    for label, value in rows:
        print(f"{'generation: ' + label:<56}{value:>9.3f}{value / before:>10.2f}{(value + post) / before:>23.2f}")
    print(f"published: {PUBLISHED[0]:.0f} s before, {PUBLISHED[1]:.0f} s after, ratio {PUBLISHED[1] / PUBLISHED[0]:.1f}")


if __name__ == "__main__":
    main()
