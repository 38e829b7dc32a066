"""Keys of servers."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness.files.secrets import redact
from harness.llm.api_key import read_key


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        ("sk-0123456789\n", "character 14 of 14 is U+000A"),
        ("sk-012\r\n3456", "character 7 of 12 is U+000D"),
        ("sk-0123456789\r\nX-Other: 1", "character 14 of 25 is U+000D"),
        ("sk-schlüssel", "character 8 of 12 is U+00FC"),
        ("sk-012 345", "character 7 of 10 is U+0020"),
        ("sk-\udcff", "character 4 of 4 is U+DCFF"),
    ],
)
def test_a_key_that_no_header_can_carry_is_refused_by_the_name_of_its_variable(
    monkeypatch, key, fault
):
    monkeypatch.setenv("MY_KEY", key)
    with pytest.raises(HarnessError) as caught:
        read_key("openai", "MY_KEY")
    assert str(caught.value) == (
        "openai: the key in MY_KEY is not ASCII without spaces and line breaks: "
        f"{fault}; "
        "for a key in a file: export MY_KEY=\"$(tr -d '[:space:]' < FILE)\""
    )


def test_a_key_is_read_and_kept_out_of_messages(monkeypatch):
    monkeypatch.setenv("MY_KEY", "abc-0123456789")
    assert (read_key("openai", None), read_key("openai", "MY_KEY")) == (
        None,
        "abc-0123456789",
    )
    assert (
        redact("the key abc-0123456789 is wrong") == "the key ${secret:MY_KEY} is wrong"
    )
    monkeypatch.setenv("MY_KEY", "")
    with pytest.raises(
        HarnessError, match="^openai: the environment variable MY_KEY holds no key$"
    ):
        read_key("openai", "MY_KEY")
