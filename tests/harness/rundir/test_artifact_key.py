"""Keys of artifacts: what they depend on, and their names."""

from __future__ import annotations

import hashlib

from harness.rundir.artifact_key import ArtifactKey, content_digest


def test_a_key_depends_on_every_part_and_not_on_the_label():
    key = ArtifactKey.of("m", "data", {"t": 1.0}, [1, 2])
    assert ArtifactKey.of("other", "data", {"t": 1.0}, [1, 2]).digest == key.digest
    for parts in (
        ("data2", {"t": 1.0}, [1, 2]),
        ("data", {"t": 2.0}, [1, 2]),
        ("data", {"t": 1.0}, [2, 1]),
    ):
        assert ArtifactKey.of("m", *parts).digest != key.digest
    assert ArtifactKey.of("A b/C", 1).stem.startswith("a-b-c-")
    assert content_digest({"a": 1, "b": 2}) == content_digest({"b": 2, "a": 1})
    assert ArtifactKey("Ab " * 30, "0" * 64).stem == "ab-" * 13 + "a-" + "0" * 16, (
        "40 characters of the label, 16 of the digest"
    )
    assert content_digest("é") == hashlib.sha256(b'"\\u00e9"').hexdigest(), (
        "stored run directories have these names"
    )
