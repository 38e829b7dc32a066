"""Components of programs: those of manifests, whose entries have ``command``, and
``command`` itself, for a program that a spec or a command line names.
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Optional, cast

from harness.contracts import Parameters, PathParam, Values
from harness.contracts.parameters import CodeMark, Count, Positive
from harness.errors import HarnessError, InputError, MissingExtra
from harness.programs.components import (
    ProgramAdapter,
    ProgramComponent,
    ProgramDistance,
    ProgramEmbedding,
    ProgramMetric,
)
from harness.programs.declaration import MetricDeclaration
from harness.programs.environment import Environment, environment_of
from harness.programs.program import Limits, Program, limits_of, texts_of
from harness.programs.protocol import check_bounds, check_needs
from harness.registry.component_kinds import SINGULAR
from harness.registry.manifest_schema import Entry

CommandLine = Annotated[str, CodeMark]
"""Annotation of a command line: a file needs the user's permission for it."""
CLASSES: dict[str, type[ProgramComponent]] = {
    "metrics": ProgramMetric,
    "distances": ProgramDistance,
    "embeddings": ProgramEmbedding,
    "adapters": ProgramAdapter,
}
"""Kind -> class of the components of programs."""
ADAPTER_BATCH = 16
"""Requests per batch of an adapter, whose answers take long."""


@lru_cache(maxsize=256)
def component_of_entry(entry: Entry) -> Callable[..., ProgramComponent]:
    """Return the constructor of the component of a manifest's entry with ``command``.

    Its parameters are those of the entry's key ``parameters``, and ``images``, the
    folder of the media names of examples.

    Raises
    ------
    HarnessError
        A key that is not as docs/plugins.md says.
    """
    label = f"{SINGULAR[entry.kind]} '{entry.name}'"
    where = f"{entry.source}: {entry.kind}.{entry.name}"
    values = entry.declaration
    program = Program(
        label=label,
        command=_command(values["command"], where),
        folder=entry.folder.absolute(),
        files=texts_of(values.get("files", []), "files", where),
        environment=environment_of_entry(entry),
        secrets=texts_of(values.get("secrets", []), "secrets", where),
        limits=limits_of(
            _mapping(values.get("limits"), "limits", where) or _usual(entry.kind), where
        ),
    )
    stored = values.get("stored", True)
    if not isinstance(stored, bool):
        raise HarnessError(f"{where}: stored is {stored!r:.40}; expected true or false")
    members: Values = {"stored": stored}
    if entry.kind == "metrics":
        needs = list(values["needs"]) or ["candidate", "references"]
        members["declared"] = MetricDeclaration(
            entry.higher_is_better,
            check_bounds(values.get("bounds"), where),
            check_needs(needs, where),
        )
    elif "bounds" in values or values["needs"]:
        raise HarnessError(f"{where}: needs and bounds belong to metrics")

    declared = _mapping(values.get("parameters"), "parameters", where)

    def create(*, images: str | None = None, **parameters: Any) -> ProgramComponent:
        sent = {**declared, **parameters}
        component = CLASSES[entry.kind]
        return component(program, entry.name, sent, images, **members)

    return _with_signature(create, declared, entry)


def environment_of_entry(entry: Entry) -> Environment | None:
    """Return the environment that an entry declares, or None."""
    value = entry.declaration.get("environment")
    where = f"{entry.source}: {entry.kind}.{entry.name}"
    if value is None:
        return None
    return environment_of(value, entry.folder.absolute(), where)


def _with_signature(
    create: Callable[..., ProgramComponent], declared: Parameters, entry: Entry
) -> Callable[..., ProgramComponent]:
    """Return a constructor with the declared parameters as its signature; their
    defaults tell their types.
    """
    hints: Values = {"images": Optional[PathParam]}  # noqa: UP045
    for name, default in declared.items():
        if name == "images" or not name.isidentifier():
            raise HarnessError(
                f"{entry.source}: {entry.kind}.{entry.name}: the parameter '{name}' "
                "cannot have this name"
            )
        if isinstance(default, (bool, int, float, str)):
            hints[name] = float if type(default) is float else type(default)
    defaults: Values = {**declared, "images": None}
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(name, keyword, default=default)
        for name, default in defaults.items()
    ]
    create.__annotations__ = hints
    create.__doc__ = f"{entry.summary or 'A component of a program'}.\n\n" + (
        f"The program: {entry.command_line}"
    )
    setattr(create, "__signature__", inspect.Signature(parameters))  # noqa: B010
    return create


def _command(value: object, where: str) -> tuple[str, ...]:
    """Return the argument list of an entry."""
    if isinstance(value, str) or not value:
        words = shlex.split(value) if isinstance(value, str) else []
        raise HarnessError(
            f"{where}: command is {value!r:.60}; expected a list of the program and "
            f"its arguments, such as {words or ['python3', 'score.py']}"
        )
    return texts_of(value, "command", where)


def _mapping(value: object, key: str, where: str) -> Parameters:
    if value is None:
        return {}
    if isinstance(value, Mapping) and all(
        isinstance(name, str) for name in cast("Mapping[object, object]", value)
    ):
        return cast("Parameters", value)
    raise HarnessError(f"{where}: {key} is {value!r:.60}; expected a mapping")


def _usual(kind: str) -> Parameters:
    """Return the limits of a kind where none are declared."""
    return {"batch": ADAPTER_BATCH} if kind == "adapters" else {}


def command_metric(
    *,
    run: CommandLine = "",
    name: str | None = None,
    images: PathParam | None = None,
    parameters: Mapping[str, Any] | None = None,
    batch: Count = Limits.batch,
    replicas: Count = Limits.replicas,
    start_seconds: Positive = Limits.start_seconds,
    batch_seconds: Positive = Limits.batch_seconds,
    memory_gb: Positive | None = None,
    stored: bool = True,
) -> ProgramMetric:
    """Metric that a program computes, over JSON Lines.

    Needs, direction and bounds are those that the program says of itself.

    Parameters
    ----------
    run : str
        Command line of the program; quotes group words, as in a shell, which is not
        used. A file needs the permission ``HARNESS_ALLOW_CODE=1`` for it.
    name : str, optional
        Name in tables; default: ``command(NAME)`` with the name that the program has.
    images : str, optional
        Folder in which the media names of the examples are looked up.
    parameters : mapping, optional
        Parameters of the program.
    batch : int
        Requests per batch.
    replicas : int
        Processes of the program.
    start_seconds : float
        Longest time to the greeting, and from there to the first answers.
    batch_seconds : float
        Longest time of a batch.
    memory_gb : float, optional
        Limit of the address space of each process, in 10^9 bytes.
    stored : bool
        Keep the answers on disk; a later run does not ask again.
    """
    limits = Limits(
        batch=batch,
        replicas=replicas,
        start_seconds=start_seconds,
        batch_seconds=batch_seconds,
        memory_gb=memory_gb,
    )
    program = _typed_program("metric", run, limits)
    metric = ProgramMetric(program, "", parameters or {}, images, stored=stored)
    metric.name = name or f"command({metric.client.greeting.name})"
    return metric


def command_distance(
    *,
    run: CommandLine = "",
    parameters: Mapping[str, Any] | None = None,
    batch: Count = Limits.batch,
    replicas: Count = Limits.replicas,
    stored: bool = True,
) -> ProgramDistance:
    """Distance of two texts that a program computes, over JSON Lines.

    Parameters
    ----------
    run : str
        Command line of the program; quotes group words, as in a shell, which is not
        used. A file needs the permission ``HARNESS_ALLOW_CODE=1`` for it.
    parameters : mapping, optional
        Parameters of the program.
    batch : int
        Requests per batch.
    replicas : int
        Processes of the program.
    stored : bool
        Keep the answers on disk; a later run does not ask again.
    """
    program = _typed_program("distance", run, Limits(batch=batch, replicas=replicas))
    distance = ProgramDistance(program, "", parameters or {}, stored=stored)
    distance.name = distance.client.greeting.name
    return distance


def command_embedding(
    *,
    run: CommandLine = "",
    parameters: Mapping[str, Any] | None = None,
    batch: Count = Limits.batch,
    replicas: Count = Limits.replicas,
    stored: bool = True,
) -> ProgramEmbedding:
    """Vectors of texts that a program computes, over JSON Lines.

    Parameters
    ----------
    run : str
        Command line of the program; quotes group words, as in a shell, which is not
        used. A file needs the permission ``HARNESS_ALLOW_CODE=1`` for it.
    parameters : mapping, optional
        Parameters of the program.
    batch : int
        Requests per batch.
    replicas : int
        Processes of the program.
    stored : bool
        Keep the answers on disk; a later run does not ask again.
    """
    program = _typed_program("embedding", run, Limits(batch=batch, replicas=replicas))
    embedding = ProgramEmbedding(program, "", parameters or {}, stored=stored)
    embedding.name = embedding.client.greeting.name
    return embedding


def command_adapter(
    *,
    run: CommandLine = "",
    images: PathParam | None = None,
    parameters: Mapping[str, Any] | None = None,
    batch: Count = ADAPTER_BATCH,
    replicas: Count = Limits.replicas,
    start_seconds: Positive = Limits.start_seconds,
    batch_seconds: Positive = Limits.batch_seconds,
) -> ProgramAdapter:
    """Captions of a program, over JSON Lines.

    Parameters
    ----------
    run : str
        Command line of the program; quotes group words, as in a shell, which is not
        used. A file needs the permission ``HARNESS_ALLOW_CODE=1`` for it.
    images : str, optional
        Folder in which the media names of the examples are looked up.
    parameters : mapping, optional
        Parameters of the program.
    batch : int
        Requests per batch.
    replicas : int
        Processes of the program.
    start_seconds : float
        Longest time to the greeting, and from there to the first answers.
    batch_seconds : float
        Longest time of a batch.
    """
    limits = Limits(
        batch=batch,
        replicas=replicas,
        start_seconds=start_seconds,
        batch_seconds=batch_seconds,
    )
    program = _typed_program("adapter", run, limits)
    adapter = ProgramAdapter(program, "", parameters or {}, images)
    adapter.name = adapter.client.greeting.name
    return adapter


def _typed_program(kind: str, run: str, limits: Limits) -> Program:
    """Return the program of a command line; its files lie in the working directory."""
    label = f"{kind} 'command'"
    if not run:
        raise MissingExtra(
            f"{label} needs the parameter 'run', the command line of a program "
            '(run="python3 score.py")'
        )
    try:
        command = shlex.split(run)
    except ValueError as error:
        raise InputError(f"{label}: run is {run!r}: {error}", parameter="run") from None
    return Program(label, tuple(command), Path.cwd(), limits=limits)
