"""Train the A3DS agents: 'baseline' describes single images, 'rp' and 'sp' play the
reference game on random or similar pairs.

harness train a3ds --stage baseline --images 500 --epochs 1 --output out/a3ds
harness train a3ds --stage rp --speaker out/a3ds/speaker.safetensors \
    --output out/a3ds-rp
harness train a3ds --reward ciderd --checkpoint baseline --scenes 300 \
    --output out/a3ds-ciderd
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

from harness_models.shared.training.reward_training import reward_command

OPTIONS: dict[str, tuple[type, str | None]] = {
    "images": (int, "number of training images (shipped: 12000; the paper: 30000)"),
    "captions": (int, "number of captions of each image (5)"),
    "epochs": (int, "10 for the baseline, 5 for the game"),
    "speaker": (
        str,
        "checkpoint of a baseline from which the game starts (default: "
        "the shipped one)",
    ),
    "listener": (
        str,
        "checkpoint of a listener from which the game starts (default: random weights)",
    ),
    "seed": (int, None),
    "batch": (int, None),
    "learning_rate": (float, None),
    "structural": (float, "weight of the structural loss in the game (0.75)"),
    "entropy": (float, "weight of the entropy in the game (0.1)"),
    "forcing_decay": (
        float,
        "teacher forcing with probability decay^(epoch - 1) (1; the thesis: 0.5)",
    ),
    "pictures": (str, "path of 3dshapes.h5 (default: the renderer)"),
}
"""Fields of the training plan that are options: type and help."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``harness train a3ds``.

    Default numbers are those of the shipped checkpoints.
    """
    parser.add_argument("--stage", choices=("baseline", "rp", "sp"), required=True)
    parser.add_argument(
        "--output",
        required=True,
        help="folder of the run: curve, state, epochs, checkpoints",
    )

    for name, (kind, text) in OPTIONS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, help=text)
    kinds = ("exhaustive", "short")
    parser.add_argument(
        "--kind", choices=kinds, help="captions that name all features, or two or three"
    )

    parser.add_argument(
        "--paper-size",
        action="store_true",
        help="30,000 images and layers of 512, as in the paper",
    )
    weights = (
        "local weights of ResNet-50 for the image features (default: "
        "EfficientNet-lite0)"
    )
    parser.add_argument("--weights", help=weights)
    numbers = "matrix products in bfloat16, for processors with AVX512-BF16"
    parser.add_argument("--bfloat16", action="store_true", default=None, help=numbers)
    parser.add_argument(
        "--threads", type=int, help="threads of torch (default: torch's choice)"
    )

    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue after the last epoch in --output",
    )


def run(args: argparse.Namespace) -> int:
    """Train, write the progress to standard error,
    print the path of the speaker and return 0.
    """
    import sys

    from harness.errors import require

    torch = require("torch", extra="a3ds", needed_by="harness train a3ds")
    from harness_models.a3ds.training import PAPER_SIZE, TrainingPlan, train

    if args.threads:
        torch.set_num_threads(args.threads)

    plan = TrainingPlan(
        stage=args.stage,
        output=args.output,
        epochs=10 if args.stage == "baseline" else 5,
    )
    if args.paper_size:
        plan = replace(plan, **PAPER_SIZE)

    # Options that are not given keep the values of the plan.
    options = {name: getattr(args, name) for name in (*OPTIONS, "kind", "bfloat16")}
    plan = replace(
        plan, **{name: value for name, value in options.items() if value is not None}
    )

    if args.weights:
        plan = replace(plan, features={"resnet50": {"weights": args.weights}})
    started = time.monotonic()

    def report(row: dict[str, float]) -> None:
        numbers = "  ".join(
            f"{k} {v:.3f}"
            for k, v in row.items()
            if k not in ("epoch", "step", "whole_epoch")
        )
        mark = "=" if row.get("whole_epoch") else " "
        print(
            f"{mark} epoch {row['epoch']}  step {row['step']}  "
            f"{time.monotonic() - started:.0f} s  {numbers}",
            file=sys.stderr,
        )

    print(train(plan, resume=args.resume, report=report))
    return 0


by_reward = reward_command("a3ds")
