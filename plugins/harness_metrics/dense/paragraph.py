"""Protocol ``paragraph``: the captions of a video as one text, as in tables of
paragraph captioning on ActivityNet Captions.

The sentences of a video are joined in the order of the file; all but letters becomes
blanks, and letters lower case; a video without predictions is an empty text. Scores are
those of a corpus: the document frequencies of CIDEr are those of all videos.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.contracts import EventSet, Features
from harness_metrics.dense.corpus_captions import CorpusCaptions
from harness_metrics.dense.options import Options
from harness_metrics.dense.protocol import FittedProtocol
from harness_metrics.dense.videos import Side, SideRules, Video

_NO_LETTER = re.compile(r"[^a-z]+")


def paragraph(texts: Sequence[str]) -> str:
    """Return the paragraph of some captions.

    >>> paragraph(["A dog runs.", "It's brown"])
    'a dog runs it s brown'
    """
    return _NO_LETTER.sub(" ", ". ".join(texts).lower()).strip()


class ParagraphProtocol(FittedProtocol):
    """Corpus scores of paragraphs."""

    def __init__(self, options: Options) -> None:
        options.refuse("tious", "seconds", "max_proposals", "annotators")
        options.refuse_measures("precision", "recall", "f1")
        self.captions = CorpusCaptions(options.metric, options.protocol)
        self.rules = SideRules(options.protocol, swaps=True)
        self.bounds = self.captions.metric.spec.bounds

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> Any:
        """Return the corpus state of the text metric over the paragraphs."""
        paragraphs = [
            [
                paragraph([event.text for event in EventSet.from_text(text).events])
                for text in texts
            ]
            for texts in references
        ]
        return self.captions.metric.fit(paragraphs, features)

    def addends(
        self, videos: Sequence[Video], features: Features, state: Any
    ) -> np.ndarray:
        """Return the summands of the text metric for each video, shape (V, k)."""
        candidates = [_of_side(video.system, features) for video in videos]
        references = [
            [_of_side(side, features) for side in video.annotators] for video in videos
        ]
        return self.captions.sums(candidates, references, features, state)


def _of_side(side: Side, features: Features) -> str:
    ids: list[int] = side.texts.tolist()
    return paragraph([features.texts[k] for k in ids])
