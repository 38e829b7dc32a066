"""Rewards of captions and of groups of captions, for training by policy gradients: everything is fitted once, nothing is read per call.

A metric of single captions gives each caption its score. A metric of sets gives each caption of a group its credit
A_i = S(C) - S(C without i). Since S(C without i) does not depend on caption c_i, the sum of A_i grad log pi(c_i) is an unbiased estimate
of the gradient of E[S] (Williams 1992; docs/rewards.md).
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np

from harness.contracts import Batch, CaptionSet, CreditsCandidates, Example, Metric, PositionedBatch, Reader, example_scores
from harness.errors import HarnessError, InputError, UnknownName, counted, did_you_mean
from harness.files.captions import by_text_id
from harness.registry import current, split_spec
from harness.run.features import FeatureCache
from harness.run.file_pair import reference_reader
from harness.run.metric_plan import MetricPlan, metric_plans
from harness.run.reward_texts import END_WORD, CaptionTexts, Decode, Vocabulary
from harness.run.score import fit_once, scorable
from harness.spec.metric_text import parse_metric

Baseline = Literal["none", "greedy", "leave-one-out"]
Scale = str | Mapping[str, float]
MAX_TEXTS = 100_000
"""Number of texts after which everything but the corpus state is dropped, so that memory does not grow with the number of calls."""
SCALE_EXAMPLES = 500
"""Maximum number of examples from which a scale is estimated."""
SCALE_REFERENCES = 5
"""Minimum number of references of an example from which the scale of a metric of sets is estimated."""
_log = logging.getLogger(__name__)


class _Sets(Sequence[CaptionSet]):
    """Caption sets of a batch that are made when a metric reads them: most metrics read the ids of the texts alone."""

    def __init__(self, examples: Sequence[Example], rows: list[int], texts: Sequence[str], positions: list[int], n: int) -> None:
        self._examples, self._rows, self._texts, self._positions, self._n = examples, rows, texts, positions, n

    def __len__(self) -> int:
        return len(self._positions)

    def __getitem__(self, index: Any) -> Any:
        position = self._positions[int(index)]
        example, first = self._examples[self._rows[position]], position * self._n
        captions = tuple(self._texts[first : first + self._n])
        return CaptionSet(example.id, captions, example.references, example.media, example.source, example.meta)


class _Corpus:
    """References of all examples, on which metrics are fitted once, and the texts that were scored lately."""

    def __init__(self, examples: Sequence[Example], *, counts_end: bool) -> None:
        self.counts_end = counts_end
        self.examples = list(map(_with_end, examples)) if counts_end else list(examples)
        self.features = FeatureCache([example.references for example in self.examples])
        self._counts = np.array([len(example.references) for example in self.examples])
        self._forget_texts()

    def _forget_texts(self) -> None:
        self.features.next_shard()
        self._ids = np.full((len(self.examples), self._counts.max()), -1, dtype=np.int64)
        self._is_interned = np.zeros(len(self.examples), dtype=bool)

    def __getstate__(self) -> dict[str, Any]:
        self._forget_texts()
        return self.__dict__ | {"_ids": None, "_is_interned": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.features.references = [example.references for example in self.examples]
        self._forget_texts()

    def fit(self, metric: Metric) -> Any:
        """Return the corpus state of a metric, which stays."""
        state = fit_once(metric, self.features)
        self.features.keep(("state", metric.signature()), state)
        return state

    def batches(self, rows: np.ndarray, texts: Sequence[str], n: int) -> Iterator[PositionedBatch]:
        """Yield the examples ``rows`` (B,) with ``texts``, n captions of each, as batches of one number of references."""
        if len(self.features.texts) > MAX_TEXTS:
            self._forget_texts()
        for row in map(int, np.unique(rows[~self._is_interned[rows]])):
            self._ids[row, : self._counts[row]] = self.features.intern(self.examples[row].references)
            self._is_interned[row] = True
        candidate_ids, counts = self.features.intern(texts).reshape(len(rows), n), self._counts[rows]
        for m in np.unique(counts).tolist():
            positions = np.flatnonzero(counts == m)
            ids = np.concatenate([candidate_ids[positions], self._ids[rows[positions], :m]], axis=1)
            yield PositionedBatch(positions, Batch(_Sets(self.examples, rows.tolist(), texts, positions.tolist(), n), ids, n, m))


def leave_each_out(metric: Metric, batch: Batch, features: Any, state: Any) -> np.ndarray:
    """Return S(C) - S(C without i) for each candidate i, shape (B, n), by scoring every set without i again."""
    scores = example_scores(metric, metric.stats(batch, features, state))
    out = np.empty((len(batch), batch.n))
    for i in range(batch.n):
        sets = [
            CaptionSet(
                item.id, item.candidates[:i] + item.candidates[i + 1 :], item.references, item.media, item.source, item.meta
            ) for item in batch.sets
        ]  # fmt: skip
        without = Batch(tuple(sets), np.delete(batch.text_ids, i, axis=1), batch.n - 1, batch.m)
        out[:, i] = scores - example_scores(metric, metric.stats(without, features, state))
    return out


@dataclass(frozen=True)
class Term:
    """One metric of a reward."""

    label: str
    metric: Metric
    weight: float
    """Factor of the value of the metric; negative for a metric of which lower is better."""
    corpus: _Corpus
    scale: float = 1.0

    @property
    def is_of_sets(self) -> bool:
        """True for a metric of sets, whose captions get credits."""
        return self.metric.spec.level == "set"

    def score(self, batch: Batch) -> np.ndarray:
        """Return the weighted scores or credits of the candidates of a batch, shape (B, n); 0 where undefined.

        Raises :class:`InputError` for sets, or sets without one of their captions, that are too small for the metric.
        """
        smallest = batch.n - self.is_of_sets
        if smallest < 1 or not scorable(self.metric, np.asarray(smallest), np.asarray(batch.m)):
            without = " without one of them" if self.is_of_sets else ""
            raise InputError(
                f"{self.label} has no value for {counted(batch.n, 'caption')}{without} beside {counted(batch.m, 'reference')}; "
                f"expected at least {max(self.metric.spec.min_candidates, 1) + self.is_of_sets}"
                f" and {self.metric.spec.min_references}", f"example '{batch.ids[0]}'",
            )  # fmt: skip
        features, state = self.corpus.features, fit_once(self.metric, self.corpus.features)
        if not self.is_of_sets:
            values = example_scores(self.metric, self.metric.stats(batch, features, state))[:, None]
        elif isinstance(self.metric, CreditsCandidates):
            values = self.metric.credits(batch, features, state)
        else:
            values = leave_each_out(self.metric, batch, features, state)
        return np.nan_to_num(values * (self.weight / self.scale), nan=0.0)

    def estimate_scale(self) -> float:
        """Return the standard deviation of the scores or credits of references, as captions beside the other references.

        A metric of single captions scores the first reference of each example, a metric of sets the first half of the references.
        """
        fewest = SCALE_REFERENCES if self.is_of_sets else 2
        examples = [example for example in self.corpus.examples if len(example.references) >= fewest][:SCALE_EXAMPLES]
        values = [np.zeros(0)]
        for example in examples:
            n = (len(example.references) + 1) // 2 if self.is_of_sets else 1
            item = CaptionSet(
                example.id, example.references[:n], example.references[n:], example.media, example.source, example.meta
            )  # fmt: skip
            values.append(self.score(self.corpus.features.batch([item])).ravel() / self.weight)
        spread = float(np.concatenate(values).std()) if examples else 0.0
        if not spread > 1e-9:
            reason = "is constant on the references" if examples else f"needs examples of {fewest} references"
            raise HarnessError(f"scale: the estimate of {self.label} {reason}; write scale={{'{self.label}': NUMBER}}", parameter="scale")
        return spread


def _with_end(example: Example) -> Example:
    return replace(example, references=tuple(f"{text} {END_WORD}" for text in example.references))


class Reward:
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
    def is_of_sets(self) -> bool:
        """True where a term is a metric of sets, so that rewards belong to captions of a group."""
        return any(term.is_of_sets for term in self.terms)

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
        if self.is_of_sets:
            label = next(term.label for term in self.terms if term.is_of_sets)
            raise InputError(f"{label} scores sets of captions; use reward.group(ids, groups)")
        if self.baseline == "leave-one-out":
            raise InputError("the baseline leave-one-out is the mean of the others of a group; use reward.group(ids, groups)")
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
        scores, credits = np.zeros((len(texts), 1)), np.zeros((len(rows), k))
        with self._lock:
            for corpus in dict.fromkeys(term.corpus for term in self.terms):
                read = [f"{text} {END_WORD}" if end else text for text, end in zip(texts, is_ended)] if corpus.counts_end else texts
                terms = [term for term in self.terms if term.corpus is corpus]
                singles, sets = [term for term in terms if not term.is_of_sets], [term for term in terms if term.is_of_sets and credited]
                for chosen, batch_rows, n, out in ((singles, np.repeat(rows, k), 1, scores), (sets, rows, k, credits)):
                    for positions, batch in corpus.batches(batch_rows, read, n) if chosen else ():
                        for term in chosen:
                            out[positions] += term.score(batch)
        return scores.reshape(len(rows), k), credits


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
    plain, ended = _Corpus(examples, counts_end=False), _Corpus(examples, counts_end=True) if eos else None
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
