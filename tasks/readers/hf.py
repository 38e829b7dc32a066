"""The ``hf`` reader: any Hugging Face dataset, from the hub or from disk, through the ``datasets`` library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.contracts import Example, PathParam
from harness.errors import InputError, UnknownName, did_you_mean, require
from harness.files import captions as checks
from harness.files import records as files

MAPPINGS: Mapping[str, Mapping[str, Any]] = {
    # Rows of the Karpathy split with a list of sentences, or one row a sentence, or the benchmark layout with `answer`.
    "coco": {
        "id": ["cocoid", "image_id", "question_id", "imgid", "id"],
        "references": ["sentences_raw", "sentences", "captions", "answer", "caption"],
        "media": ["filename", "file_name", "filepath", "image_path"],
    },
    # caption_0 ... caption_4 and the image; no id.
    "flickr8k": {"id": None, "references": ["caption_*"]},
    # A list of captions, img_id, filename; one hub split, with the Karpathy split in a column.
    "flickr30k": {
        "id": ["img_id", "filename"],
        "references": ["caption", "captions", "sentences", "caption_*"],
        "media": ["filename"],
    },
}
"""Ready column mappings of the usual hub layouts. A list gives alternatives, of which the first that is there is taken."""

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_BUILDERS = {".parquet": "parquet", ".json": "json", ".jsonl": "json", ".csv": "csv", ".tsv": "csv", ".arrow": "arrow"}


class HuggingFaceDataset:
    """A dataset by hub name or local path: a folder written by ``save_to_disk``, a folder or file of Parquet, JSON, CSV or Arrow.

    Captions stand in one list column, in several columns (``references: [caption_0, caption_1]`` or ``caption_*``), or one a
    row, gathered by id. ``mapping`` takes a ready mapping (coco, flickr8k, flickr30k), ``columns`` names single columns
    (``id``, ``references``, ``media``, ``source``, ``split``; ``id: null`` numbers the rows). ``split`` is the dataset's; ``where``
    keeps the rows whose columns have the given values (``where: {split: test}``). ``streaming: true`` reads rows as they
    come, which bounds memory; rows of one id must then stand together. Only the columns that are used are read: no image is
    decoded. ``config`` and ``revision`` are handed to the library.
    """

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
        limit_references: int | None = None,
        allow_empty: bool = False,
    ) -> None:
        self.path = str(path)
        self.split = split
        self.config = config
        self.revision = revision
        self.mapping = _ready(mapping)
        self.columns = checks.check_mapping(columns)
        self.where = dict(where or {})
        self.streaming = streaming
        self.limit_references = checks.positive(limit_references, "limit_references")
        self.allow_empty = allow_empty
        local = Path(self.path).expanduser()
        self.local = local if local.exists() else None
        if self.local is None and not _HUB_NAME.fullmatch(self.path):
            raise InputError("no such file or folder, and not the name of a dataset (owner/name)", self.path)

    def fingerprint(self) -> str:
        """Of the files for a local dataset; of name, config and revision for one of the hub (give ``revision`` to pin it)."""
        params = {
            name: getattr(self, name)
            for name in ("split", "config", "mapping", "columns", "where", "limit_references", "allow_empty")
        }
        if self.local is None:
            return files.fingerprint("hf", [], {**params, "name": self.path, "revision": self.revision})
        inside = [self.local] if self.local.is_file() else sorted(p for p in self.local.rglob("*") if p.is_file())
        return files.fingerprint("hf", inside, params)

    def __iter__(self) -> Iterator[Example]:
        """Raises :class:`InputError` for what the library cannot load, an unknown split or column, and captions that are not good."""
        dataset = self._load()
        names = dataset.column_names
        if names is None:  # a stream whose schema is not declared
            names = list(next(iter(dataset), {}))
        columns = self._columns(names)
        kept = list(dict.fromkeys([*columns.used(), *self.where]))
        dataset = dataset.select_columns(kept)
        reader = checks.RowReader(columns, self.allow_empty, self.limit_references, consecutive=self.streaming)
        yield from reader.examples(self._rows(dataset))

    def _rows(self, dataset: Iterable[Mapping[str, Any]]) -> Iterator[files.Record]:
        for number, row in enumerate(dataset, 1):
            if all(row[name] == value for name, value in self.where.items()):
                yield files.Record(f"{self.path}: row {number}", row)

    def _columns(self, present: list[str]) -> checks.Columns:
        for name in self.where:
            if name not in present:
                raise InputError(f"where: no column '{name}'{did_you_mean(name, present)}", self.path)
        given: dict[str, Any] = {"split": None}
        for name, alternatives in self.mapping.items():
            given[name] = alternatives and self._alternative(name, list(alternatives), present)
        return checks.find_columns({**given, **self.columns}, present, self.path)

    def _alternative(self, name: str, alternatives: list[str], present: list[str]) -> str | None:
        """The first alternative of a ready mapping that is there; media may lack."""
        for choice in alternatives:
            if choice in present or (
                "*" in choice and any(re.fullmatch(choice.replace("*", ".*"), p) for p in present)
            ):
                return choice
        if name == "media":
            return None
        raise InputError(
            f"the mapping finds no column for '{name}': expected one of {', '.join(alternatives)}; found {', '.join(present)}"
            " (name it with columns)",
            self.path,
        )

    # ------------------------------------------------------------------ loading
    def _load(self) -> Any:
        datasets = require("datasets", extra="datasets", needed_by="the reader 'hf'")
        try:
            loaded = self._load_any(datasets)
        except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
            raise InputError(f"the datasets library cannot load it: {_told(error)}", self.path) from error
        if not isinstance(loaded, dict):
            return loaded
        known = list(loaded)
        if self.split is None and len(known) == 1:
            return loaded[known[0]]
        if self.split is None:
            raise InputError(f"has several splits: choose one with split: {', '.join(map(str, known))}", self.path)
        if self.split not in loaded:
            raise InputError(
                f"no split '{self.split}'{did_you_mean(self.split, map(str, known))}; found {', '.join(map(str, known))}",
                self.path,
            )
        return loaded[self.split]

    def _load_any(self, datasets: Any) -> Any:
        """A dataset, or a dict of datasets by split."""
        if self.local is not None and self.local.is_dir() and self._saved(self.local):
            loaded = datasets.load_from_disk(str(self.local))
            if not self.streaming:
                return loaded
            if isinstance(loaded, dict):
                return {name: part.to_iterable_dataset() for name, part in loaded.items()}
            return loaded.to_iterable_dataset()
        if self.local is not None and self.local.is_file():
            plain = self.local.with_suffix("") if self.local.suffix == ".gz" else self.local
            builder = _BUILDERS.get(plain.suffix)
            if builder is None:
                raise InputError(f"cannot tell the format from the name; expected {', '.join(_BUILDERS)}", self.path)
            return datasets.load_dataset(builder, data_files=str(self.local), streaming=self.streaming)
        # One split alone is asked for, so that no other is fetched; slices such as test[:100] work for it too.
        return datasets.load_dataset(
            str(self.local or self.path),
            self.config,
            split=self.split,
            revision=self.revision,
            streaming=self.streaming,
        )

    @staticmethod
    def _saved(folder: Path) -> bool:
        return (folder / "state.json").is_file() or (folder / "dataset_dict.json").is_file()


def _told(error: BaseException) -> str:
    """The first line of an error, and of the one behind it (the library often hides the reason there)."""
    told = []
    for part in (error, error.__cause__):
        lines = str(part).strip().splitlines() if part is not None else []
        told.extend(lines[:1])
    return ": ".join(dict.fromkeys(told)) or type(error).__name__


def _ready(name: str | None) -> Mapping[str, Any]:
    if name is None:
        return {}
    if name not in MAPPINGS:
        raise UnknownName(f"unknown mapping '{name}'{did_you_mean(name, MAPPINGS)}; mappings are {', '.join(MAPPINGS)}")
    return MAPPINGS[name]
