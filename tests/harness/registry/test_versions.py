"""Version specifiers of manifests."""

from __future__ import annotations

import itertools

import pytest

from harness.errors import HarnessError
from harness.registry.versions import satisfies

PARTS = list(itertools.product((0, 1, 10), repeat=3))


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
    with pytest.raises(HarnessError, match="is not understood; expected something like '>=0.1,<1'"):
        satisfies("1.0", specifier)
