"""The ``nacf`` adapter: NACF, NAB and ARB checkpoints over video features."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.adapters.batches import check_batch_size, in_batches
from harness.adapters.checkpoints import file_fingerprint
from harness.adapters.decoding import check_decoding, forced_scores
from harness.adapters.decoding_filters import draw, uniforms
from harness.adapters.decoding_types import select_rows
from harness.adapters.left_to_right import LeftToRight, Prefix
from harness.adapters.o2na.arb import STRATEGIES
from harness.adapters.o2na.layers import BOS, EOS, MASK
from harness.adapters.o2na.nacf import ArbStep, Encoded, Nacf
from harness.adapters.o2na.refine import SHORTEST, Refinement, Refiner, Slots, likeliest_lengths
from harness.adapters.o2na.videos import VideoFeatures
from harness.adapters.o2na.words import Words
from harness.adapters.settings import read_settings
from harness.contracts import Decoding, Example, Failure, Generation, TokenScores
from harness.errors import HarnessError, InputError

_REFINING = ("refine", "sample", "nucleus")


class NacfAdapter(LeftToRight):
    """A checkpoint of the NACF family; the keys tell which.

    checkpoint: ``best.pth.tar``, ``.safetensors`` or a converted folder; teacher: an ARB checkpoint that rescores (NAB, NACF).
    features: ``{m: file, i: file}``. words: the word list (JSON, or ``info_corpus.pkl``). frames: per modality.
    The category is ``Example.meta["category"]``, or that of the corpus file.

    ARB: all left-to-right strategies, and ``authors-beam``. NAB, NACF: ``refine`` (arg-max; the ``candidates`` best of
    ``options.lengths`` lengths) and ``sample`` (length and words drawn; ``options.length_temperature``, default: the temperature).
    Options of both: order, iterations, templates, alpha, at_once, more, teacher_masks.
    """

    strategies = STRATEGIES

    def __init__(
        self,
        *,
        checkpoint: str,
        features: Mapping[str, str],
        words: str,
        teacher: str | None = None,
        config: Mapping[str, Any] | str | None = None,
        frames: int = 8,
        batch_size: int | str = 32,
        device: str = "cpu",
    ) -> None:
        self.paths = [Path(path) for path in (checkpoint, teacher) if path is not None]
        self.device = torch.device(device)
        self.model = Nacf.from_checkpoint(checkpoint, config).to(self.device)
        self.teacher = Nacf.from_checkpoint(teacher, config).to(self.device) if teacher is not None else None
        self.words = Words(words)
        self._check()
        self.videos = VideoFeatures(features, frames)
        self.batch_size = check_batch_size(batch_size)
        self.stop, self.max_length = (EOS,), self.model.sizes.max_len - 1
        self.step = ArbStep(self.model)
        self._settings = {"config": read_settings(config), "frames": frames}
        self._print: str | None = None

    def _check(self) -> None:
        sizes = self.model.sizes
        if len(self.words) != sizes.vocabulary:
            raise InputError(f"{len(self.words)} words, the checkpoint has {sizes.vocabulary}", str(self.words.path))
        if self.teacher is not None:
            if sizes.left_to_right or not self.teacher.sizes.left_to_right:
                raise HarnessError(
                    f"nacf: a teacher is an ARB model for NAB or NACF; found {self.teacher.sizes.method} for {sizes.method}"
                )
            if self.teacher.sizes.vocabulary != sizes.vocabulary:
                raise HarnessError("nacf: model and teacher have different vocabularies")

    def fingerprint(self) -> str:
        if self._print is None:
            files = file_fingerprint(*self.paths, self.words.path, *self.videos.paths.values())
            self._print = f"nacf-{files}-{json.dumps(self._settings, sort_keys=True)}"
        return self._print

    def prepare(self, examples: Sequence[Example], decoding: Decoding) -> None:
        """Raise :class:`InputError` for examples without features, :class:`HarnessError` for a strategy of the other kind."""
        self.videos.check(examples)
        if not self.model.sizes.left_to_right:
            self._refinement(decoding)

    # ------------------------------------------------------------------ inputs
    def inputs(self, examples: Sequence[Example]) -> list[Any]:
        return [self.videos.read(example, self.model.sizes.features) for example in examples]

    def _category(self, example: Example) -> int:
        found = example.meta.get("category", self.words.categories.get(example.id))
        if found is None or not 0 <= int(found) < self.model.sizes.categories:
            raise InputError(
                f"example '{example.id}' has no category from 0 to {self.model.sizes.categories - 1}; found {found!r}"
            )
        return int(found)

    def _encoded(self, model: Nacf, inputs: Sequence[Any], examples: Sequence[Example]) -> Encoded:
        parts = [torch.from_numpy(np.stack(series)).to(self.device) for series in zip(*inputs)]
        category = None
        if model.sizes.categories:
            category = torch.tensor([self._category(example) for example in examples], device=self.device)
        return model.encode(parts, category)

    def prefix(self, inputs: Sequence[Any], examples: Sequence[Example]) -> Prefix:
        state = self.step.start(self._encoded(self.model, inputs, examples))  # type: ignore[attr-defined]
        return Prefix(state, torch.full((len(inputs),), BOS, device=self.device))

    def to_text(self, ids: list[int]) -> str:
        return self.words.text(ids)

    # ------------------------------------------------------------------ generation
    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """Left to right for ARB, by refinement for NAB and NACF (whose log-probabilities are left out: they have no likelihood)."""
        if self.model.sizes.left_to_right:
            return super().generate(examples, decoding, seeds)
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
        how = Refinement(**{name: value for name, value in decoding.options.items() if name in known})
        if decoding.strategy == "refine" and (decoding.candidates or 1) > how.lengths:
            raise HarnessError(
                f"nacf: {how.lengths} lengths give {how.lengths} candidates, {decoding.candidates} asked for"
            )
        if how.templates and self.model.sizes.method != "NACF":
            raise HarnessError("nacf: only NACF models were trained to write templates")
        return how

    def _refine(self, pairs: Sequence[tuple[Example, int]], decoding: Decoding, how: Refinement) -> list[Generation]:
        examples, seeds = [e for e, _ in pairs], [s for _, s in pairs]
        inputs = self.inputs(examples)
        once = self._encoded(self.model, inputs, examples)
        assert once.lengths is not None
        wanted, drawn = decoding.candidates or 1, decoding.strategy != "refine"
        numbers = self._numbers(seeds, wanted, how) if drawn else None
        if numbers is None:
            lengths = likeliest_lengths(once.lengths, how.lengths, self.model.sizes.max_len)
        else:
            lengths = self._drawn_lengths(once.lengths, numbers[:, :, 0], decoding)
        index = torch.arange(len(pairs), device=self.device).repeat_interleave(lengths.shape[1])
        teacher = None
        if self.teacher is not None:
            teacher = (self.teacher, select_rows(self._encoded(self.teacher, inputs, examples), index))
        pick = self._picker(numbers, decoding) if numbers is not None else None
        refiner = Refiner(self.model, select_rows(once, index), how, teacher=teacher, pick=pick)
        slots = refiner.fill(lengths.reshape(-1))
        order = torch.arange(wanted).expand(len(pairs), -1)
        if not drawn:
            order = (
                refiner.scores(slots).reshape(len(pairs), -1).argsort(dim=1, descending=True, stable=True)[:, :wanted]
            )
        return [self._generation(slots, e * lengths.shape[1], order[e].tolist()) for e in range(len(pairs))]

    def _generation(self, slots: Slots, first: int, order: list[int]) -> Generation:
        rows = [slots.tokens[first + k][~slots.pad[first + k]].tolist() for k in order]
        lengths = tuple(len(row) for row in rows)
        return Generation(
            tuple(self.words.text(row) for row in rows), lengths=lengths, stop_reasons=("stop",) * len(rows)
        )

    # ------------------------------------------------------------------ drawing
    def _numbers(self, seeds: Sequence[int], wanted: int, how: Refinement) -> np.ndarray:
        """(E, n, 1 + passes x slots): the first draws the length, the others the words of each pass."""
        size = self.model.sizes.max_len
        passes = (how.iterations + 2) if how.order == "mp" else size + how.more + 2
        return uniforms(seeds, wanted, 1 + passes * size)

    def _drawn_lengths(self, log_probs: torch.Tensor, numbers: np.ndarray, decoding: Decoding) -> torch.Tensor:
        temperature = float(decoding.options.get("length_temperature", decoding.temperature))
        if not temperature > 0:
            raise HarnessError(f"decoding: options.length_temperature must be above 0, found {temperature}")
        rows = log_probs.repeat_interleave(numbers.shape[1], 0)
        uniform = torch.from_numpy(numbers.reshape(-1)).to(rows.device)
        longest = self.model.sizes.max_len - 1
        return (
            draw(rows, uniform, Decoding("sample", temperature))
            .clamp(min(SHORTEST, longest), longest)
            .reshape(numbers.shape)
        )

    def _picker(self, numbers: np.ndarray, decoding: Decoding) -> Any:
        size = self.model.sizes.max_len
        flat = torch.from_numpy(numbers.reshape(-1, numbers.shape[2])).to(self.device)

        def pick(logits: torch.Tensor, turn: int) -> torch.Tensor:
            rows, slots, _ = logits.shape
            uniform = flat[:, 1 + turn * size : 1 + turn * size + slots].reshape(-1)
            return draw(logits.reshape(rows * slots, -1), uniform, decoding).reshape(rows, slots)

        return pick

    # ------------------------------------------------------------------ references
    def reference_tokens(self, text: str) -> list[int]:
        return [*self.words.encode(text), EOS]

    def pieces(self, ids: list[int]) -> tuple[str, ...]:
        return tuple(self.words.words[i] for i in ids)

    def forced_logits(self, prefix: Prefix, owner: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        rows = select_rows(prefix.state["encoded"], owner.to(self.device))
        start = torch.full((len(tokens), 1), BOS, device=self.device)
        return self.model.logits(torch.cat([start, tokens[:, :-1].to(self.device)], dim=1), rows)

    def _score(self, examples: Sequence[Example]) -> list[list[TokenScores]]:
        """ARB: exact. NAB, NACF: ``pseudo``: every word with its slot alone masked, and last the length."""
        if self.model.sizes.left_to_right:
            return super()._score(examples)
        with torch.inference_mode():
            once = self._encoded(self.model, self.inputs(examples), examples)
            return [
                [self._pseudo(example, text, once, e) for text in example.references]
                for e, example in enumerate(examples)
            ]

    def _pseudo(self, example: Example, text: str, once: Encoded, row: int) -> TokenScores:
        ids = self.words.encode(text)
        if not 1 <= len(ids) <= self.max_length:
            raise InputError(
                f"a reference of example '{example.id}' has {len(ids)} words; 1 to {self.max_length} can be scored"
            )
        tokens = torch.tensor(ids, device=self.device)
        rows = tokens.repeat(len(ids), 1).fill_diagonal_(MASK)
        index = torch.full((len(ids),), row, device=self.device)
        logits = self.model.logits(rows, select_rows(once, index)).diagonal().T
        words, ranks = forced_scores(logits, tokens)
        assert once.lengths is not None
        length, rank = forced_scores(once.lengths[row : row + 1], tokens.new_tensor([len(ids)]))
        pieces = (*self.pieces(ids), "<length>")
        return TokenScores(np.append(words, length), np.append(ranks, rank), pieces, "pseudo")
