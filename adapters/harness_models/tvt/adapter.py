"""The ``tvt`` adapter."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from harness.contracts import Example, PathParam, TaskView
from harness.errors import InputError
from harness_models.shared.decoding.batches import check_batch_size
from harness_models.shared.decoding.left_to_right import LeftToRight, Prefix
from harness_models.shared.decoding.states import select_rows
from harness_models.shared.inputs.views import collate, open_views
from harness_models.shared.weights.checkpoint_config import weight_files
from harness_models.shared.weights.checkpoints import load_checkpoint
from harness_models.shared.weights.fingerprints import file_fingerprint
from harness_models.tvt.model import BOS, EOS, Tvt, TvtStep, TvtWords

LONGEST_REFERENCE = 512
"""Maximum number of words of a reference that is scored;
position vectors have no limit.
"""


class TvtAdapter(LeftToRight):
    """A model that ``harness train tvt`` wrote.

    Parameters
    ----------
    checkpoint
        Folder of the run.
    features
        Source of the views as :func:`harness_models.shared.inputs.views.open_views`
        takes it (default: as in training).
    batch_size
        Number of examples per batch, or ``auto``.
    device
        Device of the model.

    References
    ----------
    Chen, Li, Zhang and Huang, "TVT: Two-View Transformer Network for Video Captioning",
    ACML 2018, PMLR 95:847-862. The model here is not the authors' one
    (:mod:`harness_models.tvt.model`).
    """

    def __init__(
        self,
        *,
        checkpoint: PathParam,
        features: Mapping[str, PathParam | Mapping[str, Any]] | None = None,
        batch_size: int | str = 64,
        device: str = "cpu",
    ) -> None:
        self.path = Path(checkpoint)
        loaded = load_checkpoint(self.path)
        self.device = torch.device(device)
        self.model = Tvt.from_checkpoint(self.path).to(self.device)
        self.words = TvtWords(loaded.words())

        source = features if features is not None else loaded.settings.get("features")
        self.views = open_views(source)
        expected = dict(self.model.sizes.views)

        if {name: self.views.widths.get(name) for name in expected} != expected:
            raise InputError(
                f"the checkpoint takes the views {expected}, "
                f"the features are {dict(self.views.widths)}",
                str(self.path),
            )

        self.step = TvtStep(self.model)
        self.stop = (EOS,)
        self.max_length = self.model.sizes.max_length
        self.batch_size = check_batch_size(batch_size)

    def identify(self) -> str:
        """Return a name that depends on the weights and the features."""
        weights = file_fingerprint(*weight_files(self.path))
        sources = [file.path for file in getattr(self.views, "files", {}).values()]
        features = file_fingerprint(*sources) if sources else self.views.name
        return json.dumps(f"tvt-{weights}-{features}")

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`InputError` for examples without features; features of rendered
        scenes are computed here.
        """
        self.views.check(task.examples)

    def inputs(self, examples: Sequence[Example]) -> list[Any]:
        """Return the views of each example: one array (frames, width) per view."""
        return [self.views.read(example) for example in examples]

    def prefix(self, inputs: Sequence[Any], examples: Sequence[Example]) -> Prefix:
        """Return the decoder's state before BOS."""
        views, masks = collate(
            [{name: row[name] for name in self.model.sizes.views} for row in inputs]
        )
        views = {name: x.to(self.device) for name, x in views.items()}
        state = self.model.encode(
            views, {name: x.to(self.device) for name, x in masks.items()}
        )
        return Prefix(state, torch.full((len(inputs),), BOS, device=self.device))

    def longest_reference(self) -> int:
        """Return :data:`LONGEST_REFERENCE`."""
        return LONGEST_REFERENCE

    def forced_logits(
        self, prefix: Prefix, owner: torch.Tensor, tokens: torch.Tensor
    ) -> torch.Tensor:
        """Return logits (N, T, V) that predict tokens (N, T); row i continues row
        ``owner[i]`` of the prefix.
        """
        start = torch.full((len(tokens), 1), BOS, device=self.device)
        words = torch.cat([start, tokens[:, :-1].to(self.device)], dim=1)
        return self.model.advance(
            words, select_rows(prefix.state, owner.to(self.device))
        )[0]
