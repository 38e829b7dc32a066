"""``harness convert CHECKPOINT --to DIR``: a PyTorch checkpoint as safetensors and JSON."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("checkpoint", metavar="CHECKPOINT", help="a .pt, .pth.tar, .bin, .npz or .safetensors file")
    parser.add_argument("--to", metavar="DIR", required=True, help="folder for model.safetensors and config.json")
    parser.add_argument("--force", action="store_true", help="replace files that are there already")


def run(args: argparse.Namespace) -> int:
    """Convert; prints what was written and what the keys look like. Raises HarnessError for a file that is no checkpoint."""
    from harness.adapters.shared.weights.checkpoints import convert, load_checkpoint, looks_like  # imports torch

    path = convert(args.checkpoint, args.to, force=args.force)
    written = load_checkpoint(path)
    numbers = sum(tensor.numel() for tensor in written.tensors.values())
    print(f"{path}: {len(written.tensors)} tensors, {numbers:,} numbers; {looks_like(written.tensors)}")
    return 0
