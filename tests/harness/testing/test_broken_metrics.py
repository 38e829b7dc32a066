"""Every check of a metric finds what it is there to find."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from harness.contracts import MeanMetric, MetricSpec
from harness.stats import permutation
from harness.testing import check_metric
from harness.testing.targets import checks_of


class Overlap(MeanMetric):
    """Share of the candidates' words that some reference holds; exact p-values by enumeration."""

    def __init__(self, *, power: float = 1.0) -> None:
        self.power = power
        self.spec = MetricSpec("overlap", higher_is_better=True, bounds=(0.0, 1.0))

    def signature(self):
        return f"overlap|power:{self.power:g}"

    def scores(self, batch, features, state):
        return np.array([self.one(texts[: batch.n], texts[batch.n :]) for texts in batch.texts])

    def one(self, candidates, references):
        known = {word for text in references for word in text.split()}
        shares = [sum(w in known for w in text.split()) / max(1, len(text.split())) for text in sorted(candidates)]
        return float(np.mean(shares)) ** self.power

    def null(self, batch, features, state, labels):
        return np.array([
            [self.one([t for t, c in zip(texts, row) if c], [t for t, c in zip(texts, row) if not c]) for row in labels]
            for texts in batch.texts
        ])  # fmt: skip

    def exact_p_values(self, batch, features, state):
        null = self.null(batch, features, state, permutation.relabelings(batch.n, batch.m))
        return (null <= null[:, :1] + permutation.TOLERANCE).mean(axis=1)


def spec_with(**changes):
    return MetricSpec(**{"name": "overlap", "higher_is_better": True, "bounds": (0.0, 1.0), **changes})


class Wrong(Overlap):
    """Base of the broken ones: ``changes`` of the spec."""

    changes = {}  # noqa: RUF012

    def __init__(self, *, power: float = 1.0) -> None:
        super().__init__(power=power)
        self.spec = spec_with(**self.changes)


def broken(expected, **changes):
    """Mark a class with the check that must fail."""

    def decorate(made):
        made.expected, made.changes = expected, changes
        made.__qualname__ = made.__name__
        CASES.append(made)
        return made

    return decorate


CASES: list = []


@broken("spec", needs=frozenset({"refs"}))
class UnknownNeed(Wrong):
    """Needs something nobody knows."""


@broken("described")
class Bare(Wrong):
    __doc__ = ""


@broken("signature")
class Address(Wrong):
    """Puts its address into the signature."""

    def signature(self):
        return f"overlap|{object()!r}"


@broken("scores")
class Raises(Wrong):
    """Raises."""

    def scores(self, batch, features, state):
        raise ZeroDivisionError("by zero")


@broken("shapes")
class Float32(Wrong):
    """Gives float32."""

    def stats(self, batch, features, state):
        return super().stats(batch, features, state).astype(np.float32)


@broken("finite")
class Infinite(Wrong):
    """Gives an infinite score."""

    def per_example(self, stats):
        return np.full(len(stats), np.inf)


@broken("bounds", bounds=(0.0, 0.4))
class TooNarrow(Wrong):
    """Declares bounds that it does not keep."""


@broken("direction", higher_is_better=False)
class WrongWay(Wrong):
    """Declares the wrong direction."""


@broken("needs", needs=frozenset())
class Secret(Wrong):
    """Looks at references in secret."""


@broken("needs")
class Blind(Wrong):
    """Does not look at references."""

    def one(self, candidates, references):
        return 1 / (1 + len("".join(candidates)))


@broken("needs")
class Peeks(Wrong):
    """Looks at the name of the image."""

    def scores(self, batch, features, state):
        return super().scores(batch, features, state) * np.array([item.media is None for item in batch.sets])


@broken("example-order")
class ByPosition(Wrong):
    """Scores depend on the position in the batch."""

    def scores(self, batch, features, state):
        return super().scores(batch, features, state) / (1 + np.arange(len(batch)))


@broken("candidate-order")
class FirstCandidate(Wrong):
    """Looks at the first candidate alone."""

    def scores(self, batch, features, state):
        return np.array([self.one(texts[:1], texts[batch.n :]) for texts in batch.texts])


@broken("reference-order")
class FirstReference(Wrong):
    """Looks at the first reference alone."""

    def scores(self, batch, features, state):
        return np.array([self.one(texts[: batch.n], texts[batch.n : batch.n + 1]) for texts in batch.texts])


@broken("shards")
class Centred(Wrong):
    """Scores relative to those of the batch."""

    def scores(self, batch, features, state):
        made = super().scores(batch, features, state)
        return made - made.max() + 1


@broken("weights")
class Unweighted(Wrong):
    """Passes weights over."""

    def reduce(self, stats, weights=None):
        value = float(stats[:, 0].mean())
        return value if weights is None else np.full(len(weights), value)


@broken("odd-texts")
class NoEmpty(Wrong):
    """Divides by the number of words."""

    def one(self, candidates, references):
        return super().one(candidates, references) / (1 if all(text.split() for text in candidates) else 0)


@broken("odd-references")
class Ascii(Wrong):
    """Takes ASCII alone in references."""

    def one(self, candidates, references):
        return super().one(candidates, [text.encode("ascii").decode() for text in references])


@broken("one-reference")
class TwoReferences(Wrong):
    """Needs two references and does not say so."""

    def one(self, candidates, references):
        return super().one(candidates, [references[0], references[1]])


@broken("ragged")
class Width(Wrong):
    """Cannot do one candidate."""

    def one(self, candidates, references):
        return np.nan if len(candidates) + len(references) == 2 else super().one(candidates, references)

    def stats(self, batch, features, state):
        made = super().stats(batch, features, state)
        return np.concatenate([np.zeros_like(made), made], axis=1)

    def per_example(self, stats):
        return stats[:, 1]

    def reduce(self, stats, weights=None):
        return super().reduce(stats[:, 1:], weights)


@broken("inputs-unchanged")
class Scribbles(Wrong):
    """Sorts the statistics in place."""

    def reduce(self, stats, weights=None):
        stats[:, 0] = np.sort(stats[:, 0])
        return super().reduce(stats, weights)


@broken("deterministic")
class Noisy(Wrong):
    """Adds noise from the global state."""

    def scores(self, batch, features, state):
        return super().scores(batch, features, state) * (0.5 + random.random() / 2)


@broken("random-state")
class Draws(Wrong):
    """Draws and passes over what it drew."""

    def scores(self, batch, features, state):
        random.random()
        return super().scores(batch, features, state)


@broken("pickles")
class Lambda(Wrong):
    """Holds a function without a name."""

    def __init__(self, *, power: float = 1.0) -> None:
        super().__init__(power=power)
        self.hold = lambda: None


@broken("parameters")
class Unsaid(Wrong):
    """Does not say its power."""

    def signature(self):
        return "overlap"


@broken("signature-in-use")
class Counts(Wrong):
    """Counts its batches in the signature."""

    count = 0

    def signature(self):
        return f"overlap|{self.count}|power:{self.power}"

    def scores(self, batch, features, state):
        self.count += 1
        return super().scores(batch, features, state)


@broken("json-safe")
class Details(Wrong):
    """Details that are no data."""

    def details(self, stats):
        return {"what": object()}


@broken("prints-nothing")
class Prints(Wrong):
    """Prints."""

    def scores(self, batch, features, state):
        print("scoring")
        return super().scores(batch, features, state)


@broken("writes-nothing")
class Writes(Wrong):
    """Writes a file."""

    def scores(self, batch, features, state):
        Path("scores.txt").write_text("here")
        return super().scores(batch, features, state)


@broken("no-network")
class Calls(Wrong):
    """Connects to a port that nobody listens on."""

    def scores(self, batch, features, state):
        import socket

        with socket.socket() as connection:
            connection.connect_ex(("127.0.0.1", 9))
        return super().scores(batch, features, state)


@broken("null-shape")
class Transposed(Wrong):
    """Gives the null the other way."""

    def null(self, batch, features, state, labels):
        return super().null(batch, features, state, labels).T


@broken("null-identity")
class Shifted(Wrong):
    """Another scale in the null."""

    def null(self, batch, features, state, labels):
        return super().null(batch, features, state, labels) + 0.1


@broken("null-relabels")
class Stuck(Wrong):
    """The observed score for every relabeling."""

    def null(self, batch, features, state, labels):
        observed = super().null(batch, features, state, permutation.relabelings(batch.n, batch.m)[:1])
        return np.repeat(observed, len(labels), axis=1)


@broken("exact-p-values")
class WrongTail(Wrong):
    """Counts the other tail."""

    def exact_p_values(self, batch, features, state):
        null = self.null(batch, features, state, permutation.relabelings(batch.n, batch.m))
        return (null >= null[:, :1] - permutation.TOLERANCE).mean(axis=1)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def failures(metric):
    return {o.check: o.reason for o in check_metric(metric) if o.failed}


def test_a_sound_metric_passes_everything():
    outcomes = check_metric(Overlap())
    assert not {o.check: o.reason for o in outcomes if o.failed}
    assert {o.check for o in outcomes if o.status == "not applicable"} == {
        "catalogue",
        "columns",
        "token-scores-unchanged",
    }


@pytest.mark.parametrize("broken_metric", CASES, ids=lambda made: made.__name__)
def test_what_is_broken_is_found(broken_metric):
    assert broken_metric.expected in failures(broken_metric())


def test_every_check_has_a_broken_metric():
    tested = {case.expected for case in CASES} | {"catalogue", "columns", "token-scores-unchanged"}
    assert tested == set(checks_of("metrics").names)


def test_expected_failures():
    outcomes = check_metric(Unweighted(), expected_failures={"weights": "known", "bounds": "outdated"})
    found = {o.check: o for o in outcomes}
    assert found["weights"].status == "expected failure"
    assert found["weights"].reason.startswith("known (weight 2 gives")
    assert found["bounds"].failed
    assert "did not: outdated" in found["bounds"].reason
