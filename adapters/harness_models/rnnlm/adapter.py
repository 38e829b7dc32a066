"""The ``rnnlm`` adapter: sentences of a recurrent language model, without any input."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from harness.contracts import Decoding, Example, Generation, PathParam
from harness.errors import HarnessError
from harness.files.yaml_source import Located
from harness_models.rnnlm.model import START, STOP, RnnLm, load
from harness_models.rnnlm.training import RnnLmRecipe, train
from harness_models.shared.decoding.batches import (
    BatchSize,
    check_batch_size,
    in_batches,
)
from harness_models.shared.decoding.decode import decode
from harness_models.shared.decoding.types import DecodingBatch
from harness_models.shared.training.model_cache import get_or_train
from harness_models.shared.training.recipe import recipe_from
from harness_models.shared.weights.fingerprints import file_fingerprint
from harness_tasks.readers.lines import Lines


class RnnLanguageModel:
    """Unconditional sentences: of an example only the seed is used.

    Parameters
    ----------
    checkpoint
        Folder that ``harness train rnnlm`` wrote.
    train
        In place of ``checkpoint``: a mapping with ``corpus`` (parameters of the reader
        ``lines``) and settings of the recipe (``epochs``, ``size``, ``learning_rate``,
        ``batch_size``, ``min_count``, ``max_words``, ``held_out``, ``seed``). The model
        is trained on first use and stored in the user's cache.
    max_length
        Maximum number of tokens of a sentence, where the decoding names none.
    batch_size
        Number of examples per batch, or ``auto``.

    References
    ----------
    Li et al. (ICML 2020), section 6.3.
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
            raise HarnessError(
                "rnnlm: give either checkpoint (a folder) "
                "or train (a corpus and settings)"
            )

        self.checkpoint = checkpoint
        self.max_length = max_length
        self.batch_size = check_batch_size(batch_size)
        self._batches = BatchSize(self.batch_size)

        self.corpus: Lines | None = None
        self.recipe = RnnLmRecipe()
        if train is not None:
            self.corpus, self.recipe = _corpus_and_recipe(train)
        self._model: RnnLm | None = load(checkpoint) if checkpoint is not None else None

    def fingerprint(self) -> str:
        """Return a name that depends on the files of the checkpoint, or on the recipe
        and the corpus; no model is trained for it.
        """
        if self.checkpoint is not None:
            return f"rnnlm|{file_fingerprint(self.checkpoint)}|max:{self.max_length}"
        assert self.corpus is not None
        key = self.recipe.key(self.corpus.fingerprint())
        return f"rnnlm|trained:{key}|max:{self.max_length}"

    @property
    def model(self) -> RnnLm:
        """The network. It is trained now if it is not in the cache."""
        if self._model is None:
            assert self.corpus is not None
            self._model = get_or_train_language_model(self.corpus, self.recipe)
        return self._model

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation]:
        """Yield the sentences of each example, drawn (``sample``, ``nucleus``) or
        searched by the shared decoder.
        """
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

        return in_batches(list(zip(examples, seeds)), self._batches, work)


def get_or_train_language_model(corpus: Lines, recipe: RnnLmRecipe) -> RnnLm:
    """Return the model of a recipe and a corpus,
    from the cache or trained now (minutes).
    """

    def make(folder: Path, advance: Callable[[int], object]) -> None:
        result = train(corpus.lines(), recipe, lambda row: advance(1))
        result.model.save(folder, result.settings)

    key = recipe.key(corpus.fingerprint())
    return load(get_or_train("rnnlm", key, "the language model", recipe.epochs, make))


def _corpus_and_recipe(train: Mapping[str, Any]) -> tuple[Lines, RnnLmRecipe]:
    """Return corpus and recipe of the parameter ``train``;
    raise :class:`HarnessError` for an unknown setting.
    """
    settings = dict(train)
    corpus = settings.pop("corpus", None)
    if not isinstance(corpus, Mapping):
        raise HarnessError(
            f"rnnlm: train.corpus is {corpus!r}; expected parameters of the reader "
            f"'lines' ({{path: ...}})"
        )
    return Lines(**corpus), recipe_from(
        Located(settings, {(): ("rnnlm: train", 0)}), RnnLmRecipe
    )
