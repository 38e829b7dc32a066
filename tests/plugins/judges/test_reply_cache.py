"""The cache of replies: keys by content, files of earlier versions, a folder that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness_metrics.judges.judge import Judge
from harness_metrics.judges.replies import Reply
from harness_metrics.judges.reply_cache import ReplyCache

TALK = ({"role": "user", "content": "a\udc80 “dog”?"},)


def test_replies_come_back(cache):
    replies, reply = ReplyCache("model"), Reply("ein Hund\udc80 – 犬", "length", 3, 4)
    key = replies.key(TALK)
    assert replies.read([key]) == {}
    replies.add(key, reply)
    assert ReplyCache("model").read(["other", key]) == {key: reply}
    assert replies.store.path.is_relative_to(cache / "judges")


def test_the_key_is_the_content(tmp_path):
    model, other = ReplyCache("m", tmp_path), ReplyCache("n", tmp_path)
    assert len({model.key(TALK), other.key(TALK), model.key((*TALK, *TALK)), model.key(())}) == 4
    assert model.key(TALK) == model.key(({"content": "a\udc80 “dog”?", "role": "user"},))
    assert model.store.path != other.store.path


KEY = "71c1c81235a5293637dd1aa91951e3f63e8aebf46711b490bc35e158ab68b862"
"""Key of the reply of model ``m`` to ``a dog?`` in version 0.1.0: the name of its file."""


def write_json(folder: Path, content: str) -> None:
    path = folder / KEY[:2] / f"{KEY}.json"
    path.parent.mkdir(parents=True)
    path.write_text(content)


def test_replies_of_version_0_1_0_are_read(cache, scripted):
    write_json(cache / "judges", '{"text": "yes", "finish": "stop", "prompt_tokens": 3, "completion_tokens": 1}')
    judge = Judge(scripted(lambda talk: pytest.fail("asked again"), name="m"), repeats=0)
    assert judge._replies([({"role": "user", "content": "a dog?"},)]) == [Reply("yes", "stop", 3, 1)]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"text": "a", "other": 1}', '{"finish": "stop"}'])
def test_a_damaged_file_counts_as_absent(tmp_path, content: str):
    replies = ReplyCache("m", tmp_path)
    write_json(tmp_path, content)
    assert replies.read([KEY]) == {}
    replies.add(KEY, Reply("b"))
    assert replies.read([KEY]) == {KEY: Reply("b")}


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    replies = ReplyCache("m", tmp_path / "file")
    with pytest.raises(HarnessError, match="the cache of judges cannot be used .*: set HARNESS_CACHE"):
        replies.add("key", Reply("b"))
