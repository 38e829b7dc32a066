"""A plain second implementation of the protocols of ``dense`` on videos, written from
their rules: loops over events, one text metric call for each pair.
"""

from __future__ import annotations

import itertools
import math
import random
from typing import NamedTuple

import numpy as np

from caption_kernels.batches.meteor import corpus_score
from harness.contracts import Event, EventSet
from harness_metrics.meteor.engine import statistics
from harness_metrics.tokenisers.tokens import tokenize
from tests.support.cider_formula import document_frequencies, pair_score

WORDS = [
    "a",
    "man",
    "the",
    "dog",
    "runs",
    "walks",
    "plays",
    "red",
    "ball",
    "street",
    "Café",
    "car",
    "with",
    "slowly",
]
TIOUS = (0.3, 0.5, 0.7, 0.9)
GARBAGE = {"activitynet-2019": "qzxvkjwqbzxj", "vidchapters": "qzxvkjwqbzxj"}


class Video(NamedTuple):
    """Predictions, None where they are missing, and references by annotator."""

    system: list[Event] | None
    annotators: list[list[Event]]


def random_video(rng: random.Random) -> Video:
    """Return a video on a coarse grid of times, so that overlaps hit the thresholds."""

    def events(least: int, most: int) -> list[Event]:
        out = []
        for _ in range(rng.randint(least, most)):
            start = rng.randint(0, 10) * 5
            text = " ".join(rng.choices(WORDS, k=rng.choice([0, 1, 3, 5, 7])))
            length = rng.choice([0, 5, 5, 10, 15, 50])
            out.append(Event(text, (float(start), float(start + length))))
        return out

    system = None if rng.random() < 0.1 else events(0, 5)
    return Video(system, [events(1, 4) for _ in range(rng.randint(1, 3))])


def texts_of(videos: list[Video]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return candidates and references of videos by id, as the engine has them."""
    candidates = {}
    references = {}
    for number, video in enumerate(videos):
        missing = video.system is None
        system = EventSet(tuple(video.system or ()), missing=missing)
        candidates[str(number)] = [system.to_text()]
        references[str(number)] = [
            EventSet(tuple(events)).to_text() for events in video.annotators
        ]
    return candidates, references


def tiou(first: Event, second: Event, epsilon: float = 1e-8) -> float:
    """Return the overlap of two times."""
    (start, end), (other_start, other_end) = first.place, second.place
    common = max(0.0, min(end, other_end) - max(start, other_start))
    union = min(
        max(end, other_end) - min(start, other_start),
        end - start + other_end - other_start,
    )
    return common / (union + epsilon) if union + epsilon else 0.0


def pairs_of(video: Video, threshold: float, protocol: str) -> list[tuple[str, str]]:
    """Return the pairs of texts of a video at a threshold."""
    garbage = GARBAGE.get(protocol, "abc123!@#")
    pairs: list[tuple[str, str]] = []
    for prediction in (video.system or [])[:1000]:
        is_matched = False
        for events in video.annotators:
            for event in events:
                if tiou(prediction, event) >= threshold:
                    pairs.append((prediction.text, event.text))
                    is_matched = True
            if protocol == "activitynet-2017" and not is_matched:
                pairs.append((prediction.text, garbage))
        if protocol != "activitynet-2017" and not is_matched:
            pairs.append((prediction.text, garbage))
    return pairs


def text_score(pairs: list[tuple[str, str]], metric: str) -> float:
    """Return METEOR, CIDEr, ROUGE-L or BLEU-4 of the pairs of a video."""
    ascii_pairs = [
        ["".join(c if c.isascii() else " " for c in text) for text in pair]
        for pair in pairs
    ]
    hyps = tokenize([pair[0] for pair in ascii_pairs])
    refs = tokenize([pair[1] for pair in ascii_pairs])
    if metric == "meteor":
        return corpus_score(statistics([(h, [r]) for h, r in zip(hyps, refs)]))
    words = [(h.split(" "), r.split(" ")) for h, r in zip(hyps, refs)]
    if metric == "rouge":
        return float(np.mean([_rouge(h, r) for h, r in words]))
    words = [(h.split(), r.split()) for h, r in zip(hyps, refs)]
    if metric == "cider":
        df = document_frequencies([[r] for _, r in words])
        scores = [pair_score(h, r, df, len(words)) for h, r in words]
        return float(np.mean(scores)) if len(words) > 1 else 0.0
    return _bleu(words)


def _rouge(hyp: list[str], ref: list[str]) -> float:
    lengths = np.zeros((len(hyp) + 1, len(ref) + 1), dtype=int)
    for i, j in itertools.product(range(len(hyp)), range(len(ref))):
        same = lengths[i, j] + 1 if hyp[i] == ref[j] else 0
        lengths[i + 1, j + 1] = max(lengths[i, j + 1], lengths[i + 1, j], same)
    precision, recall = lengths[-1, -1] / len(hyp), lengths[-1, -1] / len(ref)
    if not precision:
        return 0.0
    return (1 + 1.2**2) * precision * recall / (recall + 1.2**2 * precision)


def _bleu(words: list[tuple[list[str], list[str]]]) -> float:
    """Return BLEU-4 of a corpus with the constants of the COCO toolkit."""
    product = 1.0
    for order in range(1, 5):
        matches = guesses = 0
        for hyp, ref in words:
            grams = [tuple(hyp[k : k + order]) for k in range(len(hyp) - order + 1)]
            others = [tuple(ref[k : k + order]) for k in range(len(ref) - order + 1)]
            matches += sum(min(grams.count(g), others.count(g)) for g in set(grams))
            guesses += len(grams)
        product *= (matches + 1e-15) / (guesses + 1e-9)
    bleu = product**0.25
    ratio = (sum(len(h) for h, _ in words) + 1e-15) / (
        sum(len(r) for _, r in words) + 1e-9
    )
    return bleu * math.exp(1 - 1 / ratio) if ratio < 1 else bleu


def caption_score(videos: list[Video], protocol: str, metric: str) -> float:
    """Return the number of a protocol of thresholds."""
    scores = []
    for video in videos:
        if protocol == "vidchapters" and video.system is None:
            continue
        of_thresholds = [
            text_score(pairs, metric) if (pairs := pairs_of(video, t, protocol)) else 0
            for t in TIOUS
        ]
        scores.append(np.mean(of_thresholds))
    return float(np.mean(scores))


def localisation(videos: list[Video], measure: str) -> float:
    """Return mean precision or recall, the largest over annotators."""
    scores = []
    for video in videos:
        system = video.system or []
        for threshold in TIOUS:
            shares = [0.0]
            for events in video.annotators:
                asked, others = (system, events)
                if measure == "recall":
                    asked, others = (events, system)
                hits = [any(tiou(a, b) > threshold for b in others) for a in asked]
                shares.append(float(np.mean(hits)) if system else 0.0)
            scores.append(max(shares))
    return float(np.mean(scores))


def pair_meteor(prediction: Event, reference: Event) -> float:
    """Return METEOR of one pair of texts."""
    hyp, ref = tokenize([prediction.text, reference.text])
    return corpus_score(statistics([(hyp, [ref])]))


def soda_c(videos: list[Video], annotators: str) -> float:
    """Return SODA_c by a recursion without numpy."""
    scores = []
    for video in videos:
        if not video.system:
            continue
        sides = video.annotators
        if annotators == "merged":
            sides = [[event for events in sides for event in events]]
        values = []
        for events in sides:
            system = sorted(video.system, key=lambda event: event.place[0])
            ordered = sorted(events, key=lambda event: event.place[0])
            values.append(_f1(_aligned(system, ordered), len(system), len(ordered)))
        scores.append(max(values) if annotators != "mean" else np.mean(values))
    return float(np.mean(scores))


def _aligned(system: list[Event], events: list[Event]) -> float:
    """Return the largest sum over order-preserving one-to-one alignments."""
    table = [[0.0] * (len(events) + 1) for _ in range(len(system) + 1)]
    for i, prediction in enumerate(system):
        for j, event in enumerate(events):
            cell = tiou(prediction, event, 0.0) * pair_meteor(prediction, event)
            table[i + 1][j + 1] = max(
                table[i][j + 1], table[i + 1][j], table[i][j] + cell
            )
    return table[-1][-1]


def matched(videos: list[Video]) -> float:
    """Return the recommended number by trying all matchings."""
    scores = []
    for video in videos:
        values = []
        for events in video.annotators:
            system = video.system or []
            short, long = sorted((system, events), key=len)
            best = 0.0
            for chosen in itertools.permutations(long, len(short)):
                total = 0.0
                for one, other in zip(short, chosen):
                    pair = (one, other) if short is system else (other, one)
                    overlap = tiou(one, other, 0.0)
                    total += overlap * pair_meteor(*pair) if overlap else 0.0
                best = max(best, total)
            values.append(_f1(best, len(system), len(events)))
        scores.append(np.mean(values))
    return float(np.mean(scores))


def _f1(total: float, predictions: int, references: int) -> float:
    if not predictions or not total:
        return 0.0
    precision, recall = total / predictions, total / references
    return 2 * precision * recall / (precision + recall)
