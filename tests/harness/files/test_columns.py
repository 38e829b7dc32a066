"""Column names of tables."""

from __future__ import annotations

from harness.files.columns import id_columns


def test_what_a_caption_describes_comes_before_the_number_of_the_record():
    assert id_columns({"id": 1, "image_id": 7, "caption": "a"}) == ["image_id", "id"]
    assert id_columns({"ID": 1, "doc.image_id": 7}) == ["ID", "doc.image_id"]
    assert id_columns({"image_id": None, "id": 3}) == ["id"]
    assert id_columns({"image": {"bytes": b""}, "index": 2.0}) == ["index"]
