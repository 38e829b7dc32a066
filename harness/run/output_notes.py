"""Notes on the captions of a system, made before they are scored:
:mod:`harness.files.generated` in lines for people.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, Protocol, cast, runtime_checkable

from harness.contracts import CaptionSet, Metric
from harness.files.generated.record_signs import RecordSigns
from harness.files.generated.remarks import OutputLook, Remark, output_remarks
from harness.registry import current
from harness.run.cut_texts import CutTexts
from harness.run.generate import blocks
from harness.run.systems import PlannedSystem

SPLITS_AT_BLANKS = ("ptb", "java-ptb")
"""Tokenisers (parameter ``tokenizer`` of metrics) that take a text without blanks as
one word.
"""
CUT_OFF = "length"
"""Value of :attr:`~harness.contracts.Generation.stop_reasons` of a caption that was cut
off.
"""
OF_FILES = {"copies", "repeats"}
"""Remarks that are about files alone: other adapters give references, or equal samples
of a model, because they are asked to.
"""
_log = logging.getLogger(__name__)


@runtime_checkable
class ReadsRecords(Protocol):
    """An adapter whose captions come from records of files,
    and can be cleaned by its parameter ``clean``.
    """

    def record_signs(self) -> Sequence[RecordSigns]:
        """Return what the records of each file say about their captions."""
        ...


def notes_of_system(
    system: PlannedSystem, adapter: object, metrics: Iterable[Metric]
) -> list[str]:
    """Return one line for each kind of remark on the captions of a system, with its
    label and what removes it.
    """
    metrics = list(metrics)
    look = OutputLook()
    cut_texts = CutTexts(metrics)
    for start, stop in blocks(system.start, system.start + len(system)):
        sets: list[CaptionSet] = []
        cut_off: set[str] = set()
        examples = system.store.slice(start, stop)
        for example, row in zip(examples, system.rows(start, stop)):
            candidates = tuple(cast("Sequence[str]", row.get("candidates") or ()))
            own = cast("Sequence[str] | None", row.get("references"))
            references = example.references if own is None else tuple(own)
            sets.append(CaptionSet(example.id, candidates, references))
            stop_reasons = cast("Sequence[str] | None", row.get("stop_reasons"))
            if CUT_OFF in (stop_reasons or ()):
                cut_off.add(example.id)
        look.add(sets, cut_off)
        cut_texts.add(sets)

    in_files = isinstance(adapter, ReadsRecords)
    left_out = set[str]() if in_files else set(OF_FILES)
    if not splits_at_blanks(metrics):
        left_out.add("script")
    of_captions = [item for item in look.remarks() if item.kind not in left_out]
    source = "file" if in_files else "model"
    return [
        f"{system.label}: {text}"
        for text in (
            *(_line(remark, source) for remark in record_remarks(adapter)),
            *(_line(remark, source) for remark in of_captions),
            *cut_texts.notes(),
        )
    ]


def notes_of_sets(sets: Sequence[CaptionSet], metrics: Iterable[Metric]) -> list[str]:
    """Return one line for each kind of remark on the candidates of caption sets."""
    metrics = list(metrics)
    cut_texts = CutTexts(metrics)
    cut_texts.add(sets)
    remarks = [
        item
        for item in output_remarks(sets)
        if item.kind != "script" or splits_at_blanks(metrics)
    ]
    return [*(_line(item, "python") for item in remarks), *cut_texts.notes()]


def record_remarks(adapter: object) -> list[Remark]:
    """Return the remarks of the files of an adapter;
    none for one that reads no records.
    """
    if not isinstance(adapter, ReadsRecords):
        return []
    return [remark for signs in adapter.record_signs() for remark in signs.remarks()]


def clean_sets(
    sets: Sequence[CaptionSet], names: tuple[str, ...], *, allow_empty: bool
) -> list[CaptionSet]:
    """Return caption sets with cleaned candidates
    (:data:`harness.files.generated.cleaning.CLEAN`), and log how many were.

    Raises :class:`~harness.errors.InputError` for a candidate of which nothing is left,
    unless empty ones are accepted.
    """
    if not names:
        return list(sets)
    signs = RecordSigns(names, captions=sum(len(item.candidates) for item in sets))
    cleaned: list[CaptionSet] = []
    for item in sets:
        texts = signs.look(
            {}, item.candidates, f"candidates: '{item.id}'", allow_empty=allow_empty
        )
        cleaned.append(replace(item, candidates=signs.drop_repeats(texts)))
    log_notes([remark.text for remark in signs.remarks()])
    return cleaned


def log_notes(notes: Iterable[str]) -> None:
    """Log notes where there is no run that keeps them."""
    for text in notes:
        _log.warning("note: %s", text)


def splits_at_blanks(metrics: Iterable[Metric]) -> bool:
    """Return True where a metric takes a text without blanks as one word."""
    return any(
        getattr(metric, "tokenizer", None) in SPLITS_AT_BLANKS for metric in metrics
    )


def _line(remark: Remark, source: Literal["file", "model", "python"]) -> str:
    """Return a remark with what removes it from the captions of a file, of a model,
    or of a program.
    """
    if not remark.clean:
        return remark.text
    ways = {
        "file": f"--clean {remark.clean}, or clean: [{remark.clean}] in a spec,",
        "model": f"the adapter {_cleaning_adapter()} with clean: [{remark.clean}]",
        "python": f'clean="{remark.clean}"',
    }
    effect = "keeps one" if remark.clean == "repeats" else "removes it"
    return f"{remark.text} ({ways[source]} {effect})"


def _cleaning_adapter() -> str:
    """Return the name of the adapter that cleans the captions of another one."""
    return current().with_role("adapters", "cleans-captions").name
