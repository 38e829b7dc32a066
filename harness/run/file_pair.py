"""Caption sets and specs from files of candidates, which have labels, and a file of references, with the options of both files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from harness.contracts import Adapter, CaptionSet, Decoding, Example, Reader, TaskView, Values
from harness.errors import HarnessError, InputError, UnknownName
from harness.files.columns import FILE_ID_COLUMNS, SOURCE_COLUMNS
from harness.files.user_path import user_path
from harness.files.yaml_source import Key, Located
from harness.registry import current, split_spec
from harness.registry.file_forms import read_form
from harness.run.generate import generate
from harness.run.metric_plan import ModelPlan, unique
from harness.spec.metric_text import parse_metric, split_metrics


@dataclass(frozen=True)
class FileOptions:
    """Columns, systems and accepted faults of files of candidates and references."""

    id: str | None = ""
    """Column of the ids of candidates; empty: a usual name; None: records and examples are matched by position."""
    column: str = ""
    """Column of the candidates; empty: a usual name."""
    systems: tuple[str, ...] = ()
    """Systems to score, from records whose candidates are an object of systems."""
    reference_id: str | None = ""
    """Column of the ids of references; empty: a usual name; None: the records are numbered."""
    reference_columns: tuple[str, ...] = ()
    """Columns of the references; empty: a usual name."""

    def of_candidates(self, system: str = "") -> Values:
        """Return the parameters of the adapter that reads candidates, for one system of the file or without one."""
        values: Values = {}
        if self.id != "":
            values["columns"] = {"id": self.id}
        if self.column:
            values["candidates"] = self.column
        return values | ({"system": system} if system else {})

    def of_references(self) -> Values:
        """Return the parameters of the reader of references."""
        columns: Values = {} if self.reference_id == "" else {"id": self.reference_id}
        if self.reference_columns:
            columns["references"] = list(self.reference_columns)
        return {"columns": columns} if columns else {}


def reference_reader() -> str:
    """Return the name of the reader that recognises the format of a reference file."""
    return current().with_role("readers", "reference-files").name


def candidate_adapter() -> str:
    """Return the name of the adapter that reads candidates from files."""
    return current().with_role("adapters", "candidate-files").name


def read_file_pair(
    candidates: str | Path, references: str | Path | Sequence[str | Path], *, allow: Sequence[str] = (),
    options: FileOptions = FileOptions(),
) -> list[CaptionSet]:  # fmt: skip
    """Return the caption sets of two files (docs/data-formats.md lists the formats); ``allow`` as for :func:`score_spec`.

    Raises :class:`~harness.errors.InputError` for files that cannot be read and ids that do not match.
    """
    registry = current()
    task = TaskView(read_references(references, allow, options), Decoding())
    systems = {"system": list(options.systems)} if options.systems else {}
    params = {"path": str(candidates), **_faults(allow), **options.of_candidates(), **systems}
    adapter = cast(Adapter, registry.create("adapters", candidate_adapter(), params))
    return generate(ModelPlan("candidates", candidate_adapter(), params, adapter), task, seed=0).caption_sets()


def read_references(
    references: str | Path | Sequence[str | Path], allow: Sequence[str] = (), options: FileOptions = FileOptions()
) -> list[Example]:  # fmt: skip
    """Return the examples of a file of references, or of several that each have some references of all examples."""
    values = {"path": _paths(references), **_faults(["empty"] if "empty" in allow else []), **options.of_references()}
    return list(cast(Reader, current().create("readers", reference_reader(), values)))


class HoldsCaptions(Protocol):
    """An adapter whose captions can be read without a task."""

    def captions_by_id(self) -> dict[str, tuple[str, ...]]:
        """Return the captions by id."""
        ...


def read_answers(file: str, options: FileOptions = FileOptions()) -> dict[str, tuple[str, ...]]:
    """Return the captions of a file of candidates by id, empty ones too; raise :class:`InputError` for a file that cannot be read."""
    params = {"path": file, **_faults(["empty"]), **options.of_candidates(options.systems[0] if options.systems else "")}
    return cast(HoldsCaptions, current().create("adapters", candidate_adapter(), params)).captions_by_id()


def read_prompts(file: str, options: FileOptions = FileOptions()) -> dict[str, str]:
    """Return the texts of the prompts by id, of a file whose records have them beside the answers; empty for any other file.

    Records that are matched by position (``options.id`` None) have their numbers as ids, as :func:`read_answers` gives them.
    """
    out: dict[str, str] = {}
    rows = read_form(user_path(file), "candidates", [name for name in (options.id, options.column) if name]).rows
    for number, row in enumerate(rows):
        key = options.id or next((name for name in FILE_ID_COLUMNS if name in row.fields), "")
        prompt = next((row.fields[name] for name in PROMPT_COLUMNS if isinstance(row.fields.get(name), str)), None)
        if prompt is None or (options.id is not None and key not in row.fields):
            return out
        name = str(number) if options.id is None else str(row.fields[key])
        if out.setdefault(name, str(prompt)) != prompt:
            raise InputError(f"the id '{name}' has different prompts: {out[name]!r:.60} and {prompt!r:.60}", row.where)
    return out


def score_spec(
    files: Sequence[str], references: str | Sequence[str], metrics: Sequence[str], *, labels: Sequence[str] = (), p_value: str = "none",
    seed: int = 0, limit: int | None = None, allow: Sequence[str] = (), options: FileOptions = FileOptions(),
) -> Located:  # fmt: skip
    """Return the spec of ``harness score``; its places are the command's options, for error messages.

    Every file of candidates is a model, or one per system of ``options``, labelled as :func:`~harness.run.file_pair.system_labels`
    does. ``allow`` lists faults of files that are accepted: ``missing``, ``unknown``, ``empty`` (parameters ``allow_...`` of the adapter,
    the last of the reader too). Raises
    :class:`~harness.errors.HarnessError` for labels that do not fit the files, and for metrics that cannot be parsed.
    """
    if not files:
        raise HarnessError("no file of candidates; expected at least one")
    params: Values = {"allow_missing": False, **_faults(allow)}
    pairs = [(file, system) for file in files for system in options.systems or ("",)]
    models = [
        {candidate_adapter(): {"path": file, **options.of_candidates(system), **params, "label": label}}
        for (file, system), label in zip(pairs, system_labels(files, options.systems, labels))
    ]
    empty = _faults(["empty"] if "empty" in allow else [])
    texts = _distinct([text for item in metrics for text in split_metrics(item)])
    spec: Values = {
        "task": f"score {', '.join(Path(file).name for file in files)}",
        "dataset": {"reader": reference_reader(), "path": _paths(references), **empty, **options.of_references()}, "models": models,
        "metrics": [dict([split_spec(parse_metric(text), "metric")]) for text in texts], "significance": {"method": p_value},
        "seed": seed, "limit": limit,
    }  # fmt: skip
    option_of_key: dict[Key, str] = {("metrics", index): f"-m {text}" for index, text in enumerate(texts)}
    option_of_key |= {("models", index): f"--candidates {file}" for index, (file, _) in enumerate(pairs)}
    option_of_key |= {(): "harness score", ("dataset",): "--references", ("models",): "--candidates"}
    option_of_key |= {("seed",): "--seed", ("limit",): "--limit"}
    return Located(spec, {key: (option, 0) for key, option in option_of_key.items()})


def _paths(references: str | Path | Sequence[str | Path]) -> str | list[str]:
    """Return one path as a text, several as a list."""
    paths = [str(path) for path in ([references] if isinstance(references, (str, Path)) else references)]
    return paths[0] if len(paths) == 1 else paths


def _faults(allow: Sequence[str]) -> Values:
    return {f"allow_{fault}": True for fault in allow}


def _distinct(texts: Sequence[str]) -> list[str]:
    """Return the metrics without those that repeat an earlier one under another name; unknown names stay."""
    first: dict[str, str] = {}
    for text in texts:
        name, params = split_spec(parse_metric(text), "metric")
        with suppress(UnknownName):
            name = current().get("metrics", name).full_name
        first.setdefault(repr((name, params)), text)
    return list(first.values())


PROMPT_COLUMNS = ("prompt", "question", *SOURCE_COLUMNS)
"""Usual names of the column of prompts."""
SUFFIXES = {".json", ".jsonl", ".ndjson", ".parquet", ".gz", ".csv", ".tsv", ".txt", ".eval"}
"""Endings that a label leaves out."""


def file_labels(files: Sequence[str], labels: Sequence[str] = ()) -> list[str]:
    """Return one label per file: ``labels``, or the file names without ending.

    Equal names are preceded by as many folders as tell them apart; files that differ in the ending alone keep it, and a file
    that occurs twice is numbered.

    Raises
    ------
    HarnessError
        Another number of labels than files, an empty label, or a label that occurs twice.

    Examples
    --------
    >>> file_labels(["a/pred.json", "b/pred.json", "human.jsonl.gz"])
    ['a/pred', 'b/pred', 'human']
    """
    if not labels:
        return _from_names(files)
    if len(labels) != len(files):
        raise HarnessError(
            f"{len(labels)} {'label' if len(labels) == 1 else 'labels'} for {len(files)} "
            f"{'file' if len(files) == 1 else 'files'} of candidates; expected one label per file, in their order"
        )
    if not all(label.strip() for label in labels):
        raise HarnessError("a label is empty; expected a name for the table")
    twice = [label for label, count in Counter(labels).items() if count > 1]
    if twice:
        raise HarnessError(f"the label '{twice[0]}' occurs {labels.count(twice[0])} times; expected different labels")
    return list(labels)


def system_labels(files: Sequence[str], systems: Sequence[str], labels: Sequence[str] = ()) -> list[str]:
    """Return one label per file and system: ``labels``, or the system after the label of its file where there are several files.

    Without systems, the same as :func:`file_labels`; raises as that function.

    >>> system_labels(["a.jsonl"], ["beam", "nucleus"])
    ['beam', 'nucleus']
    """
    if not systems:
        return file_labels(files, labels)
    if labels:
        return file_labels([f"{file}/{system}" for file in files for system in systems], labels)
    names = file_labels(files)
    return unique([system if len(files) == 1 else f"{name}/{system}" for name in names for system in systems])


def _from_names(files: Sequence[str]) -> list[str]:
    paths = [user_path(file).absolute() for file in files]
    labels = [_name(path, 0) for path in paths]
    for folders in range(1, max(len(path.parts) for path in paths)):
        parents = {label: {path.parent for path, name in zip(paths, labels) if name == label} for label in labels}
        labels = [_name(path, folders) if len(parents[label]) > 1 else label for path, label in zip(paths, labels)]
    names = {label: {path.name for path, name in zip(paths, labels) if name == label} for label in labels}
    return unique([path.name if len(names[label]) > 1 else label for path, label in zip(paths, labels)])


def _name(path: Path, folders: int) -> str:
    """Return the last folders and the name of a path without its endings."""
    name = path.name
    while Path(name).suffix.lower() in SUFFIXES and Path(name).stem:
        name = Path(name).stem
    return "/".join([*path.parts[max(1, len(path.parts) - 1 - folders) : -1], name])


_ID_NAME = r"\bcolumns: \{id: \.\.\.\}, or \{id: null\} numbers the rows"
_SPELLINGS = (
    (r"\bcolumns: \{references: \.\.\.\}", "--reference-column NAME", "reference_column=..."),
    (_ID_NAME, "--reference-id NAME; --reference-id null numbers the rows", "reference_id=..., None numbers the rows"),
    (r"\bid: null\b", "--id null", "id=None"),
    (r"\bid: \.\.\.", "--id NAME", "id=..."),
    (r"\bcandidates: \.\.\.", "--column NAME", "column=..."),
    (r"\bsystem: (NAME|\.\.\.)", "--system NAME", "system=..."),
    (r"\ballow_(missing|unknown|empty): true", r"--allow-\1", r"allow_\1=True"),
)
"""Advice in the spelling of a spec, as an option of ``harness score``, and as a keyword of :func:`harness.score`."""
OPTION_SPELLING = {pattern: option for pattern, option, _ in _SPELLINGS}
KEYWORD_SPELLING = {pattern: keyword for pattern, _, keyword in _SPELLINGS}


def respell(error: InputError, spelling: Mapping[str, str]) -> InputError:
    """Return an error with the advice of its message in another spelling; ``spelling`` maps patterns to texts."""
    text = error.message
    for pattern, name in spelling.items():
        text = re.sub(pattern, name, text)
    return InputError(text, error.where, parameter=error.parameter, value=error.value)
