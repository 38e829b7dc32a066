"""Loggers in the environment variable ``HARNESS_LOGGERS``:
``tensorboard:folder=out/tb,wandb:project=captions,mode=offline``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from harness.contracts import Values
from harness.contracts.parameters import check_parameters
from harness.errors import HarnessError, UnknownName
from harness.files.yaml_source import parse_value

VARIABLE = "HARNESS_LOGGERS"


def loggers_of(text: str) -> list[tuple[str, Values]]:
    """Return the names and parameters of a comma-separated list; a part
    ``PARAMETER=VALUE`` belongs to the logger before it.

    Raises :class:`HarnessError` for a parameter without a logger.

    >>> loggers_of("mlflow:uri=sqlite:///a.db,experiment=x,trackio")
    [('mlflow', {'uri': 'sqlite:///a.db', 'experiment': 'x'}), ('trackio', {})]
    """
    loggers: list[tuple[str, Values]] = []
    for item in filter(None, map(str.strip, text.split(","))):
        head, equals, value = item.partition("=")
        name, colon, parameter = head.partition(":")
        if colon or not equals:
            loggers.append((name.strip(), {}))
        elif loggers:
            parameter = head
        else:
            raise HarnessError(
                f"{VARIABLE}: '{item}' belongs to no logger; "
                "expected NAME:PARAMETER=VALUE",
                value=item,
            )
        if equals:
            loggers[-1][1][parameter.strip()] = parse_value(value)
    return loggers


def read_loggers(services: Mapping[str, type]) -> list[tuple[type, Values]]:
    """Return the loggers that the environment requests,
    with parameters that their constructors take.

    Raises :class:`UnknownName` with the nearest name for an unknown logger or
    parameter, :class:`HarnessError` for a value of another type.
    """
    loggers: list[tuple[type, Values]] = []
    for name, params in loggers_of(os.environ.get(VARIABLE, "")):
        if name not in services:
            raise UnknownName.of_name(
                f"{VARIABLE}: no logger", name, services, "loggers are"
            )
        check_parameters(
            f"{VARIABLE}: {name}", services[name], {"manifest": {}, **params}
        )
        loggers.append((services[name], params))
    return loggers
