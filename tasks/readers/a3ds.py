"""The ``a3ds`` reader: reference games on 3D Shapes, made on request; nothing is downloaded or stored."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from harness.contracts import Example
from harness.errors import HarnessError
from harness.tasks.a3ds.scene import captions
from harness.tasks.a3ds.testsets import Outside, chosen_sets, pairs

References = Literal["exhaustive", "short", "both"]


class ReferenceGames:
    """Pairs of target and distractor with the target's captions as references (20 exhaustive, 27 short, or all 47).

    ``sets``: groups (``one``, ``two``, ``three``: features shared) or single sets (``one/shape``); None: all thirteen. ``pairs``: of
    each set (the paper: 7500). ``outside``: features beyond the shared ones are ``free`` or forced ``different``. ``Example.meta``
    holds ``target_id``, ``distractor_id``, ``category`` (the set) and ``group``.
    """

    def __init__(
        self,
        *,
        sets: str | Sequence[str] | None = None,
        pairs: int = 500,
        seed: int = 0,
        outside: Outside = "free",
        references: References = "exhaustive",
    ) -> None:
        if references not in get_args(References):
            raise HarnessError(f"unknown references '{references}' of A3DS: expected exhaustive, short or both")
        if outside not in get_args(Outside):
            raise HarnessError(f"unknown 'outside' '{outside}' of A3DS: expected free or different")
        if pairs < 1:
            raise HarnessError(f"A3DS test sets of {pairs} pairs: expected at least 1")
        self.sets, self.pairs, self.seed = chosen_sets(sets), pairs, seed
        self.outside: Outside = outside
        self.references: References = references

    def fingerprint(self) -> str:
        settings = {
            "sets": self.sets,
            "pairs": self.pairs,
            "seed": self.seed,
            "outside": self.outside,
            "references": self.references,
        }
        return f"a3ds:1:{json.dumps(settings, sort_keys=True)}"

    def describe(self) -> str:
        """Where the examples come from, for the manifest."""
        return (
            f"A3DS scenes by number, {len(self.sets)} sets of {self.pairs} pairs, other features {self.outside}, "
            f"{self.references} captions"
        )

    def __iter__(self) -> Iterator[Example]:
        """The games, one of each set in turn, so that a limit takes from all of them alike."""
        drawn = {name: pairs(name, self.pairs, seed=self.seed, outside=self.outside).tolist() for name in self.sets}
        kinds = ("exhaustive", "short") if self.references == "both" else (self.references,)
        for number in range(self.pairs):
            for name in self.sets:
                target, distractor = drawn[name][number]
                yield Example(
                    id=f"{name}/{number:05d}",
                    references=tuple(text for kind in kinds for text in captions(target, kind)),
                    media=f"3dshapes:{target}",
                    meta={
                        "target_id": target,
                        "distractor_id": distractor,
                        "category": name,
                        "group": name.split("/")[0],
                    },
                )
