"""Permissions of the user for what a spec asks for: secrets of the environment, and code in folders that it names.

A spec comes from somebody else as often as not, and says itself to which servers things are sent: that it asks for a key is no
permission. The user allows secrets by ``--allow-secret NAME``, by an argument in Python, or for all runs by the environment variable
:data:`ALLOWED_SECRETS`, and code by the variable :data:`ALLOWED_CODE`; a spec cannot set them.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from harness.errors import InputError

if TYPE_CHECKING:  # the command line imports this module for every verb
    from harness.contracts import Values
    from harness.files.yaml_source import Located, YamlValue

ALLOWED_SECRETS = "HARNESS_ALLOWED_SECRETS"
"""Environment variable: names of environment variables that specs may read, separated by commas."""
ALLOWED_CODE = "HARNESS_ALLOW_CODE"
"""Environment variable: ``1`` lets specs name folders whose code is run."""
_DEFAULT_HOSTS = {"OPENAI_API_KEY": "api.openai.com"}
"""Usual variable of a service -> its host, to which the key may be sent without permission."""
_CODE_PARAMETERS = ("trust_remote_code", "jars")
"""Parameters of components that run code of a folder or of the hub."""
_allowed: ContextVar[frozenset[str]] = ContextVar("_allowed", default=frozenset())


@contextmanager
def allow(secrets: Iterable[str]) -> Generator[None]:
    """Context in which specs that are loaded may read these environment variables."""
    token = _allowed.set(_allowed.get() | set(secrets))
    try:
        yield
    finally:
        _allowed.reset(token)


def check_secret(name: str, location: str) -> None:
    """Raise :class:`InputError` for an environment variable that the user has not allowed."""
    if name not in _allowed.get() and name not in map(str.strip, os.environ.get(ALLOWED_SECRETS, "").split(",")):
        raise InputError(
            f"the spec asks for the secret {name} of your environment; if it may have it: --allow-secret {name} "
            f"(Python: allow_secrets=['{name}']; for all runs: {ALLOWED_SECRETS}={name})",
            location,
            value=name,
        )


def check_permissions(tree: Located) -> None:
    """Raise :class:`InputError`, with file and line, for keys of servers and for code that the user has not allowed."""
    for key, value in tree.walk():
        values = cast("Values", value) if isinstance(value, dict) else {}
        names: YamlValue = values.get("api_key_env")
        for name in cast("list[Any]", names) if isinstance(names, list) else [names]:
            if isinstance(name, str) and not _is_default_host(name, values.get("base_url")):
                check_secret(name, tree.where((*key, "api_key_env")))
        for parameter in _CODE_PARAMETERS:
            if values.get(parameter) and os.environ.get(ALLOWED_CODE) != "1":
                text = f"{parameter} runs code that the spec names; if you trust it, set the environment variable {ALLOWED_CODE}=1"
                raise InputError(text, tree.where((*key, parameter)), parameter=parameter)


def _is_default_host(name: str, base_url: object) -> bool:
    """Return True for the usual variable of the service at an address; over http anybody on the way would read the key."""
    try:
        address = urlsplit(str(base_url))
    except ValueError:
        return False
    return address.scheme == "https" and address.hostname is not None and address.hostname == _DEFAULT_HOSTS.get(name)
