"""Captions of scenes by the two grammars."""

from __future__ import annotations

import gzip
import hashlib
import json

import pytest

from harness_tasks.a3ds import grammar, scene


@pytest.fixture(scope="module")
def sandbox(golden):
    with gzip.open(golden / "a3ds/sandbox.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def digest(captions):
    """Return the first 16 hexadecimal digits of the SHA-256 of the captions,
    one a line.
    """
    return hashlib.sha256("\n".join(captions).encode()).hexdigest()[:16]


def test_captions_of_the_sandbox_are_equal_in_order(sandbox):
    ids = [row["id"] for row in sandbox]
    for row, long, short in zip(
        sandbox, grammar.caption_sets(ids), grammar.caption_sets(ids, "short")
    ):
        assert long == grammar.captions(row["id"]) and digest(long) == row["long"]
        assert (
            short == grammar.captions(row["id"], kind="short")
            and digest(short) == row["short"]
        )


def test_golden_captions_in_generation_order(golden):
    for row in json.loads(
        (golden / "a3ds_pragmatic/captions_by_image.json").read_text()
    ):
        assert list(scene.factors(row["image_id"]).values()) == row["indices"]
        assert grammar.captions(row["image_id"]) == row["exhaustive"]
        assert grammar.captions(row["image_id"], "short") == row["short"]
