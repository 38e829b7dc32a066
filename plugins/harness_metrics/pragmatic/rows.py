"""Checked rows of prediction, target and distractors as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from harness.contracts import Parameters
from harness.errors import HarnessError, InputError
from harness_tasks.a3ds.scene import N_SCENES, check_id, indices


@dataclass(frozen=True)
class Rows:
    """N captions with their games."""

    predictions: list[str]
    """N captions."""
    targets: np.ndarray
    """``(N,)`` scene ids."""
    distractors: np.ndarray
    """``(N, D)`` scene ids; a game with fewer than D distractors repeats its first one.
    """

    def __len__(self) -> int:
        return len(self.predictions)

    @property
    def target_values(self) -> np.ndarray:
        """Factor indices of the targets, ``(N, 6)``."""
        return indices(self.targets)

    @property
    def distractor_values(self) -> np.ndarray:
        """Factor indices of the distractors, ``(N, D, 6)``."""
        return indices(self.distractors.ravel()).reshape(*self.distractors.shape, 6)


def check_rows(rows: Iterable[Mapping[str, Any]]) -> Rows:
    """Return the rows as arrays.

    Parameters
    ----------
    rows : iterable of mappings
        Each with ``prediction`` (text), ``target_id``, and ``distractor_id`` or
        ``distractor_ids`` (a scene id or a list of them). Ids may be text of digits, as
        in CSV files.

    Raises
    ------
    InputError
        With the row at fault, counted from 0.
    """
    rows = list(rows)
    try:  # the whole table at once; the slow path below reports the row at fault
        predictions = [row["prediction"] for row in rows]
        targets = np.array([row["target_id"] for row in rows])
        single = np.array([row["distractor_id"] for row in rows])

        plain = (
            targets.dtype.kind == single.dtype.kind == "i"
            and single.ndim == targets.ndim == 1
            and set(map(type, predictions)) <= {str}
        )
        if plain and _inside(targets) and _inside(single):
            distractors = single.astype(np.int64)[:, None]
            return Rows(predictions, targets.astype(np.int64), distractors)
    except (KeyError, TypeError, ValueError):
        pass

    games = [_row(number, row) for number, row in enumerate(rows)]
    width = max((len(game[2]) for game in games), default=1)
    # a game with fewer distractors repeats its first one
    padded = [game[2] + [game[2][0]] * (width - len(game[2])) for game in games]
    return Rows(
        [game[0] for game in games],
        np.array([game[1] for game in games], dtype=np.int64).reshape(-1),
        np.array(padded, dtype=np.int64).reshape(-1, width),
    )


def _inside(ids: np.ndarray) -> bool:
    """Return True when all ids are those of scenes."""
    return not len(ids) or (int(ids.min()) >= 0 and int(ids.max()) < N_SCENES)


def _row(number: int, row: object) -> tuple[str, int, list[int]]:
    """Return prediction, target and distractors of one row."""
    location = f"row {number}"
    if not isinstance(row, Mapping):
        raise InputError(
            f"found {row!r}; expected a mapping with prediction, "
            "target_id and distractor_id",
            location,
        )
    fields = cast("Parameters", row)
    text = fields.get("prediction")
    if not isinstance(text, str):
        raise InputError(f"'prediction' is {text!r}; expected text", location)

    value: object = fields.get("distractor_ids", fields.get("distractor_id"))
    distractors: list[object] = [value]
    if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str):
        distractors = list(cast("Sequence[object]", value))
    if not distractors:
        raise InputError("the list of distractors is empty", location)

    try:
        target = _scene(fields.get("target_id"))
        return text, target, [_scene(scene) for scene in distractors]
    except HarnessError as error:
        raise InputError(str(error), location) from None


def _scene(value: Any) -> int:
    """Return a scene id, also from text of digits."""
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    return check_id(value)
