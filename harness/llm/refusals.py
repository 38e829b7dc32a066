"""Replies of a server that refuses a request: the text of the error, and whether it
concerns this request alone or all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from harness.contracts.parameters import Parameters
from harness.files.json_text import parse_json

_UNSUPPORTED = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown "
    r"(?:field|param|argument|name)|extra (?:fields|inputs)|not permitted|"
    r"unexpected (?:field|param|keyword)|not allowed|no longer accept",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"use ['\"`]?(\w+)['\"`]? instead", re.IGNORECASE)
_QUOTED = re.compile(r"['\"`](\w+)['\"`]")


@dataclass(frozen=True)
class Refusal:
    """A reply with another status than 200."""

    status: int
    headers: Mapping[str, str]
    message: str
    parameter: str | None = None
    """Field of the request to which the server objects, where it names one."""
    code: str = ""

    @property
    def text(self) -> str:
        """Status and message, without a full stop."""
        message = self.message.rstrip(". ")
        return f"HTTP {self.status}: {message}" if message else f"HTTP {self.status}"

    @classmethod
    def of(cls, status: int, headers: Mapping[str, str], content: bytes) -> Refusal:
        """Return the refusal of a reply; its body is JSON in one of the usual forms,
        or text.
        """
        text = content[:4096].decode("utf-8", "replace").strip()
        try:
            value = parse_json(content)
        except ValueError:
            return cls(status, headers, _first_line(text))

        error = value.get("error", value) if isinstance(value, dict) else value
        if not isinstance(error, dict):
            return cls(status, headers, _first_line(str(error)))

        # FastAPI: a list of fields
        detail = error.get("detail")
        if isinstance(detail, list) and detail and isinstance(detail[0], dict):
            path = detail[0].get("loc")
            name = str(path[-1]) if isinstance(path, list) and path else None
            message = _first_line(str(detail[0].get("msg", "")))
            return cls(status, headers, message, name)

        message = _first_line(str(error.get("message") or detail or text))
        return cls(
            status,
            headers,
            message,
            error.get("param") or None,
            str(error.get("code") or ""),
        )


def _first_line(text: str) -> str:
    return " ".join(text.split())[:200]


def stop_reason(refusal: Refusal, body: Parameters, *, has_key: bool) -> str | None:
    """Return the reason to send no further request, with what to change; None where
    other requests may succeed.

    Parameters
    ----------
    refusal : Refusal
        The reply.
    body : mapping
        The request; the server may object to one of its fields.
    has_key : bool
        True when the request carried a key.
    """
    if refusal.status == 401:
        change = "give the name of the variable with the key as api_key_env"
        if has_key:
            change = "the key is refused"
    elif refusal.status == 403:
        change = "give api_key_env"
        if has_key:
            change = "the key has no permission for this model"
    elif refusal.status in (404, 405):
        change = "check base_url (most end with /v1)"
        # some services have no models
        if body.get("model") is not None:
            change += f" and the model, '{body['model']}'"
    elif 300 <= refusal.status < 400:
        address = refusal.headers.get("location", "another address")
        change = f"the server redirects to {address}; give that as base_url"
    elif refusal.status == 429 and refusal.code == "insufficient_quota":
        change = "the quota of the key is used up"
    elif refusal.status in (400, 422):
        return _field_reason(refusal, body)
    else:
        return None
    return f"{refusal.text}; {change}"


def _field_reason(refusal: Refusal, body: Parameters) -> str | None:
    """Return the reason for a server that does not accept a field of the request, and
    how to rename or drop it.
    """
    code = refusal.code.replace("_", " ")
    if not _UNSUPPORTED.search(refusal.message) and not _UNSUPPORTED.search(code):
        return None

    # The field that the server names, else the first word of its message that is one:
    # quoted words before others.
    names = [
        refusal.parameter,
        *_QUOTED.findall(refusal.message),
        *re.findall(r"\w+", refusal.message),
    ]
    fields = set(body) - {"model", "messages"}
    matches = [name for name in names if name in fields]
    if not matches:
        return None
    field = matches[0]

    instead = _INSTEAD.search(refusal.message)
    target = instead[1] if instead and instead[1] != field else "null"
    verb = "leaves it out" if target == "null" else "renames it"
    return (
        f"{refusal.text}; the server refuses the field '{field}': parameters: "
        f"{{{field}: {target}}} {verb}"
    )
