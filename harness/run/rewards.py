"""Rewards of captions and of groups of captions, for training by policy gradients: everything is fitted once, nothing is read per call.

A metric of single captions gives each caption its score. A metric of sets gives each caption of a group its credit
A_i = S(C) - S(C without i). Since S(C without i) does not depend on caption c_i, the sum of A_i grad log pi(c_i) is an unbiased estimate
of the gradient of E[S] (Williams 1992; docs/rewards.md).
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np

from harness.contracts import Example, Reader
from harness.errors import HarnessError, InputError, UnknownName, counted, did_you_mean
from harness.files.captions import by_text_id
from harness.registry import current, split_spec
from harness.run.file_pair import reference_reader
from harness.run.metric_plan import MetricPlan, metric_plans
from harness.run.reward_signatures import TrainerSignatures
from harness.run.reward_terms import RewardCorpus, Term
from harness.run.reward_texts import END_WORD, CaptionTexts, Decode, Vocabulary
from harness.spec.metric_text import parse_metric

Baseline = Literal["none", "greedy", "leave-one-out"]
Scale = str | Mapping[str, float]
_log = logging.getLogger(__name__)


class Reward(TrainerSignatures):
    """Reward of captions under fixed references; made by :func:`reward`. Several threads may call it, and it can be pickled."""

    def __init__(self, terms: Sequence[Term], texts: CaptionTexts, baseline: Baseline, name: str) -> None:
        self.terms, self.texts, self.baseline, self.__name__ = tuple(terms), texts, baseline, name
        self._row_of = {example.id: row for row, example in enumerate(terms[0].corpus.examples)}
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"<reward {' '.join(f'{term.weight / term.scale:+.3g} {term.label}' for term in self.terms)}>"

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock())

    @property
    def needs_groups(self) -> bool:
        """True where the reward of a caption depends on its group: by a metric of sets, or by the baseline."""
        return self.baseline == "leave-one-out" or any(term.is_of_sets for term in self.terms)

    def __call__(self, ids: Sequence[Any], captions: Any, *, greedy: Any = None) -> np.ndarray:
        """Return the reward of each caption.

        Parameters
        ----------
        ids : sequence
            Id of the example of each caption, length B; ids may repeat.
        captions : sequence or array
            B texts, or B sequences of token ids (also an array (B, L)).
        greedy : sequence or array, optional
            Captions of the greedy decode for ``baseline="greedy"``, in the same form; their rewards are subtracted.

        Returns
        -------
        ndarray
            float32, shape (B,). The score of an empty caption is what the metric gives it; an undefined score counts as 0.

        Raises
        ------
        InputError
            Unknown ids, another number of captions than of ids, or a metric of sets, which scores groups (:meth:`group`).
        """
        if self.needs_groups:
            label = next((f"{term.label} scores sets" for term in self.terms if term.is_of_sets), "leave-one-out is a baseline of groups")
            raise InputError(f"{label}; use reward.group(ids, groups)")
        rows = self._rows(ids)
        scores, _ = self._score(rows, captions, "captions", 1)
        return (scores - self._greedy_scores(rows, greedy)).astype(np.float32)[:, 0]

    def group(self, ids: Sequence[Any], groups: Any, *, greedy: Any = None) -> np.ndarray:
        """Return the rewards of the captions of groups.

        Parameters
        ----------
        ids : sequence
            Id of the example of each group, length B.
        groups : sequence of sequences, or array
            k captions of each example; an array of token ids has the shape (B, k, L).
        greedy : sequence or array, optional
            One caption of the greedy decode per group for ``baseline="greedy"``.

        Returns
        -------
        ndarray
            float32, shape (B, k): the score of each caption by the metrics of single captions, less the baseline, plus the credit
            A_i = S(C) - S(C without i) by the metrics of sets, with the sign by which larger is better.

        Raises
        ------
        InputError
            Unknown ids, groups of different sizes, or groups too small for a metric of sets without one of their captions.
        """
        rows, sizes = self._rows(ids), sorted({len(group) for group in groups})
        if len(groups) != len(rows):
            raise InputError(f"{counted(len(rows), 'id')} but {counted(len(groups), 'group')}")
        if len(sizes) > 1:
            raise InputError(f"groups of {sizes[0]} and of {sizes[-1]} captions; expected one size")
        k = sizes[0] if sizes else 1
        if self.baseline == "leave-one-out" and k < 2:
            raise InputError("groups of 1 caption; the baseline leave-one-out is the mean of the others: expected at least 2")
        captions = groups.reshape(-1, groups.shape[-1]) if hasattr(groups, "reshape") else [text for group in groups for text in group]
        scores, credits = self._score(rows, captions, "groups", k)
        if self.baseline == "leave-one-out":
            scores = (scores - scores.mean(axis=1, keepdims=True)) * (k / (k - 1))  # r_i - mean of the others
        return (scores - self._greedy_scores(rows, greedy) + credits).astype(np.float32)

    def _greedy_scores(self, rows: np.ndarray, greedy: Any) -> np.ndarray:
        """Return the scores (B, 1) of greedy captions, or zeros (1, 1) for another baseline."""
        if (greedy is None) == (self.baseline == "greedy"):
            raise InputError("greedy= has the captions of the greedy decode, for baseline='greedy' and no other")
        return np.zeros((1, 1)) if greedy is None else self._score(rows, greedy, "greedy", 1, credited=False)[0]

    def _rows(self, ids: Any) -> np.ndarray:
        """Return the row of the example of each id, shape (B,)."""
        names: Sequence[Any] = ids.tolist() if hasattr(ids, "tolist") else ids
        if self._row_of.keys() == {""}:  # no references
            return np.zeros(len(names), dtype=np.int64)
        rows = [self._row_of.get(name if isinstance(name, str) else str(name), -1) for name in names]
        if -1 in rows:
            name = str(names[rows.index(-1)])
            raise UnknownName(f"ids: no references of example '{name}'{did_you_mean(name, self._row_of)}", parameter="ids", value=name)
        return np.array(rows, dtype=np.int64)

    def _score(self, rows: np.ndarray, captions: Any, what: str, k: int, *, credited: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores and the credits of ``captions``, k of each of B examples, both of shape (B, k)."""
        texts, is_ended = self.texts.read(captions, what)
        if len(texts) != len(rows) * k:
            raise InputError(f"{counted(len(rows), 'id')} but {counted(len(texts), 'caption')}", what)
        scores, credits = np.zeros((2, len(rows), k))
        with self._lock:
            for corpus in dict.fromkeys(term.corpus for term in self.terms):
                read = [f"{text} {END_WORD}" if end else text for text, end in zip(texts, is_ended)] if corpus.counts_end else texts
                terms = [term for term in self.terms if term.corpus is corpus and (credited or not term.is_of_sets)]
                for n in (k, 1) if k > 1 else (1,):
                    chosen = [term for term in terms if (n == k or not term.reads_groups) and (n == 1 or term.reads_groups)]
                    for positions, batch in corpus.batches(rows if n == k else np.repeat(rows, k), read, n) if chosen else ():
                        for term in chosen:
                            out = credits if term.is_of_sets else scores
                            out.reshape(-1, n)[positions] += term.score(batch)
        return scores, credits


def reward(
    metric: str | Mapping[str, float],
    references: Any = None,
    *,
    decode: Decode | None = None,
    vocabulary: Vocabulary | None = None,
    end: int | None = None,
    eos: bool = False,
    scale: Scale = "none",
    baseline: Baseline = "none",
    **parameters: Any,
) -> Reward:
    """Return a reward of captions: ``harness.reward("ciderd", references)``.

    Parameters
    ----------
    metric : str or mapping
        ``NAME`` or ``NAME:PARAMETER=VALUE,...``, or a mapping from these to weights, such as ``{"ciderd": 1, "trm:distance=cider": -0.5}``.
        The weight is the factor of the value of the metric, so that it is negative where lower is better; a name alone has the weight
        1 or -1.
    references : mapping, path or None
        References by id (texts, or sequences of token ids), or a file of references. None for metrics that need none: all ids are known.
    decode, vocabulary : optional
        Function from a list of token ids to its text, or the word of each token id, for captions of token ids.
    end : int, optional
        Token id that ends a caption.
    eos : bool
        Count the end of a sentence as a word of captions and references, in CIDEr and CIDEr-D: of all texts, and of token ids that have
        ``end``. Without it captions that break off get high scores.
    scale : {"none", "estimated"} or mapping
        Divisor of each metric: 1, the standard deviation of its scores or credits on the references, or numbers by metric.
    baseline : {"none", "greedy", "leave-one-out"}
        What is subtracted from the scores of metrics of single captions: nothing, the score of the greedy decode, or the mean of the
        other captions of the group. Credits have no baseline: one that depends on the caption biases the gradient.
    **parameters
        Parameters of a metric that is a name.

    Raises
    ------
    HarnessError
        Unknown metrics and parameters, metrics that score neither captions nor sets, weights that are not finite or that reward the worse
        value, and metrics that compare captions with each other alone and no metric beside them that reads references.

    Examples
    --------
    >>> ciderd = reward("ciderd", {"1": ["a dog runs", "the dog"], "2": ["a cat sat", "one cat"]})
    >>> ciderd(["1", "2"], ["a dog runs", "a cat"]).round(3).tolist()
    [4.366, 2.627]
    """
    texts = CaptionTexts(decode, vocabulary, end)
    examples = _read_examples(references, texts)
    if baseline not in ("none", "greedy", "leave-one-out"):
        raise HarnessError(f"baseline is {baseline!r}; expected 'none', 'greedy' or 'leave-one-out'", parameter="baseline")
    plans = _read_metrics(metric, parameters)
    plain, ended = RewardCorpus(examples, counts_end=False), RewardCorpus(examples, counts_end=True) if eos else None
    terms = [
        Term(label, plan.metric, weight, ended if ended is not None and getattr(plan.metric, "counts_end", False) else plain)
        for label, (plan, weight) in plans.items()
    ]
    if ended is not None and all(term.corpus is plain for term in terms):
        raise HarnessError(f"eos: {', '.join(plans)} does not count the end of a sentence as a word", parameter="eos")
    _check_terms(terms, baseline)
    for term in terms:
        term.corpus.fit(term.metric)
    return Reward(_scaled(terms, scale), texts, baseline, "_".join(["reward", *(plan.name for plan, _ in plans.values())]))


def _read_examples(references: Any, texts: CaptionTexts) -> list[Example]:
    """Return the examples of references by id, of a file, or one without references for all ids."""
    if references is None:
        return [Example("", ())]
    if not isinstance(references, Mapping):
        return list(cast(Reader, current().create("readers", reference_reader(), {"path": str(references)})))
    by_id = by_text_id(cast("Mapping[object, object]", references), "references")
    if not by_id or not all(by_id.values()):
        raise InputError(f"references: {'an example has none' if by_id else 'there are no examples'}", parameter="references")
    return [
        Example(key, tuple(texts.read([value] if isinstance(value, str) else value, f"references: '{key}'")[0]))
        for key, value in by_id.items()
    ]


def _read_metrics(metric: str | Mapping[str, float], parameters: Mapping[str, Any]) -> dict[str, tuple[MetricPlan, float]]:
    """Return the plan and the weight of each metric by the text that names it."""
    if isinstance(metric, Mapping) and parameters:
        raise HarnessError(f"parameter '{next(iter(parameters))}' belongs to one metric; write it as NAME:PARAMETER=VALUE")
    if not metric:
        raise HarnessError("no metric; expected a name or a mapping from names to weights", parameter="metric")
    out: dict[str, tuple[MetricPlan, float]] = {}
    for text, given in metric.items() if isinstance(metric, Mapping) else ((metric, None),):
        name, params = split_spec(parse_metric(text), "metric")
        found = metric_plans([{name: {**params, **parameters}}])
        plan = found[0]
        if len(found) > 1 or not isinstance(plan, MetricPlan) or plan.metric.spec.level not in ("item", "set"):
            raise HarnessError(f"reward: '{text}' is not one metric of captions or of sets of captions", value=text)
        higher = plan.metric.spec.higher_is_better
        if higher is None:
            raise HarnessError(f"reward: {text} has no direction; expected a metric of which higher or lower is better", value=text)
        sign = 1.0 if higher else -1.0
        weight = sign if given is None else given
        if not _is_number(weight) or weight * sign <= 0:
            better = "higher" if higher else "lower"
            raise HarnessError(
                f"reward: the weight of {text} is {weight!r}; {better} is better, so expected a number {'above' if higher else 'below'} 0",
                parameter="metric", value=text,
            )  # fmt: skip
        out[text] = (plan, float(weight))
    return out


def _check_terms(terms: Sequence[Term], baseline: Baseline) -> None:
    """Raise :class:`HarnessError` for terms that no trained captioner should get; log what a policy can exploit."""
    if baseline != "none" and all(term.is_of_sets for term in terms):
        raise HarnessError(
            f"baseline '{baseline}': {terms[0].label} gives credits S(C) - S(C without i), which need none; one that depends on the "
            "caption would bias the gradient", parameter="baseline",
        )  # fmt: skip
    has_quality = any(not term.is_of_sets for term in terms)
    for term in () if has_quality else terms:
        if not getattr(term.metric, "compares_references", "references" in term.metric.spec.needs):
            raise HarnessError(
                f"reward: {term.label} reads the captions alone, so that any different captions get the most; add a metric of single "
                f"captions that reads references, as in {{'{term.label}': {term.weight:g}, NAME: 1}}", value=term.label,
            )  # fmt: skip
        if attack := getattr(term.metric, "gamed_by", ""):
            _log.warning("reward %s: %s get more than true captions; add a metric of single captions", term.label, attack)


def _scaled(terms: Sequence[Term], scale: Scale) -> list[Term]:
    """Return the terms with their scales; raise :class:`HarnessError` for a scale that is not a number above 0."""
    if isinstance(scale, str):
        if scale not in ("none", "estimated"):
            raise HarnessError(f"scale is {scale!r}; expected 'none', 'estimated' or numbers by metric", parameter="scale")
        return [replace(term, scale=term.estimate_scale()) for term in terms] if scale == "estimated" else list(terms)
    labels = [term.label for term in terms]
    for label, value in scale.items():
        if label not in labels:
            raise UnknownName.of_name("scale of an unknown metric", label, labels, "metrics are", parameter="scale")
        if not _is_number(value) or value <= 0:
            raise HarnessError(f"scale of {label} is {value!r}; expected a number above 0", parameter="scale")
    return [replace(term, scale=float(scale.get(term.label, 1.0))) for term in terms]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
