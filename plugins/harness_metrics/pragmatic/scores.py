"""Pragmatic scores of captions in reference games,
by the formulas of the paper or the authors' script.

Mode ``paper``: :mod:`harness_metrics.pragmatic.parser` reads the features of a caption
(word boundaries, synonyms). A feature is mentioned when its words are true of the
target, and contrastive when target and distractor differ in it. Vague words (``blue``
fits two hues) that are also true of the distractor are not contrastive. Some different
labels have the same words (three of the fifteen angles are "in the middle"); they are
different by ``differences="labels"``, as in the annotation of the paper, and equal by
``differences="words"``. Undefined scores are NaN; means exclude them and report their
number.

Mode ``authors-script``: the authors' script with its substrings and side effects
(:mod:`harness_metrics.pragmatic.authors`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np

from harness.contracts.parameters import check_arguments
from harness.errors import HarnessError
from harness_metrics.pragmatic.authors import evaluate_script
from harness_metrics.pragmatic.formulas import (
    contrastive_efficiency,
    features_needed,
    optimal_discriminativity,
    relevance,
)
from harness_metrics.pragmatic.parser import Readings, read
from harness_metrics.pragmatic.rows import Rows, check_rows
from harness_tasks.a3ds.scene import FACTORS, PHRASES

Mode = Literal["paper", "authors-script"]
Differences = Literal["labels", "words"]


class Scores(Sequence[dict[str, Any]]):
    """Scores of N rows, a sequence of one mapping per row.

    Parameters
    ----------
    columns : mapping
        Name -> column ``(N, ...)``; ``prediction`` is among them.
    unread : mapping, optional
        Row -> words that the parser could not read.
    """

    def __init__(
        self,
        columns: Mapping[str, Any],
        unread: Mapping[int, tuple[str, ...]] | None = None,
    ) -> None:
        self.columns = dict(columns)
        self.unread = dict(unread or {})
        """Row -> words that the parser could not read;
        rows without such words are absent.
        """

    def __len__(self) -> int:
        return len(self.columns["prediction"])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        row = {name: _plain(column[index]) for name, column in self.columns.items()}
        if "features" in self.columns:
            row["unread"] = list(self.unread.get(index % len(self), ()))
        return row

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[i] for i in range(len(self)))

    def summary(self) -> dict[str, dict[str, float]]:
        """Return score -> mean over the defined rows (``mean``), their number (``n``)
        and that of the others (``undefined``).
        """
        out: dict[str, dict[str, float]] = {}
        for name, column in self.columns.items():
            values = np.asarray(column)
            is_number = values.dtype.kind in "iufb" and values.ndim == 1
            if not is_number or name.endswith("_id"):
                continue

            defined = ~np.isnan(values.astype(np.float64))
            mean = float(values[defined].mean()) if defined.any() else float("nan")
            out[name] = {
                "mean": mean,
                "n": int(defined.sum()),
                "undefined": int((~defined).sum()),
            }
        return out


def _plain(value: object) -> object:
    """Return numpy values as Python values."""
    if isinstance(value, (np.ndarray, np.generic)):
        return cast("np.ndarray", value).tolist()
    return value


@check_arguments
def evaluate(
    rows: Iterable[Mapping[str, Any]],
    mode: Mode = "paper",
    *,
    differences: Differences = "labels",
    order_dependent: bool = False,
) -> Scores:
    """Return the scores of captions.

    Parameters
    ----------
    rows : iterable of mappings
        Each with ``prediction``, ``target_id`` and ``distractor_id`` (one id or, in
        mode ``paper``, a list).
    mode : {"paper", "authors-script"}, default "paper"
        Formulas of the paper, or columns of the authors' script.
    differences : {"labels", "words"}, default "labels"
        Treatment of different labels with equal words in mode ``paper``.
    order_dependent : bool, default False
        Do not reset the object-hue flag of the authors' script between rows.

    Returns
    -------
    Scores
        In mode ``paper``: discriminativity, contrastive_efficiency, relevance and
        optimal_discriminativity (:mod:`harness_metrics.pragmatic.scores`),
        mentioned_features, false_features, and the counts that they derive from.

    Raises
    ------
    InputError
        With the row for a missing or invalid field and an id outside 0...479,999.
    HarnessError
        For an unknown option.

    References
    ----------
    Tsvilodub & Franke, "Evaluating pragmatic abilities of image captioners on A3DS"
    (ACL 2023), section 2.2.

    Examples
    --------
    >>> row = {"prediction": "a red ball", "target_id": 30, "distractor_id": 0}
    >>> evaluate([row])[0]["contrastive_efficiency"]
    1.0
    """
    checked = check_rows(rows)
    if mode == "authors-script":
        return Scores(evaluate_script(checked, order_dependent=order_dependent))
    if order_dependent:
        raise HarnessError(
            "order_dependent needs the mode authors-script",
            parameter="order_dependent",
            value=True,
        )
    return score_readings(checked, read(checked.predictions), differences)


def score_readings(
    rows: Rows, readings: Readings, differences: Differences = "labels"
) -> Scores:
    """Return the scores of N rows from the readings of their captions."""
    target = rows.target_values
    distractors = rows.distractor_values
    masks, loose_false = _credit_bare(readings, target)

    # what the captions say: the six lowest bits of the contradictions, (N, 6)
    contradictions = readings.contradictions[:, None] >> np.arange(6) & 1
    mentioned = (masks > 0) | contradictions.astype(bool)
    true = (masks >> target.astype(np.uint16) & 1).astype(bool)  # (N, 6)
    bits = masks[:, None, :] >> distractors.astype(np.uint16) & 1
    true_of_other = bits.astype(bool)  # (N, D, 6)

    # how the scenes differ, (N, D, 6)
    same_words = _by_words(target)[:, None, :] == _by_words(distractors)
    differs = ~same_words
    if differences == "labels":
        differs = target[:, None, :] != distractors

    # A feature rules a distractor out when the caption states it truly, the two scenes
    # differ in it, and its words are false of the distractor. Labels with equal words
    # differ by annotation though no words can tell them apart.
    rules_out = true[:, None, :] & differs & (~true_of_other | same_words)
    contrastive = rules_out.any(1)
    shared = ~differs.any(1)

    c = contrastive.sum(1)
    k = true.sum(1)
    z = differs.any(1).sum(1)
    excluded = rules_out.any(2).all(1)
    needed = features_needed(differs)
    # The paper has one distractor. For several, contrastive features count only when
    # together they exclude every one.
    decisive = np.where(excluded, c, 0)
    false = (mentioned & ~true).sum(1) + loose_false

    distractor_ids = rows.distractors
    if rows.distractors.shape[1] == 1:
        distractor_ids = rows.distractors[:, 0]
    columns: dict[str, Any] = {
        "target_id": rows.targets,
        "distractor_id": distractor_ids,
        "prediction": rows.predictions,
        "discriminativity": excluded.astype(np.float64),
        "contrastive_efficiency": contrastive_efficiency(decisive, k, needed),
        "relevance": relevance(0, (true & shared).sum(1), z),
        "optimal_discriminativity": optimal_discriminativity(decisive, needed),
        "mentioned_features": k + false,
        "false_features": false,
        "num_true": k,
        "num_discriminative": c,
        "num_nondiscriminative": k - c,
        "num_different": z,
        "features": masks,
    }
    for number, name in enumerate(FACTORS):
        columns[f"is_{name}"] = true[:, number].astype(np.int64)
        columns[f"is_{name}_disc"] = contrastive[:, number].astype(np.int64)
        columns[f"redundant_{name}"] = np.where(
            shared[:, number], true[:, number], np.nan
        )
    return Scores(columns, readings.unread)


def _by_words(values: np.ndarray) -> np.ndarray:
    """Return factor indices ``(..., 6)`` with every index replaced by the first one
    that has the same phrase.
    """
    firsts = np.array([PHRASES[5].index(phrase) for phrase in PHRASES[5]])
    return np.concatenate([values[..., :5], firsts[values[..., 5:]]], axis=-1)


def _credit_bare(
    readings: Readings, target: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return masks ``(N, 6)`` with bare colours assigned,
    and the number of false bare colours ``(N,)``.

    A bare colour is assigned to the part of the target that it fits when there is
    exactly one; it is false when it fits none.
    """
    rows = np.flatnonzero(readings.bare)
    false = np.zeros(len(readings.bare), dtype=np.int64)
    if not len(rows):
        return readings.masks, false

    masks = readings.masks.copy()
    # Only the three hues can be meant by a bare colour; it is credited when exactly one
    # part of the target has it.
    fits = readings.bare[rows, None] >> target[rows, :3].astype(np.uint16) & 1
    count = fits.sum(1)
    single_rows = rows[count == 1]
    factor = fits[count == 1].argmax(1)
    free = masks[single_rows, factor] == 0
    masks[single_rows[free], factor[free]] = readings.bare[single_rows[free]]
    false[rows[count == 0]] = 1
    return masks, false
