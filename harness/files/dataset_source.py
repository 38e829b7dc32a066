"""Data sets of the ``datasets`` library: from the hub by name, from ``save_to_disk``
folders, from files.

A split may have slices in every case: ``test[:100]``, ``train[10%:20%]``,
``train+validation[:50]``.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.errors import InputError, require
from harness.files.user_path import nearest_beside, user_path

Dataset = Any
"""A data set or a part of one, of the package datasets, which is imported when it is
used.
"""

HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
"""Form of the name of a data set of the hub."""
BUILDERS = {
    ".parquet": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".arrow": "arrow",
}
"""Suffix of a file -> builder of the library that reads it."""
_PART = re.compile(
    r"\s*([^\[\]+\s]+)\s*(\[[^\[\]+]*\](?:\((?:closest|pct1_dropremainder)\))?)?\s*"
)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_CONNECTION_ERRORS = frozenset(
    (
        "OfflineModeIsEnabled",
        "ConnectError",
        "ConnectTimeout",
        "ReadTimeout",
        "LocalEntryNotFoundError",
    )
)
"""Names of errors of the libraries that say that there is no connection."""


@dataclass(frozen=True)
class DatasetSource:
    """One split of a data set, by name or path.

    Raises :class:`InputError` for a path that is neither a file, a folder nor a name of
    the hub.
    """

    path: str
    """Name on the hub (``owner/name``), a folder, or a file."""
    config: str | None = None
    split: str | None = None
    """Split, with slices; None for the only split."""
    revision: str | None = None
    """Branch, tag or commit of a data set of the hub."""
    streaming: bool = False
    reachable: bool = field(default=True, compare=False)
    """False where the hub did not answer: the cache of the library is read without
    further requests.
    """

    def __post_init__(self) -> None:
        if self.local is None and not HUB_NAME.fullmatch(self.path):
            raise self.error(
                f"no such file or folder{self._nearest()}, "
                "and not the name of a dataset (owner/name)"
            )

    @property
    def local(self) -> Path | None:
        """The file or folder; None for a data set of the hub."""
        path = user_path(self.path)
        return path if path.exists() else None

    def pin(self) -> DatasetSource:
        """Return the source with the commit of the hub as its revision; unchanged for
        files, commits, and without network.

        Raises :class:`InputError` for a data set that the hub does not have or does not
        show.
        """
        is_commit = _COMMIT.fullmatch(self.revision or "") is not None
        if self.local is not None or is_commit or is_offline():
            return self

        hub = require(
            "huggingface_hub", extra="datasets", needed_by="a data set of the hub"
        )
        api = hub.HfApi()
        try:
            info = api.dataset_info(self.path, revision=self.revision, timeout=30.0)
        except Exception as error:
            if not _is_connection_error(error):
                raise self._hub_error(error) from error
            # The cache of the library may have it; loading says so if not.
            return replace(self, reachable=False)
        return replace(self, revision=info.sha) if info.sha else self

    def load(self) -> Dataset:
        """Return the ``Dataset`` of the split, or the ``IterableDataset`` of a stream.

        Raises :class:`InputError` for a data set that the library cannot load, and for
        an unknown split.
        """
        datasets = require("datasets", extra="datasets", needed_by="the reader 'hf'")
        try:
            with nullcontext() if self.reachable else _without_requests():
                loaded = self._load(datasets)
        except InputError:
            raise
        except Exception as error:
            # The library raises what its readers, pyarrow and its HTTP client raise.
            raise self._load_error(error) from error
        return self._select_split(datasets, loaded)

    def rows(self, dataset: Iterable[Dataset]) -> Iterator[Dataset]:
        """Yield the rows of a loaded data set; raise :class:`InputError` for a file of
        it that cannot be read.
        """
        try:
            yield from dataset
        except Exception as error:  # a stream reads its files here
            raise self._load_error(error) from error

    def _load(self, datasets: ModuleType) -> Dataset:
        """Return a data set, or a dict of data sets by split."""
        local = self.local
        if local is not None and local.is_dir() and has_saved_state(local):
            loaded = datasets.load_from_disk(str(local))
            if not isinstance(loaded, dict):
                loaded = {str(loaded.split or "train"): loaded}
            return {
                name: split.to_iterable_dataset() if self.streaming else split
                for name, split in loaded.items()
            }

        if local is not None and local.is_file():
            return datasets.load_dataset(
                _builder(local, self), data_files=str(local), streaming=self.streaming
            )

        # The library fetches only the split that it is called with. A stream takes no
        # slices there: they are cut later.
        split = self.split
        if self.streaming and "[" in (split or ""):
            split = None
        return datasets.load_dataset(
            str(local or self.path),
            self.config,
            split=split,
            revision=self.revision,
            streaming=self.streaming,
        )

    def _select_split(self, datasets: ModuleType, loaded: Dataset) -> Dataset:
        """Return the split of what the library returned."""
        if not isinstance(loaded, dict):
            return loaded

        names = list(map(str, loaded))
        if self.split is None and len(names) == 1:
            return next(iter(loaded.values()))
        if self.split is None:
            raise self.error(
                "has several splits; expected the parameter 'split' with one of "
                f"{', '.join(names)}",
                "split",
            )

        slices = [
            _slice_split(loaded, datasets, name, text, self)
            for name, text in self._parts(names)
        ]
        return slices[0] if len(slices) == 1 else datasets.concatenate_datasets(slices)

    def _parts(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Return (name, text) of each part of a split such as ``train[:10]+test``."""
        names = list(names)
        slices = list[tuple[str, str]]()
        for text in (self.split or "").split("+"):
            match = _PART.fullmatch(text)
            if match is None:
                message = (
                    f"split '{self.split}' cannot be read; expected NAME, "
                    "NAME[from:to] or NAME+NAME"
                )
                raise self.error(message, "split")
            name = match[1]
            if name not in names:
                raise InputError.of_name(
                    "no split", name, names, "found", self.path, parameter="split"
                )
            slices.append((name, text.strip()))
        return slices

    def error(self, message: str, parameter: str = "path") -> InputError:
        """Return the error of a parameter of the source: ``path``, ``split`` or
        ``revision``.
        """
        return InputError(
            message, self.path, parameter=parameter, value=getattr(self, parameter)
        )

    def _load_error(self, error: Exception) -> InputError:
        if self.local is not None:
            return InputError(
                f"the datasets library cannot load it: {_reason(error)}", self.path
            )

        # Without requests the library says that the file is not in its cache.
        is_connection_error = _is_connection_error(error)
        is_missing = is_connection_error or isinstance(error, FileNotFoundError)
        if not self.reachable and is_missing:
            hint = self._nearest().removeprefix("; ")
            hint = f" ({hint})" if hint else ""
            return InputError(
                f"no such file or folder{hint}, "
                "the hub cannot be reached, and the data set is not in the cache. "
                f"Without network, fetch it before: {self.fetch_command()}",
                self.path,
            )
        if is_missing and is_offline():
            return InputError(
                f"is not in the cache, and HF_HUB_OFFLINE is set. {self.fetch_hint()}",
                self.path,
            )
        if is_connection_error:
            return InputError(
                "the hub cannot be reached, and the data set is not in the cache "
                f"({_reason(error)[:200]}). "
                f"Without network, fetch it before: {self.fetch_command()}",
                self.path,
            )
        return self._hub_error(error)

    def _hub_error(self, error: Exception) -> InputError:
        """Return the error of a data set that the hub does not have or does not
        show.
        """
        # By their names, so that no library is imported for this.
        names = {
            type(item).__name__ for item in (error, error.__cause__) if item is not None
        }
        text = _reason(error)
        endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
        page = f"{endpoint}/datasets/{self.path}"

        if "GatedRepoError" in names or "gated dataset" in text:
            message = (
                f"is a gated data set of the hub: accept its terms on {page}, "
                "then log in with 'hf auth login' or set HF_TOKEN"
            )
        elif "RevisionNotFoundError" in names:
            message = (
                f"has no revision '{self.revision}' on the hub; expected a branch, "
                f"a tag or a commit of {page}"
            )
            return self.error(message, "revision")
        elif names & {"RepositoryNotFoundError", "DatasetNotFoundError"}:
            message = (
                "the hub has no such data set, or it is private: check the name, "
                "or log in with 'hf auth login' (or HF_TOKEN)"
            )
        else:
            message = f"the datasets library cannot load it: {text}"
        return self.error(message)

    def _nearest(self) -> str:
        """Return the hint at a file or folder of a similar name beside the path."""
        name = nearest_beside(self.path)
        return f"; did you mean '{name}'?" if name else ""

    def fetch_hint(self) -> str:
        """Return the sentence that says how to fetch the data set while there is a
        network.
        """
        return f"Fetch it before, with network: {self.fetch_command()}"

    def fetch_command(self) -> str:
        """Return the shell command that puts the data set into the cache of the
        library.
        """
        options = [f"'{self.path}'"]
        options += [f"'{self.config}'"] if self.config else []
        options += [f"revision='{self.revision}'"] if self.revision else []
        return (
            'HF_HUB_OFFLINE=0 python -c "import datasets; '
            f'datasets.load_dataset({", ".join(options)})"'
        )


def loaded_commit(dataset: Dataset) -> str | None:
    """Return the commit of the hub from which a loaded ``Dataset`` was prepared, by the
    folder of its cache; None if unknown.
    """
    entries = getattr(dataset, "cache_files", None) or ()
    folders = [Path(entry["filename"]).parent.name for entry in entries]
    commits = {name for name in folders if _COMMIT.fullmatch(name)}
    return commits.pop() if len(commits) == 1 else None


@contextmanager
def _without_requests() -> Generator[None]:
    """Context in which the libraries read their caches alone, as with
    ``HF_HUB_OFFLINE``: no request that is repeated for a minute.
    """
    configs: list[Dataset] = [
        importlib.import_module(name)
        for name in ("datasets.config", "huggingface_hub.constants")
    ]
    # A variable of the environment would be too late: both have read it.
    before = [config.HF_HUB_OFFLINE for config in configs]
    try:
        for config in configs:
            config.HF_HUB_OFFLINE = True
        yield
    finally:
        for config, value in zip(configs, before):
            config.HF_HUB_OFFLINE = value


def is_offline() -> bool:
    """Return True when ``HF_HUB_OFFLINE`` or ``HF_DATASETS_OFFLINE`` forbids requests
    to the hub.
    """
    datasets = require("datasets", extra="datasets", needed_by="a data set of the hub")
    return bool(datasets.config.HF_HUB_OFFLINE)


def has_saved_state(folder: Path) -> bool:
    """Return True for a folder that ``save_to_disk`` wrote."""
    return (folder / "state.json").is_file() or (folder / "dataset_dict.json").is_file()


def _builder(file: Path, source: DatasetSource) -> str:
    """Return the name of the builder of the library that reads a file."""
    plain = file.with_suffix("") if file.suffix == ".gz" else file
    if plain.suffix not in BUILDERS:
        raise source.error(
            f"the name has the unknown suffix '{plain.suffix}'; "
            f"expected {', '.join(BUILDERS)}"
        )
    return BUILDERS[plain.suffix]


def _slice_split(
    loaded: Mapping[str, Dataset],
    datasets: ModuleType,
    name: str,
    text: str,
    source: DatasetSource,
) -> Dataset:
    """Return the rows of one part of a split, such as ``train[10:20]``."""
    dataset = loaded[name]
    if "[" not in text:
        return dataset
    try:
        count = _rows(dataset, name, text)
        (piece,) = datasets.ReadInstruction.from_spec(text).to_absolute({name: count})
    except (ValueError, AssertionError) as error:
        raise source.error(f"split '{text}': {_reason(error)}", "split") from error

    if source.streaming:
        if piece.from_:
            dataset = dataset.skip(piece.from_)
        if piece.to != sys.maxsize:
            dataset = dataset.take(piece.to - piece.from_)
        return dataset
    return dataset.select(range(piece.from_, max(piece.from_, piece.to)))


def _rows(dataset: Dataset, name: str, text: str) -> int:
    """Return the number of rows of a data set, or a bound of that of a stream.

    Raises ``ValueError`` for a slice of a stream that counts from the end and whose
    length is not known.
    """
    if hasattr(dataset, "num_rows"):
        return int(dataset.num_rows)
    splits = getattr(dataset.info, "splits", None) or {}
    if name in splits and splits[name].num_examples:
        return int(splits[name].num_examples)

    # Only rows that are counted from the beginning need no length.
    if "%" in text or "-" in text:
        raise ValueError(
            "the length of the stream is not known; give the rows as [from:to], "
            "or streaming: false"
        )
    return sys.maxsize


def _is_connection_error(error: BaseException) -> bool:
    """Return True for an error, or a cause of one, that says that there is no
    connection.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, (ConnectionError, TimeoutError)):
            return True
        if type(cause).__name__ in _CONNECTION_ERRORS:
            return True
        cause = cause.__cause__
    return False


def _reason(error: BaseException) -> str:
    """Return the first lines of an error and of its cause, where the library often puts
    the reason.
    """
    reasons = list[str]()
    for cause in (error, error.__cause__):
        lines = str(cause).strip().splitlines() if cause is not None else []
        reasons.extend(lines[:1])
    return ": ".join(dict.fromkeys(reasons)) or type(error).__name__
