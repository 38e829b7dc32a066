"""A3DS: speed of scenes, renderer, features and metrics;
scores of the agents for several decodings.

    python -m benchmarks.a3ds [--pairs 40] [--seed 1] [--alpha 0 1 5 20]

Speeds are per CPU second of one core. The table of agents has one row per speaker and
decoding: greedy, and rational-speech-acts re-ranking for each alpha. The findings of
the paper are then checked one by one. Exit status 1 when a speed goal is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks.language_drift import TrigramModel, semantic_drift, structural_drift
from harness.contracts import Decoding, Example
from harness_metrics.pragmatic.scores import Scores, evaluate
from harness_models.a3ds.adapter import A3DS
from harness_tasks.a3ds import grammar, pixels, scene
from harness_tasks.a3ds.render import render
from harness_tasks.readers.generated import ReferenceGames

COLUMNS = (
    "discriminativity",
    "contrastive_efficiency",
    "relevance",
    "optimal_discriminativity",
    "mentioned_features",
    "false_features",
)
SPEAKERS = ("baseline", "rp", "sp", "short")


def per_second(count: int, work: Callable[[], Any]) -> float:
    """Return ``count`` divided by the CPU seconds of the work."""
    start = time.process_time()
    work()
    return count / (time.process_time() - start)


def speeds(seed: int) -> bool:
    """Print the speeds beside their goals; return True when all goals are met."""
    random = np.random.default_rng(seed)
    ids = random.integers(0, scene.N_SCENES, 6000)
    others = random.integers(0, scene.N_SCENES, 6000)
    texts = [captions[k % 20] for k, captions in enumerate(grammar.caption_sets(ids))]
    short = [
        captions[k % 27]
        for k, captions in enumerate(grammar.caption_sets(ids, "short"))
    ]
    rows = [
        {"prediction": text, "target_id": int(a), "distractor_id": int(b)}
        for captions in (texts, short)
        for text, a, b in zip(captions, ids, others)
    ]

    def enumerate_all() -> None:
        for kind in ("exhaustive", "short"):
            for _ in grammar.caption_sets(ids, kind):
                pass

    torch.set_num_threads(1)
    source = pixels.features()
    lines = [
        (
            "both caption sets of a scene, scenes/s",
            per_second(len(ids), enumerate_all),
            20_000,
        ),
        (
            "renderer, first pictures (geometry computed), pictures/s",
            per_second(600, lambda: render(ids[:600])),
            None,
        ),
        (
            "renderer, all 6000 with the remaining geometry, pictures/s",
            per_second(len(ids), lambda: render(ids)),
            400,
        ),
        (
            "renderer, geometry cached, pictures/s",
            per_second(len(ids), lambda: render(ids)),
            400,
        ),
        (
            "EfficientNet-lite0 features (pictures included), scenes/s",
            per_second(600, lambda: source.features(ids[:600])),
            None,
        ),
        (
            "pragmatic scores, mode paper, captions/s",
            per_second(len(rows), lambda: evaluate(rows)),
            100_000,
        ),
        (
            "pragmatic scores, mode authors-script, captions/s",
            per_second(2000, lambda: evaluate(rows[:2000], "authors-script")),
            None,
        ),
    ]

    for name, speed, goal in lines:
        print(f"  {name:<64}{speed:>12,.0f}" + (f"   goal {goal:,}" if goal else ""))
    return all(goal is None or speed >= goal for _, speed, goal in lines)


def score(
    agents: A3DS, games: list[Example], decoding: Decoding
) -> tuple[Scores, list[str], float]:
    """Return pragmatic scores, captions and listener accuracy of one speaker and
    decoding.
    """
    captions = [
        g.candidates[0] for g in agents.generate(games, decoding, range(len(games)))
    ]
    rows = [
        {
            "prediction": text,
            **{key: game.meta[key] for key in ("target_id", "distractor_id")},
        }
        for text, game in zip(captions, games)
    ]
    return evaluate(rows), captions, float((agents.listen(games, captions) == 0).mean())


def agents_table(games: list[Example], alphas: tuple[float, ...]) -> dict[str, Scores]:
    """Print the table of speakers and decodings;
    return the greedy scores by speaker.
    """
    heads = (
        "disc.",
        "effic.",
        "relev.",
        "opt.",
        "mention",
        "false",
        "listener",
        "LM",
        "captioner",
    )
    print(f"  {'speaker, decoding':<24}" + "".join(f"{head:>10}" for head in heads))

    model = TrigramModel.of_grammar()
    captioner = A3DS(checkpoint="baseline").speaker
    targets = torch.from_numpy(
        pixels.features().features([game.meta["target_id"] for game in games])
    )
    out = {}

    for name in SPEAKERS:
        agents = A3DS(checkpoint=name, listener="rp")
        decodings = {"greedy": Decoding()}
        decodings |= {
            f"rsa {a:g}": Decoding("rsa", options={"alpha": a, "proposals": 20})
            for a in alphas
        }

        for label, decoding in decodings.items():
            scores, captions, accuracy = score(agents, games, decoding)
            if label == "greedy":
                out[name] = scores
            summary = scores.summary()

            numbers = [summary[column]["mean"] for column in COLUMNS]
            drift = (
                structural_drift(captions, model),
                semantic_drift(captions, captioner, targets),
            )
            print(
                f"  {name + ', ' + label:<24}"
                + "".join(f"{x:>10.3f}" for x in (*numbers, accuracy, *drift))
            )

    return out


def redundancy_table(scores: dict[str, Scores]) -> None:
    """Print, for each speaker and feature, how often the feature is mentioned when
    target and distractor share it.
    """
    print(
        f"\n  {'mentions of a shared one':<24}"
        + "".join(f"{name:>13}" for name in scene.FACTORS)
    )
    for name, speaker in scores.items():
        summary = speaker.summary()
        print(
            f"  {name:<24}"
            + "".join(
                f"{summary[f'redundant_{f}']['mean']:>13.3f}" for f in scene.FACTORS
            )
        )


def findings(scores: dict[str, Scores]) -> None:
    """Print the findings of the paper, with yes or NO for these agents."""
    mean = {
        name: {k: v["mean"] for k, v in speaker.summary().items()}
        for name, speaker in scores.items()
    }
    base = mean["baseline"]
    tuned = [mean["rp"], mean["sp"]]

    most = [
        sorted(scene.FACTORS, key=lambda f: -row[f"redundant_{f}"])[:3] for row in tuned
    ]
    optimal = "optimal_discriminativity"

    checks = [
        (
            "baseline near the ceiling in discriminativity (> 0.95)",
            base["discriminativity"] > 0.95,
        ),
        (
            "baseline lowest in contrastive efficiency",
            all(
                base["contrastive_efficiency"] < row["contrastive_efficiency"]
                for row in tuned
            ),
        ),
        (
            "baseline names nearly all features (> 5.5)",
            base["mentioned_features"] > 5.5,
        ),
        (
            "fine-tuned agents lose discriminativity",
            all(row["discriminativity"] < base["discriminativity"] for row in tuned),
        ),
        (
            "fine-tuned agents gain relevance",
            all(row["relevance"] > base["relevance"] for row in tuned),
        ),
        (
            "fine-tuned agents are optimal more often",
            all(row[optimal] > base[optimal] for row in tuned),
        ),
        (
            "shape among the three most redundant features of RP and SP",
            all("shape" in names for names in most),
        ),
        ("object hue among them", all("object_hue" in names for names in most)),
        ("size among them", all("scale" in names for names in most)),
    ]

    print()
    for name, holds in checks:
        print(f"  {'yes' if holds else 'NO ':<4}{name}")


def main() -> int:
    """Print all tables; return 1 when a speed goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--pairs",
        type=int,
        default=40,
        help="pairs of each of the thirteen test sets (default 40)",
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of scenes and pairs (default 1)"
    )
    parser.add_argument(
        "--alpha", type=float, nargs="*", default=[0, 1, 5, 20], help="values of alpha"
    )
    args = parser.parse_args()
    print("speed, one core")
    met = speeds(args.seed)
    games = list(ReferenceGames(pairs=args.pairs, seed=args.seed))
    print(
        f"\nspeakers on {len(games)} games; listener: that of RP; LM, captioner: "
        "mean log-likelihood per token"
    )
    scores = agents_table(games, tuple(args.alpha))
    redundancy_table(scores)
    findings(scores)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
