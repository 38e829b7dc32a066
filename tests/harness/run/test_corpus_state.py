"""Metrics that depend on the references of other examples: declared and recomputed with
more examples, or refused.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

import harness
from harness.cli.main import main
from harness.contracts import CaptionSet
from harness.run.score import score_sets
from harness.testing import check_metric

SAMPLE = (
    Path(harness.__file__).parents[1]
    / "tasks"
    / "harness_tasks"
    / "sample"
    / "captions.json"
)
PARTS = '''
"""Metrics over an embedding that is fitted on the references, kept in several ways."""

from collections import Counter
from functools import cached_property

import numpy as np

from harness.contracts import MeanMetric, MetricSpec

HELD_FIXED = "vocabulary held fixed"
NEEDS = frozenset({"references", "embeddings"})


def count_words(references):
    return Counter(
        word for texts in references for text in texts for word in text.split()
    )


class Frequent:
    """Counts of the most frequent words of the references."""

    name = "frequent"

    def signature(self):
        return "frequent"

    def fit(self, references):
        counts = count_words(references)
        words = sorted(counts, key=lambda word: (-counts[word], word))
        self.column = words[:20]

    def encode(self, texts):
        rows = [[text.split().count(word) for word in self.column] for text in texts]
        return np.array(rows, dtype=np.float32)


class Overlap(MeanMetric):
    """Inner product of the mean counts of candidates and references."""

    def __init__(self):
        self.spec = MetricSpec("overlap", True, needs=NEEDS)

    def scores(self, batch, features, state):
        vectors = features.vectors(self.embedding, batch.text_ids)
        candidates = vectors[:, : batch.n].mean(axis=1)
        references = vectors[:, batch.n :].mean(axis=1)
        return (candidates * references).sum(axis=1)


class Eager(Overlap):
    """Holds the embedding in an attribute."""

    def __init__(self):
        super().__init__()
        self.embedding = Frequent()


class Lazy(Overlap):
    """Makes the embedding when it is used."""

    @cached_property
    def embedding(self):
        return Frequent()


class InDictionary(Overlap):
    """Holds the embedding in a dictionary."""

    def __init__(self):
        super().__init__()
        self.held = {"embedding": Frequent()}

    @property
    def embedding(self):
        return self.held["embedding"]


class Reads(Overlap):
    """Reads the references itself, without an embedding."""

    def scores(self, batch, features, state):
        words = features.memo("words", lambda: count_words(features.references))
        scores = []
        for item in batch.sets:
            own = " ".join(item.references).split()
            scores.append(sum(words[word] for word in own))
        return np.array(scores, dtype=float)


class DeclaredLazy(Lazy):
    """Says what is fitted."""

    def __init__(self):
        self.spec = MetricSpec("overlap", True, needs=NEEDS, held_fixed=HELD_FIXED)


class DeclaredInDictionary(InDictionary):
    """Says what is fitted."""

    def __init__(self):
        super().__init__()
        self.spec = MetricSpec("overlap", True, needs=NEEDS, held_fixed=HELD_FIXED)


class DeclaredReads(Reads):
    """Says what is fitted."""

    def __init__(self):
        self.spec = MetricSpec("reads", True, held_fixed="texts held fixed")
'''
UNDECLARED = ("Eager", "Lazy", "InDictionary", "Reads")
DECLARED = ("DeclaredLazy", "DeclaredInDictionary", "DeclaredReads")


@pytest.fixture
def run(project, capsys, monkeypatch):
    """Return a function that runs a metric on examples of the sample, and returns its
    number, or the message of an error.
    """
    (project / "corpus_parts.py").write_text(PARTS)
    monkeypatch.syspath_prepend(project)
    entries = ", ".join(
        f'{name.lower()}: {{import: "corpus_parts:{name}", summary: words}}'
        for name in (*UNDECLARED, *DECLARED)
    )
    (project / "registry.yaml").write_text(
        f"api: 1\nprovider: mine\nmetrics: {{{entries}}}\n"
    )

    def run(name, folder, limit, *options):
        spec = {
            "task": "sample",
            "dataset": {"reader": "coco", "path": str(SAMPLE)},
            "references": 5,
            "significance": "none",
            "models": [{"human": {"held_out": 5}}],
            "metrics": [name.lower()],
            "bootstrap": {"samples": 50},
        }
        Path("spec.yaml").write_text(json.dumps(spec))
        code = main(
            [
                "run",
                "spec.yaml",
                "--limit",
                str(limit),
                "--shard-size",
                "10",
                "--output",
                folder,
                *options,
            ]
        )
        if code:
            return capsys.readouterr().err
        (record,) = json.loads((project / folder / "results.json").read_text())[
            "results"
        ]
        return record["value"]

    return run


def part(name):
    """Return a metric of the file."""
    return getattr(importlib.import_module("corpus_parts"), name)()


@pytest.mark.parametrize("name", DECLARED)
def test_more_examples_give_the_number_of_a_run_of_all(run, name):
    first = run(name, "grown", 20)
    grown = run(name, "grown", 40, "--extend")
    assert grown == run(name, "fresh", 40) != first


@pytest.mark.parametrize("name", UNDECLARED)
def test_state_that_is_not_declared_ends_the_run_in_one_line(run, name):
    message = run(name, "r", 20)
    metric = "overlap"
    source = "the embedding 'frequent', which is fitted on the references of the task"
    if name == "Reads":
        source = "the references of the task"
    assert (
        f"metric '{metric}' declares no corpus state and reads {source}: "
        "set MetricSpec(held_fixed='... held fixed')" in message
    )
    assert "Traceback" not in message


@pytest.mark.parametrize("name", UNDECLARED)
def test_the_conformance_kit_refuses_state_that_is_not_declared(run, name):
    failed = {
        outcome.check: outcome.reason
        for outcome in check_metric(part(name))
        if outcome.failed
    }
    assert "declares no corpus state and reads" in failed["scores"]


@pytest.mark.parametrize("name", DECLARED)
def test_the_conformance_kit_runs_declared_state(run, name):
    statuses = {outcome.check: outcome.status for outcome in check_metric(part(name))}
    assert (
        statuses["scores"] == statuses["shards"] == "pass"
        and statuses["corpus-state"] == "not applicable"
    )


def test_what_is_fitted_for_one_metric_is_known_to_the_next(run):
    """The second metric gets vectors and values from the cache and reads no reference
    itself.
    """
    for names in (("DeclaredLazy", "Lazy"), ("DeclaredReads", "Reads")):
        with pytest.raises(harness.HarnessError, match="declares no corpus state"):
            score_sets(
                map(part, names),
                [
                    CaptionSet("1", ("a dog",), ("the dog", "a dog")),
                    CaptionSet("2", ("a cat",), ("the cat",)),
                ],
            )
