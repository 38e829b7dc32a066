"""Train the A3DS agents: 'baseline' describes single images, 'rp' and 'sp' play the reference game on random or similar pairs.

harness train a3ds --stage baseline --images 500 --epochs 1 --output out/a3ds
harness train a3ds --stage rp --speaker out/a3ds/speaker.safetensors --output out/a3ds-rp
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``harness train a3ds``. Default numbers are those of the shipped checkpoints."""
    parser.add_argument("--stage", choices=("baseline", "rp", "sp"), required=True)
    parser.add_argument("--output", required=True, help="folder of the run: curve, state, epochs, checkpoints")
    parser.add_argument("--images", type=int, help="number of training images (shipped: 12000; the paper: 30000)")
    parser.add_argument("--captions", type=int, help="number of captions of each image (5)")
    parser.add_argument(
        "--kind", choices=("exhaustive", "short"), help="captions that name all features, or two to four"
    )
    parser.add_argument("--epochs", type=int, help="10 for the baseline, 5 for the game")
    parser.add_argument("--paper-size", action="store_true", help="30,000 images and layers of 512, as in the paper")
    parser.add_argument(
        "--speaker", help="checkpoint of a baseline from which the game starts (default: the shipped one)"
    )
    parser.add_argument(
        "--listener", help="checkpoint of a listener from which the game starts (default: random weights)"
    )
    parser.add_argument("--seed", type=int)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--structural", type=float, help="weight of the structural loss in the game (0.75)")
    parser.add_argument("--entropy", type=float, help="weight of the entropy in the game (0.1)")
    parser.add_argument(
        "--forcing-decay", type=float, help="teacher forcing with probability decay^(epoch - 1) (1; the thesis: 0.5)"
    )
    parser.add_argument("--pictures", help="path of 3dshapes.h5 (default: the renderer)")
    parser.add_argument(
        "--weights", help="local weights of ResNet-50 for the image features (default: EfficientNet-lite0)"
    )
    parser.add_argument(
        "--bfloat16",
        action="store_true",
        default=None,
        help="matrix products in bfloat16, for processors with AVX512-BF16",
    )
    parser.add_argument("--threads", type=int, help="threads of torch (default: torch's choice)")
    parser.add_argument("--resume", action="store_true", help="continue after the last epoch in --output")


def run(args: argparse.Namespace) -> int:
    """Train, write the progress to standard error, print the path of the speaker and return 0."""
    import sys

    from harness.errors import require

    torch = require("torch", extra="a3ds", needed_by="harness train a3ds")
    from harness_models.a3ds.training import PAPER_SIZE, TrainingPlan, train

    if args.threads:
        torch.set_num_threads(args.threads)
    plan = TrainingPlan(stage=args.stage, output=args.output, epochs=10 if args.stage == "baseline" else 5)
    if args.paper_size:
        plan = replace(plan, **PAPER_SIZE)
    names = ("images", "captions", "kind", "epochs", "speaker", "listener", "seed", "batch", "learning_rate")
    options = {
        name: getattr(args, name) for name in (*names, "structural", "entropy", "forcing_decay", "pictures", "bfloat16")
    }
    plan = replace(plan, **{name: value for name, value in options.items() if value is not None})
    if args.weights:
        plan = replace(plan, features={"resnet50": {"weights": args.weights}})
    started = time.monotonic()

    def report(row: dict[str, float]) -> None:
        numbers = "  ".join(f"{k} {v:.3f}" for k, v in row.items() if k not in ("epoch", "step", "whole_epoch"))
        mark = "=" if row.get("whole_epoch") else " "
        print(
            f"{mark} epoch {row['epoch']}  step {row['step']}  {time.monotonic() - started:.0f} s  {numbers}",
            file=sys.stderr,
        )

    print(train(plan, resume=args.resume, report=report))
    return 0
