"""Permissions of the user for what parameters ask for: secrets of the environment, and
code in folders that they name.

A spec, a run directory or a judge file comes from somebody else as often as not, and
says itself to which servers things are sent: that it asks for a key is no permission.
The user allows secrets by ``--allow-secret NAME``, by an argument in Python, or for all
runs by the environment variable :data:`ALLOWED_SECRETS`, and code by the variable
:data:`ALLOWED_CODE`; a spec cannot set them.

Specs are checked when they are loaded, with the line of the key. The registry checks
the parameters of every component that it creates once more, so that no verb can forget
it; parameters that the user typed in the command or in Python (:func:`typed_by_user`)
need none.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from harness.errors import InputError

if TYPE_CHECKING:
    # The command line imports this module for every verb.
    from harness.contracts import Parameters, Values
    from harness.files.yaml_source import Key, Located, YamlValue

ALLOWED_SECRETS = "HARNESS_ALLOWED_SECRETS"
"""Environment variable: names of environment variables that specs may read, separated
by commas.
"""
ALLOWED_CODE = "HARNESS_ALLOW_CODE"
"""Environment variable: ``1`` lets specs name folders whose code is run."""
CREATE_ENVIRONMENTS = "HARNESS_CREATE_ENVIRONMENTS"
"""Environment variable: ``1`` lets the first use of a program create its environment,
which downloads packages (``--create-environments``).
"""
_DEFAULT_HOSTS = {"OPENAI_API_KEY": "api.openai.com"}
"""Usual variable of a service -> its host, to which the key may be sent without
permission.
"""
KEY_PARAMETERS = ("api_key_env",)
"""Parameters of components that name the environment variable of a key, which is sent
to a server (``KeyVariable``).
"""
CODE_PARAMETERS = ("trust_remote_code", "jars", "run")
"""Parameters of components that run code of a folder or of the hub (``RunsCode``)."""
_allowed: ContextVar[frozenset[str]] = ContextVar("_allowed", default=frozenset())
_typed: ContextVar[bool] = ContextVar("_typed", default=False)
_environments: ContextVar[bool] = ContextVar("_environments", default=False)
_typed_values: ContextVar[frozenset[str]] = ContextVar(
    "_typed_values", default=frozenset()
)


@contextmanager
def allow(secrets: Iterable[str]) -> Generator[None]:
    """Context in which specs that are loaded may read these environment variables."""
    token = _allowed.set(_allowed.get() | set(secrets))
    try:
        yield
    finally:
        _allowed.reset(token)


@contextmanager
def allow_environments(allowed: bool) -> Generator[None]:
    """Context in which first use may create the environments of programs, where it is
    ``allowed``.
    """
    token = _environments.set(_environments.get() or allowed)
    try:
        yield
    finally:
        _environments.reset(token)


def may_create_environments() -> bool:
    """Return True where the user lets first use create environments."""
    return _environments.get() or os.environ.get(CREATE_ENVIRONMENTS) == "1"


@contextmanager
def typed_by_user() -> Generator[None]:
    """Context in which components are created from parameters that the user typed, in a
    command or in Python.
    """
    token = _typed.set(True)
    try:
        yield
    finally:
        _typed.reset(token)


@contextmanager
def typed_values(specs: Iterable[object]) -> Generator[None]:
    """Context in which parameters of code with values that the user typed need no
    permission, beside others that a file has.

    ``specs`` are the typed components, ``{name: {params}}``.
    """
    texts = {
        value
        for spec in specs
        for _, value in _walk(cast("YamlValue", spec))
        if isinstance(value, str)
    }
    token = _typed_values.set(_typed_values.get() | texts)
    try:
        yield
    finally:
        _typed_values.reset(token)


def check_secret(name: str, location: str) -> None:
    """Raise :class:`InputError` for an environment variable that the user has not
    allowed.
    """
    if not _may_read(name):
        raise InputError(
            f"the spec asks for the secret {name} of your environment; "
            f"if it may have it: --allow-secret {name} "
            f"(Python: allow_secrets=['{name}']; for all runs: "
            f"{ALLOWED_SECRETS}={name})",
            location,
            value=name,
        )


def _may_read(name: str) -> bool:
    of_environment = os.environ.get(ALLOWED_SECRETS, "").split(",")
    return name in _allowed.get() or name in map(str.strip, of_environment)


def check_permissions(tree: Located) -> None:
    """Raise :class:`InputError`, with file and line, for keys of servers and for code
    that the user has not allowed.
    """
    for key, value in tree.walk():
        for parameter, name in _forbidden(value):
            location = tree.where((*key, parameter))
            if name is not None:
                check_secret(name, location)
            if _is_typed(value, parameter):
                continue
            text = (
                f"{parameter} runs code that the spec names; if you trust it, "
                f"set the environment variable {ALLOWED_CODE}=1"
            )
            raise InputError(text, location, parameter=parameter)


def check_component(label: str, params: Parameters, marked: Mapping[str, str]) -> None:
    """Raise :class:`InputError` where parameters ask for a key or for code that the
    user has not allowed.

    Parameters
    ----------
    label : str
        Kind and name of the component, such as ``metric 'spice'``.
    params : mapping
        Its parameters, with those of components within them.
    marked : mapping
        Parameters of its own that are marked as dangerous -> their mark: ``"key"`` or
        ``"code"``.
    """
    if _typed.get():
        return
    for key, value in _walk(dict(params)):
        for parameter, name in _forbidden(value, {} if key else marked):
            if name is None and _is_typed(value, parameter):
                continue
            path = ".".join(map(str, (*key, parameter)))
            if name is not None:
                check_secret(name, f"{label}: {path}")
            text = (
                f"{path} runs code that a file names; if you trust it, "
                f"set the environment variable {ALLOWED_CODE}=1"
            )
            raise InputError(text, label, parameter=parameter)


def _is_typed(values: object, parameter: str) -> bool:
    """Return True for a parameter of code that the user typed, not a file."""
    value: object = cast("Values", values).get(parameter)
    return _typed.get() or (isinstance(value, str) and value in _typed_values.get())


def permitted(params: Parameters, marked: Mapping[str, str]) -> Values:
    """Return parameters without those that ask for a key or for code that the user has
    not allowed.

    ``marked`` is that of :func:`check_component`.
    """
    forbidden = dict(_forbidden(params, marked))
    return {
        name: _permitted(value)
        for name, value in params.items()
        if name not in forbidden
    }


def _permitted(value: object) -> object:
    if isinstance(value, Mapping):
        return permitted(cast("Parameters", value), {})
    if isinstance(value, list):
        return [_permitted(item) for item in cast("list[object]", value)]
    return value


def _walk(value: YamlValue) -> Iterator[tuple[Key, YamlValue]]:
    from harness.files.yaml_source import Located

    return Located(value).walk()


def _forbidden(
    value: object, marked: Mapping[str, str] | None = None
) -> Iterator[tuple[str, str | None]]:
    """Yield the parameters of a mapping that the user has not allowed: a key with its
    variable, code with None.
    """
    if not isinstance(value, Mapping):
        return
    values = cast("Values", value)
    marks = marked or {}
    of_keys = [name for name, mark in marks.items() if mark == "key"]
    for parameter in dict.fromkeys([*KEY_PARAMETERS, *of_keys]):
        names: Any = values.get(parameter)
        for name in cast("list[Any]", names) if isinstance(names, list) else [names]:
            if not isinstance(name, str):
                continue
            if not (_is_default_host(name, values.get("base_url")) or _may_read(name)):
                yield parameter, name

    if os.environ.get(ALLOWED_CODE) != "1":
        of_code = [name for name, mark in marks.items() if mark == "code"]
        for parameter in dict.fromkeys([*CODE_PARAMETERS, *of_code]):
            if values.get(parameter):
                yield parameter, None


def _is_default_host(name: str, base_url: object) -> bool:
    """Return True for the usual variable of the service at an address; over http
    anybody on the way would read the key.
    """
    try:
        address = urlsplit(str(base_url))
    except ValueError:
        return False
    return (
        address.scheme == "https"
        and address.hostname is not None
        and address.hostname == _DEFAULT_HOSTS.get(name)
    )
