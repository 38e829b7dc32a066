"""The ``nacf`` adapter: NACF, NAB and ARB checkpoints over video features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from harness.contracts import (
    Decoding,
    Example,
    Failure,
    Generation,
    PathParam,
    TaskView,
    TokenScores,
)
from harness.errors import HarnessError, InputError
from harness_models.nacf.authors_search import STRATEGIES
from harness_models.nacf.iterative_refinement import NacfRefiner, Refinement
from harness_models.nacf.model import ArbStep, Nacf
from harness_models.nacf.word_list import NacfWords
from harness_models.o2na.layers import BOS, EOS
from harness_models.o2na.lengths import SHORTEST
from harness_models.o2na.network import VideoNetwork
from harness_models.o2na.refinement import sampled_words
from harness_models.o2na.video_adapter import VideoAdapter
from harness_models.shared.decoding.filters import uniforms
from harness_models.shared.decoding.left_to_right import Prefix
from harness_models.shared.decoding.states import select_rows
from harness_models.shared.weights.checkpoint_config import weight_files
from harness_models.shared.weights.checkpoints import Checkpoint, load_checkpoint


class NacfAdapter(VideoAdapter):
    """A checkpoint of the NACF family; its keys determine the method.

    ARB decodes by all left-to-right strategies, and by ``authors-beam``. NAB and NACF
    decode by ``refine`` (arg-max; the ``candidates`` best of ``options.lengths``
    lengths) and ``sample`` (words drawn at the temperature, the length at
    ``options.length_temperature``, default 1). Options of both: order, iterations,
    templates, alpha, at_once, more, teacher_masks, shortest
    (:class:`~harness_models.nacf.iterative_refinement.Refinement`).

    The category of a video is ``Example.meta["category"]``, else that of the corpus
    file.

    Parameters
    ----------
    checkpoint
        ``best.pth.tar`` or ``.safetensors`` file, or a converted or trained folder.
    features
        ``{m: file, i: file}`` or ``{scenes: {...}}``. Default: the features of the
        training, if ``harness train`` wrote the checkpoint.
    words
        Word list (JSON, or ``info_corpus.pkl``). Default: the words of the training.
    teacher
        ARB checkpoint whose probabilities rescore captions (NAB, NACF).
    config
        Mapping or JSON file with settings that tensor shapes do not determine.
    frames
        Number of frames per modality. Default: as in training, else 8.
    batch_size
        Number of examples per batch, or ``auto``.
    device
        Device of the model.

    References
    ----------
    Yang, Zou, Liu and Zhang, "Non-Autoregressive Coarse-to-Fine Video Captioning"
    (2021), arXiv 1911.12018.
    """

    strategies = STRATEGIES
    name = "nacf"
    model: Nacf
    words: NacfWords
    words_class = NacfWords

    def __init__(
        self,
        *,
        checkpoint: PathParam,
        features: Mapping[str, PathParam | Mapping[str, Any]] | None = None,
        words: PathParam | None = None,
        teacher: PathParam | None = None,
        config: Mapping[str, Any] | str | None = None,
        frames: int | None = None,
        batch_size: int | str = 32,
        device: str = "cpu",
    ) -> None:
        super().__init__(
            checkpoint=checkpoint,
            features=features,
            words=words,
            config=config,
            frames=frames,
            batch_size=batch_size,
            device=device,
        )
        self.teacher = None if teacher is None else self._load_teacher(teacher, config)
        self.stop = (EOS,)
        self.max_length = self.model.sizes.max_len - 1
        self.step = ArbStep(self.model)

    @property
    def method(self) -> str:  # type: ignore[override]
        """Method of the checkpoint."""
        return self.model.sizes.method

    def load_model(
        self, checkpoint: Checkpoint, config: Mapping[str, Any] | str | None
    ) -> Nacf:
        """Return the model of a checkpoint."""
        return Nacf.from_checkpoint(checkpoint, config)

    def _load_teacher(
        self, teacher: str, config: Mapping[str, Any] | str | None
    ) -> Nacf:
        loaded = load_checkpoint(teacher)
        model = Nacf.from_checkpoint(loaded, config).to(self.device)
        sizes = self.model.sizes
        if sizes.left_to_right or not model.sizes.left_to_right:
            raise HarnessError(
                "nacf: a teacher is an ARB model for NAB or NACF; "
                f"found {model.sizes.method} for {sizes.method}"
            )

        # published checkpoints have no words in them: the size alone can be compared
        words = loaded.settings.get("words", self.words.words)
        if model.sizes.vocabulary != sizes.vocabulary or words != self.words.words:
            raise HarnessError("nacf: model and teacher have different vocabularies")
        self.files += weight_files(teacher)
        return model

    def prepare(self, task: TaskView) -> None:
        """Check the examples and the decoding settings of a task.

        Raises
        ------
        InputError
            If an example has no features.
        HarnessError
            If the strategy or an option does not fit the method.
        """
        super().prepare(task)
        if not self.model.sizes.left_to_right:
            self._refinement(task.decoding)

    def category(self, example: Example) -> int:
        """Return the category of a video,
        from ``Example.meta`` or from the corpus file.

        Raises :class:`InputError` if there is none in the range of the model.
        """
        value = example.meta.get("category", self.words.categories.get(example.id))
        if (
            value is None
            or not str(value).isdecimal()
            or int(value) >= self.model.sizes.categories
        ):
            raise InputError(
                f"example '{example.id}' has no category from 0 to "
                f"{self.model.sizes.categories - 1}; found {value!r}"
            )
        return int(value)

    def categories(
        self, model: VideoNetwork, examples: Sequence[Example]
    ) -> torch.Tensor | None:
        """Return the categories (E,) of the videos for a model that has categories,
        else None.
        """
        if not model.sizes.categories:
            return None
        return torch.tensor(
            [self.category(example) for example in examples], device=self.device
        )

    def prefix(self, inputs: Sequence[Any], examples: Sequence[Example]) -> Prefix:
        """Return the state before BOS of an ARB model."""
        encoded = self.encode_videos(self.model, inputs, examples)
        state = self.step.start(encoded)  # type: ignore[attr-defined]
        return Prefix(state, torch.full((len(inputs),), BOS, device=self.device))

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """Yield one generation per example: from left to right for ARB,
        by refinement for NAB and NACF.

        Refined captions have no likelihood, so their log-probabilities are left out.
        """
        if self.model.sizes.left_to_right:
            return super().generate(
                examples, replace(decoding, max_length=self.longest(decoding)), seeds
            )

        steps = self._refinement(decoding)
        return self.refine(
            examples, seeds, lambda pairs: self._refine(pairs, decoding, steps)
        )

    def _refinement(self, decoding: Decoding) -> Refinement:
        steps = self.read_steps(decoding, Refinement, SHORTEST)
        if steps.templates and self.model.sizes.method != "NACF":
            raise HarnessError("nacf: only NACF models were trained to write templates")
        return steps

    def _refine(
        self,
        pairs: Sequence[tuple[Example, int]],
        decoding: Decoding,
        steps: Refinement,
    ) -> list[Generation]:
        """Return the generations of (example, seed) pairs of a NAB or NACF model."""
        examples = [example for example, _ in pairs]
        seeds = [seed for _, seed in pairs]
        inputs = self.inputs(examples)
        videos = self.encode_videos(self.model, inputs, examples)
        assert videos.lengths is not None

        # Each length of a video is a row of slots, with the encoder output of its
        # video.
        numbers = None
        if decoding.strategy != "refine":
            numbers = self._numbers(seeds, decoding.candidates or 1, steps)
        lengths = self.choose_lengths(videos.lengths, steps, decoding, numbers)
        index = torch.arange(len(pairs), device=self.device)
        index = index.repeat_interleave(lengths.shape[1])

        teacher = None
        if self.teacher is not None:
            encoded = self.encode_videos(self.teacher, inputs, examples)
            teacher = (self.teacher, select_rows(encoded, index))
        pick = None
        if numbers is not None:
            pick = sampled_words(
                numbers[:, :, 1:], self.model.sizes.max_len, decoding, self.device
            )

        refiner = NacfRefiner(
            self.model, select_rows(videos, index), steps, teacher=teacher, pick=pick
        )
        return self.select_captions(
            refiner, refiner.fill(lengths.reshape(-1)), pairs, decoding
        )

    def _numbers(
        self, seeds: Sequence[int], count: int, steps: Refinement
    ) -> np.ndarray:
        """Return uniform numbers (E, n, 1 + passes x slots): the first draws the
        length, the others the words of each pass.
        """
        size = self.model.sizes.max_len
        # l2r and ef fill at least one slot per pass; a template takes one more
        passes = 2 + (steps.iterations if steps.order == "mp" else size + steps.more)
        return uniforms(seeds, count, 1 + passes * size)

    def forced_logits(
        self, prefix: Prefix, owner: torch.Tensor, tokens: torch.Tensor
    ) -> torch.Tensor:
        """Return logits (N, T, V) that predict tokens (N, T); row i continues row
        ``owner[i]`` of the prefix (ARB).
        """
        rows = select_rows(prefix.state["encoded"], owner.to(self.device))
        start = torch.full((len(tokens), 1), BOS, device=self.device)
        return self.model.logits(
            torch.cat([start, tokens[:, :-1].to(self.device)], dim=1), rows
        )

    def _score(self, examples: Sequence[Example]) -> list[list[TokenScores]]:
        """Return exact scores for ARB, and pseudo-log-likelihoods for NAB and NACF."""
        if self.model.sizes.left_to_right:
            return super()._score(examples)
        return self.pseudo_scores(examples)
