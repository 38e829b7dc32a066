"""Runs as files of lm-eval: results and samples of each system."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from harness import __version__
from harness.contracts import Values
from harness.reporting.system_files import name_systems, records_of, standard_error
from harness.run.finished import Run
from harness.rundir.format import plain
from harness.rundir.records import ResultRecord
from harness.rundir.samples import System

FILTER = "none"
"""Name of the filter of lm-eval that keeps the responses as they are."""


def lm_eval_files(run: Run) -> Iterator[tuple[str, str]]:
    """Yield path and text of the results and of the samples of each system."""
    date = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S.%f")
    task = re.sub(r"\W+", "_", run.provenance.task).strip("_") or "task"
    for name, system in name_systems(run.samples.systems).items():
        records = records_of(run, system)
        results = lm_eval_results(run, system, records, task)
        results |= {
            "model_name": system.label,
            "model_name_sanitized": name,
            "date": datetime.now(UTC).timestamp(),
        }
        text = json.dumps(plain(results), indent=2, ensure_ascii=False)
        yield f"{name}/results_{date}.json", text

        samples = lm_eval_samples(system, records)
        lines = (json.dumps(plain(sample), ensure_ascii=False) for sample in samples)
        text = "".join(line + "\n" for line in lines)
        yield f"{name}/samples_{task}_{date}.jsonl", text


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
        numbers[f"{_metric(record)}_stderr,{FILTER}"] = standard_error(system, record)

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

    # keys that lm-eval's tools read; a run has neither few-shot prompts nor repeats
    configuration = {
        "task": task,
        "description": run.provenance.signature,
        "output_type": "generate_until",
        "num_fewshot": 0,
        "repeats": 1,
        "metric_list": metrics,
        "metadata": {"version": 1, "digest": run.provenance.digest},
    }

    # all of these are by task in lm-eval, which runs several at once
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

        # what lm-eval hashes of a sample
        texts = {"doc": json.dumps(document), "prompt": item.id, "target": target}
        hashes = {
            f"{key}_hash": hashlib.sha256(text.encode()).hexdigest()
            for key, text in texts.items()
        }
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
            **hashes,
            **{name.replace(",", ";"): float(scores[name][number]) for name in names},
        }
