"""Word lists of NACF, also from the authors' ``info_corpus.pkl``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness_models.o2na.word_list import VideoWords


class NacfWords(VideoWords):
    """Words and their ids, from a file or a list.

    Parameters
    ----------
    source
        As for :class:`~harness_models.o2na.word_list.VideoWords`, or the authors'
        ``info_corpus.pkl``, whose ``itoc``, the category of each video, becomes
        ``categories``.
    path
        File that the words were read from, for error messages, where ``source`` is the
        words.
    """

    def __init__(
        self, source: str | Path | Sequence[str], path: str | Path | None = None
    ) -> None:
        self.categories: dict[str, int] = {}
        super().__init__(source, path)

    def read(self) -> Any:
        """Return the list or mapping in the file,
        and store the category of each video.
        """
        if self.path.suffix == ".json":
            return super().read()
        from harness_models.shared.weights.safe_unpickle import load_plain_pickle

        data = load_plain_pickle(self.path)
        info = data.get("info", data) if isinstance(data, Mapping) else None
        if not isinstance(info, Mapping) or "itow" not in info:
            raise InputError("no info/itow in this corpus file", str(self.path))
        self.categories = {str(k): int(v) for k, v in (info.get("itoc") or {}).items()}
        return info["itow"]
