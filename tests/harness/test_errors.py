"""Errors: text and fields, nearest names, missing packages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import (
    HarnessError,
    InputError,
    MissingExtra,
    UnknownName,
    did_you_mean,
    nearest_name,
    require,
)


def test_the_place_stands_before_the_message_and_fields_are_kept():
    error = InputError("is empty", "a.yaml:3", parameter="path", value=3)
    assert str(error) == "a.yaml:3: is empty"
    assert (error.message, error.where, error.parameter, error.value) == (
        "is empty",
        "a.yaml:3",
        "path",
        3,
    )
    assert str(HarnessError("is empty")) == "is empty"


@pytest.mark.parametrize("kind", [InputError, UnknownName, MissingExtra])
def test_all_mistakes_of_the_user_are_one_family(kind):
    assert issubclass(kind, HarnessError)


def test_the_nearest_name():
    assert nearest_name("metoer", ["cider", "meteor"]) == "meteor"
    assert nearest_name("zzz", ["cider", "meteor"]) is None
    assert nearest_name("x", []) is None
    assert did_you_mean("metoer", ["cider", "meteor"]) == "; did you mean 'meteor'?"
    assert did_you_mean("zzz", ["cider"]) == ""


@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=5))
def test_a_name_is_nearest_to_itself(names):
    assert nearest_name(names[0], names) == names[0]


def test_a_missing_package_names_the_extra_that_installs_it():
    with pytest.raises(MissingExtra) as caught:
        require("no_such_package.part", extra="models", needed_by="metric 'x'")
    assert str(caught.value) == (
        "metric 'x' needs the package 'no_such_package', which is not installed: "
        "pip install 'caption-harness[models]'"
    )


def test_a_missing_plain_dependency_names_the_package_itself():
    with pytest.raises(
        MissingExtra, match="not installed: pip install caption-harness$"
    ):
        require("no_such_package", needed_by="x")


def test_an_installed_module_is_returned():
    import json.decoder

    assert require("json.decoder", extra="models", needed_by="x") is json.decoder


def test_a_missing_package_within_an_installed_one_is_not_blamed_on_the_extra(
    tmp_path, monkeypatch
):
    (tmp_path / "broken_module.py").write_text("import other_missing_package\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="other_missing_package"):
        require("broken_module", extra="models", needed_by="x")


def test_names_with_commas_are_quoted_in_a_list():
    error = InputError.of_name("no model", "x", ["mixture, 3 of 5", "human"], "have")
    assert str(error) == "no model 'x'; have 'mixture, 3 of 5', human"
