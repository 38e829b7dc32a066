"""The chat server of :mod:`tests.support.chat_server` as a fixture, a cache of its own
for each test, and judges without a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from harness_metrics.judges.replies import Reply
from tests.support.chat_server import server

__all__ = ["server"]


def lines_of(prompt: str) -> list[str]:
    """Return all captions of a prompt: the lines that are JSON texts."""
    return [
        json.loads(line.removeprefix("- "))
        for line in prompt.splitlines()
        if re.match(r'(- )?"', line)
    ]


def words(texts: list[str]) -> set[str]:
    return {word for text in texts for word in text.lower().split()}


class Scripted:
    """Backend whose answers are a function of the conversation;
    it records the conversations.
    """

    def __init__(
        self,
        answer: Callable[[tuple[dict[str, str], ...]], Reply | str],
        name: str = "scripted",
    ) -> None:
        self.answer = answer
        self.name = name
        self.talks: list[tuple[dict[str, str], ...]] = []

    def signature(self) -> str:
        return self.name

    def complete(self, conversations, store) -> None:
        for index, talk in enumerate(conversations):
            self.talks.append(talk)
            reply = self.answer(talk)
            store(
                index,
                reply if isinstance(reply, Reply) else Reply(reply, "stop", 10, 5),
            )


class Overlap:
    """Backend that scores by the words that candidates and references share: a judge
    that agrees with people a little.
    """

    def signature(self) -> str:
        return "overlap"

    def complete(self, conversations, store) -> None:
        for index, talk in enumerate(conversations):
            store(index, Reply(self.text(talk[0]["content"]), "stop", 10, 5))

    def text(self, prompt: str) -> str:
        if "Caption B:" in prompt:
            first, second = (
                len(
                    json.loads(
                        prompt.split(f"Caption {x}:\n")[1].splitlines()[0]
                    ).split()
                )
                for x in "AB"
            )
            return json.dumps(
                {"better": "A" if first > second else "B" if second > first else "tie"}
            )
        if "Set B" in prompt:
            left, right = (words(lines_of(part)) for part in prompt.split("Set B"))
            return json.dumps(
                {"score": 100 * len(left & right) / max(1, len(left | right))}
            )
        context, caption = prompt.split("Caption to grade:")
        left = words(lines_of(caption))
        right = words(lines_of(context))
        grade = 1 + 4 * len(left & right) / max(1, len(left | right))
        return json.dumps(
            dict.fromkeys(("correctness", "completeness", "fluency"), grade)
        )


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The folder of caches of this test."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def scripted():
    """The class of scripted backends."""
    return Scripted


@pytest.fixture
def overlap():
    """A judge by shared words."""
    return Overlap()
