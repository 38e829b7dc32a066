"""The adapter ``cleaned``."""

from __future__ import annotations

import pytest

from harness.contracts import Decoding, Example, Failure, Generation
from harness.errors import InputError
from harness.testing import check_adapter
from harness_models.wrappers.cleaned import Cleaned


class Thinking:
    """A model that thinks before its caption, fails on one example,
    and returns each kind of result.
    """

    prepare_only_checks = True

    def fingerprint(self):
        return "thinking"

    def generate(self, examples, decoding, seeds):
        for example in examples:
            texts = (
                f"<think>hm {example.id}</think> a dog<|im_end|>",
                f"**Caption:** {example.id}",
            )
            yield (
                Failure("no")
                if example.id == "bad"
                else Generation(texts, lengths=(7, 3))
                if example.id == "g"
                else texts
            )


def results(clean, *names):
    adapter = Cleaned(model=Thinking(), clean=clean)
    examples = [Example(name, ("a dog",)) for name in names]
    return list(adapter.generate(examples, Decoding(), [0] * len(names)))


def test_what_is_named_is_removed():
    assert results(["think"], "a") == [("a dog<|im_end|>", "**Caption:** a")]
    assert results("marks,think,prefix", "a") == [("a dog", "a")]
    assert results(["think", "marks"], "g", "bad") == [
        Generation(("a dog", "**Caption:** g"), lengths=(7, 3)),
        Failure("no"),
    ]


def test_the_fingerprint_holds_what_is_removed():
    prints = {
        Cleaned(model=Thinking(), clean=names).fingerprint()
        for names in ("think", "marks", "marks,think", "think,marks")
    }
    assert prints == {
        "cleaned|think|thinking",
        "cleaned|marks|thinking",
        "cleaned|think,marks|thinking",
    }


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "clean is nothing"),
        ("repeats", "clean is 'repeats'"),
        ("thnk", "clean has no 'thnk'; did you mean 'think'"),
    ],
)
def test_names_that_are_not_removed(names, message):
    with pytest.raises(InputError, match=message):
        Cleaned(model="human", clean=names)


def test_it_is_an_adapter():
    check_adapter(Cleaned(model="human", clean=["think"]))
