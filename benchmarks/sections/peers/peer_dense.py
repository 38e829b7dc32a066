"""METEOR of dense captions by pycocoevalcap and Java: ``peer_dense.py PREDICTIONS
REFERENCES ...`` prints the number. It runs in the environment of the peer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pycocoevalcap.meteor.meteor import Meteor  # pyright: ignore
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer  # pyright: ignore

TIOUS = (0.3, 0.5, 0.7, 0.9)
Events = list[dict[str, Any]]


def mean_meteor(paths: Sequence[Path]) -> float:
    """Return the mean METEOR of videos by the rules of activitynet-2018, two tokeniser
    processes and one METEOR process for each video and threshold.
    """
    predictions = json.loads(paths[0].read_text())["results"]
    annotators = [json.loads(path.read_text()) for path in paths[1:]]
    scores: list[float] = []
    for name in predictions:
        of_thresholds: list[float] = []
        for tiou in TIOUS:
            pairs = _pairs(predictions[name], [own[name] for own in annotators], tiou)
            tokenizer = PTBTokenizer()
            sides = [
                tokenizer.tokenize(
                    {k: [{"caption": pair[side]}] for k, pair in enumerate(pairs)}
                )
                for side in (0, 1)
            ]
            value, _ = Meteor().compute_score(sides[1], sides[0])
            of_thresholds.append(value)
        scores.append(sum(of_thresholds) / len(of_thresholds))
    return sum(scores) / len(scores)


def _pairs(
    predictions: Events, annotators: Sequence[Mapping[str, Any]], tiou: float
) -> list[tuple[str, str]]:
    """Return the pairs of texts of a video at a threshold."""
    pairs: list[tuple[str, str]] = []
    for prediction in predictions:
        start, end = prediction["timestamp"]
        matched = [
            sentence
            for own in annotators
            for (first, last), sentence in zip(own["timestamps"], own["sentences"])
            if _overlap(start, end, first, last) >= tiou
        ]
        for sentence in matched or ["abc123!@#"]:
            pairs.append((prediction["sentence"], sentence))
    return pairs


def _overlap(start: float, end: float, first: float, last: float) -> float:
    common = max(0.0, min(end, last) - max(start, first))
    hull = max(end, last) - min(start, first)
    return common / (min(hull, end - start + last - first) + 1e-8)


if __name__ == "__main__":
    print(mean_meteor([Path(path) for path in sys.argv[1:]]))
