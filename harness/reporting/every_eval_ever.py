"""Results of one system in the forms in which programs exchange them: Every Eval Ever,
and ``.eval_results`` of the Hugging Face hub.
"""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

import yaml

from harness import __version__
from harness.contracts import Values
from harness.errors import InputError
from harness.reporting.system_files import (
    file_name,
    name_systems,
    records_of,
    standard_error,
)
from harness.reporting.table import shown_name
from harness.run.finished import Run
from harness.rundir.format import plain
from harness.rundir.records import ResultRecord
from harness.rundir.samples import System


def evaluation_files(run: Run) -> Iterator[tuple[str, str]]:
    """Yield path and text of each system's evaluation, below its task and model."""
    time = int(datetime.now(UTC).timestamp())
    for system in run.samples.systems:
        records = records_of(run, system)
        errors = {r.metric: standard_error(system, r) for r in records}
        content = evaluation(run, system, records, errors, time)

        # the collection's layout: data/TASK/DEVELOPER/MODEL/UUID.json
        developer = content["model_info"]["developer"]
        model = system.model.rpartition("/")[2]
        folders = map(file_name, (run.provenance.task, developer, model))
        text = json.dumps(plain(content), indent=2, ensure_ascii=False)
        yield f"data/{'/'.join(folders)}/{uuid.uuid4()}.json", text


def hub_files(run: Run) -> Iterator[tuple[str, str]]:
    """Yield path and text of the entries of each system for the hub."""
    for name, system in name_systems(run.samples.systems).items():
        entries = hub_entries(run, records_of(run, system))
        path = f"{name}/.eval_results/{file_name(run.provenance.task)}.yaml"
        yield path, yaml.safe_dump(plain(entries), sort_keys=False, allow_unicode=True)


def evaluation(
    run: Run,
    system: System,
    records: Sequence[ResultRecord],
    errors: Mapping[str, float | str],
    time: int,
) -> Values:
    """Return the results of a system as ``eval.schema.json`` 0.3.0 has them.

    Numbers that are undefined, and those of metrics without a direction, which the
    schema demands, are left out. There are no records of instances: they need a
    statement that an answer is correct.

    Parameters
    ----------
    run : Run
        Finished run.
    system : System
        One of its systems.
    records : sequence of ResultRecord
        Results of the system.
    errors : mapping
        Label of a metric -> standard error of its number, or a text where there is
        none.
    time : int
        Seconds since 1970 at which the file is written.
    """
    task = run.provenance.task
    developer = system.model.rpartition("/")[0] or "unknown"
    shared = {
        "evaluation_name": task,
        "generation_config": {
            "additional_details": {k: str(v) for k, v in system.decoding.items()}
        },
    }

    # the schema demands a direction and a finite number
    directed = [
        record
        for record in records
        if math.isfinite(record.value) and record.higher_is_better is not None
    ]
    unknown = dict.fromkeys(("deployment_type", "model_availability"), "unknown")
    return {
        "schema_version": "0.3.0",
        "evaluation_id": f"{task}/{system.label}/{time}",
        "retrieved_timestamp": str(time),
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "caption-harness",
            "version": __version__,
            "additional_details": {"digest": run.provenance.digest},
        },
        "model_info": {
            "name": system.label,
            "id": system.model,
            "developer": developer,
            "additional_details": unknown,
        },
        "evaluation_results": [
            {**shared, **_result(run, record, errors[record.metric])}
            for record in directed
        ],
    }


def _result(run: Run, record: ResultRecord, error: float | str) -> Values:
    uncertainty: Values = {"num_samples": record.n}
    if not isinstance(error, str):
        uncertainty["standard_error"] = {"value": error}
    if record.ci95 and all(map(math.isfinite, record.ci95)):
        method = record.interval_note or "bootstrap over examples"
        uncertainty["confidence_interval"] = {
            "lower": record.ci95[0],
            "upper": record.ci95[1],
            "confidence_level": 0.95,
            "method": method,
        }

    hub = _hub_data(run)
    source = (
        {"source_type": "hf_dataset", "hf_repo": str(hub["path"])}
        if hub
        else {"source_type": "other"}
    )
    metric = {
        "metric_id": record.metric,
        "metric_name": shown_name(record),
        "lower_is_better": not record.higher_is_better,
    }
    return {
        "source_data": {"dataset_name": run.provenance.task, **source},
        "metric_config": {
            **metric,
            "additional_details": {
                "signature": record.signature,
                "level": record.level,
            },
        },
        "score_details": {"score": record.value, "uncertainty": uncertainty},
    }


def _hub_data(run: Run) -> Values:
    """Return path, split and commit of the data set of the hub that was evaluated;
    empty for other data.
    """
    source = run.provenance.data.get("source")
    return dict(source) if isinstance(source, Mapping) and source.get("commit") else {}


def hub_entries(run: Run, records: Sequence[ResultRecord]) -> list[Values]:
    """Return the results of a system as entries of a file below ``.eval_results``: a
    task of the data set per metric.

    Raises :class:`InputError` for a run whose data are no data set of the hub.
    """
    hub = _hub_data(run)
    if not hub:
        raise InputError(
            "the data are no data set of the hub, which the format hf-eval-results "
            "names",
            run.name,
        )

    data = {"id": str(hub["path"]), "revision": str(hub["commit"])}
    return [
        {
            "dataset": {**data, "task_id": record.metric},
            "value": record.value,
            "notes": record.signature,
        }
        for record in records
        if math.isfinite(record.value)
    ]
