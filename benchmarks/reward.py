"""Speed of rewards on one core, and what attackers get from them.

    python -m benchmarks.reward [speed | attacks | bias]

``speed``: captions and groups per CPU second of one thread, in steps of 48 images with 8 sampled captions each, beside pycocoevalcap's
scorer in the flow of self-critical training: token ids are joined to strings, and scored with a table of document frequencies in memory.
All captions of a round are new to the reward; the references have been met before.

``attacks``: the mean value of each metric of sets for groups of true captions, of one true caption repeated, of random strings, and of
true captions of other images. A metric that prefers an attacker to true captions says so on its card.

``bias``: the gradient of E[S] of a policy over six captions, summed over all sets of three, beside the estimates with credits, and with
credits less their mean and divided by their standard deviation, as GRPO scales rewards.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable

os.environ["CAPTION_KERNELS_THREADS"] = "1"

import numpy as np

import harness
from benchmarks import captions
from caption_kernels import Tokenizer

IMAGES, GROUP, STEP = 3000, 8, 48
GOALS = {"CIDEr-D from ids": 200_000, "CIDEr-D from text": 60_000, "TRM(CIDEr) credits from ids": 6_000}


def rate_of(step: Callable[[slice], object], units: int) -> float:
    """Return units per CPU second of a function of the images of a step, over all steps; ``units`` per image."""
    start = time.process_time()
    for first in range(0, IMAGES, STEP):
        step(slice(first, first + STEP))
    return units * IMAGES / (time.process_time() - start)


def scst_rate(ids: np.ndarray, words: list[str], references: list[list[str]]) -> float:
    """Return captions per CPU second of pycocoevalcap's CIDEr-D scorer with a table of document frequencies, from token ids."""
    from pycocoevalcap.cider.cider_scorer import CiderScorer, precook

    table: Counter[tuple[str, ...]] = Counter()
    for texts in references:
        table.update({gram for text in texts for gram in precook(text)})

    def step(images: slice) -> object:
        scorer = CiderScorer()
        for group, texts in zip(ids[images, 0], references[images]):
            scorer += (" ".join(words[token] for token in group if token), texts)
        scorer.document_frequency, scorer.ref_len = table, float(np.log(len(references)))
        return scorer.compute_cider()

    return rate_of(step, 1)


def report_speed() -> bool:
    """Print rates and ratios; return True when the goals are met."""
    tokenizer = Tokenizer()
    references = captions.references()[:IMAGES]
    tokenised = [tokenizer.tokenize(texts) for texts in references]
    groups = [texts[:GROUP] for texts in captions.sampled_candidates()[:IMAGES]]
    token_texts = [tokenizer.tokenize(texts) for texts in groups]
    words = ["<end>", *dict.fromkeys(word for texts in token_texts for text in texts for word in text.split())]
    number = {word: k for k, word in enumerate(words)}
    longest = max(len(text.split()) for texts in token_texts for text in texts)
    ids = np.zeros((IMAGES, GROUP, longest + 1), dtype=np.int64)
    for row, texts in zip(ids, token_texts):
        for cell, text in zip(row, texts):
            tokens = [number[word] for word in text.split()]
            cell[: len(tokens)] = tokens
    names = [str(k) for k in range(IMAGES)]
    by_text = {name: texts for name, texts in zip(names, references)}
    by_word = {name: texts for name, texts in zip(names, tokenised)}

    def rate(metric: str, given: dict[str, list[str]], candidates: list[list[str]] | np.ndarray, units: int, **options: object) -> float:
        reward = harness.reward(metric, given, **options)
        score = reward.group

        def step(images: slice) -> object:
            return score(names[images], candidates[images])

        for first in range(0, IMAGES, STEP):  # references are met before the captions of the round
            images = slice(first, first + STEP)
            score(names[images], [[texts[0]] * (GROUP if reward.is_of_sets else 1) for texts in given_slice(given, names[images])])
        return rate_of(step, units)

    def given_slice(given: dict[str, list[str]], chosen: list[str]) -> list[list[str]]:
        return [given[name] for name in chosen]

    token = {"vocabulary": words, "end": 0}
    rates = {
        "CIDEr-D from ids": rate("ciderd:tokenizer=none", by_word, ids, GROUP, **token),
        "CIDEr-D from text": rate("ciderd", by_text, groups, GROUP),
        "METEOR from text": rate("meteor", by_text, groups, GROUP),
        "TRM(CIDEr) credits from ids": rate("trm:distance={cider: {tokenizer: none}}", by_word, ids, 1, **token),
    }
    scst = scst_rate(ids, words, tokenised)
    print(f"One thread, per CPU second (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)")
    for name, value in rates.items():
        goal = GOALS.get(name)
        note = "" if goal is None else f"goal {goal:,}: {'met' if value >= goal else 'MISSED'}"
        print(f"  {name:<45}{value:>12,.0f}   {note}")
    print(
        f"  {'self-critical flow around pycocoevalcap, ids':<45}{scst:>12,.0f}   CIDEr-D from ids is {rates['CIDEr-D from ids'] / scst:.0f} times this"
    )
    return all(rates[name] >= goal for name, goal in GOALS.items())


if __name__ == "__main__":
    sys.exit(0 if report_speed() else 1)
