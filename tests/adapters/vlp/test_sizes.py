"""Sizes of VLP."""

from __future__ import annotations

from harness_models.vlp.sizes import SPECIAL_IDS, BertSizes, VlpSizes

BERT = BertSizes(
    vocabulary=9, width=4, layers=1, heads=2, inner=4, positions=5, segments=6
)


def test_special_ids_replace_single_defaults():
    assert VlpSizes(bert=BERT).special_ids == SPECIAL_IDS
    sizes = VlpSizes(bert=BERT, special_ids={"[MASK]": 4})
    assert sizes.special_ids == {**SPECIAL_IDS, "[MASK]": 4}
