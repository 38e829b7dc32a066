"""Choices of a reply and their log-probabilities."""

from __future__ import annotations

import pytest

from harness.llm.session import RequestFailed
from harness_models.openai.replies import generation, read_choices, token_log_probs

pytest.importorskip("httpx2")


def choice(content="a dog", **values):
    return {"message": {"content": content}, **values}


def test_texts_and_their_log_probs():
    tokens = {"content": [{"logprob": -0.5}, {"logprob": -1}]}
    item = generation(
        [
            choice(" a dog\n", logprobs=tokens),
            choice(logprobs=tokens, finish_reason="length"),
        ]
    )
    assert (
        item.candidates == ("a dog", "a dog")
        and item.log_probs == (-1.5, -1.5)
        and item.lengths == (2, 2)
    )
    assert item.stop_reasons == ("stop", "length")
    assert generation([choice(logprobs=tokens), choice()]).log_probs is None


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        "text",
        [1],
        {"content": None},
        {"content": [{}]},
        {"content": [{"logprob": "x"}]},
    ],
)
def test_log_probs_that_are_not_there(logprobs):
    assert token_log_probs(choice(logprobs=logprobs)) is None


@pytest.mark.parametrize(
    "reply",
    [
        [],
        {},
        {"choices": []},
        {"choices": [3]},
        {"choices": [{"message": None}]},
        {"choices": [choice(None)]},
    ],
)
def test_replies_that_another_attempt_may_mend(reply):
    with pytest.raises(ValueError, match="no choices|without text"):
        read_choices(reply)


def test_final_replies_without_text():
    refused = {"choices": [{"message": {"content": None, "refusal": "I cannot"}}]}
    with pytest.raises(
        RequestFailed, match=r"the model refuses to answer \(I cannot\)"
    ):
        read_choices(refused)
    with pytest.raises(
        RequestFailed, match=r"the model refuses to answer \(content_filter\)"
    ):
        read_choices({"choices": [choice(None, finish_reason="content_filter")]})
    with pytest.raises(
        RequestFailed,
        match=r"no text within the maximum number of tokens; raise decoding.max_length",
    ):
        read_choices({"choices": [choice(None, finish_reason="length")]})
