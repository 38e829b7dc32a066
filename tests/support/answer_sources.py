"""Sources of short answers of random words."""

from __future__ import annotations

import numpy as np

from harness.decisions.same.sources import Source

WORDS = ["dog", "cat", "child", "man", "bird", "horse"]


def make_source(
    label, seed, prompts=15, answers=6, end=1.0, verb="runs sits plays sleeps"
):
    """Return a source of answers to prompts p0, p1, ...; ``end``: share of answers with
    a full stop.
    """
    rng = np.random.default_rng(seed)
    return Source(
        label,
        {
            f"p{k}": [
                f"a {rng.choice(WORDS)} "
                f"{rng.choice(verb.split())}{'.' if rng.random() < end else ''}"
                for _ in range(answers)
            ]
            for k in range(prompts)
        },
    )
