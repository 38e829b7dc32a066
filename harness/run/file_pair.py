"""Caption sets and specs from files of candidates, which have labels, and a file of
references, with the options of both files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, cast

from harness.contracts import (
    Adapter,
    CaptionSet,
    Decoding,
    Example,
    ListsIds,
    Reader,
    Reading,
    TaskView,
    Values,
)
from harness.errors import HarnessError, InputError, UnknownName
from harness.files.columns import PROMPT_COLUMNS, id_columns
from harness.files.fields import get_field, has_field
from harness.files.id_choice import choose_example_column
from harness.files.user_path import user_path
from harness.files.yaml_source import Key, Located
from harness.registry import current, split_spec
from harness.run.generate import generate, prepare
from harness.run.metric_plan import ModelPlan, unique
from harness.run.output_notes import log_notes, record_remarks
from harness.run.readings import collect_readings, note_readings
from harness.spec.metric_text import parse_metric, split_metrics

SUFFIXES = {
    ".json",
    ".jsonl",
    ".ndjson",
    ".parquet",
    ".gz",
    ".zst",
    ".csv",
    ".tsv",
    ".txt",
    ".eval",
    ".xlsx",
    ".ods",
    ".srt",
    ".vtt",
}
"""Endings that a label leaves out."""
_ID_NAME = r"\bcolumns: \{id: \.\.\.\}, or \{id: null\} numbers the rows"
_EVENTS = r"\bevents: (paragraph|separate)"
_SPLIT = r"\bsplit: ([^\s)]+)"
_SPELLINGS = (
    (
        r"\bcolumns: \{references: \.\.\.\}",
        "--reference-column NAME",
        "reference_column=...",
    ),
    (
        _ID_NAME,
        "--reference-id NAME; --id null matches records by position",
        "reference_id=...; id=None matches records by position",
    ),
    (_EVENTS, r"--events \1", r"events='\1'"),
    (_SPLIT, r"--split \1", r"split='\1'"),
    (r"\bid: null\b", "--id null", "id=None"),
    (r"\bid: \.\.\.", "--id NAME", "id=..."),
    (r": id: ([^\s)]+)", r": --id \1", r": id='\1'"),
    (r"\bcandidates: \.\.\.", "--column NAME", "column=..."),
    (r"\bsystem: (NAME|\.\.\.)", "--system NAME", "system=..."),
    (r"\ballow_(missing|unknown|empty): true", r"--allow-\1", r"allow_\1=True"),
    (r"^slices: ", "--by: ", "slices: "),
)
"""Advice in the spelling of a spec, as an option of ``harness score``, and as a keyword
of :func:`harness.score`.
"""


@dataclass(frozen=True)
class FileOptions:
    """Columns, systems and accepted faults of files of candidates and references."""

    id: str | None = ""
    """Column of the ids of candidates; empty: a usual name; None:
    records and examples are matched by position.
    """
    columns: tuple[str, ...] = ()
    """Columns of the candidates, each a system; empty: a usual name."""
    systems: tuple[str, ...] = ()
    """Systems to score, from records whose candidates are an object of systems."""
    reference_id: str | None = ""
    """Column of the ids of references; empty: a usual name; None:
    the records are numbered.
    """
    reference_columns: tuple[str, ...] = ()
    """Columns of the references; empty: a usual name."""
    split: str = ""
    """Split of the references; empty: all."""
    events: str = ""
    """Treatment of texts with times, ``paragraph`` or ``separate``; empty:
    such files are refused.
    """
    clean: tuple[str, ...] = ()
    """What to remove of candidates (:data:`harness.files.generated.cleaning.CLEAN`)."""

    def of_candidates(self, system: str = "", column: str = "") -> Values:
        """Return the parameters of the adapter that reads candidates, for one system or
        column of the file or without one.
        """
        values: Values = {}
        if self.id != "":
            values["columns"] = {"id": self.id}
        if column:
            values["candidates"] = column
        values |= {"system": system} if system else {}
        values |= {"events": self.events} if self.events else {}
        return values | ({"clean": list(self.clean)} if self.clean else {})

    def of_references(self) -> Values:
        """Return the parameters of the reader of references."""
        columns: Values = {} if self.reference_id == "" else {"id": self.reference_id}
        if self.reference_columns:
            columns["references"] = list(self.reference_columns)
        optional = {"columns": columns, "split": self.split, "events": self.events}
        return {name: value for name, value in optional.items() if value}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the systems of each file: several columns, or systems of records;
        empty for files of one system.

        Raises :class:`HarnessError` for both.
        """
        if len(self.columns) > 1 and self.systems:
            raise HarnessError(
                "several columns are several systems, and cannot be combined with "
                "systems of records"
            )
        return self.columns if len(self.columns) > 1 else self.systems

    @property
    def column(self) -> str:
        """Column of the candidates of one system;
        raises :class:`HarnessError` for several.
        """
        if len(self.columns) > 1:
            raise HarnessError(
                f"column: {', '.join(self.columns)} are {len(self.columns)} systems; "
                "expected one column"
            )
        return self.columns[0] if self.columns else ""


def reference_reader() -> str:
    """Return the name of the reader that recognises the format of a reference file."""
    return current().with_role("readers", "reference-files").name


def candidate_adapter() -> str:
    """Return the name of the adapter that reads candidates from files."""
    return current().with_role("adapters", "candidate-files").name


def read_file_pair(
    candidates: str | Path,
    references: str | Path | Sequence[str | Path],
    *,
    allow: Sequence[str] = (),
    options: FileOptions = FileOptions(),
) -> list[CaptionSet]:
    """Return the caption sets of two files (docs/data-formats.md lists the formats);
    ``allow`` as for :func:`score_spec`.

    Raises :class:`~harness.errors.InputError` for files that cannot be read and ids
    that do not match.
    """
    registry = current()
    options = resolve_columns([str(candidates)], references, options)
    reader = _create_reader(references, allow, options)
    task = TaskView(list(reader), Decoding())
    systems = {"system": list(options.systems)} if options.systems else {}
    params = {
        "path": str(candidates),
        **_faults(allow),
        **options.of_candidates(column=options.column),
        **systems,
    }
    adapter = cast(Adapter, registry.create("adapters", candidate_adapter(), params))
    model = ModelPlan("candidates", candidate_adapter(), params, adapter)
    prepare(model, task)
    log_notes(remark.text for remark in record_remarks(adapter))
    note_readings(collect_readings([reader, adapter]))
    return generate(model, task, seed=0, prepared=True).caption_sets()


def read_references(
    references: str | Path | Sequence[str | Path],
    allow: Sequence[str] = (),
    options: FileOptions = FileOptions(),
) -> list[Example]:
    """Return the examples of a file of references, or of several that each have some
    references of all examples.
    """
    return list(_create_reader(references, allow, options))


def _create_reader(
    references: str | Path | Sequence[str | Path],
    allow: Sequence[str],
    options: FileOptions,
) -> Reader:
    values = {
        "path": _paths(references),
        **_faults(["empty"] if "empty" in allow else []),
        **options.of_references(),
    }
    return cast(Reader, current().create("readers", reference_reader(), values))


def resolve_columns(
    files: Sequence[str],
    references: str | Path | Sequence[str | Path],
    options: FileOptions,
) -> FileOptions:
    """Return the options with the column of the ids of the references where files of
    candidates tell which one it is.

    Files of records without ids are matched by position where all sides are the same
    file, or where the user says so of the candidates.

    Raises :class:`~harness.errors.InputError` for files that cannot be read.
    """
    if options.reference_id != "":
        return options
    reader = _create_reader(references, ["empty"], options)
    columns = reader.id_columns() if isinstance(reader, ListsIds) else None
    if columns is None:
        return options
    usual = bool(id_columns(dict.fromkeys(columns, "id")))
    if not usual:
        paths = {str(user_path(path).resolve()) for path in _as_list(references)}
        same = len(paths) == 1 and all(
            str(user_path(file).resolve()) in paths for file in files
        )
        if options.id is None or (same and options.id == ""):
            return replace(options, id=None, reference_id=None)
        columns = {
            name: ids for name, ids in columns.items() if len(set(ids)) == len(ids)
        }
    adapters = [
        current().create(
            "adapters",
            candidate_adapter(),
            {"path": file, **_faults(["empty"]), **_of_system(options, name)},
        )
        for file in files
        for name in options.names[:1] or ("",)
    ]
    ids = [
        adapter.id_columns() or {}
        for adapter in adapters
        if isinstance(adapter, ListsIds)
    ]
    chosen = choose_example_column(columns, ids, usual=usual)
    return options if chosen is None else replace(options, reference_id=chosen)


class HoldsCaptions(Protocol):
    """An adapter whose captions can be read without a task."""

    def captions_by_id(self) -> dict[str, tuple[str, ...]]:
        """Return the captions by id."""
        ...


def read_answers(
    file: str, options: FileOptions = FileOptions()
) -> dict[str, tuple[str, ...]]:
    """Return the captions of a file of candidates by id, empty ones too; raise
    :class:`InputError` for a file that cannot be read.
    """
    system = options.systems[0] if options.systems else ""
    params = {
        "path": file,
        **_faults(["empty"]),
        **options.of_candidates(system, options.column),
    }
    return cast(
        HoldsCaptions, current().create("adapters", candidate_adapter(), params)
    ).captions_by_id()


def read_described(
    files: Sequence[str], options: FileOptions = FileOptions()
) -> tuple[dict[str, tuple[str, ...]], list[Reading]]:
    """Return the captions by id of files of references, or of a file of candidates
    alone, and how they are read in each role.

    A role that takes the same captions as the first one is left out.

    Raises :class:`InputError` for files that cannot be read in either role.
    """
    found: list[dict[str, tuple[str, ...]]] = []
    readings: list[Reading] = []
    errors: list[InputError] = []
    try:
        reader = _create_reader(files, ["empty"], options)
        found.append(
            {example.id: example.references for example in reader if example.references}
        )
        readings += collect_readings([reader])
    except InputError as error:
        errors.append(error)
    if len(files) == 1:
        try:
            adapter = current().create(
                "adapters",
                candidate_adapter(),
                {"path": files[0], **_faults(["empty"]), **options.of_candidates()},
            )
            found.append(cast(HoldsCaptions, adapter).captions_by_id())
            if len(found) == 1 or found[1] != found[0]:
                readings += collect_readings([adapter])
        except InputError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    return found[0], readings


def read_prompts(file: str, options: FileOptions = FileOptions()) -> dict[str, str]:
    """Return the texts of the prompts by id, of a file whose records have them beside
    the answers; empty for any other file.

    Records that are matched by position (``options.id`` None) have their numbers as
    ids, as :func:`read_answers` gives them.
    """
    from harness.files.forms import existing_captions
    from harness.registry.file_forms import read_form

    out: dict[str, str] = {}
    rows = read_form(
        existing_captions(file, "file of answers"),
        "candidates",
        [name for name in (options.id, options.column) if name],
    ).rows
    for number, row in enumerate(rows):
        key = options.id or next(iter(id_columns(row.fields)), "")
        prompt = next(
            (
                row.fields[name]
                for name in PROMPT_COLUMNS
                if isinstance(row.fields.get(name), str)
            ),
            None,
        )
        if prompt is None or (
            options.id is not None and not has_field(row.fields, key)
        ):
            return out
        name = str(number) if options.id is None else str(get_field(row.fields, key))
        if out.setdefault(name, str(prompt)) != prompt:
            raise InputError(
                f"the id '{name}' has different prompts: "
                f"{out[name]!r:.60} and {prompt!r:.60}",
                row.where,
            )
    return out


def score_spec(
    files: Sequence[str],
    references: str | Sequence[str],
    metrics: Sequence[str],
    *,
    labels: Sequence[str] = (),
    p_value: str = "none",
    seed: int = 0,
    limit: int | None = None,
    allow: Sequence[str] = (),
    options: FileOptions = FileOptions(),
    slices: Sequence[str] = (),
) -> Located:
    """Return the spec of ``harness score``; its places are the command's options,
    for error messages.

    Every file of candidates is a model, or one per system of ``options``, labelled as
    :func:`~harness.run.file_pair.system_labels` does. ``allow`` lists faults of files
    that are accepted: ``missing``, ``unknown``, ``empty`` (parameters ``allow_...`` of
    the adapter, the last of the reader too). ``slices`` are columns of the metadata
    whose values are slices. Raises :class:`~harness.errors.HarnessError` for labels
    that do not fit the files, and for metrics that cannot be parsed.
    """
    if not files:
        raise HarnessError("no file of candidates; expected at least one")
    params: Values = {"allow_missing": False, **_faults(allow)}
    options = resolve_columns(files, references, options)
    pairs = [(file, name) for file in files for name in options.names or ("",)]
    models = [
        {
            candidate_adapter(): {
                "path": file,
                **_of_system(options, name),
                **params,
                "label": label,
            }
        }
        for (file, name), label in zip(
            pairs, system_labels(files, options.names, labels)
        )
    ]
    empty = _faults(["empty"] if "empty" in allow else [])
    texts = _distinct([text for item in metrics for text in split_metrics(item)])
    spec: Values = {
        "task": f"score {', '.join(Path(file).name for file in files)}",
        "dataset": {
            "reader": reference_reader(),
            "path": _paths(references),
            **empty,
            **options.of_references(),
        },
        "models": models,
        "metrics": [dict([split_spec(parse_metric(text), "metric")]) for text in texts],
        "significance": {"method": p_value},
        "seed": seed,
        "limit": limit,
    }
    if slices:
        spec["dataset"]["meta"] = list(slices)
        spec["slices"] = list(slices)
    option_of_key: dict[Key, str] = {
        ("metrics", index): f"-m {text}" for index, text in enumerate(texts)
    }
    option_of_key |= {
        ("models", index): f"--candidates {file}"
        for index, (file, _) in enumerate(pairs)
    }
    option_of_key |= {
        (): "harness score",
        ("dataset",): "--references",
        ("models",): "--candidates",
    }
    option_of_key |= {("seed",): "--seed", ("limit",): "--limit"}
    return Located(spec, {key: (option, 0) for key, option in option_of_key.items()})


def _of_system(options: FileOptions, name: str) -> Values:
    """Return the parameters of the adapter for a system of records,
    or for one of several columns.
    """
    if len(options.columns) > 1:
        return options.of_candidates(column=name)
    return options.of_candidates(name, options.column)


def _as_list(references: str | Path | Sequence[str | Path]) -> list[str]:
    return [
        str(path)
        for path in (
            [references] if isinstance(references, (str, Path)) else references
        )
    ]


def _paths(references: str | Path | Sequence[str | Path]) -> str | list[str]:
    """Return one path as a text, several as a list."""
    paths = _as_list(references)
    return paths[0] if len(paths) == 1 else paths


def _faults(allow: Sequence[str]) -> Values:
    return {f"allow_{fault}": True for fault in allow}


def _distinct(texts: Sequence[str]) -> list[str]:
    """Return the metrics without those that repeat an earlier one under another name;
    unknown names stay.
    """
    first: dict[str, str] = {}
    for text in texts:
        name, params = split_spec(parse_metric(text), "metric")
        with suppress(UnknownName):
            name = current().get("metrics", name).full_name
        first.setdefault(repr((name, params)), text)
    return list(first.values())


def file_labels(files: Sequence[str], labels: Sequence[str] = ()) -> list[str]:
    """Return one label per file: ``labels``, or the file names without ending.

    Equal names are preceded by as many folders as tell them apart; files that differ in
    the ending alone keep it, and a file that occurs twice is numbered.

    Raises
    ------
    HarnessError
        Another number of labels than files, an empty label, or a label that occurs
        twice.

    Examples
    --------
    >>> file_labels(["a/pred.json", "b/pred.json", "human.jsonl.gz"])
    ['a/pred', 'b/pred', 'human']
    """
    if not labels:
        return _from_names(files)
    if len(labels) != len(files):
        raise HarnessError(
            f"{len(labels)} {'label' if len(labels) == 1 else 'labels'} for "
            f"{len(files)} "
            f"{'file' if len(files) == 1 else 'files'} of candidates; "
            "expected one label per file, in their order"
        )
    if not all(label.strip() for label in labels):
        raise HarnessError("a label is empty; expected a name for the table")
    twice = [label for label, count in Counter(labels).items() if count > 1]
    if twice:
        raise HarnessError(
            f"the label '{twice[0]}' occurs {labels.count(twice[0])} times; "
            "expected different labels"
        )
    return list(labels)


def system_labels(
    files: Sequence[str], systems: Sequence[str], labels: Sequence[str] = ()
) -> list[str]:
    """Return one label per file and system: ``labels``, or the system after the label
    of its file where there are several files.

    Without systems, the same as :func:`file_labels`; raises as that function.

    >>> system_labels(["a.jsonl"], ["beam", "nucleus"])
    ['beam', 'nucleus']
    """
    if not systems:
        return file_labels(files, labels)
    if labels:
        return file_labels(
            [f"{file}/{system}" for file in files for system in systems], labels
        )
    names = file_labels(files)
    return unique(
        [
            system if len(files) == 1 else f"{name}/{system}"
            for name in names
            for system in systems
        ]
    )


def _from_names(files: Sequence[str]) -> list[str]:
    paths = [user_path(file).absolute() for file in files]
    labels = [_name(path, 0) for path in paths]
    for folders in range(1, max(len(path.parts) for path in paths)):
        parents = {
            label: {path.parent for path, name in zip(paths, labels) if name == label}
            for label in labels
        }
        labels = [
            _name(path, folders) if len(parents[label]) > 1 else label
            for path, label in zip(paths, labels)
        ]
    names = {
        label: {path.name for path, name in zip(paths, labels) if name == label}
        for label in labels
    }
    return unique(
        [
            path.name if len(names[label]) > 1 else label
            for path, label in zip(paths, labels)
        ]
    )


def _name(path: Path, folders: int) -> str:
    """Return the last folders and the name of a path without its endings."""
    name = path.name
    while Path(name).suffix.lower() in SUFFIXES and Path(name).stem:
        name = Path(name).stem
    return "/".join([*path.parts[max(1, len(path.parts) - 1 - folders) : -1], name])


OPTION_SPELLING = {pattern: option for pattern, option, _ in _SPELLINGS}
KEYWORD_SPELLING = {pattern: keyword for pattern, _, keyword in _SPELLINGS}


def respell(error: InputError, spelling: Mapping[str, str]) -> InputError:
    """Return an error with the advice of its message in another spelling;
    ``spelling`` maps patterns to texts.
    """
    text = error.message
    for pattern, name in spelling.items():
        text = re.sub(pattern, name, text)
    return InputError(text, error.where, parameter=error.parameter, value=error.value)
