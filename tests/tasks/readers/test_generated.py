"""Reference games as examples."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness_tasks.a3ds.grammar import captions
from harness_tasks.readers.generated import ReferenceGames


def test_games_of_several_sets_alternate():
    games = list(
        ReferenceGames(sets=["one/shape", "three"], pairs=2, references="both")
    )
    assert [g.id for g in games][:3] == [
        "one/shape/00000",
        "three/object/00000",
        "three/background/00000",
    ]
    assert len(games) == 8
    assert games[0].meta["group"] == "one"
    assert set(games[0].meta) == {"target_id", "distractor_id", "category", "group"}


@pytest.mark.parametrize(
    ("references", "count"), [("exhaustive", 20), ("short", 27), ("both", 47)]
)
def test_references_are_captions_of_the_target(references, count):
    game = next(iter(ReferenceGames(pairs=1, references=references)))
    target = game.meta["target_id"]
    assert game.media == f"3dshapes:{target}"
    assert len(game.references) == count
    assert set(game.references) <= {*captions(target), *captions(target, "short")}


def test_fingerprint_and_description_hold_the_parameters():
    reader = ReferenceGames(sets="one/shape", pairs=3, seed=4, outside="different")
    assert json.loads(reader.fingerprint().removeprefix("a3ds:1:")) == {
        "sets": ["one/shape"],
        "pairs": 3,
        "seed": 4,
        "outside": "different",
        "references": "exhaustive",
    }
    assert (
        reader.describe()
        == "A3DS scenes by number, 1 sets of 3 pairs, other features different, "
        "exhaustive captions"
    )


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("sets", "one/shap", "did you mean 'one/shape'"),
        (
            "references",
            "long",
            "references is 'long'; expected exhaustive, short or both",
        ),
        ("outside", "same", "outside is 'same'; expected free or different"),
        ("pairs", 0, "pairs is 0; expected a whole number of at least 1"),
    ],
)
def test_invalid_parameters(parameter, value, message):
    with pytest.raises(InputError, match=message) as caught:
        ReferenceGames(**{parameter: value})
    assert (caught.value.parameter, caught.value.value) == (parameter, value)
