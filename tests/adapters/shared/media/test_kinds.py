"""Kinds of media files."""

import pytest

from harness.adapters.shared.media.kinds import kind_of_name


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.mp4", "video"), ("a.WEBM", "video"), ("a.ts", "video"), ("b.wav", "audio"), ("b.opus", "audio"), ("c.JPEG", "image"),
     ("c.webp", "image"), ("d", None), ("d.npz", None)],
)  # fmt: skip
def test_kinds_are_those_of_the_suffix(name, kind):
    assert kind_of_name(name) == kind
