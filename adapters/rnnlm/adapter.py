"""The ``rnnlm`` adapter: sentences of a recurrent language model that looks at nothing but the words before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import torch

from harness.adapters.rnnlm.cache import trained
from harness.adapters.rnnlm.model import START, STOP, RnnLm, load
from harness.adapters.rnnlm.training import Recipe
from harness.adapters.shared.decoding.batches import check_batch_size, in_batches
from harness.adapters.shared.decoding.decode import DecodingBatch, decode
from harness.adapters.shared.weights.checkpoints import file_fingerprint
from harness.contracts import Decoding, Example, Generation, PathParam
from harness.errors import HarnessError, did_you_mean
from harness.tasks.readers.lines import Lines


class RnnLanguageModel:
    """Unconditional sentences: an example gives its seed and nothing else.

    checkpoint: a folder written by ``harness train rnnlm``; or
    train: a mapping with ``corpus`` (parameters of the reader ``lines``) and any of the recipe's settings (``epochs``, ``size``,
        ``learning_rate``, ``batch_size``, ``min_count``, ``max_words``, ``seed``): the model is trained on first use and kept.
    max_length: most tokens of a sentence, where the decoding does not say.
    """

    def __init__(
        self,
        *,
        checkpoint: PathParam | None = None,
        train: Mapping[str, Any] | None = None,
        max_length: int = 40,
        batch_size: int | str = 256,
    ) -> None:
        if (checkpoint is None) == (train is None):
            raise HarnessError("rnnlm: give either checkpoint (a folder) or train (a corpus and settings)")
        self.checkpoint, self.max_length, self.batch_size = checkpoint, max_length, check_batch_size(batch_size)
        self.corpus: Lines | None = None
        self.recipe = Recipe()
        if train is not None:
            self.corpus, self.recipe = _plan(train)
        self._model: RnnLm | None = load(checkpoint) if checkpoint is not None else None

    def fingerprint(self) -> str:
        if self.checkpoint is not None:
            return f"rnnlm|{file_fingerprint(self.checkpoint)}|max:{self.max_length}"
        assert self.corpus is not None
        return f"rnnlm|trained:{self.recipe.key(self.corpus.fingerprint())}|max:{self.max_length}"

    @property
    def model(self) -> RnnLm:
        """The weights; trained now if they are not in the cache."""
        if self._model is None:
            assert self.corpus is not None
            self._model = trained(self.corpus, self.recipe)
        return self._model

    def generate(self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]) -> Iterator[Generation]:
        """Sentences drawn (strategy ``sample`` or ``nucleus``) or searched by the shared decoder."""
        model = self.model

        def work(pairs: Sequence[tuple[Example, int]]) -> list[Generation]:
            batch = DecodingBatch(
                state=model.first_state(len(pairs)),
                start=torch.full((len(pairs),), START),
                seeds=[seed for _, seed in pairs],
                stop=(STOP,),
                max_length=self.max_length,
                ids=[example.id for example, _ in pairs],
            )
            return decode(model.step, decoding, batch).generations(model.text)

        return in_batches(list(zip(examples, seeds)), self.batch_size, work)


def _plan(train: Mapping[str, Any]) -> tuple[Lines, Recipe]:
    settings = dict(train)
    corpus = settings.pop("corpus", None)
    if not isinstance(corpus, Mapping):
        raise HarnessError(
            f"rnnlm: train.corpus is {corpus!r}; expected parameters of the reader 'lines' ({{path: ...}})"
        )
    known = [field.name for field in fields(Recipe)]
    for name in settings:
        if name not in known:
            raise HarnessError(
                f"rnnlm: unknown setting train.{name}{did_you_mean(name, known)}; settings are corpus, {', '.join(known)}"
            )
    return Lines(**corpus), Recipe(**settings)
