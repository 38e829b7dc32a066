"""The ``hf`` reader: Hugging Face datasets from the hub or from disk, through the ``datasets`` library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.contracts import Example, PathParam
from harness.errors import InputError, UnknownName, did_you_mean, nearest_name, require
from harness.files import captions as checks
from harness.files import records as files
from harness.files.columns import Columns, check_mapping, find_columns
from harness.files.examples import RowReader
from harness.tasks.readers.splits import check_splits

MAPPINGS: Mapping[str, Mapping[str, Any]] = {
    # Karpathy splits with a list of sentences per row or one sentence per row, or the benchmark layout with `answer`.
    "coco": {
        "id": ["cocoid", "image_id", "question_id", "imgid", "id"],
        "references": ["sentences_raw", "sentences", "captions", "answer", "caption"],
        "media": ["filename", "file_name", "filepath", "image_path"],
    },
    # Columns caption_0 ... caption_4 and the image; no id.
    "flickr8k": {"id": None, "references": ["caption_*"]},
    # A list of captions, img_id and filename; one hub split, the Karpathy split is a column.
    "flickr30k": {
        "id": ["img_id", "filename"],
        "references": ["caption", "captions", "sentences", "caption_*"],
        "media": ["filename"],
    },
}
"""Column mappings of the usual hub layouts; of a list of alternatives the first column present is used."""

_HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
_BUILDERS = {".parquet": "parquet", ".json": "json", ".jsonl": "json", ".csv": "csv", ".tsv": "csv", ".arrow": "arrow"}


class HuggingFaceDataset:
    """Examples of a dataset, by hub name or local path.

    A column holds lists of captions, several columns hold one caption each, or each row holds one caption; then the rows of
    one id make one example. Only the columns in use are read: no image is decoded.

    Parameters
    ----------
    path : path
        Name on the hub (``owner/name``), a folder written by ``save_to_disk``, or a folder or file of Parquet, JSON, CSV or
        Arrow.
    split : str, optional
        Split of the dataset; required when it has several.
    config, revision : str, optional
        Configuration and revision, passed to the library.
    mapping : {"coco", "flickr8k", "flickr30k"}, optional
        Column names of a usual layout.
    columns : mapping, optional
        Names of single columns: ``id`` (null numbers the rows), ``references`` (a name, a pattern such as ``caption_*``, or a
        list of names), ``media``, ``source``, ``split``.
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
        For a path that is neither a file, a folder nor a dataset name, and for a parameter out of range.
    UnknownName
        For an unknown ``mapping``.
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
        self.mapping = _mapping(mapping)
        self.columns = check_mapping(columns)
        self.where = dict(where or {})
        self.streaming = streaming
        self.limit_references = checks.positive(limit_references, "limit_references")
        self.allow_empty = allow_empty
        local = Path(self.path).expanduser()
        self.local = local if local.exists() else None
        if self.local is None and not _HUB_NAME.fullmatch(self.path):
            raise InputError(
                "no such file or folder, and not the name of a dataset (owner/name)",
                self.path,
                parameter="path",
                value=self.path,
            )

    def fingerprint(self) -> str:
        """Return a hash of the parameters and the files, or of name and revision for a dataset of the hub.

        Without ``revision`` a dataset of the hub may change under the same fingerprint.
        """
        params = {
            name: getattr(self, name)
            for name in ("split", "config", "mapping", "columns", "where", "limit_references", "allow_empty")
        }
        if self.local is None:
            return files.fingerprint("hf", [], {**params, "name": self.path, "revision": self.revision})
        paths = [self.local] if self.local.is_file() else sorted(p for p in self.local.rglob("*") if p.is_file())
        return files.fingerprint("hf", paths, params)

    def __iter__(self) -> Iterator[Example]:
        """Yield the examples.

        Raises :class:`InputError` for a dataset that the library cannot load, an unknown split or column, and invalid ids or
        captions.
        """
        dataset = self._load()
        names = dataset.column_names
        if names is None:  # a stream without a declared schema
            names = list(next(iter(dataset), {}))
        columns = self._columns(names)
        dataset = dataset.select_columns(list(dict.fromkeys([*columns.used(), *self.where])))
        reader = RowReader(columns, self.allow_empty, self.limit_references, consecutive=self.streaming)
        yield from reader.examples(self._rows(dataset))

    def _rows(self, dataset: Iterable[Mapping[str, Any]]) -> Iterator[files.Record]:
        """Yield the rows that ``where`` selects."""
        for number, row in enumerate(dataset, 1):
            if all(row[name] == value for name, value in self.where.items()):
                yield files.Record(f"{self.path}: row {number}", row)

    def _columns(self, present: list[str]) -> Columns:
        """Return the columns to read, from ``mapping`` and ``columns``."""
        for name in self.where:
            if name not in present:
                raise InputError(
                    f"where: no column '{name}'{did_you_mean(name, present)}",
                    self.path,
                    parameter="where",
                    value=name,
                    expected=present,
                    nearest=nearest_name(name, present),
                )
        usual: dict[str, Any] = {"split": None}
        for name, alternatives in self.mapping.items():
            usual[name] = alternatives and self._alternative(name, list(alternatives), present)
        return find_columns({**usual, **self.columns}, present, self.path)

    def _alternative(self, name: str, alternatives: list[str], present: list[str]) -> str | None:
        """Return the first alternative of the mapping that is present; None for an absent media column."""
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
            parameter="mapping",
            expected=alternatives,
        )

    # ------------------------------------------------------------------ loading
    def _load(self) -> Any:
        """Return the dataset of the split."""
        datasets = require("datasets", extra="datasets", needed_by="the reader 'hf'")
        try:
            loaded = self._load_any(datasets)
        except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
            raise InputError(f"the datasets library cannot load it: {_reason(error)}", self.path) from error
        if not isinstance(loaded, dict):
            return loaded
        splits = list(map(str, loaded))
        if self.split is None and len(splits) == 1:
            return next(iter(loaded.values()))
        if self.split is None:
            raise InputError(
                f"has several splits; expected the parameter 'split' with one of {', '.join(splits)}",
                self.path,
                parameter="split",
                expected=splits,
            )
        check_splits([self.split], splits, self.path)
        return loaded[self.split]

    def _load_any(self, datasets: Any) -> Any:
        """Return a dataset, or a dict of datasets by split."""
        if self.local is not None and self.local.is_dir() and _is_saved(self.local):
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
                raise InputError(
                    f"the name has the unknown suffix '{plain.suffix}'; expected {', '.join(_BUILDERS)}",
                    self.path,
                    parameter="path",
                    value=self.path,
                    expected=_BUILDERS,
                )
            return datasets.load_dataset(builder, data_files=str(self.local), streaming=self.streaming)
        # The library fetches only the split that it is called with, and accepts slices such as test[:100].
        return datasets.load_dataset(
            str(self.local or self.path),
            self.config,
            split=self.split,
            revision=self.revision,
            streaming=self.streaming,
        )


def _is_saved(folder: Path) -> bool:
    """Return True for a folder that ``save_to_disk`` wrote."""
    return (folder / "state.json").is_file() or (folder / "dataset_dict.json").is_file()


def _reason(error: BaseException) -> str:
    """Return the first lines of an error and of its cause, where the library often puts the reason."""
    reasons = []
    for part in (error, error.__cause__):
        lines = str(part).strip().splitlines() if part is not None else []
        reasons.extend(lines[:1])
    return ": ".join(dict.fromkeys(reasons)) or type(error).__name__


def _mapping(name: str | None) -> Mapping[str, Any]:
    """Return the column mapping of a name; empty for None."""
    if name is None:
        return {}
    if name not in MAPPINGS:
        raise UnknownName(
            f"unknown mapping '{name}'{did_you_mean(name, MAPPINGS)}; mappings are {', '.join(MAPPINGS)}",
            parameter="mapping",
            value=name,
            expected=MAPPINGS,
            nearest=nearest_name(name, MAPPINGS),
        )
    return MAPPINGS[name]
