"""The language model of a recipe and a corpus, trained on first use and kept (:mod:`harness.adapters.shared.training.model_cache`)."""

from __future__ import annotations

import logging
from pathlib import Path

from harness.adapters.rnnlm.model import RnnLm, load
from harness.adapters.rnnlm.training import Recipe, train
from harness.adapters.shared.training.model_cache import cache_folder, get_or_train
from harness.run.progress import bar
from harness.tasks.readers.lines import Lines

_log = logging.getLogger(__name__)


def trained(corpus: Lines, recipe: Recipe) -> RnnLm:
    """The model of a recipe and a corpus, from the cache or trained now (minutes)."""

    def make(folder: Path) -> None:
        _log.warning(
            "training a language model (%d epochs); it will be kept in %s", recipe.epochs, cache_folder("rnnlm")
        )
        with bar("training the language model", recipe.epochs) as advance:
            made = train(corpus.lines(), recipe, lambda row: advance(1))
        made.model.save(folder, made.settings)

    return load(get_or_train("rnnlm", recipe.key(corpus.fingerprint()), make))
