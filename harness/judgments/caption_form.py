"""Rated captions: one per record, or all captions of an item in one record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from harness.contracts import JudgedCaption
from harness.errors import InputError
from harness.files.record_files import holds_records
from harness.files.records import Record, kind
from harness.files.yaml_source import YamlValue
from harness.judgments.collection import Collection
from harness.judgments.fields import lookup, number, ratings, scalars, votes_of_mean

CAPTION_COLUMNS = (
    "caption",
    "candidate",
    "hypothesis",
    "text",
    "decoded",
    "cand",
    "mt",
)
SCORE_COLUMNS = (
    "human_score",
    "human_mean",
    "score",
    "rating",
    "ratings",
    "label",
    "human",
    "human_scores",
)
NESTED_COLUMNS = ("candidates", "systems", "human_judgement")


def read_captions(collection: Collection) -> None:
    """Collect rated captions: one per record, or all captions of an item in one
    record.
    """
    for number_of, record in enumerate(collection.records()):
        usual = [
            name for name in NESTED_COLUMNS if holds_records(record.fields.get(name))
        ]
        nested = collection.name("captions", usual, record, needed=False)
        item = collection.item(record, number_of)
        if item is None:
            continue
        outer = record if nested else None
        for inner, system in _iterate_captions(record, nested):
            if system is not None and not collection.is_selected(
                {**record.fields, **inner.fields, "system": system}
            ):
                continue
            collection.add(_read_rating(collection, inner, item, system, outer))


def list_entries(record: Record, name: str) -> list[tuple[str | None, YamlValue]]:
    """Return the captions of a record, with the systems that the keys of an object
    name.
    """
    value = lookup(record.fields, name)
    if isinstance(value, Mapping):
        of_systems = cast("Mapping[str, YamlValue]", value)
        return [(str(system), item) for system, item in of_systems.items()]
    if isinstance(value, list):
        return [(None, item) for item in cast("list[YamlValue]", value)]
    raise InputError(
        f"'{name}' is {kind(value)}; expected a list or an object of captions",
        record.where,
    )


def _iterate_captions(
    record: Record, nested: str | None
) -> Iterator[tuple[Record, str | None]]:
    """Yield the caption records of a record with the systems that their keys name."""
    entries: list[tuple[str | None, YamlValue]] = [(None, record.fields)]
    if nested:
        entries = list_entries(record, nested)
    for system, item in entries:
        if not isinstance(item, Mapping):
            raise InputError(
                f"'{nested}' holds {kind(item)}; expected an object with a caption",
                record.where,
            )
        yield Record(record.where, item), system


def _read_rating(
    collection: Collection,
    record: Record,
    item: int,
    system: str | None,
    outer: Record | None,
) -> JudgedCaption:
    """Return the rated caption of a record, which stands in an outer one or alone."""
    mean_of = collection.source.mean_of
    caption = collection.name("caption", CAPTION_COLUMNS, record)
    score = collection.name("score", SCORE_COLUMNS, record, needed=mean_of is not None)
    of_system = None
    if system is None:
        usual = ("system", "model_id")
        of_system = collection.name("system", usual, record, needed=False)
    mark = collection.source.columns.own_reference
    if not mark and "is_own_reference" in record.fields:
        mark = "is_own_reference"
    texts = collection.texts(
        lookup(record.fields, str(caption)), record.where, str(caption)
    )

    # What is not used otherwise: fields to group by, and scores of other programs.
    of_item = [
        collection.name(role, (), record, needed=False)
        for role in ("item", "references")
    ]
    used = [caption, score, of_system, *of_item]
    meta = scalars(record.fields, [*used, "is_own_reference"])
    if outer is not None:
        meta = {**scalars(outer.fields, [*NESTED_COLUMNS, *used]), **meta}
    scores: dict[str, float] = {}
    for name, raw in record.fields.items():
        if isinstance(raw, (int, float)) and not isinstance(raw, bool):
            value = number(raw)
            if value is not None:
                scores[name] = value

    if system is None:
        system = str(lookup(record.fields, of_system) or "") if of_system else ""
    # a system that is a key of an object can be the condition of a mark as well
    marked_fields = {"system": system, **record.fields} if system else record.fields
    references = collection.own(texts, item, marked_fields, mark, record.where)
    rated = ratings(lookup(record.fields, score), record.where, score) if score else ()
    if mean_of is not None:
        rated = votes_of_mean(rated, mean_of, record.where, str(score))
    return JudgedCaption(item, texts, system, rated, references, scores, meta)
