"""Metric ``scores``: the numbers of another program,
from a file or from a column of the examples.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from harness.contracts import (
    Batch,
    CaptionSet,
    Features,
    MeanMetric,
    MetricSpec,
    PathParam,
)
from harness.contracts.parameters import check_arguments
from harness.errors import InputError, did_you_mean
from harness.files.columns import CANDIDATE_COLUMNS, FILE_ID_COLUMNS
from harness.files.record_files import KEY, SCORES, read_records
from harness.files.user_files import existing
from harness_metrics.scores.per_item import ItemScore, read_per_item

CAPTION_COLUMNS = tuple(
    name
    for name in CANDIDATE_COLUMNS
    if name not in ("systems", "answers", "answer", "labels", "label")
)
ID_COLUMNS = (*FILE_ID_COLUMNS, "item", "seg_id", KEY)
SCORE_COLUMNS = ("score", "value", "rating")


class Scores(MeanMetric):
    """Scores of captions that another program has computed.

    Parameters
    ----------
    path : path, optional
        File with a score for each caption: CSV, TSV, JSON, JSON Lines or Parquet, with
        an id (of the example, of the item of a judgment set), the caption, or the
        system where it has no captions, and the score. A score of null is a caption
        without a score. A file ``NAME-REF.seg.score`` of mt-metrics-eval has the scores
        of each system in the order of the segments. An output of capevalkit has the
        scores of one system by id, that of its ``benchmark`` with the captions.
    column : str, optional
        Column of the score in the file; without ``path`` the key of each example's
        meta, a column of the judgments.
    predictions : path, optional
        File of the captions that were scored, with their ids, for a file of scores by
        id alone.
    name : str, optional
        Name of the metric in tables; default: the column, or the name of the file.
    higher_is_better : bool, default True
        False for a cost.

    Raises
    ------
    InputError
        Neither a file nor a column; a caption that the file has not, or has twice with
        different scores.
    """

    expected_check_failures: ClassVar[dict[str, str]] = {
        "direction": "the scores are those of the file, whatever the captions say"
    }

    @check_arguments
    def __init__(
        self,
        *,
        path: PathParam | None = None,
        column: str | None = None,
        predictions: PathParam | None = None,
        name: str | None = None,
        higher_is_better: bool = True,
    ) -> None:
        if path is None and column is None:
            raise InputError(
                "scores needs a file (path) or a column of the judgments (column)",
                parameter="path",
            )
        self.path = None if path is None else existing(path, "file of scores")
        self.column = column
        self.predictions = None
        if predictions is not None:
            self.predictions = existing(predictions, "file of predictions")

        file = "" if self.path is None else self.path.name
        stem = file.split(".")[0]
        if file.endswith(SCORES):
            # NAME-REF.seg.score, where the name may have dots
            stem = file.rsplit(".", 2)[0]
        label = name or column or stem
        self.spec = MetricSpec(
            label,
            higher_is_better,
            needs=frozenset(),
            untestable="reads scores",
            depends_on=frozenset(),
            meta_columns=("system",) if self.path else (str(column),),
        )

    def signature(self) -> str:
        """Return the column, and a hash of the file."""
        signature = f"scores|{self.spec.name}"
        if self.path:
            digest = hashlib.sha256(self.path.read_bytes()).hexdigest()
            signature += f"|file:{digest[:12]}"
        if self.predictions:
            digest = hashlib.sha256(self.predictions.read_bytes()).hexdigest()
            signature += f"|predictions:{digest[:12]}"
        if self.column:
            signature += f"|column:{self.column}"
        return signature

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the mean score of each example's candidates, shape (B,),
        NaN without a score.
        """
        if self.path is None:
            return self._read_meta(batch.sets)

        means: list[np.floating] = []
        for item in batch.sets:
            values = [self._find(item, text) for text in item.candidates]
            means.append(np.mean(values))
        return np.array(means)

    def _read_meta(self, sets: Sequence[CaptionSet]) -> np.ndarray:
        values = [item.meta.get(str(self.column)) for item in sets]
        if not any(str(self.column) in item.meta for item in sets):
            present = sorted({name for item in sets for name in item.meta})
            hint = did_you_mean(str(self.column), present)
            raise InputError(
                f"no caption has a column '{self.column}'{hint}; "
                f"found {', '.join(present)}",
                parameter="column",
            )
        numbers = [
            _number(value, f"column '{self.column}' of '{item.id}'")
            for item, value in zip(sets, values)
        ]
        return np.array(numbers)

    def _find(self, item: CaptionSet, text: str) -> float:
        name = str(item.meta.get("item", item.id))
        of_caption = (name, _spaced(text), "")
        of_system = (name, "", str(item.meta.get("system", "")))
        for key in (of_caption, of_system):
            if key in self._table:
                return self._table[key]

        ids = {key[0] for key in self._table}
        hint = "" if name in ids else f"; ids there are such as '{min(ids)}'"
        raise InputError(
            f"no score of the caption {text!r:.60} of '{name}'{hint}", str(self.path)
        )

    @cached_property
    def _table(self) -> Mapping[tuple[str, str, str], float]:
        """Score by id and caption, or by id and system where the file has no captions;
        the other text is empty.
        """
        out: dict[tuple[str, str, str], float] = {}
        assert self.path is not None
        by_id = read_per_item(self.path, self.column)
        if by_id is not None:
            return self._with_captions(by_id)
        roles = (
            ID_COLUMNS,
            CAPTION_COLUMNS,
            ("system", "model_id"),
            (self.column,) if self.column else SCORE_COLUMNS,
        )
        captions = self._read_captions()
        for record in read_records(str(self.path), "file of scores"):
            fields = record.fields
            name, caption, system, score = (
                next((column for column in usual if column in fields), None)
                for usual in roles
            )
            has_text = caption is not None or system is not None or bool(captions)
            role = ""
            if name is None:
                role = "id"
            elif score is None:
                role = f"score ({', '.join(roles[3])})"
            elif not has_text:
                role = "caption or system, and no file of predictions"
            if role:
                raise InputError(
                    f"no column of the {role}; the record has {', '.join(fields)}",
                    record.where,
                )

            identity = str(fields[str(name)])
            text = str(fields[caption]) if caption else captions.get(identity)
            if text is not None:
                key = (identity, _spaced(text), "")
            elif system is not None:
                key = (identity, "", str(fields[system]))
            else:
                continue
            value = _number(fields[str(score)], record.where)
            # rows that say the same are one score
            if out.get(key, value) != value and not math.isnan(value):
                raise InputError(
                    f"'{key[1] or key[2]}' of '{key[0]}' has the scores {out[key]:g} "
                    f"and {value:g}",
                    record.where,
                )
            out[key] = value
        if not out:
            raise InputError("holds no scores", str(self.path))
        return out

    def _with_captions(
        self, by_id: Mapping[str, ItemScore]
    ) -> Mapping[tuple[str, str, str], float]:
        """Return scores by id, by id and caption."""
        captions = self._read_captions()
        if not captions and any(item.caption is None for item in by_id.values()):
            raise InputError(
                "has scores by id and no captions: set predictions to the file of the "
                "captions that were scored",
                str(self.path),
                parameter="predictions",
            )
        out: dict[tuple[str, str, str], float] = {}
        for name, item in by_id.items():
            caption = captions.get(name, item.caption)
            if caption is not None:
                place = f"{self.path}: '{name}'"
                out[name, _spaced(caption), ""] = _number(item.score, place)
        if not out:
            raise InputError(f"no id of {self.predictions} has a score", str(self.path))
        return out

    def _read_captions(self) -> Mapping[str, str]:
        """Return id -> caption of the file of predictions; empty without one."""
        if self.predictions is None:
            return {}
        captions: dict[str, str] = {}
        for record in read_records(str(self.predictions), "file of predictions"):
            name, caption = (
                next(
                    (record.fields[key] for key in usual if key in record.fields), None
                )
                for usual in (ID_COLUMNS, CAPTION_COLUMNS)
            )
            if name is None or not isinstance(caption, str):
                raise InputError("no id or no caption", record.where)
            captions[str(name)] = caption
        return captions


def _spaced(text: str) -> str:
    """Return a text with one space between its words,
    as programs that score captions write them.
    """
    return " ".join(text.split())


def _number(value: object, location: str) -> float:
    try:
        return float("nan") if value is None or value == "" else float(str(value))
    except ValueError:
        raise InputError(
            f"the score is {value!r:.40}; expected a number", location
        ) from None
