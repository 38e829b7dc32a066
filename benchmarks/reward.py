"""Speed of rewards on one core, and what attackers get from them.

    python -m benchmarks.reward [speed] [attacks] [bias]

``speed``: captions and groups per CPU second of one thread, in steps of 48 images with
8 sampled captions each, beside pycocoevalcap's scorer in the flow of self-critical
training: token ids are joined to strings, and scored with a table of document
frequencies in memory. All captions of a round are new to the reward; the references
have been met before.

``attacks``: the mean value of each metric of sets for groups of true captions, of one
true caption repeated, of random strings, and of true captions of other images. A metric
that prefers an attacker to true captions says so on its card.

``bias``: the gradient of E[S] of a policy over six captions, summed over all sets of
three, beside the estimates with credits, and with credits less their mean and divided
by their standard deviation, as GRPO scales rewards.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

os.environ["CAPTION_KERNELS_THREADS"] = "1"

import numpy as np

import harness
from benchmarks import captions
from caption_kernels import Tokenizer
from harness.contracts import CaptionSet
from harness.spec.metric_text import parse_metric

IMAGES = 3000
GROUP = 8
STEP = 48
GOALS = {
    "CIDEr-D from ids": 200_000,
    "CIDEr-D from text": 60_000,
    "TRM(CIDEr) credits from ids": 6_000,
}
SETS = [
    "trm:distance=cider",
    "trm:distance=meteor",
    "mmd:estimator=unbiased",
    "energy",
    "frechet",
    "coverage-example:distance=cider",
    "coverage-example:distance=meteor",
    "vendi",
    "self-cider",
]
"""Metrics of sets whose values for attackers are printed."""
ATTACKED = 300
"""Images of the table of attacks."""


def rate_of(step: Callable[[slice], object], images: int, units: int) -> float:
    """Return units per CPU second of a function of the images of a step, over all
    steps; ``units`` per image.
    """
    start = time.process_time()
    for first in range(0, images, STEP):
        step(slice(first, min(first + STEP, images)))
    return units * images / (time.process_time() - start)


def scst_rate(ids: np.ndarray, words: list[str], references: list[list[str]]) -> float:
    """Return captions per CPU second of pycocoevalcap's CIDEr-D scorer with a table of
    document frequencies, from token ids.
    """
    from pycocoevalcap.cider.cider_scorer import CiderScorer, precook

    table: Counter[tuple[str, ...]] = Counter()
    for texts in references:
        table.update({gram for text in texts for gram in precook(text)})

    def step(images: slice) -> object:
        scorer: Any = CiderScorer()
        for group, texts in zip(ids[images, 0], references[images]):
            scorer += (" ".join(words[token] for token in group if token), texts)
        scorer.document_frequency = table
        scorer.ref_len = float(np.log(len(references)))
        return scorer.compute_cider()

    return rate_of(step, len(references), 1)


def token_array(texts: list[list[str]], words: list[str]) -> np.ndarray:
    """Return the token ids (images, GROUP, L) of tokenised texts by the position of a
    word in ``words``; 0 ends a caption.
    """
    number = {word: k for k, word in enumerate(words)}
    longest = max(len(text.split()) for group in texts for text in group)
    ids = np.zeros((len(texts), GROUP, longest + 1), dtype=np.int64)
    for row, group in zip(ids, texts):
        for cell, text in zip(row, group):
            tokens = [number[word] for word in text.split()]
            cell[: len(tokens)] = tokens
    return ids


def reward_rate(
    metric: str,
    references: list[list[str]],
    candidates: Any,
    units: int,
    **options: Any,
) -> float:
    """Return units per CPU second of the groups of a reward,
    whose references have been met before the captions.
    """
    names = [str(image) for image in range(len(references))]
    reward = harness.reward(metric, dict(zip(names, references)), **options)
    for first in range(0, len(references), STEP):
        images = slice(first, first + STEP)
        reward.group(
            names[images], [[texts[0]] * GROUP for texts in references[images]]
        )
    return rate_of(
        lambda images: reward.group(names[images], candidates[images]),
        len(references),
        units,
    )


def list_rate(
    metric: str, references: list[list[str]], groups: list[list[str]]
) -> float:
    """Return captions per CPU second of the metric of lists, with which a training loop
    had to score its captions before.
    """
    scorer = harness.metric(metric)

    def step(images: slice) -> object:
        flat = [[text] for group in groups[images] for text in group]
        return scorer(
            flat,
            [texts for texts in references[images] for _ in range(GROUP)],
            bootstrap=0,
        )

    return rate_of(step, len(references), GROUP)


def report_speed() -> bool:
    """Print rates and ratios; return True when the goals are met."""
    tokenizer = Tokenizer()
    groups = [texts[:GROUP] for texts in captions.sampled_candidates()[:IMAGES]]
    references = captions.references()[: len(groups)]
    tokenised = [tokenizer.tokenize(texts) for texts in references]
    token_texts = [tokenizer.tokenize(texts) for texts in groups]

    words = [
        "<end>",
        *dict.fromkeys(
            word for texts in token_texts for text in texts for word in text.split()
        ),
    ]
    ids = token_array(token_texts, words)
    token: dict[str, Any] = {"decode": words, "end": 0}

    rates = {
        "CIDEr-D from ids": reward_rate(
            "ciderd:tokenizer=none", tokenised, ids, GROUP, **token
        ),
        "CIDEr-D from text": reward_rate("ciderd", references, groups, GROUP),
        "METEOR from text": reward_rate("meteor", references, groups, GROUP),
        "TRM(CIDEr) credits from ids": reward_rate(
            "trm:distance={cider: {tokenizer: none}}", tokenised, ids, 1, **token
        ),
    }

    before = {
        "CIDEr-D from text": list_rate("ciderd", references, groups),
        "METEOR from text": list_rate("meteor", references, groups),
    }
    scst = scst_rate(ids, words, tokenised)
    print(
        f"One thread, per CPU second (load {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} cores)"
    )

    for name, value in rates.items():
        notes = (
            [f"goal {GOALS[name]:,}: {'met' if value >= GOALS[name] else 'MISSED'}"]
            if name in GOALS
            else []
        )
        notes += (
            [f"{value / before[name]:.1f} times harness.metric"]
            if name in before
            else []
        )
        notes += (
            [f"{value / scst:.0f} times the self-critical flow"]
            if name.startswith("CIDEr")
            else []
        )
        print(f"  {name:<45}{value:>12,.0f}   {'; '.join(notes)}")
    print(f"  {'self-critical flow around pycocoevalcap, ids':<45}{scst:>12,.0f}")

    return (
        all(rates[name] >= goal for name, goal in GOALS.items())
        and rates["METEOR from text"] >= 3 * before["METEOR from text"]
    )


def report_attacks() -> bool:
    """Print the values of the groups of true captions and of attackers;
    return True: there are no goals.
    """
    references = captions.references()[: 2 * ATTACKED]
    rng = np.random.default_rng(0)
    words = sorted(
        {
            word
            for texts in references
            for text in texts
            for word in captions.plain_words(text).split()
        }
    )
    # two references; three are the true captions

    kept = [texts[3:] for texts in references[:ATTACKED]]
    groups = {
        "true captions": [texts[:3] for texts in references[:ATTACKED]],
        "one true caption, repeated": [
            [texts[0]] * 3 for texts in references[:ATTACKED]
        ],
        "random strings": [
            [" ".join(rng.choice(words, 10)) for _ in range(3)] for _ in kept
        ],
        "captions of other images": [texts[:3] for texts in references[ATTACKED:]],
    }

    print(
        f"Mean over {ATTACKED} images of groups of 3 captions beside 2 references; "
        "* better than true captions"
    )
    print(f"  {'metric':<36}" + "".join(f"{name:>28}" for name in groups))

    for text in SETS:
        values = []
        for group in groups.values():
            name, parameters = next(iter(parse_metric(text).items()))
            scores = harness.metric(name, **parameters)(group, kept, bootstrap=0)
            values.append(scores.value)

        better = np.greater if scores.higher_is_better else np.less
        cells = [
            f"{value:.3f}{'*' if better(value, values[0]) else ' '}" for value in values
        ]
        print(f"  {text:<36}" + "".join(f"{cell:>28}" for cell in cells))
    return True


def report_bias() -> bool:
    """Print the exact gradient and the expected estimates;
    return True when that by credits is the gradient.
    """
    texts = [
        "a dog runs",
        "the dog in the park",
        "a cat",
        "dogs",
        "a brown dog runs",
        "the park",
    ]
    references = {
        "0": [
            "a dog runs",
            "the dog",
            "a brown dog runs in the park",
            "dog",
            "two dogs run",
        ],
        "1": ["a cat sat", "one cat"],
    }
    logits = np.array([0.3, -0.2, 0.5, 0.0, 1.0, -0.7])
    policy = np.exp(logits) / np.exp(logits).sum()
    chosen = np.array(list(product(range(6), repeat=3)))

    reward = harness.reward("mmd:embedding=bow,estimator=unbiased", references)
    term = reward.terms[0]

    batch = reward.features.batch(
        [
            CaptionSet("0", tuple(texts[c] for c in row), tuple(references["0"]))
            for row in chosen
        ]
    )

    values = -term.metric.per_example(term.metric.stats(batch, reward.features, None))
    credits = term.values(batch, reward.features)
    centred = credits - credits.mean(axis=1, keepdims=True)
    scaled = centred / (credits.std(axis=1, ddof=1, keepdims=True) + 1e-4)
    probabilities = policy[chosen].prod(axis=1)
    scores = np.eye(6)[chosen] - policy
    exact = probabilities @ (values[:, None] * scores.sum(axis=1))

    print(
        "Gradient of E[-MMD] of a policy over six captions, sets of 3, "
        "all 216 sets enumerated"
    )
    print(f"  {'exact':<34}" + "".join(f"{value:>9.4f}" for value in exact))

    for name, weights in (
        ("credits", credits),
        ("credits less the group mean", centred),
        ("the same / standard deviation", scaled),
    ):
        estimate = probabilities @ np.einsum("si,siv->sv", weights, scores)
        error = np.linalg.norm(estimate - exact) / np.linalg.norm(exact)
        cosine = estimate @ exact / np.linalg.norm(estimate) / np.linalg.norm(exact)
        print(
            f"  {name:<34}"
            + "".join(f"{value:>9.4f}" for value in estimate)
            + f"   error {error:.2g}, cosine {cosine:.4f}"
        )

    return bool(
        np.allclose(
            probabilities @ np.einsum("si,siv->sv", credits, scores), exact, atol=1e-10
        )
    )


REPORTS: dict[str, Callable[[], bool]] = {
    "speed": report_speed,
    "attacks": report_attacks,
    "bias": report_bias,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "reports",
        nargs="*",
        choices=[*REPORTS, []],
        metavar="REPORT",
        help="speed, attacks, bias (default: all)",
    )
    met = [REPORTS[name]() for name in parser.parse_args().reports or REPORTS]
    sys.exit(0 if all(met) else 1)
