"""The cache of replies: keys by content, damaged rows, a folder that cannot be used."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness_metrics.judges.replies import Reply
from harness_metrics.judges.reply_cache import ReplyCache

TALK = ({"role": "user", "content": "a\udc80 “dog”?"},)


def test_replies_come_back(cache):
    replies = ReplyCache("model")
    reply = Reply("ein Hund\udc80 – 犬", "length", 3, 4)
    key = replies.key(TALK)
    assert replies.read([key]) == {}
    replies.store.add(key, reply.to_record())
    assert ReplyCache("model").read(["other", key]) == {key: reply}
    assert replies.store.path.is_relative_to(cache / "judges")


def test_the_key_is_the_content(tmp_path):
    model = ReplyCache("m", tmp_path)
    other = ReplyCache("n", tmp_path)
    assert (
        len(
            {model.key(TALK), other.key(TALK), model.key((*TALK, *TALK)), model.key(())}
        )
        == 4
    )
    assert model.key(TALK) == model.key(
        ({"content": "a\udc80 “dog”?", "role": "user"},)
    )
    assert model.store.path != other.store.path


@pytest.mark.parametrize("row", [{}, {"text": "a", "other": 1}, {"finish": "stop"}])
def test_a_row_with_other_fields_counts_as_absent(tmp_path, row):
    replies = ReplyCache("m", tmp_path)
    replies.store.add("key", row)
    assert replies.read(["key"]) == {}
    replies.store.add("key", Reply("b").to_record())
    assert replies.read(["key"]) == {"key": Reply("b")}


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    replies = ReplyCache("m", tmp_path / "file")
    with pytest.raises(
        HarnessError, match="the cache of judges cannot be used .*: set HARNESS_CACHE"
    ):
        replies.store.add("key", Reply("b").to_record())
