"""The checks of distances, embeddings, adapters and readers find what they are there to find."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Example, Failure, Generation, TextDistance, TokenScores
from harness.testing import check_adapter, check_distance, check_embedding, check_reader


def failures(outcomes):
    return {o.check for o in outcomes if o.failed}


class Lengths(TextDistance):
    """Difference of lengths, and 1 for texts of one length that differ."""

    name = "lengths"

    def __init__(self, *, fault: str = "") -> None:
        self.fault = fault

    def signature(self):
        return f"lengths|{self.fault}"

    def pairwise(self, texts):
        sizes = np.array([len(text) for text in texts], dtype=float)
        made = np.abs(sizes[:, None] - sizes) + [[float(a != b) for a in texts] for b in texts]
        if self.fault == "diagonal":
            made += 0.5
        if self.fault == "negative":
            made = -made
        if self.fault == "nan":
            made[0, 1] = np.nan
        if self.fault == "twins":
            made += ~np.eye(len(texts), dtype=bool)
        if self.fault == "order":
            made[0] *= 2
        if self.fault == "empty" and "" in texts:
            raise ValueError("empty")
        return made

    def matrices(self, batch, features):
        made = super().matrices(batch, features)
        if self.fault == "float32":
            return made.astype(np.float32)
        return made * len(batch) if self.fault == "batch" else made


@pytest.mark.parametrize(
    ("fault", "check"),
    [("diagonal", "zero-for-equal-texts"), ("twins", "zero-for-equal-texts"), ("negative", "non-negative"), ("nan", "finite"),
     ("order", "text-order"), ("empty", "odd-texts"), ("float32", "matrices"), ("batch", "batch-split")],
)  # fmt: skip
def test_distances(fault, check):
    assert not failures(check_distance(Lengths()))
    assert check in failures(check_distance(Lengths(fault=fault)))


class Letters:
    """Counts of letters."""

    name = "letters"

    def __init__(self, *, fault: str = "") -> None:
        self.fault = fault

    def signature(self):
        return f"letters|{self.fault}"

    def fit(self, references):
        pass

    def encode(self, texts):
        made = np.array([[text.count(letter) for letter in "abcdefgh"] for text in texts], dtype=np.float32)
        if self.fault == "centred":
            made -= made.mean(axis=0)
        if self.fault == "unit":
            with np.errstate(invalid="ignore"):
                made /= np.linalg.norm(made, axis=1, keepdims=True)
        return made.astype(float) if self.fault == "float64" else made


@pytest.mark.parametrize(
    ("fault", "check"), [("centred", "batch-split"), ("unit", "odd-texts"), ("float64", "vectors")]
)
def test_embeddings(fault, check):
    assert not failures(check_embedding(Letters()))
    assert check in failures(check_embedding(Letters(fault=fault)))


class Shuffler:
    """The words of the first reference, shuffled."""

    calls = 0

    def __init__(self, *, fault: str = "", times: int = 1) -> None:
        self.fault, self.times = fault, times

    def fingerprint(self):
        if self.fault == "address":
            return repr(self)
        return f"shuffler|{self.fault}|{self.times if self.fault != 'unsaid' else ''}"

    def generate(self, examples, decoding, seeds):
        shared = np.random.default_rng(0)
        if self.fault == "reversed":
            examples = examples[::-1]
        for k, (example, seed) in enumerate(zip(examples, seeds)):
            if example.media:
                if self.fault == "raises":
                    raise OSError(example.media)
                yield Failure("no such image")
                continue
            rng = shared if self.fault == "shared" else np.random.default_rng(seed)
            if self.fault == "global":
                rng = np.random.default_rng(np.random.randint(1 << 30))
            words = rng.permutation(example.references[0].split()).tolist() * self.times
            made = (" ".join(words),) * (
                1 if self.fault == "one" and decoding.candidates == 2 else decoding.candidates or 2
            )
            if self.fault == "log_probs":
                yield Generation(made, log_probs=(0.5,) * (len(made) + 1))
            elif self.fault == "references":
                yield Generation(made, ("made up",))
            elif not (self.fault == "short" and k == 0):
                yield made if self.fault != "numbers" else (1, 2)

    def score_references(self, examples):
        count = -1 if self.fault == "scores" else None
        for example in examples:
            yield [TokenScores(np.log([0.5, 0.5]), np.array([0, 3])) for _ in example.references[:count]]


@pytest.mark.parametrize(
    ("fault", "check"),
    [("reversed", "example-order"), ("shared", "batch-split"), ("global", "same-seeds-same-captions"), ("global", "random-state"),
     ("one", "candidates"), ("log_probs", "results"), ("references", "results"), ("short", "generates"), ("numbers", "generates"),
     ("raises", "failures-yielded"), ("scores", "score-references"), ("unsaid", "parameters"), ("address", "fingerprint")],
)  # fmt: skip
def test_adapters(fault, check):
    assert not failures(check_adapter(Shuffler()))
    assert check in failures(check_adapter(Shuffler(fault=fault)))


class Reader:
    """Three examples."""

    def __init__(self, *, fault: str = "") -> None:
        self.fault, self.read = fault, 0

    def fingerprint(self):
        return f"reader|{self.fault}"

    def __iter__(self):
        self.read += 1
        for k in range(3):
            name = "same" if self.fault == "ids" else f"e{k}"
            references = () if self.fault == "none" else (f"a dog {self.read if self.fault == 'moves' else ''}",)
            yield Example(name, references)


@pytest.mark.parametrize(("fault", "check"), [("ids", "examples"), ("none", "examples"), ("moves", "again")])
def test_readers(fault, check):
    assert not failures(check_reader(Reader()))
    assert check in failures(check_reader(Reader(fault=fault)))
