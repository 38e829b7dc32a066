"""Models trained on first use, kept in the user's cache: ``$HARNESS_CACHE`` (else ``$XDG_CACHE_HOME/harness``, else
``~/.cache/harness``) ``/rnnlm/KEY/``, KEY being the recipe and the corpus. A folder is renamed into place, so it is whole or absent."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from pathlib import Path

from harness.adapters.rnnlm.model import RnnLm, load
from harness.adapters.rnnlm.training import Recipe, train
from harness.progress import bar
from harness.tasks.readers.lines import Lines

_log = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Where trained models are kept."""
    if own := os.environ.get("HARNESS_CACHE"):
        return Path(own).expanduser() / "rnnlm"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "harness" / "rnnlm"


def trained(corpus: Lines, recipe: Recipe) -> RnnLm:
    """The model of a recipe and a corpus, from the cache or trained now (minutes)."""
    folder = cache_folder() / recipe.key(corpus.fingerprint())
    if not (folder / "config.json").is_file():
        _log.warning("training a language model (%d epochs); it will be kept in %s", recipe.epochs, folder)
        with bar("training the language model", recipe.epochs) as advance:
            made = train(corpus.lines(), recipe, lambda row: advance(1))
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
        try:
            made.model.save(partial, made.settings)
            try:
                os.replace(partial, folder)
            except OSError:  # another process was first, with the same recipe
                if not (folder / "config.json").is_file():
                    raise
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return load(folder)
