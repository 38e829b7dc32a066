"""Write a checkpoint as safetensors and JSON, read with restricted unpickling.

harness convert weights/coco_weights.pt --to weights/coco

The folder then holds model.safetensors and config.json.
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the checkpoint, ``--to`` and ``--overwrite`` to a parser."""
    parser.add_argument(
        "checkpoint",
        metavar="CHECKPOINT",
        help="a .pt, .pth.tar, .bin, .npz or .safetensors file",
    )
    parser.add_argument(
        "--to",
        metavar="DIR",
        required=True,
        help="folder for model.safetensors and config.json",
    )
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="replace existing files of other content",
    )


def run(args: argparse.Namespace) -> int:
    """Convert a checkpoint, print its number of tensors and the architecture that its
    keys suggest; return 0.

    Raises :class:`~harness.errors.HarnessError` for a file that is not a checkpoint,
    and for existing files of other content without ``--overwrite``.
    """
    # imports torch
    from harness_models.shared.weights.checkpoints import load_checkpoint, looks_like
    from harness_models.shared.weights.saving import convert

    path = convert(args.checkpoint, args.to, force=args.overwrite)
    written = load_checkpoint(path)
    numbers = sum(tensor.numel() for tensor in written.tensors.values())
    print(
        f"{path}: {len(written.tensors)} tensors, {numbers:,} numbers; "
        f"{looks_like(written.tensors)}"
    )
    return 0
