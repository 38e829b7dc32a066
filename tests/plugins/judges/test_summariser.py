"""Summaries: one request per set, no repetitions, plain captions."""

from __future__ import annotations

import pytest

from harness_metrics.judges.judge import Judge
from harness_metrics.judges.replies import Reply
from harness_metrics.judges.summariser import Summariser, plain


def test_one_request_per_distinct_set(scripted):
    model = scripted(lambda talk: "A dog runs." if "dog" in talk[0]["content"] else "")
    verdicts = Summariser(model).summaries(
        [["a dog", "dogs"], ["cat"], ["dogs", "a dog"]]
    )
    assert [(v.value, v.status) for v in verdicts] == [
        ("A dog runs.", "valid"),
        (None, "empty"),
        ("A dog runs.", "valid"),
    ]
    assert len(model.talks) == 2


def test_the_cache_is_that_of_the_judge(scripted, cache):
    Summariser(Judge(scripted(lambda talk: Reply("a")), cache=False)).summaries([["x"]])
    assert not cache.exists()


@pytest.mark.parametrize(
    ("text", "caption"),
    [
        ('"A dog."', "A dog."),
        ("“Ein Hund”", "Ein Hund"),
        ("A\n dog", "A dog"),
        ('"', '"'),
        ("The dog's", "The dog's"),
    ],
)
def test_captions_are_plain(text: str, caption: str):
    assert plain(text) == caption
