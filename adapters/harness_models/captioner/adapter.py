"""The ``captioner`` adapter: captions of A3DS scenes and token scores of their
references.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from harness.contracts import Example, PathParam, TaskView
from harness.errors import HarnessError, InputError
from harness.files.yaml_source import Located
from harness_models.captioner.image_features import image_features
from harness_models.captioner.model import END, Captioner, load
from harness_models.captioner.recipe import CaptionerRecipe
from harness_models.captioner.training import stage_folder, train
from harness_models.shared.decoding.batches import check_batch_size
from harness_models.shared.decoding.left_to_right import LeftToRight, Prefix
from harness_models.shared.decoding.states import select_rows
from harness_models.shared.inputs.scenes import target_of
from harness_models.shared.training.model_cache import get_or_train
from harness_models.shared.training.recipe import recipe_from
from harness_models.shared.weights.fingerprints import file_fingerprint
from harness_tasks.a3ds.image_features import ImageFeatures
from harness_tasks.readers.lines import words_of


class TrainedCaptioner(LeftToRight):
    """A word-level captioner of the scenes that examples name in their meta
    (``target_id``, as the reader ``a3ds`` writes it).

    Parameters
    ----------
    checkpoint
        Folder that ``harness train captioner`` wrote, or one stage of it.
    train
        In place of ``checkpoint``: settings of the recipe (``architecture``,
        ``scenes``, ``epochs``, ``save_at``, ...). The model is trained on first use and
        stored in the user's cache.
    stage
        Stage of the training, counted from 1 (default: the last).
    max_length
        Maximum number of tokens of a caption, END counted, where the decoding names
        none.
    batch_size
        Number of examples per batch, or ``auto``.

    References
    ----------
    Tanti, Gatt and Muscat, "Where to put the image in an image caption generator"
    (2018).
    """

    def __init__(
        self,
        *,
        checkpoint: PathParam | None = None,
        train: Mapping[str, Any] | None = None,
        stage: int | None = None,
        max_length: int = 40,
        batch_size: int | str = 256,
    ) -> None:
        if (checkpoint is None) == (train is None):
            raise HarnessError(
                "captioner: give either checkpoint (a folder) "
                "or train (settings of the training)"
            )
        if isinstance(stage, bool) or (
            stage is not None and (not isinstance(stage, int) or stage < 1)
        ):
            raise HarnessError(
                f"captioner: stage is {stage!r}; stages are counted from 1"
            )

        self.recipe: CaptionerRecipe | None = None
        self.folder: Path | None = None
        if train is not None:
            self.recipe = recipe_from(
                Located(train, {(): ("captioner", 0)}), CaptionerRecipe
            )
            count = len(self.recipe.stages)
            self.stage = count if stage is None else stage
            if self.stage > count:
                raise HarnessError(
                    f"captioner: stage {stage} of a training that has {count}"
                )
        else:
            self.folder, self.stage = _stage_of(Path(str(checkpoint)), stage)

        self.stop = (END,)
        self.max_length = max_length
        self.batch_size = check_batch_size(batch_size)
        self.step = self._one_step
        self._model: Captioner | None = None
        self._images: ImageFeatures | None = None

    def fingerprint(self) -> str:
        """Return a name that depends on the files of the checkpoint, or on the recipe
        and the stage; no model is trained for it.
        """
        if self.recipe is not None:
            source = f"trained:{self.recipe.key()}|stage:{self.stage}"
            return f"captioner|{source}|max:{self.max_length}"
        assert self.folder is not None
        return f"captioner|{file_fingerprint(self.folder)}|max:{self.max_length}"

    @property
    def model(self) -> Captioner:
        """The network. It is trained now if it is not in the cache."""
        if self._model is None:
            folder = self.folder or stage_folder(
                get_or_train_captioner(self.recipe or CaptionerRecipe()), self.stage
            )
            self._model, settings = load(folder)
            self._images = _images_of(settings, self._model, folder)
        return self._model

    @property
    def images(self) -> ImageFeatures:
        """Image features of the model's training."""
        assert self.model is not None and self._images is not None
        return self._images

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`InputError` for an example that names no scene."""
        self.inputs(task.examples)

    def inputs(self, examples: Sequence[Example]) -> list[Any]:
        """Return the scene ids of examples; raise :class:`InputError` for an example
        that names no scene.
        """
        return [target_of(example) for example in examples]

    def prefix(self, inputs: Sequence[Any], examples: Sequence[Example]) -> Prefix:
        """Return the state before START for scene ids."""
        features = torch.from_numpy(self.images.features(list(inputs)))
        return Prefix(
            self.model.first_state(features),
            torch.full((len(inputs),), self.model.start),
        )

    def _one_step(
        self, tokens: torch.Tensor | None, state: Any
    ) -> tuple[torch.Tensor, Any]:
        assert tokens is not None
        return self.model.step(tokens, state)

    def forced_logits(
        self, prefix: Prefix, owner: torch.Tensor, tokens: torch.Tensor
    ) -> torch.Tensor:
        """Return logits (N, T, V) that predict tokens (N, T); row i continues row
        ``owner[i]`` of the prefix.
        """
        return self.model.forced_logits(select_rows(prefix.state, owner), tokens)

    def to_text(self, ids: list[int]) -> str:
        """Return the words of ids, joined by spaces."""
        return self.model.text(ids)

    def reference_tokens(self, text: str) -> list[int]:
        """Return the word ids of a reference and END."""
        return self.model.encode(words_of(text))

    def longest_reference(self) -> int:
        """Return 10000; the recurrent network itself has no limit."""
        return 10_000

    def pieces(self, ids: list[int]) -> tuple[str, ...]:
        """Return the name of each id."""
        return self.model.pieces(ids)


def get_or_train_captioner(recipe: CaptionerRecipe) -> Path:
    """Return the run folder of a recipe, from the cache or trained now (seconds to
    minutes).
    """

    def make(folder: Path, advance: Callable[[int], object]) -> None:
        step = 0

        def report(row: dict[str, Any]) -> None:
            nonlocal step
            advance(row["step"] - step)
            step = row["step"]

        train(recipe, folder, report=report)

    noun = f"the captioner ({recipe.architecture})"
    return get_or_train("captioner", recipe.key(), noun, recipe.stages[-1], make)


def _stage_of(path: Path, stage: int | None) -> tuple[Path, int]:
    """Return the folder and the number of a stage,
    for the folder of a run or of a stage.
    """
    if not path.is_dir():
        raise InputError("no such folder of a captioner", str(path))
    stages = sorted(path.glob("stage-*"))
    if not stages:
        if stage is not None:
            raise InputError(
                f"not the folder of a training with stages; requested stage {stage}",
                str(path),
            )
        return path, 1

    if stage is not None and stage > len(stages):
        raise InputError(
            f"stage {stage} of a training that has {len(stages)}", str(path)
        )
    return stages[(stage or len(stages)) - 1], stage or len(stages)


def _images_of(
    settings: Mapping[str, Any], model: Captioner, folder: Path
) -> ImageFeatures:
    """Return the image features of the training;
    raise :class:`InputError` if they do not fit the model.
    """
    images = image_features(settings.get("features", "factors"))
    width = model.feature_map.in_features
    if images.width != width or settings.get("source") not in (None, images.name):
        raise InputError(
            f"trained on {settings.get('source')!r} of width {width}; "
            f"'{images.name}' has width {images.width}",
            str(folder),
        )
    return images
