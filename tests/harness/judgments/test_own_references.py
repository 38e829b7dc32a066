"""Recognition of a caption among its references."""

import pytest

from harness.errors import InputError
from harness.judgments.own_references import equal_references, marked_reference

REFERENCES = ["A dog , runs .", "dog", "a cat"]


def test_the_marked_reference():
    assert marked_reference("a dog, runs.", REFERENCES, "f:1") == 0
    assert marked_reference("dog", REFERENCES, "f:1") == 1
    with pytest.raises(InputError, match=r"f:1: the caption 'zebra' is marked as a reference"):
        marked_reference("zebra", REFERENCES, "f:1")


def test_equal_references():
    assert equal_references("dog", [*REFERENCES, "dog"]) == (1, 3)
    assert equal_references("Dog", REFERENCES) == ()
