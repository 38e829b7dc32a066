"""The logging services. Each gets the manifest of a run, its records, and its end."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any, Protocol

from harness.contracts import Parameters, Values
from harness.errors import require

EXTRA = "loggers"
COLUMNS = (
    "model",
    "decoding",
    "metric",
    "value",
    "low",
    "high",
    "p_value",
    "n",
    "skipped",
)
"""Columns of the table of results."""


class Service(Protocol):
    """One run in a logging service."""

    def record(self, values: dict[str, float]) -> None:
        """Log numbers by name."""
        ...

    def finish(self, rows: list[list[object]]) -> None:
        """Log the table of results, with the columns :data:`COLUMNS`,
        and end the run.
        """
        ...

    def stop(self, reason: str, *, interrupted: bool) -> None:
        """End the run as failed, or as interrupted (Ctrl-C, SIGTERM);
        ``reason`` is the error in one line.
        """
        ...


def configuration(manifest: Parameters) -> Values:
    """Return what identifies a run: task, signature, digest, seed, spec,
    data, versions.
    """
    names = (
        "task",
        "signature",
        "digest",
        "seed",
        "variant",
        "data",
        "models",
        "metrics",
        "versions",
    )
    return {
        name: manifest[name] for name in names if manifest.get(name) not in (None, "")
    }


class Wandb:
    """A run of Weights & Biases; its own variables (``WANDB_MODE=offline``) hold too.

    Parameters
    ----------
    manifest : mapping
        Content of manifest.json.
    project, name, mode, folder : str, optional
        Project (default: harness), name of the run (default: its signature),
        ``online``, ``offline`` or ``disabled``, and the local folder.
    """

    def __init__(
        self,
        manifest: Parameters,
        *,
        project: str = "harness",
        name: str | None = None,
        mode: str | None = None,
        folder: str | None = None,
    ) -> None:
        self._wandb: Any = require("wandb", extra=EXTRA, needed_by="logger wandb")
        settings = self._wandb.Settings(silent=True)
        self._run = self._wandb.init(
            project=project,
            name=name or manifest["signature"],
            mode=mode,
            dir=folder,
            config=configuration(manifest),
            reinit="finish_previous",
            settings=settings,
        )

    def record(self, values: dict[str, float]) -> None:
        """Log numbers by name, also to the summary of the run."""
        self._run.log(values)

    def finish(self, rows: list[list[object]]) -> None:
        """Log the table ``results`` and end the run."""
        self._run.log({"results": self._wandb.Table(columns=list(COLUMNS), data=rows)})
        self._run.finish()

    def stop(self, reason: str, *, interrupted: bool) -> None:
        """Write the error into the summary and end the run as failed."""
        self._run.summary["error"] = reason
        self._run.finish(exit_code=130 if interrupted else 1)


class MLflow:
    """A run of MLflow; ``MLFLOW_TRACKING_URI`` holds too.

    Parameters
    ----------
    manifest : mapping
        Content of manifest.json.
    uri, experiment, name, artifacts : str, optional
        Tracking URI, experiment (default: harness), name of the run (default: its
        signature), and the place of the files of a new experiment.
    """

    def __init__(
        self,
        manifest: Parameters,
        *,
        uri: str | None = None,
        experiment: str = "harness",
        name: str | None = None,
        artifacts: str | None = None,
    ) -> None:
        self._mlflow: Any = require("mlflow", extra=EXTRA, needed_by="logger mlflow")
        if uri:
            self._mlflow.set_tracking_uri(uri)
        self._client: Any = self._mlflow.MlflowClient()
        present = self._client.get_experiment_by_name(experiment)
        identifier = (
            present.experiment_id
            if present
            else self._client.create_experiment(experiment, artifact_location=artifacts)
        )
        self._id = self._client.create_run(
            identifier, run_name=name or manifest["signature"]
        ).info.run_id
        content = configuration(manifest)
        for key in ("task", "signature", "digest", "seed", "variant"):
            if key in content:
                self._client.log_param(self._id, key, str(content[key])[:500])
        self._client.log_dict(
            self._id, json.loads(json.dumps(content, default=str)), "manifest.json"
        )

    def record(self, values: dict[str, float]) -> None:
        """Log numbers by name; characters that MLflow refuses in names are replaced by
        ``_``.
        """
        for name, value in values.items():
            self._client.log_metric(self._id, re.sub(r"[^\w\-. /]", "_", name), value)

    def finish(self, rows: list[list[object]]) -> None:
        """Log the table ``results.json`` and end the run."""
        self._client.log_dict(
            self._id, {"columns": list(COLUMNS), "data": rows}, "results.json"
        )
        self._client.set_terminated(self._id)

    def stop(self, reason: str, *, interrupted: bool) -> None:
        """Set the tag ``error`` and end the run with the status FAILED or KILLED."""
        self._client.set_tag(self._id, "error", reason)
        self._client.set_terminated(self._id, "KILLED" if interrupted else "FAILED")


class TensorBoard:
    """An event file of TensorBoard; needs no torch.

    Parameters
    ----------
    manifest : mapping
        Content of manifest.json.
    folder : str, optional
        Folder of the event files; a run has a subfolder of its own.
    """

    def __init__(
        self, manifest: Parameters, *, folder: str = "runs/tensorboard"
    ) -> None:
        needed = "logger tensorboard"
        writer = require(
            "tensorboard.summary.writer.event_file_writer",
            extra=EXTRA,
            needed_by=needed,
        )
        self._summary: Any = require(
            "tensorboard.compat.proto.summary_pb2", extra=EXTRA, needed_by=needed
        )
        self._event: Any = require(
            "tensorboard.compat.proto.event_pb2", extra=EXTRA, needed_by=needed
        )
        name = re.sub(
            r"[^\w.-]+", "-", f"{manifest['task']}-{manifest['digest'][:8]}"
        ).strip("-")
        self._writer: Any = writer.EventFileWriter(str(Path(folder) / name))
        self._text(
            "manifest",
            f"```\n{json.dumps(configuration(manifest), indent=1, default=str)}\n```",
        )

    def _add(self, value: Any) -> None:
        event = self._event.Event(
            wall_time=time.time(), step=0, summary=self._summary.Summary(value=[value])
        )
        self._writer.add_event(event)

    def _text(self, tag: str, text: str) -> None:
        tensor: Any = require(
            "tensorboard.compat.proto.tensor_pb2",
            extra=EXTRA,
            needed_by="logger tensorboard",
        )
        types: Any = require(
            "tensorboard.compat.proto.types_pb2",
            extra=EXTRA,
            needed_by="logger tensorboard",
        )
        plugin = self._summary.SummaryMetadata.PluginData(
            plugin_name="text", content=b""
        )
        content = tensor.TensorProto(dtype=types.DT_STRING, string_val=[text.encode()])
        self._add(
            self._summary.Summary.Value(
                tag=f"{tag}/text_summary",
                metadata=self._summary.SummaryMetadata(plugin_data=plugin),
                tensor=content,
            )
        )

    def record(self, values: dict[str, float]) -> None:
        """Write scalars."""
        for name, value in values.items():
            self._add(self._summary.Summary.Value(tag=name, simple_value=value))

    def finish(self, rows: list[list[object]]) -> None:
        """Write the table of results as Markdown text and close the file."""
        lines = [COLUMNS, ["---"] * len(COLUMNS), *rows]
        self._text(
            "results",
            "\n".join(
                f"| {' | '.join('' if x is None else str(x) for x in line)} |"
                for line in lines
            ),
        )
        self._writer.close()

    def stop(self, reason: str, *, interrupted: bool) -> None:
        """Write the error as the text ``error`` and close the file."""
        self._text("error", reason)
        self._writer.close()


class Trackio:
    """A run of trackio, in a local database (folder ``TRACKIO_DIR``).

    Parameters
    ----------
    manifest : mapping
        Content of manifest.json.
    project, name : str, optional
        Project (default: harness), name of the run (default: its signature and the
        time, since names are unique).
    space : str, optional
        Space of the Hugging Face hub to which the run is copied.
    """

    def __init__(
        self,
        manifest: Parameters,
        *,
        project: str = "harness",
        name: str | None = None,
        space: str | None = None,
    ) -> None:
        self._trackio: Any = require("trackio", extra=EXTRA, needed_by="logger trackio")
        name = name or f"{manifest['signature']} {time.strftime('%Y-%m-%d %H:%M:%S')}"
        config = json.loads(json.dumps(configuration(manifest), default=str))
        self._run: Any = self._trackio.init(
            project=project,
            name=name,
            space_id=space,
            config=config,
            embed=False,
            auto_log_gpu=False,
        )

    def record(self, values: dict[str, float]) -> None:
        """Log numbers by name."""
        self._run.log(values)

    def finish(self, rows: list[list[object]]) -> None:
        """End the run; every number is in its log."""
        self._run.finish()

    def stop(self, reason: str, *, interrupted: bool) -> None:
        """Log an alert with the error and end the run;
        trackio has no status of runs.
        """
        self._run.alert(
            "interrupted" if interrupted else "failed",
            text=reason,
            level=self._trackio.AlertLevel.ERROR,
        )
        self._run.finish()


SERVICES: dict[str, type] = {
    "wandb": Wandb,
    "mlflow": MLflow,
    "tensorboard": TensorBoard,
    "trackio": Trackio,
}
"""Name in ``HARNESS_LOGGERS`` -> class."""
