"""Hash seed, locale, time zone, threads and processor never change a digit: every
number is computed in processes of other surroundings.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tools.other_processors import surroundings

pytestmark = pytest.mark.slow
PROGRAM = Path(__file__).with_name("every_number.py")
WITHOUT = {
    "choice": "options",
    "poll": "likelihoods",
    "pregen": "likelihoods",
    "perplexity": "likelihoods",
    "clair": "a judge",
    "fleur": "a judge",
    "ref-fleur": "a judge",
    "rubric": "a judge",
    "win-rate": "a judge",
    "clip-recall": "weights of CLIP",
    "clipscore": "images",
    "refclipscore": "images",
    "pac-score": "images",
    "ref-pac-score": "images",
    "pac-score-plus": "images",
    "ref-pac-score-plus": "images",
    "vqascore": "images",
    "contrastive-efficiency": "scenes",
    "discriminativity": "scenes",
    "false-features": "scenes",
    "listener-accuracy": "a listener",
    "mentioned-features": "scenes",
    "optimal-discriminativity": "scenes",
    "redundant-mention": "scenes",
    "relevance": "scenes",
    "sari": "source texts",
    "scores": "a file",
    "spice": "Java",
    "spider": "Java",
    "spider-max": "Java",
    "spider-fl": "Java",
    "text-space": "an oracle",
    "text-space-qdisc": "an oracle",
    "wmd": "word vectors",
    "bertscore": "a language model",
    "command": "a program",
    "distance command": "a program",
    "dense": "events",
    "trm-events": "events",
    "mmd-events": "events",
}
"""Metrics that need more than captions."""
OF_PROCESSORS = {
    "corpus-frechet": "LAPACK",
    "corpus-vendi": "LAPACK",
    "distance bert": "a language model",
}
"""Names whose last digits are those of a processor, with what computes them."""
PLAIN = {
    "PYTHONHASHSEED": "0",
    "LC_ALL": "C",
    "TZ": "UTC",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
OTHERS = {
    "hash seed": {"PYTHONHASHSEED": "4242"},
    "locale": {"LC_ALL": "C.UTF-8", "LANGUAGE": "tr", "PYTHONUTF8": "0"},
    "time zone": {"TZ": "Pacific/Kiritimati"},
    "threads": {
        "OMP_NUM_THREADS": "3",
        "OPENBLAS_NUM_THREADS": "3",
        "CAPTION_KERNELS_THREADS": "3",
    },
}


@cache
def numbers(models: bool = False, **surroundings: str) -> dict[str, object]:
    """Return the numbers of all metrics and distances,
    computed by a process in other surroundings.
    """
    command = [sys.executable, str(PROGRAM), *(["models"] if models else [])]
    done = subprocess.run(
        command,
        env={**os.environ, **PLAIN, **surroundings},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def changed(models: bool, surroundings: dict[str, str]) -> list[str]:
    """Return the names whose numbers differ from those of plain surroundings."""
    base = numbers(models)
    other = numbers(models, **surroundings)
    return [name for name in {*base, *other} if base.get(name) != other.get(name)]


def test_every_metric_but_the_listed_ones_has_numbers():
    refused = {
        name
        for name, value in numbers().items()
        if isinstance(value, str) and value.startswith("refused")
    }
    assert refused - WITHOUT.keys() == set()
    # where Java or word vectors are installed
    assert WITHOUT.keys() - refused <= {
        "spice",
        "spider",
        "spider-max",
        "spider-fl",
        "wmd",
    }
    assert len(numbers()) - len(refused) > 50


@pytest.mark.equal_bits
def test_other_surroundings_change_no_digit():
    """All of them at once; the next tests say which one it is."""
    together = {
        name: value
        for surroundings in OTHERS.values()
        for name, value in surroundings.items()
    }
    assert changed(False, together) == []


@pytest.mark.parametrize("name", OTHERS)
def test_each_surrounding_changes_no_digit(name):
    assert changed(False, OTHERS[name]) == []


@pytest.mark.parametrize("processor", surroundings())
def test_other_processors_change_no_digit(processor):
    assert set(changed(False, surroundings()[processor])) <= OF_PROCESSORS.keys()


def test_other_surroundings_change_no_digit_of_metrics_with_models():
    """With the same number of threads: float32 matrix products of a network depend on
    it.
    """
    threads = OTHERS["threads"]
    together = {
        name: value
        for each in OTHERS.values()
        if each is not threads
        for name, value in each.items()
    }
    assert changed(True, together) == []
