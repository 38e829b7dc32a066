"""Scores of an A3DS speaker during training: one row per saved epoch of one or several training runs.

    python -m benchmarks.a3ds_training RUN [RUN ...] [--pairs 10] [--json FILE]

RUN is the output directory of ``harness train a3ds``. Columns: pre-gen scores of the references' probabilities (the best of the
504, and perplexity), post-gen scores of greedy captions (CIDEr, discriminativity, contrastive efficiency, false features), listener
accuracy, and drift (log-likelihood per token under a language model of the captions, and under the last speaker of the first run).
A second table contains the rank correlations of pre-gen with post-gen scores, over all rows and within each run.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr

import harness
from benchmarks.language_drift import TrigramModel, semantic_drift, structural_drift
from harness.contracts import Decoding
from harness_metrics.pragmatic.scores import evaluate
from harness_metrics.pregen.metric import BEST, Pregen
from harness_models.a3ds.adapter import A3DS
from harness_models.a3ds.model import Speaker
from harness_tasks.a3ds import pixels
from harness_tasks.readers.generated import ReferenceGames

PRE = {"best pre-gen": BEST, "perplexity": "mean_geomean_pplx_none"}
POST = ("cider", "disc.", "effic.", "false")


def checkpoints(runs: list[Path]) -> list[tuple[str, Path]]:
    """Return the speakers of the runs in order, each with the name of its run and epoch."""
    speakers = [(f"{run.name} {path.name[:3]}", path) for run in runs for path in sorted((run / "epochs").glob("*.speaker.*"))]
    if not speakers:
        raise SystemExit(f"no epochs/*.speaker.safetensors under {', '.join(map(str, runs))}")
    return speakers


def main() -> None:
    """Print the table of epochs and the table of correlations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--pairs", type=int, default=10, help="pairs of each of the thirteen test sets (default 10)")
    parser.add_argument("--json", type=Path, help="file to which the rows are written")
    args = parser.parse_args()
    games = list(ReferenceGames(pairs=args.pairs, seed=3))
    targets = torch.from_numpy(pixels.features().features([game.meta["target_id"] for game in games]))
    model, first = TrigramModel.of_grammar(), checkpoints(args.runs[:1])[-1][1]
    captioner, cider = Speaker.load(first), harness.metric("cider", tokenizer="none")
    pregen = Pregen(names=list(PRE.values()))
    rows: list[dict[str, Any]] = []
    for name, path in checkpoints(args.runs):
        agents = A3DS(checkpoint=str(path), listener="rp")
        texts = [g.candidates[0] for g in agents.generate(games, Decoding(), range(len(games)))]
        pragmatic = evaluate(
            {"prediction": t, "target_id": g.meta["target_id"], "distractor_id": g.meta["distractor_id"]} for t, g in zip(texts, games)
        ).summary()
        before = pregen.evaluate_scores(list(agents.score_references(games)))
        after = cider([[t] for t in texts], [[r.replace("-", " ") for r in g.references] for g in games]).value
        rows.append(
            {
                "speaker": name,
                **{label: before[column] for label, column in PRE.items()},
                "cider": after,
                "disc.": pragmatic["discriminativity"]["mean"],
                "effic.": pragmatic["contrastive_efficiency"]["mean"],
                "false": pragmatic["false_features"]["mean"],
                "listener": float((agents.listen(games, texts) == 0).mean()),
                "LM": structural_drift(texts, model),
                "captioner": semantic_drift(texts, captioner, targets),
            }
        )
        if len(rows) == 1:
            print("".join(f"{head:>14}" for head in rows[0]))
        print("".join(f"{v:>14}" if isinstance(v, str) else f"{v:>14.3f}" for v in rows[-1].values()), flush=True)
    correlations(rows)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))


def correlations(rows: list[dict[str, Any]]) -> None:
    """Print Spearman correlations of pre-gen with post-gen scores, over all rows and within each run."""
    groups = {"all": rows} | {
        run: [row for row in rows if row["speaker"].rpartition(" ")[0] == run]
        for run in dict.fromkeys(row["speaker"].rpartition(" ")[0] for row in rows)
    }
    print(f"\n{'Spearman':>14}{'epochs':>14}" + "".join(f"{f'{a} / {b}':>24}" for a in PRE for b in POST))
    for name, group in groups.items():
        values = []
        for pre in PRE:
            for post in POST:
                a, b = (np.array([row[key] for row in group]) for key in (pre, post))
                constant = len(group) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0
                values.append(float("nan") if constant else float(spearmanr(a, b)[0]))  # type: ignore[arg-type]
        print(f"{name:>14}{len(group):>14}" + "".join(f"{value:>24.2f}" for value in values))


if __name__ == "__main__":
    main()
