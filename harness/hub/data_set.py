"""Finished runs as a data set: a folder with a card,
or a repository of the Hugging Face hub.
"""

from __future__ import annotations

import importlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.contracts import Values, VerbResult
from harness.errors import HarnessError, InputError, require
from harness.files.memory import require_memory
from harness.files.whole_folder import whole_folder
from harness.hub.card import MARK, CardOptions, card, check_text
from harness.run.finished import Run
from harness.rundir.file_names import SAMPLES
from harness.rundir.format import open_run_file, run_folders, to_json, write_atomically
from harness.rundir.records import ResultRecord
from harness.rundir.sample_events import EVENTS
from harness.rundir.stored_paths import store_paths

CARD = "README.md"
RUN_FILES = (SAMPLES, "results.parquet", "results.json", "manifest.json")
"""Files of one run of a data set."""
_TEXTS = (
    "model",
    "task",
    "decoding",
    "metric",
    "params",
    "level",
    "signature",
    "p_method",
    "interval_note",
)
_NUMBERS = ("value", "ci95_low", "ci95_high", "p_value", "seconds")
_COUNTS = ("n", "skipped")


@dataclass(frozen=True)
class PushedRuns(VerbResult):
    """A data set that was written."""

    place: str
    """Its folder, or its address on the hub."""

    def to_dict(self) -> list[Values]:
        """Return the place."""
        return [{"place": self.place}]

    def blocks(self) -> Iterator[str]:
        """Yield the place."""
        yield self.place

    def __fspath__(self) -> str:
        return self.place


def push(
    *runs: str | Path | Run,
    to: str | Path | None = None,
    repo: str | None = None,
    private: bool = False,
    references: bool = True,
    overwrite: bool = False,
    title: str = "",
    license: str | None = None,
    language: str | None = None,
    task_type: str = "image-to-text",
) -> PushedRuns:
    """Write finished runs as a data set with a card and return its folder,
    or its address on the hub.

    The data set has the configurations ``samples`` and ``results``; the card has the
    results as ``model-index`` metadata.

    Parameters
    ----------
    *runs : str, Path or Run
        Run directories, folders of run directories, or runs.
    to : str or Path, optional
        Folder.
    repo : str, optional
        Name of the data set on the hub, ``owner/name``.
    private : bool
        Create a private repository.
    references : bool
        False leaves the column ``references`` out of the samples, where a licence
        forbids to publish them.
    overwrite : bool
        Replace the files of an earlier push in the folder.
    title, license, language, task_type
        See :class:`harness.hub.card.CardOptions`.

    Raises
    ------
    InputError
        For a path without a finished run, a folder with other files, a name that is
        none, and a hub that refuses.
    HarnessError
        Without ``to`` and ``repo``, and for ``repo`` where HF_HUB_OFFLINE is set.
    """
    options = CardOptions(title, license, language, task_type, repo)
    check_text(options)
    if to is None and repo is None:
        raise HarnessError(
            "no target: give a folder (to='DIR') or a repository of the hub "
            "(repo='OWNER/NAME')"
        )
    if repo is not None:
        _check_repo(repo)

    opened: list[Run] = []
    for item in runs:
        if isinstance(item, Run):
            opened.append(item)
        else:
            opened += [Run.open(folder) for folder in run_folders(item)[0]]
    by_name = _name_runs(opened)

    with ExitStack() as stack:
        if to is not None:
            folder = Path(to)
        else:
            temporary = tempfile.TemporaryDirectory()
            folder = Path(stack.enter_context(temporary)) / "push"
        _check_folder(folder, overwrite=overwrite)
        with whole_folder(folder) as new:
            write_folder(new, by_name, options, references=references)
        if repo is not None:
            return PushedRuns(_upload(folder, repo, private=private))
        return PushedRuns(str(folder))


def write_folder(
    folder: Path,
    runs: Mapping[str, Run],
    options: CardOptions,
    *,
    references: bool = True,
) -> list[Path]:
    """Write runs by name as Parquet files, results, manifests and the card into a
    folder; return the files.
    """
    files: dict[str, str] = {}
    written: list[Path] = []
    rows = 0
    for name, run in runs.items():
        run_folder = folder if len(runs) == 1 else folder / name
        prefix = "" if len(runs) == 1 else f"{name}-"
        run_folder.mkdir(parents=True, exist_ok=True)

        rows += _write_samples(run_folder / SAMPLES, run, references=references)
        _write_results(run_folder / "results.parquet", run.records)
        write_atomically(
            run_folder / "results.json",
            to_json({"results": run.results, "failed": dict(run.failed)}),
        )
        write_atomically(
            run_folder / "manifest.json", to_json(store_paths(run.manifest, run_folder))
        )

        for kind in ("samples", "results"):
            table = run_folder / f"{kind}.parquet"
            files[f"{prefix}{kind}"] = table.relative_to(folder).as_posix()
        written += [run_folder / name for name in RUN_FILES]

    write_atomically(folder / CARD, card(runs, files, rows, options).encode("utf-8"))
    return [*written, folder / CARD]


def _write_samples(path: Path, run: Run, *, references: bool) -> int:
    """Write the samples of a run as Parquet and return the number of rows."""
    arrow = importlib.import_module("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")
    # the column of events has those of the references too
    withheld = () if references else ("references", EVENTS)
    names = [name for name in run.samples.names if name not in withheld]

    # a run in memory
    if run.path is None or not (run.path / SAMPLES).is_file():
        table = run.samples.to_arrow().select(names)
        require_memory(2 * table.nbytes)
        parquet.write_table(table, path, compression="zstd")
        return len(run.samples)

    # group by group: the samples of a run on disk may be larger than the memory
    with open_run_file(run.path / SAMPLES) as file, parquet.ParquetFile(file) as source:
        schema = arrow.schema([source.schema_arrow.field(name) for name in names])
        with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
            for group in range(source.num_row_groups):
                rows = source.read_row_group(group, columns=names, use_threads=False)
                # the file keeps its own order of the columns
                rows = rows.select(names)
                require_memory(2 * rows.nbytes)
                writer.write_table(rows)
    return len(run.samples)


def _write_results(path: Path, records: Sequence[ResultRecord]) -> None:
    arrow = importlib.import_module("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")
    fields = [(name, arrow.string()) for name in _TEXTS]
    fields += [(name, arrow.float64()) for name in _NUMBERS]
    fields += [(name, arrow.int64()) for name in _COUNTS]
    fields.append(("higher_is_better", arrow.bool_()))

    table = arrow.Table.from_pylist(
        [_result_row(r) for r in records], arrow.schema(fields)
    )
    require_memory(2 * table.nbytes)
    parquet.write_table(table, path)


def _result_row(record: ResultRecord) -> Values:
    """Return a record as a flat row; mappings are JSON texts."""
    names = (*_TEXTS, "value", "p_value", "seconds", *_COUNTS, "higher_is_better")
    row: Values = {name: getattr(record, name) for name in names}

    row["decoding"] = record.decoding_key
    row["params"] = json.dumps(record.to_dict()["params"], sort_keys=True, default=str)
    row["ci95_low"], row["ci95_high"] = record.ci95 or (None, None)
    return row


def _name_runs(runs: Sequence[Run]) -> dict[str, Run]:
    """Return runs by name: their tasks, numbered where two are equal."""
    if not runs:
        raise HarnessError("no run to push")
    by_name: dict[str, Run] = {}
    for run in runs:
        if run.provenance.kind:
            raise InputError(
                "is a run of judgments; a data set on the hub has captions of models",
                run.name,
            )

        task = run.provenance.task.replace("/", "-") or "run"
        count = sum(name == task or name.rpartition("-")[0] == task for name in by_name)
        by_name[task if not count else f"{task}-{count + 1}"] = run
    return by_name


def _check_folder(folder: Path, *, overwrite: bool) -> None:
    """Raise :class:`InputError` for a folder with other files, which the new data set
    would take the place of, and for an earlier push without ``overwrite``.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(
            "is a file; expected a folder for the data set", str(folder), parameter="to"
        )
    if not folder.is_dir() or not any(folder.iterdir()):
        return

    file = folder / CARD
    is_own = file.is_file() and f"- {MARK}" in file.read_text(
        encoding="utf-8", errors="replace"
    )
    if not is_own:
        raise InputError(
            "is not empty and no earlier push; give another folder",
            str(folder),
            parameter="to",
        )

    others = sorted(entry.name for entry in folder.iterdir() if not _is_of_push(entry))
    if others:
        more = ", ..." if len(others) > 3 else ""
        names = ", ".join(f"'{name}'" for name in others[:3]) + more
        raise InputError(
            f"holds {names} beside an earlier push; give another folder",
            str(folder),
            parameter="to",
        )

    if not overwrite:
        raise InputError(
            "holds an earlier push; overwrite=True replaces its files",
            str(folder),
            parameter="to",
        )


def _is_of_push(entry: Path) -> bool:
    """Return True for the card, a file of a run,
    and a folder that has nothing but these.
    """
    if entry.is_dir() and not entry.is_symlink():
        return all(
            inner.name in RUN_FILES and inner.is_file() for inner in entry.iterdir()
        )
    return entry.is_file() and entry.name in (CARD, *RUN_FILES)


def _require_hub(module: str) -> Any:
    """Import a module of huggingface_hub, which a push to a folder does not need."""
    return require(module, needed_by="harness push --repo", extra="hub")


def _check_repo(repo: str) -> None:
    hub = _require_hub("huggingface_hub.utils")
    try:
        hub.validate_repo_id(repo)
    except ValueError as error:
        raise InputError(
            f"'{repo}' is no name of a data set (OWNER/NAME): {error}",
            parameter="repo",
            value=repo,
        ) from error

    if _require_hub("huggingface_hub.constants").HF_HUB_OFFLINE:
        raise HarnessError(
            "HF_HUB_OFFLINE is set: write a folder (to='DIR') "
            f"and push it with network: hf upload {repo} DIR . --repo-type dataset",
            parameter="repo",
            value=repo,
        )


def _upload(folder: Path, repo: str, *, private: bool) -> str:
    """Upload a folder to the hub and return the address of the data set."""
    hub = _require_hub("huggingface_hub")
    api = hub.HfApi()
    try:
        name = api.create_repo(
            repo, repo_type="dataset", private=private, exist_ok=True
        ).repo_id
        api.upload_folder(
            repo_id=name,
            repo_type="dataset",
            folder_path=str(folder),
            commit_message="harness push",
        )
    except Exception as error:
        # errors of the hub and of its HTTP client have no common class
        raise _upload_error(repo, error) from error
    return f"{api.endpoint}/datasets/{name}"


def _upload_error(repo: str, error: Exception) -> InputError:
    status = getattr(getattr(error, "response", None), "status_code", None)
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
    later = "; to='DIR' writes a folder that can be pushed later"

    if status == 401 or type(error).__name__ == "LocalTokenNotFoundError":
        message = (
            "the hub does not know you: log in with 'hf auth login', "
            f"or set HF_TOKEN{later}"
        )
    elif status == 403:
        message = f"the token has no permission to write there{later}"
    elif status is None:
        message = f"the hub cannot be reached ({reason}){later}"
    else:
        message = f"the hub refuses: HTTP {status} ({reason}){later}"
    return InputError(message, repo, parameter="repo", value=repo)
