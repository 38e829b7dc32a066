"""Every number of every metric, distance and embedding on a few captions, as JSON: a
program that tests run in several surroundings.
"""

from __future__ import annotations

import hashlib
import json
import logging
import random
import sys
import warnings

import numpy as np

FORMS = ({"embedding": "bow"}, {}, {"metric": "rouge"}, {"distance": "rouge"})
"""Parameters of a metric; the first that it takes are used."""
NEURAL = ("bertscore",)
"""Metrics that always use a language model."""
PARTS = (
    (
        "a dog",
        "two dogs",
        "the man's cat",
        "A red bus",
        "ein Hündchen",
        "some children",
    ),
    ("runs along", "sits near", "can't see", "looks at", "stands in front of"),
    ("the beach", "a wooden table", "Istanbul's street", "the I-95 .", "a field"),
)


def captions() -> tuple[list[list[str]], list[list[str]]]:
    """Return candidates and references of eight examples."""
    generator = random.Random(5)

    def caption() -> str:
        return " ".join(generator.choice(part) for part in PARTS)

    return tuple(
        [[caption() for _ in range(size)] for _ in range(8)] for size in (2, 3)
    )


def numbers(models: bool) -> dict[str, object]:
    """Return the results of every metric, by name, or the message that refuses it; with
    ``models`` also those of language models.
    """
    from harness import api
    from harness.errors import HarnessError
    from harness.registry import current

    candidates, references = captions()
    out: dict[str, object] = {}
    for entry in current().entries("metrics"):
        message = "needs a language model" if entry.name in NEURAL else ""
        for form in FORMS if not models else FORMS[1:2]:
            if not models and entry.name in NEURAL:
                continue
            try:
                metric = {entry.name: form} if form else entry.name
                results = api.score(candidates, references, metric, p_value="exact")
            except HarnessError as error:
                message = str(error)
                continue
            out[entry.name] = {
                label: {
                    key: repr(value)
                    for key, value in vars(result).items()
                    if key != "seconds"
                }
                for label, result in results.items()
            }
            break
        else:
            out[entry.name] = f"refused: {message}"
    return out


def vectors() -> dict[str, object]:
    """Return hashes of the matrices of every distance and of the vectors of the
    embeddings that need no model.
    """
    from harness.contracts import CaptionSet
    from harness.errors import HarnessError
    from harness.registry import current
    from harness.run.features import FeatureCache

    candidates, references = captions()
    sets = [
        CaptionSet(f"e{i}", tuple(c), tuple(r))
        for i, (c, r) in enumerate(zip(candidates, references))
    ]
    out: dict[str, object] = {}
    for entry in current().entries("distances"):
        try:
            distance = current().create("distances", entry.name, {})
            features = FeatureCache([item.references for item in sets])
            matrices = distance.matrices(features.batch(sets), features)
        except HarnessError as error:
            out[f"distance {entry.name}"] = f"refused: {error}"
            continue
        out[f"distance {entry.name}"] = hashlib.sha256(
            np.ascontiguousarray(matrices).tobytes()
        ).hexdigest()
    return out


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    found = numbers(models="models" in sys.argv)
    print(json.dumps(found | (vectors() if "models" not in sys.argv else {})))
