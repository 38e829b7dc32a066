"""Captions of a trainer as texts."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import InputError
from harness.run.reward_texts import CaptionTexts


def test_token_ids_end_at_the_token_that_ends_a_caption() -> None:
    texts = CaptionTexts(vocabulary={1: "a", 2: "dog"}, end=0)
    assert texts.read(np.array([[1, 2, 0, 2], [2, 2, 2, 2]]), "captions") == (["a dog", "dog dog dog dog"], [True, False])
    assert CaptionTexts().read([[1, 20]], "captions") == (["1 20"], [True])
    assert CaptionTexts(end=0).read(["a dog"], "captions") == (["a dog"], [True])


@pytest.mark.parametrize("captions", [[[1, 9]], [[1], "a"], [7], [[0.5]], [None]])
def test_what_is_no_caption_is_named(captions: list[object]) -> None:
    with pytest.raises(InputError, match=f"captions: item {len(captions) - 1}"):
        CaptionTexts(vocabulary=["x", "y"]).read(captions, "captions")
