"""The ``nacf`` adapter: NACF, NAB and ARB checkpoints over video features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import torch

from harness.adapters.nacf.authors import STRATEGIES
from harness.adapters.nacf.video_adapter import VideoAdapter, weight_files
from harness.adapters.nacf.layers import BOS, EOS
from harness.adapters.nacf.model import ArbStep, Nacf
from harness.adapters.nacf.iterative_refinement import SHORTEST, Refinement, Refiner, likeliest_lengths
from harness.adapters.nacf.lengths import drawn_lengths, length_temperature, picker
from harness.adapters.shared.decoding.batches import in_batches
from harness.adapters.shared.decoding.decode import check_decoding
from harness.adapters.shared.decoding.filters import uniforms
from harness.adapters.shared.decoding.left_to_right import Prefix
from harness.adapters.shared.decoding.types import select_rows
from harness.adapters.shared.weights.checkpoints import load_checkpoint
from harness.contracts import Decoding, Example, Failure, Generation, PathParam, TaskView, TokenScores
from harness.errors import HarnessError

_REFINING = ("refine", "sample", "nucleus")


class NacfAdapter(VideoAdapter):
    """A checkpoint of the NACF family; the keys tell which.

    checkpoint: ``best.pth.tar``, ``.safetensors``, or a converted or trained folder; teacher: an ARB checkpoint that rescores (NAB, NACF).
    features: ``{m: file, i: file}`` or ``{scenes: {...}}``. words: the word list (JSON, or ``info_corpus.pkl``). frames: per modality
    (8). A model that ``harness train nacf`` wrote knows its features, words and frames.
    The category is ``Example.meta["category"]``, or that of the corpus file.

    ARB: all left-to-right strategies, and ``authors-beam``. NAB, NACF: ``refine`` (arg-max; the ``candidates`` best of
    ``options.lengths`` lengths) and ``sample`` (words drawn at the temperature, the length at ``options.length_temperature``, 1).
    Options of both: order, iterations, templates, alpha, at_once, more, teacher_masks, shortest.
    """

    strategies = STRATEGIES

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
        self.open(
            checkpoint, features=features, words=words, config=config, frames=frames, batch_size=batch_size, device=device
        )  # fmt: skip
        self.teacher = None if teacher is None else self._taught(teacher, config)
        self.stop, self.max_length = (EOS,), self.model.sizes.max_len - 1
        self.step = ArbStep(self.model)

    def _taught(self, teacher: str, config: Mapping[str, Any] | str | None) -> Nacf:
        loaded, sizes = load_checkpoint(teacher), self.model.sizes
        model = Nacf.from_checkpoint(loaded, config).to(self.device)
        if sizes.left_to_right or not model.sizes.left_to_right:
            raise HarnessError(
                f"nacf: a teacher is an ARB model for NAB or NACF; found {model.sizes.method} for {sizes.method}"
            )
        known = loaded.settings.get("words", self.words.words)
        if model.sizes.vocabulary != sizes.vocabulary or known != self.words.words:
            raise HarnessError("nacf: model and teacher have different vocabularies")
        self.files += weight_files(teacher)
        return model

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`InputError` for examples without features, :class:`HarnessError` for a strategy of the other kind."""
        super().prepare(task)
        if not self.model.sizes.left_to_right:
            self._refinement(task.decoding)

    def prefix(self, inputs: Sequence[Any], examples: Sequence[Example]) -> Prefix:
        state = self.step.start(self.encoded(self.model, inputs, examples))  # type: ignore[attr-defined]
        return Prefix(state, torch.full((len(inputs),), BOS, device=self.device))

    # ------------------------------------------------------------------ generation
    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """Left to right for ARB, by refinement for NAB and NACF (whose log-probabilities are left out: they have no likelihood)."""
        if self.model.sizes.left_to_right:
            return super().generate(examples, replace(decoding, max_length=self.longest(decoding)), seeds)
        how = self._refinement(decoding)

        def work(pairs: Sequence[tuple[Example, int]]) -> list[Generation]:
            with torch.inference_mode():
                return self._refine(pairs, decoding, how)

        return in_batches(list(zip(examples, seeds)), self.batch_size, work)  # type: ignore[return-value]

    def _refinement(self, decoding: Decoding) -> Refinement:
        if decoding.strategy not in _REFINING:
            raise HarnessError(
                f"nacf: {self.model.sizes.method} decodes by {', '.join(_REFINING)}; found '{decoding.strategy}'"
            )
        check_decoding(decoding)
        known = {field.name for field in fields(Refinement)}
        unknown = set(decoding.options) - known - {"length_temperature"}
        if unknown:
            raise HarnessError(
                f"nacf: unknown options {', '.join(sorted(unknown))}; options are {', '.join(sorted(known))}"
            )
        length_temperature(decoding.options)
        given = {"shortest": self.told.get("shortest", SHORTEST), **decoding.options}
        how = Refinement(**{name: value for name, value in given.items() if name in known})
        if decoding.strategy == "refine" and (decoding.candidates or 1) > how.lengths:
            raise HarnessError(
                f"nacf: {how.lengths} lengths give {how.lengths} candidates, {decoding.candidates} asked for"
            )
        if how.templates and self.model.sizes.method != "NACF":
            raise HarnessError("nacf: only NACF models were trained to write templates")
        return how

    def _refine(self, pairs: Sequence[tuple[Example, int]], decoding: Decoding, how: Refinement) -> list[Generation]:
        examples, seeds, size = [e for e, _ in pairs], [s for _, s in pairs], self.model.sizes.max_len
        inputs = self.inputs(examples)
        once = self.encoded(self.model, inputs, examples)
        assert once.lengths is not None
        longest = self.longest(decoding)
        wanted, drawn = decoding.candidates or 1, decoding.strategy != "refine"
        numbers = self._numbers(seeds, wanted, how) if drawn else None
        if numbers is None:
            lengths = likeliest_lengths(once.lengths, how.lengths, longest + 1, how.shortest)
        else:
            temperature = length_temperature(decoding.options)
            lengths = drawn_lengths(once.lengths, numbers[:, :, 0], temperature, how.shortest, longest)
        index = torch.arange(len(pairs), device=self.device).repeat_interleave(lengths.shape[1])
        teacher = None
        if self.teacher is not None:
            teacher = (self.teacher, select_rows(self.encoded(self.teacher, inputs, examples), index))
        pick = None if numbers is None else picker(numbers[:, :, 1:], size, decoding, self.device)
        refiner = Refiner(self.model, select_rows(once, index), how, teacher=teacher, pick=pick)
        slots = refiner.fill(lengths.reshape(-1))
        order = torch.arange(wanted).expand(len(pairs), -1)
        if not drawn:
            order = (
                refiner.scores(slots).reshape(len(pairs), -1).argsort(dim=1, descending=True, stable=True)[:, :wanted]
            )
        return [self.written(slots.rows(e * lengths.shape[1] + order[e])) for e in range(len(pairs))]

    def _numbers(self, seeds: Sequence[int], wanted: int, how: Refinement) -> np.ndarray:
        """(E, n, 1 + passes x slots): the first draws the length, the others the words of each pass."""
        size = self.model.sizes.max_len
        passes = (how.iterations + 2) if how.order == "mp" else size + how.more + 2
        return uniforms(seeds, wanted, 1 + passes * size)

    # ------------------------------------------------------------------ references
    def reference_tokens(self, text: str) -> list[int]:
        return [*self.words.encode(text), EOS]

    def forced_logits(self, prefix: Prefix, owner: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        rows = select_rows(prefix.state["encoded"], owner.to(self.device))
        start = torch.full((len(tokens), 1), BOS, device=self.device)
        return self.model.logits(torch.cat([start, tokens[:, :-1].to(self.device)], dim=1), rows)

    def _score(self, examples: Sequence[Example]) -> list[list[TokenScores]]:
        """ARB: exact. NAB, NACF: ``pseudo``: every word with its slot alone masked, and last the length."""
        if self.model.sizes.left_to_right:
            return super()._score(examples)
        return self.pseudo_scores(examples)
