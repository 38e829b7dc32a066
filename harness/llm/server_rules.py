"""Address of a server and rules for requests to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from harness.contracts.parameters import (
    Count,
    Index,
    Parameters,
    Positive,
    Values,
    check_fields,
)
from harness.errors import HarnessError
from harness.llm.usage import Usage


@dataclass(frozen=True, kw_only=True)
class ServerRules:
    """Address of a server and rules for requests.

    Raises :class:`HarnessError` for an address without ``http://`` or ``https://`` and
    for numbers out of range.
    """

    owner: str
    """Name of the component for messages: ``openai``."""
    base_url: str
    api_key: str | None = field(default=None, repr=False)
    concurrency: Count = 8
    """Maximum number of simultaneous requests. A request that waits before its
    repetition does not count.
    """
    requests_per_minute: Positive | None = None
    """Maximum rate of requests, repetitions included; they are spaced evenly."""
    timeout: Positive = 120.0
    """Seconds after which an attempt ends, whatever the server has sent by then."""
    connect_timeout: Positive = 10.0
    """Seconds after which an attempt to connect ends."""
    retries: Index = 5
    """Maximum number of repetitions of a request."""
    first_wait: Positive = 1.0
    """Seconds before the first repetition; doubled each time. A header Retry-After
    replaces it.
    """
    parameters: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """Field of the request -> its name on this server,
    or None for a field that it does not accept.
    """
    proxy: str | None = None
    """Address of a proxy; default: the variables HTTP_PROXY, HTTPS_PROXY,
    ALL_PROXY and NO_PROXY.
    """
    usage: Usage = field(default_factory=Usage, compare=False)
    sleep: Callable[[float], Awaitable[None]] = field(
        default=asyncio.sleep, repr=False, compare=False
    )
    clock: Callable[[], float] = field(
        default=time.monotonic, repr=False, compare=False
    )
    """Function that waits, and function that gives the time in seconds;
    tests replace them.
    """

    def __post_init__(self) -> None:
        check_fields(self.owner, self)
        for name in ("base_url", "proxy"):
            value = getattr(self, name)
            if value is not None and not value.startswith(("http://", "https://")):
                raise HarnessError(
                    f"{self.owner}: {name} begins with http:// or https://; "
                    f"found {value!r}",
                    parameter=name,
                    value=value,
                )
        for name in ("model", "messages"):
            if name in self.parameters:
                raise HarnessError(
                    f"{self.owner}: the field '{name}' has the same name on all "
                    "servers",
                    parameter="parameters",
                )

    def rename_fields(self, body: Parameters) -> Values:
        """Return the fields of a request under their names on the server,
        without those that it does not accept.

        Raises :class:`HarnessError` for two fields of one name, one of which would be
        lost.
        """
        fields: Values = {}
        for name, value in body.items():
            server_name = self.parameters.get(name, name)
            if server_name is None:
                continue
            if server_name in fields:
                raise HarnessError(
                    f"{self.owner}: parameters give two fields of a request the name "
                    f"'{server_name}', the second of them '{name}'; "
                    "expected different names",
                    parameter="parameters",
                )
            fields[server_name] = value
        return fields
