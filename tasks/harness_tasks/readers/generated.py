"""The ``a3ds`` reader: reference games on 3D Shapes, generated when read;
nothing is downloaded or stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Literal

from harness.contracts import Example
from harness.contracts.parameters import Count, check_arguments
from harness_tasks.a3ds.grammar import captions
from harness_tasks.a3ds.testsets import Outside, pairs, set_names

References = Literal["exhaustive", "short", "both"]


class ReferenceGames:
    """Examples of pairs of target and distractor scene;
    the references are captions of the target.

    ``Example.meta`` holds ``target_id``, ``distractor_id``, ``category`` (the set) and
    ``group``.

    Parameters
    ----------
    sets : str or list of str, optional
        Groups of test sets (``one``, ``two``, ``three``, by the number of shared
        features) or single sets (``one/shape``); all thirteen by default.
    pairs : int, default 500
        Number of pairs of each set; 7500 in the paper.
    seed : int, default 0
        Seed of the pairs.
    outside : {"free", "different"}, default "free"
        Features beyond the shared ones: drawn freely, or different in target and
        distractor.
    references : {"exhaustive", "short", "both"}, default "exhaustive"
        Captions per example: 20 exhaustive ones, 27 short ones, or all 47.

    Raises
    ------
    InputError
        For an unknown option and a number of pairs below 1.

    References
    ----------
    Tsvilodub & Franke, "Evaluating pragmatic abilities of image captioners on A3DS"
    (ACL 2023), section 3.
    """

    @check_arguments
    def __init__(
        self,
        *,
        sets: str | Sequence[str] | None = None,
        pairs: Count = 500,
        seed: int = 0,
        outside: Outside = "free",
        references: References = "exhaustive",
    ) -> None:
        self.sets = set_names(sets)
        self.pairs = pairs
        self.seed = seed
        self.outside: Outside = outside
        self.references: References = references

    def fingerprint(self) -> str:
        """Return the parameters as text."""
        settings = {
            "sets": self.sets,
            "pairs": self.pairs,
            "seed": self.seed,
            "outside": self.outside,
            "references": self.references,
        }
        return f"a3ds:1:{json.dumps(settings, sort_keys=True)}"

    def describe(self) -> str:
        """Return a description of the examples for the manifest of a run."""
        return (
            f"A3DS scenes by number, {len(self.sets)} sets of {self.pairs} pairs, "
            f"other features {self.outside}, {self.references} captions"
        )

    def __iter__(self) -> Iterator[Example]:
        """Yield the games, one of each set in turn,
        so that a limit takes equally many of each set.
        """
        games = {
            name: pairs(name, self.pairs, seed=self.seed, outside=self.outside).tolist()
            for name in self.sets
        }

        kinds = (
            ("exhaustive", "short") if self.references == "both" else (self.references,)
        )

        for number in range(self.pairs):
            for name in self.sets:
                target, distractor = games[name][number]
                yield Example(
                    id=f"{name}/{number:05d}",
                    references=tuple(
                        text for kind in kinds for text in captions(target, kind)
                    ),
                    media=f"3dshapes:{target}",
                    meta={
                        "target_id": target,
                        "distractor_id": distractor,
                        "category": name,
                        "group": name.split("/")[0],
                    },
                )
