"""What TVT is trained on and reads: feature sequences of several views by example id, and captions.

Sources: files (one per view: .npz or .safetensors with (frames, width) or (width,) per id), the SemSynAN layout (an h5 file with arrays
indexed by video number and a count of real frames), or rendered scenes seen by a moving camera, which stand in for videos.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from harness.adapters.shared.inputs.a3ds_inputs import SceneViews, from_scenes
from harness.adapters.shared.inputs.features import FeatureFile
from harness.adapters.tvt.model import BOS, EOS, PAD, SPECIAL, UNK
from harness.contracts import Example
from harness.errors import HarnessError, InputError, require


class Views(Protocol):
    """Feature sequences by example."""

    @property
    def widths(self) -> Mapping[str, int]:
        """Feature width by view."""
        ...

    @property
    def name(self) -> str:
        """Where they come from."""
        ...

    def check(self, examples: Sequence[Example]) -> None:
        """Raise :class:`InputError` for examples without features, as far as it is seen without reading them."""
        ...

    def read(self, example: Example) -> dict[str, np.ndarray]:
        """(frames, width) float32 by view."""
        ...


class FileViews:
    """``files``: view -> feature file by example id."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = {view: FeatureFile(path) for view, path in files.items()}
        self.widths = {}
        for view, file in self.files.items():
            if not file.arrays:
                raise InputError("no features in it", str(file.path))
            self.widths[view] = int(np.asarray(next(iter(file.arrays.values()))).shape[-1])
        self.name = ",".join(str(file.path) for file in self.files.values())

    def check(self, examples: Sequence[Example]) -> None:
        for file in self.files.values():
            file.check(examples)

    def read(self, example: Example) -> dict[str, np.ndarray]:
        return {view: np.atleast_2d(file.row(example)) for view, file in self.files.items()}


class SemSynAnViews:
    """``path``: h5 file whose one group holds ``cnn_features`` and ``c3d_features`` (N, frames, width) and ``count_features`` (N,), by
    video number (the digits of the example id)."""

    arrays = {"appearance": "cnn_features", "motion": "c3d_features"}  # noqa: RUF012

    def __init__(self, path: str | Path) -> None:
        h5py: Any = require("h5py", extra="a3ds", needed_by="TVT's feature file")
        self.path = Path(path)
        if not self.path.is_file():
            raise InputError("no such feature file", str(self.path))
        try:
            handle = h5py.File(self.path, "r")
        except OSError as error:
            raise InputError(f"not a whole h5 file ({error})", str(self.path)) from error
        groups = [handle[key] for key in handle if isinstance(handle[key], h5py.Group)]
        self.group = groups[0] if len(groups) == 1 else handle
        absent = [name for name in self.arrays.values() if name not in self.group]
        if absent:
            raise InputError(f"no arrays {', '.join(absent)} in it", str(self.path))
        self.widths = {view: int(self.group[name].shape[-1]) for view, name in self.arrays.items()}
        self.name = str(self.path)

    def check(self, examples: Sequence[Example]) -> None:
        for example in examples:
            self._number(example)

    def _number(self, example: Example) -> int:
        digits = "".join(ch for ch in example.id if ch.isdigit())
        count = len(self.group[self.arrays["appearance"]])
        if not digits or int(digits) >= count:
            raise InputError(
                f"no video number from 0 to {count - 1} in the id of example '{example.id}'", str(self.path)
            )
        return int(digits)

    def read(self, example: Example) -> dict[str, np.ndarray]:
        number = self._number(example)
        frames = int(self.group["count_features"][number]) if "count_features" in self.group else None
        found = {}
        for view, name in self.arrays.items():
            array = np.asarray(self.group[name][number], dtype=np.float32)
            found[view] = array[: max(1, frames)] if frames is not None else array
            if not np.isfinite(found[view]).all():
                raise InputError(f"the features of example '{example.id}' hold NaN or infinity", str(self.path))
        return found


def open_views(features: Any) -> Views:
    """``{view: file}``, ``{semsynan: file}``, or ``{scenes: {frames, stride}}``."""
    if not isinstance(features, Mapping) or not features:
        raise HarnessError(
            f"features is a mapping of views to files, or of semsynan or scenes to its settings; found {features!r}"
        )
    if set(features) == {"scenes"}:
        return from_scenes(SceneViews, features["scenes"])
    if set(features) == {"semsynan"}:
        return SemSynAnViews(features["semsynan"])
    return FileViews(features)


def collate(rows: Sequence[Mapping[str, np.ndarray]]) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Views (B, frames, width) padded with zeros, and masks (B, frames), True at real frames."""
    views, masks = {}, {}
    for name in rows[0]:
        longest = max(len(row[name]) for row in rows)
        views[name] = torch.zeros(len(rows), longest, rows[0][name].shape[1])
        masks[name] = torch.zeros(len(rows), longest, dtype=torch.bool)
        for i, row in enumerate(rows):
            views[name][i, : len(row[name])] = torch.from_numpy(np.ascontiguousarray(row[name]))
            masks[name][i, : len(row[name])] = True
    return views, masks


class WordList:
    """Lower-cased words split on spaces, with pad, bos, eos and unk first."""

    def __init__(self, words: Sequence[str]) -> None:
        if tuple(words[: len(SPECIAL)]) != SPECIAL:
            raise InputError(f"a word list begins with {', '.join(SPECIAL)}")
        self.words = list(words)
        self.ids = {word: i for i, word in enumerate(words)}

    @classmethod
    def of(cls, captions: Iterable[str], least: int = 1) -> WordList:
        """Words seen at least ``least`` times, most frequent first, then by spelling."""
        counts = Counter(word for caption in captions for word in caption.lower().split())
        kept = sorted((word for word, n in counts.items() if n >= least), key=lambda word: (-counts[word], word))
        return cls([*SPECIAL, *kept])

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, text: str) -> list[int]:
        return [self.ids.get(word, UNK) for word in text.lower().split()]

    def decode(self, ids: Sequence[int]) -> str:
        return " ".join(self.words[i] for i in ids if i not in (PAD, BOS, EOS))
