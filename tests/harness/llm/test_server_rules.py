"""Rules for requests to a server: what is refused, and names of fields."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness.llm.server_rules import ServerRules


def rules(**settings):
    return ServerRules(owner="openai", **{"base_url": "http://x/v1", **settings})


def test_fields_have_the_names_of_the_server():
    body = {"model": "m", "messages": [], "max_tokens": 9, "seed": 0, "n": 1}
    renamed = rules(parameters={"max_tokens": "max_completion_tokens", "seed": None})
    assert renamed.rename_fields(body) == {
        "model": "m",
        "messages": [],
        "max_completion_tokens": 9,
        "n": 1,
    }
    assert rules().rename_fields(body) == body
    # Names of fields that a request does not have change nothing.
    assert renamed.rename_fields({"n": 2}) == {"n": 2}


def test_names_may_be_exchanged():
    swapped = rules(parameters={"top_p": "top_k", "top_k": "top_p"})
    assert swapped.rename_fields({"top_p": 0.9, "top_k": 5}) == {
        "top_k": 0.9,
        "top_p": 5,
    }


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"seed": "n"}, "n"),
        ({"seed": "model"}, "model"),
        ({"seed": "x", "n": "x"}, "x"),
    ],
)
def test_two_fields_of_one_name_are_refused(parameters, name):
    body = {"model": "m", "seed": 1, "n": 2}
    with pytest.raises(
        HarnessError, match=f"openai: parameters give two .* the name '{name}', the"
    ) as caught:
        rules(parameters=parameters).rename_fields(body)
    assert caught.value.parameter == "parameters"


@pytest.mark.parametrize("name", ["model", "messages"])
def test_fields_of_every_server_keep_their_names(name):
    with pytest.raises(HarnessError, match=f"the field '{name}' has the same name on"):
        rules(parameters={name: "other"})


def test_the_key_is_not_shown_and_counts_are_not_compared():
    assert "secret" not in repr(rules(api_key="secret"))
    one, two = rules(), rules()
    one.usage.requests = 3
    assert one == two and one.usage is not two.usage


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"base_url": "localhost:8000"},
            "openai: base_url begins with http:// or https://; found 'localhost:8000'",
        ),
        (
            {"proxy": "proxy:3128"},
            "openai: proxy begins with http:// or https://; found 'proxy:3128'",
        ),
        (
            {"concurrency": 0},
            "openai: concurrency is 0; expected a whole number of at least 1",
        ),
        (
            {"retries": -1},
            "openai: retries is -1; expected a whole number of at least 0",
        ),
        (
            {"requests_per_minute": 0},
            "openai: requests_per_minute is 0; expected a number above 0 or null",
        ),
        (
            {"timeout": float("nan")},
            "openai: timeout is nan; expected a number above 0",
        ),
    ],
)
def test_settings_out_of_range(settings, message):
    with pytest.raises(HarnessError) as caught:
        ServerRules(owner="openai", **{"base_url": "http://x/v1", **settings})
    assert str(caught.value) == message and caught.value.parameter in settings
