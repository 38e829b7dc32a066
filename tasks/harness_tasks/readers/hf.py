"""The ``hf`` reader: Hugging Face datasets from the hub or from disk,
through the ``datasets`` library.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Any

from harness.contracts import Example, PathParam
from harness.contracts.parameters import Count, check_arguments
from harness.errors import InputError, UnknownName
from harness.files.dataset_source import DatasetSource, loaded_commit
from harness.files.examples import RowReader
from harness.files.media import (
    MediaCell,
    encoded_content,
    keep_open,
    store_media,
    suffix_of,
)
from harness.files.records import Record
from harness.files.table_columns import Columns, check_mapping, find_columns
from harness.files.user_files import fingerprint

MAPPINGS: Mapping[str, Mapping[str, Any]] = {
    # Karpathy splits with a list of sentences per row or one sentence per row, or the
    # benchmark layout with `answer`.
    "coco": {
        "id": ["cocoid", "image_id", "question_id", "imgid", "id"],
        "references": ["sentences_raw", "sentences", "captions", "answer", "caption"],
        "media": ["filename", "file_name", "filepath", "image_path"],
    },
    # Columns caption_0 ... caption_4 and the image; no id.
    "flickr8k": {"id": None, "references": ["caption_*"]},
    # A list of captions, img_id and filename; one hub split, the Karpathy split is a
    # column.
    "flickr30k": {
        "id": ["img_id", "filename"],
        "references": ["caption", "captions", "sentences", "caption_*"],
        "media": ["filename"],
    },
}
"""Column mappings of the usual hub layouts; of a list of alternatives the first column
present is used.
"""

_MEDIA_TYPES = {"Image": ".png", "Video": ".mp4", "Audio": ".wav"}
"""Types of media columns of the library -> suffix of a cell without a file name, by
which adapters know its kind.
"""
_ROWS = 256
"""Rows whose file names are read at a time."""


class HuggingFaceDataset:
    """Examples of a dataset, by hub name or local path.

    A column holds lists of captions, several columns hold one caption each, or each row
    holds one caption; then the rows of one id make one example. Only the columns in use
    are read.

    A column of images, videos or sound becomes ``Example.media``: a text that says
    where the cell is (:class:`harness.files.media.MediaCell`). Its content is read when
    an adapter or a metric opens it. A stream has no cells to come back to: there the
    encoded content is written to ``$HARNESS_CACHE/media`` as its row goes by.

    Parameters
    ----------
    path : path
        Name on the hub (``owner/name``), a folder written by ``save_to_disk``, or a
        folder or file of Parquet, JSON, CSV or Arrow, or of images with
        ``metadata.jsonl``.
    split : str, optional
        Split of the dataset, with slices such as ``test[:100]``, ``train[10%:20%]`` or
        ``train+test[5:10]``; required when it has several.
    config : str, optional
        Configuration, passed to the library.
    revision : str, optional
        Branch, tag or commit of a dataset of the hub; default: the newest. The commit
        is recorded in the manifest.
    mapping : {"coco", "flickr8k", "flickr30k"}, optional
        Column names of a usual layout.
    columns : mapping, optional
        Names of single columns: ``id`` (null numbers the rows), ``references`` (a name,
        a pattern such as ``caption_*``, or a list of names), ``media`` (default: the
        first column of images, videos or sound; null: none), ``source``, ``split``.
    where : mapping, optional
        Column -> value; rows with other values are skipped (``where: {split: test}``).
    streaming : bool, default False
        Read row by row, which bounds memory; the rows of one id must then be adjacent.
    limit_references : int, optional
        Number of references per example, the first ones of each; all by default.
    allow_empty : bool, default False
        Accept empty references.

    Raises
    ------
    InputError
        For a path that is neither a file, a folder nor a dataset name, and for a
        parameter out of range.
    UnknownName
        For an unknown ``mapping``.
    """

    @check_arguments
    def __init__(
        self,
        *,
        path: PathParam,
        split: str | None = None,
        config: str | None = None,
        revision: str | None = None,
        mapping: str | None = None,
        columns: Mapping[str, Any] | None = None,
        where: Mapping[str, Any] | None = None,
        streaming: bool = False,
        limit_references: Count | None = None,
        allow_empty: bool = False,
    ) -> None:
        self.path = str(path)
        self.requested = DatasetSource(self.path, config, split, revision, streaming)
        self.mapping = _mapping(mapping)
        self.columns = check_mapping(columns)
        self.where = dict(where or {})
        self.limit_references = limit_references
        self.allow_empty = allow_empty

    @cached_property
    def source(self) -> DatasetSource:
        """The source with the commit of the hub as its revision,
        asked for once per reader.
        """
        return self.requested.pin()

    @cached_property
    def _dataset(self) -> Any:
        """The loaded split; raises :class:`InputError` for a cache that holds another
        commit than the spec names.
        """
        dataset = self.source.load()
        commit = loaded_commit(dataset)
        revision = self.source.revision
        if commit and revision and len(revision) == 40 and commit != revision:
            raise InputError(
                f"the cache holds the commit {commit}, "
                f"and the spec names {revision}. {self.source.fetch_hint()}",
                self.path,
                parameter="revision",
                value=revision,
            )
        return dataset

    @cached_property
    def _commit(self) -> str | None:
        """Commit of a dataset of the hub; None for local files, and where neither the
        hub nor the cache says it.
        """
        if self.source.local is not None:
            return None
        revision = self.source.revision or ""
        return revision if len(revision) == 40 else loaded_commit(self._dataset)

    def fingerprint(self) -> str:
        """Return a hash of the parameters and the files,
        or of name and commit for a dataset of the hub.

        Raises :class:`InputError` for a dataset of the hub that cannot be loaded.
        """
        params = {
            "split": self.requested.split,
            "config": self.requested.config,
            "mapping": self.mapping,
            "columns": self.columns,
            "where": self.where,
            "limit_references": self.limit_references,
            "allow_empty": self.allow_empty,
        }

        local = self.source.local
        if local is None:
            revision = self._commit or self.requested.revision
            params |= {"name": self.path, "revision": revision}
            return fingerprint("hf", [], params)

        paths = [local]
        if not local.is_file():
            paths = sorted(path for path in local.rglob("*") if path.is_file())
        return fingerprint("hf", paths, params)

    def describe(self) -> Mapping[str, object]:
        """Return the name or path, split, configuration, and for a dataset of the hub
        the commit that was read.
        """
        source = self.requested
        values = {
            "path": self.path,
            "config": source.config,
            "split": source.split,
            "revision": source.revision,
        }
        return {
            name: value
            for name, value in {**values, "commit": self._commit}.items()
            if value is not None
        }

    def __iter__(self) -> Iterator[Example]:
        """Yield the examples.

        Raises :class:`InputError` for a dataset that the library cannot load, an
        unknown split or column, and invalid ids or captions.
        """
        dataset = self._dataset
        names = dataset.column_names
        if names is None:  # a stream without a declared schema
            names = list(next(iter(dataset), {}))

        columns = self._columns(names, media_columns(dataset), dataset.features or {})
        self._check_media(dataset, columns.media)

        reader = RowReader(
            columns,
            self.allow_empty,
            self.limit_references,
            consecutive=self.source.streaming,
        )
        yield from reader.examples(self._rows(dataset, columns))

    def _rows(self, dataset: Any, columns: Columns) -> Iterator[Record]:
        """Yield the rows that ``where`` selects,
        media as texts for ``Example.media``.
        """
        media = columns.media if columns.media in media_columns(dataset) else None
        used = list(dict.fromkeys([*columns.column_list(), *self.where]))
        cells: Iterable[str | None] | None = None
        suffix = _usual_suffix(dataset, media) if media else ""
        if media and self.source.streaming:
            dataset = dataset.cast_column(
                media, replace(dataset.features[media], decode=False)
            )
        elif media:
            keep_open(self.source, dataset)
            cells = self._cells(dataset, media)
            used.remove(media)

        rows = self.source.rows(dataset.select_columns(used))
        texts = iter(cells) if cells is not None else repeat(None)

        for number, (row, text) in enumerate(zip(rows, texts), 1):
            if any(row[name] != value for name, value in self.where.items()):
                continue

            if media:
                if cells is None:
                    text = self._store_streamed_cell(row[media], number, suffix)
                row[media] = text
            for name in columns.captions:
                row[name] = _sentences(row[name])
            yield Record(f"{self.path}: row {number}", row)

    def _store_streamed_cell(self, cell: Any, number: int, suffix: str) -> str | None:
        """Return the media text of a cell of a stream: the path of a file,
        or of a new file in the cache.
        """
        if not isinstance(cell, Mapping) or (
            cell.get("bytes") is None and not cell.get("path")
        ):
            return None
        path = str(cell.get("path") or "")
        if cell.get("bytes") is None:
            return path

        content = encoded_content(cell, f"{self.path}: row {number}")
        name = _file_name(path, number - 1, suffix_of(content) or suffix)
        return str(store_media(content, name))

    def _cells(self, dataset: Any, column: str) -> Iterator[str | None]:
        """Yield one media text per row: the path of a file, or the place of a cell;
        only file names are read here.
        """
        suffix = _usual_suffix(dataset, column)
        table = dataset.with_format("arrow").select_columns([column])
        for start in range(0, len(dataset), _ROWS):
            chunk = table[start : start + _ROWS].column(column).combine_chunks()
            paths = chunk.field("path").to_pylist()
            empty = chunk.is_null().to_pylist()
            embedded = chunk.field("bytes").is_valid().to_pylist()

            for offset, path in enumerate(paths):
                row = start + offset

                # A cell holds nothing, the path of a file, or the content of one.
                if empty[offset] or (not path and not embedded[offset]):
                    yield None
                elif not embedded[offset]:
                    yield str(path)
                else:
                    name = _file_name(path, row, suffix)
                    yield MediaCell(self.source, column, row, name).text

    def _columns(
        self, present: list[str], media: Sequence[str], features: Mapping[str, Any]
    ) -> Columns:
        """Return the columns to read, from ``mapping`` and ``columns``; ``media`` are
        the columns of images, videos and sound.
        """
        for name in self.where:
            if name not in present:
                raise InputError.of_name(
                    "where: no column",
                    name,
                    present,
                    where=self.path,
                    parameter="where",
                )

        usual: dict[str, Any] = {"split": None}
        for name, alternatives in self.mapping.items():
            usual[name] = alternatives and self._alternative(
                name, list(alternatives), present
            )
        if media:
            usual["media"] = media[0]

        typical = {name: _typical_value(features.get(name)) for name in present}
        return find_columns({**usual, **self.columns}, [typical], self.path)

    def _check_media(self, dataset: Any, column: str | None) -> None:
        """Raise :class:`InputError` for a media column that holds neither names nor one
        image, video or sound per row.
        """
        feature = (dataset.features or {}).get(column)
        if (
            feature is None
            or column in media_columns(dataset)
            or getattr(feature, "dtype", "") in ("string", "large_string", "null")
        ):
            return

        kind = type(feature).__name__
        expected = (
            "expected names, or one image, video or sound per row (columns: {media: "
            "null} reads none)"
        )
        raise InputError(
            f"the column '{column}' is of the type {kind}; {expected}",
            self.path,
            parameter="columns",
            value=column,
        )

    def _alternative(
        self, name: str, alternatives: list[str], present: list[str]
    ) -> str | None:
        """Return the first alternative of the mapping that is present;
        None for an absent media column.
        """
        for choice in alternatives:
            if choice in present or (
                "*" in choice
                and any(re.fullmatch(choice.replace("*", ".*"), p) for p in present)
            ):
                return choice

        if name == "media":
            return None
        reason = (
            f"expected one of {', '.join(alternatives)}; "
            f"found {', '.join(present)} (name it with columns)"
        )
        raise InputError(
            f"the mapping finds no column for '{name}': {reason}",
            self.path,
            parameter="mapping",
        )


def media_columns(dataset: Any) -> list[str]:
    """Return the columns of images, videos and sound of a ``Dataset`` or
    ``IterableDataset``, in their order.
    """
    features = dataset.features or {}
    return [
        name
        for name, feature in features.items()
        if type(feature).__name__ in _MEDIA_TYPES
    ]


def _typical_value(feature: Any) -> Any:
    """Return a value of the type of a column, by which captions and ids are told from
    other columns; None for an unknown type.
    """
    dtype = str(getattr(feature, "dtype", ""))
    if dtype in ("string", "large_string"):
        return "text"
    if dtype.startswith(("int", "uint", "float", "bool")):
        return True if dtype == "bool" else 0
    return {} if type(feature).__name__ in _MEDIA_TYPES else None


def _usual_suffix(dataset: Any, column: str) -> str:
    return _MEDIA_TYPES[type(dataset.features[column]).__name__]


def _file_name(path: str | None, row: int, suffix: str) -> str:
    """Return the file name of a cell; one without a suffix gets the usual suffix of its
    column.
    """
    name = Path(path or str(row)).name
    return name if Path(name).suffix else f"{name}{suffix}"


def _sentences(value: Any) -> Any:
    """Return captions as a list where a column holds an object of lists,
    ``{"raw": ["a dog", ...]}``; other values unchanged.
    """
    if isinstance(value, Mapping):
        for name in ("raw", "caption", "text"):
            if isinstance(value.get(name), list):
                return value[name]
    return value


def _mapping(name: str | None) -> Mapping[str, Any]:
    """Return the column mapping of a name; empty for None."""
    if name is None:
        return {}
    if name not in MAPPINGS:
        raise UnknownName.of_name(
            "unknown mapping", name, MAPPINGS, "mappings are", parameter="mapping"
        )
    return MAPPINGS[name]
