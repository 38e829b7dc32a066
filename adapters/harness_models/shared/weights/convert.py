"""Write a checkpoint as safetensors and JSON, read with restricted unpickling.

harness convert weights/coco_weights.pt --to weights/coco

The folder then holds model.safetensors and config.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.contracts import Values, VerbResult


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
    """
    converted = convert(args.checkpoint, args.to, overwrite=args.overwrite)
    print("\n".join(converted.blocks()))
    return 0


@dataclass(frozen=True)
class ConvertedCheckpoint(VerbResult):
    """A checkpoint as safetensors and JSON."""

    path: str
    tensors: int
    numbers: int
    architecture: str
    """Architecture that the keys suggest."""

    def to_dict(self) -> list[Values]:
        """Return the fields."""
        return [asdict(self)]

    def blocks(self) -> Iterator[str]:
        """Yield path, sizes and architecture."""
        yield (
            f"{self.path}: {self.tensors} tensors, {self.numbers:,} numbers; "
            f"{self.architecture}"
        )


def convert(
    checkpoint: str | Path, to: str | Path, *, overwrite: bool = False
) -> ConvertedCheckpoint:
    """Write a checkpoint as safetensors and JSON, read with restricted unpickling.

    Parameters
    ----------
    checkpoint : str or Path
        A .pt, .pth.tar, .bin, .npz or .safetensors file.
    to : str or Path
        Folder for model.safetensors and config.json.
    overwrite : bool
        Replace existing files of other content.

    Raises
    ------
    HarnessError
        The file is no checkpoint, or files of other content exist.
    """
    # imports torch
    from harness_models.shared.weights import saving
    from harness_models.shared.weights.checkpoints import load_checkpoint, looks_like

    path = saving.convert(checkpoint, to, force=overwrite)
    written = load_checkpoint(path)
    numbers = sum(tensor.numel() for tensor in written.tensors.values())
    architecture = looks_like(written.tensors)
    return ConvertedCheckpoint(str(path), len(written.tensors), numbers, architecture)
