"""Errors for mistakes of the user: one line with what was found, where, what was
expected, and the nearest name.

The command line prints a :class:`HarnessError` without a traceback and exits with code
2. Any other exception is a bug of the harness: exit code 3, one line, and the traceback
in a log. Errors carry their parts as fields, so that callers never search in message
texts.
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Iterable
from types import ModuleType
from typing import Self

BUG_LOG = "harness_log"
"""Attribute of an exception: path of the log that has its traceback."""
MAX_TEXT = 2000
"""Maximum length of the parts of a message; what users write into names and values is
cut to it.
"""
_BREAKS = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+\s*")
_CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
"""Characters by which a terminal does something else than to show them: C0 without tab
and line feed, C1, line separators, and the controls of bidirectional text, which change
the order of what is shown.
"""


class HarnessError(Exception):
    """A mistake in the user's input: spec, file, name,
    or a missing piece of the installation.

    Parameters
    ----------
    message : str
        One sentence: what was found and what was expected.
    where : str, optional
        ``file``, ``file:line`` or ``file: record 3``; printed before the message.
    parameter : str, optional
        Name of the component's parameter at fault.
    value : object, optional
        The value at fault.
    """

    def __init__(
        self,
        message: str,
        where: str | None = None,
        *,
        parameter: str | None = None,
        value: object = None,
    ) -> None:
        self.message = one_line(message)
        self.where = one_line(where) if where else where
        super().__init__(f"{self.where}: {self.message}" if where else self.message)
        self.parameter = parameter
        self.value = value

    @classmethod
    def of_name(
        cls,
        text: str,
        name: object,
        options: Iterable[object],
        listing: str = "",
        where: str | None = None,
        *,
        parameter: str | None = None,
    ) -> Self:
        """Return the error of a name that is none of the options, with the nearest one
        and, after ``listing``, all of them.

        >>> kinds = ["metrics", "readers"]
        >>> str(HarnessError.of_name("unknown kind", "metrik", kinds, "kinds are"))
        "unknown kind 'metrik'; did you mean 'metrics'?; kinds are metrics, readers"
        """
        names = [str(option) for option in options]
        # A name with a comma would read as two.
        shown = [f"'{option}'" if "," in option else option for option in names]
        listed = f"; {listing} {', '.join(shown) or 'none'}" if listing else ""
        return cls(
            f"{text} '{name}'{did_you_mean(str(name), names)}{listed}",
            where,
            parameter=parameter,
            value=name,
        )


def one_line(text: str) -> str:
    """Return a text on one line of at most :data:`MAX_TEXT` characters; control
    characters are written as escapes.

    >>> one_line("'a\\n  b' is \\x1b[31m")
    "'a b' is \\\\x1b[31m"
    """
    text = _BREAKS.sub(" ", text)
    text = escape_controls(text)
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[: MAX_TEXT // 2]} ... {text[-MAX_TEXT // 2 :]}"


def counted(number: int, noun: str, verb: str = "") -> str:
    """Return a number with its noun, and a verb written ``ONE/MORE``,
    in the plural for all but 1.

    >>> counted(1, "example"), counted(1, "id", "has/have")
    ('1 example', '1 id has')
    >>> counted(1200, "reply", "is/are")
    '1,200 replies are'
    """
    one, _, more = verb.partition("/")
    if number == 1:
        words = ("1", noun, one)
    elif noun.endswith("y") and noun[-2] not in "aeiou":
        words = (f"{number:,}", f"{noun[:-1]}ies", more)
    else:
        words = (f"{number:,}", f"{noun}s", more)
    return " ".join(filter(None, words))


def escape_controls(text: str) -> str:
    """Return a text for a terminal: control characters, but for tab and line feed,
    are written as escapes.

    >>> escape_controls("\\x1b[31m a\\u202eb")
    '\\\\x1b[31m a\\\\u202eb'
    """

    def escape(match: re.Match[str]) -> str:
        code = ord(match[0])
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

    return _CONTROLS.sub(escape, text)


class InputError(HarnessError):
    """A file, record or parameter that is not as expected."""


class UnknownName(HarnessError):
    """A name that a registry or schema does not hold."""


class MissingExtra(HarnessError):
    """An optional dependency that is not installed; the message names who needs it and
    the command that installs it.
    """


def nearest_name(name: str, options: Iterable[str]) -> str | None:
    """Return the option nearest to ``name``, or None when none is near.

    >>> nearest_name("metoer", ["meteor", "cider"])
    'meteor'
    """
    matches = difflib.get_close_matches(
        str(name), [str(option) for option in options], n=1, cutoff=0.6
    )
    return matches[0] if matches else None


def did_you_mean(name: str, options: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for the option nearest to ``name``,
    or an empty string.

    >>> did_you_mean("metoer", ["meteor", "cider"])
    "; did you mean 'meteor'?"
    """
    nearest = nearest_name(name, options)
    return f"; did you mean '{nearest}'?" if nearest else ""


def require(module: str, *, needed_by: str, extra: str = "") -> ModuleType:
    """Import and return ``module``; raise :class:`MissingExtra` with the install
    command when it is missing.

    Without ``extra`` the module belongs to a plain dependency of the harness.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # an installed module may lack another one, which is a fault of its own
        if error.name is None or not module.startswith(error.name.split(".")[0]):
            raise
        package = module.split(".")[0]
        target = f"'caption-harness[{extra}]'" if extra else "caption-harness"
        raise MissingExtra(
            f"{needed_by} needs the package '{package}', which is not installed: "
            f"pip install {target}"
        ) from error
