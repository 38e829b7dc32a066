"""The schema of manifests: entries in both forms, versions, hooks,
and mistakes with file and key.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.registry.manifest_schema import parse_manifest, satisfies

PARTS = list(itertools.product((0, 1, 10), repeat=3))
FILE = Path("/somewhere/registry.yaml")


def text(parts) -> str:
    return ".".join(map(str, parts))


def test_operators_compare_numbers_part_by_part():
    for a, b in itertools.product(PARTS, PARTS):
        assert satisfies(text(a), f">={text(b)}") == (a >= b)
        assert satisfies(text(a), f"<{text(b)}") == (a < b)
        assert satisfies(text(a), f"=={text(b)}") == (a == b)
        assert satisfies(text(a), f"!={text(b)}, <={text(b)}") == (a < b)


@pytest.mark.parametrize(
    ("version", "specifier", "expected"),
    [
        ("0.10.0", ">=0.9", True),
        ("1.0", "==1", True),
        ("0.1.0", " >= 0.1 , < 1 ", True),
        ("1.0.0", ">=0.1,<1", False),
        ("0.2.0rc1", ">0.1", True),
    ],
)
def test_every_clause_must_hold(version, specifier, expected):
    assert satisfies(version, specifier) is expected


@pytest.mark.parametrize("specifier", ["", "~=1.0", "1.0", ">=", ">=1,", "newest"])
def test_an_invalid_specifier_is_an_error(specifier):
    with pytest.raises(
        HarnessError, match="is not understood; expected something like '>=0.1,<1'"
    ):
        satisfies("1.0", specifier)


def parse(data):
    return parse_manifest(FILE, data, "acme", local=False)


def test_names_map_to_entries_or_stand_in_a_list():
    entry = {
        "import": "acme.parts:One",
        "summary": "one",
        "extra": ["text", "clip"],
        "needs": "images",
        "version": 2,
    }
    (a,) = parse({"metrics": {"one": entry}}).entries
    (b,) = parse({"metrics": [{"name": "one", **entry}]}).entries
    assert a == b
    assert (a.full_name, a.extra, a.needs, a.version) == (
        "acme/one",
        "text,clip",
        ("images",),
        "2",
    )
    (short,) = parse({"distances": {"d": "acme.parts:D"}}).entries
    assert (short.kind, short.target) == ("distances", "acme.parts:D")


def test_hooks_are_one_module_or_a_list_of_modules_or_targets():
    assert parse({"hooks": "acme.hooks"}).hooks == ("acme.hooks",)
    assert parse({"hooks": ["acme.a", {"target": "acme.b:Hooks"}]}).hooks == (
        "acme.a",
        "acme.b:Hooks",
    )
    assert parse({}).hooks == ()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (["x"], "a registry is a mapping of kinds; found list"),
        ({"metrcs": {}}, "unknown key 'metrcs'; did you mean 'metrics'?"),
        (
            {"metrics": {"one": {"imprt": "a.b:C"}}},
            "metrics.one: unknown key 'imprt'; did you mean 'import'?",
        ),
        ({"metrics": {"one": 3}}, "metrics.one must be a mapping; found int"),
        (
            {"metrics": [{"import": "a.b:C"}]},
            "'metrics' must map names to entries, or list entries with a name",
        ),
        (
            {"metrics": {"one": "a.b"}},
            "import is 'a.b'; expected \"package.module:Object\"",
        ),
        ({"hooks": [{"module": "x"}]}, "hooks is a list of modules"),
        ({"api": 2}, "manifest api 2 is not known; this harness reads api 1"),
        ({"requires_harness": ">=9"}, "asks for harness >=9; this is harness"),
    ],
)
def test_a_mistake_names_the_file_and_the_key(data, message):
    with pytest.raises(HarnessError) as error:
        parse(data)
    assert str(error.value).startswith(str(FILE))
    assert message in str(error.value)
