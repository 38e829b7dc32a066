"""A program as it is declared: command, files, environment, limits."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import HarnessError
from harness.files.user_path import nearest_beside, user_path
from harness.programs.environment import Environment
from harness.registry.permissions import check_secret

PASSED_VARIABLES = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "JAVA_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "HF_HOME",
    "HF_HUB_CACHE",
    "HF_HUB_OFFLINE",
    "HF_DATASETS_CACHE",
    "TRANSFORMERS_CACHE",
    "TRANSFORMERS_OFFLINE",
    "TORCH_HOME",
    "NLTK_DATA",
    "UV_CACHE_DIR",
    "PIP_CACHE_DIR",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_HOME",
    "OMP_NUM_THREADS",
)
"""Variables of the environment that a program gets, beside those that begin with
``LC_``: no keys.
"""


_FILE_NAME = re.compile(r"[^-\s][^\s:]*\.[A-Za-z]{1,4}")
"""An argument that looks like the name of a file, such as ``score.py``."""


@dataclass(frozen=True)
class Limits:
    """Bounds of the exchange with a program."""

    batch: int = 512
    """Requests per batch."""
    in_flight: int = 2
    """Batches that a process has at a time."""
    bytes_in_flight: int = 1 << 24
    """Bytes of requests that a process has at a time, at least one batch."""
    replicas: int = 1
    """Processes of the program."""
    start_seconds: float = 900.0
    """Longest time until the greeting, and from there to the first answers."""
    batch_seconds: float = 600.0
    """Longest time of a batch."""
    memory_gb: float | None = None
    """Limit of the address space of each process, in 10^9 bytes."""


@dataclass(frozen=True)
class Program:
    """Command line of a program with all that it depends on.

    Arguments that name files below :attr:`folder` are passed as absolute paths, since a
    program runs in a folder of its own; their content is part of its identity.
    """

    label: str
    """Kind and name for messages: ``metric 'mine'``."""
    command: tuple[str, ...]
    folder: Path
    files: tuple[str, ...] = ()
    """Further files that change its numbers."""
    environment: Environment | None = None
    secrets: tuple[str, ...] = ()
    """Variables with keys, which the user must allow."""
    limits: Limits = field(default_factory=Limits)

    def arguments(self) -> list[str]:
        """Return the command line with absolute paths; raise :class:`HarnessError` for
        a program that is not there or not executable.
        """
        words = [
            self.command[0],
            *(str(self._file(word) or word) for word in self.command[1:]),
        ]
        program = user_path(words[0])
        if os.sep not in words[0]:
            found = shutil.which(words[0], path=self.variables()["PATH"])
            if found is None:
                raise HarnessError(
                    f"{self.label}: there is no program '{words[0]}' on PATH",
                    value=words[0],
                )
            return [found, *words[1:]]
        program = self.folder / program
        if not program.is_file():
            nearest = nearest_beside(program)
            hint = f"; did you mean '{nearest}'?" if nearest else ""
            raise HarnessError(
                f"{self.label}: there is no program {program}{hint}", value=words[0]
            )
        if not os.access(program, os.X_OK):
            raise HarnessError(
                f"{self.label}: {program} is not executable: chmod +x {program}, or "
                "name its interpreter first (python FILE)",
                value=words[0],
            )
        return [str(program), *words[1:]]

    def missing_file(self) -> str:
        """Return a remark on the first argument that looks like a file which is not
        there; empty without one.
        """
        for word in self.command[1:]:
            is_name = _FILE_NAME.fullmatch(word) is not None
            if is_name and not os.path.lexists(path := self.folder / user_path(word)):
                nearest = nearest_beside(path)
                hint = f"; did you mean '{nearest}'?" if nearest else ""
                return f"there is no file {path}{hint}"
        return ""

    def variables(self) -> dict[str, str]:
        """Return the environment of the program; raise :class:`InputError` for a key
        that the user has not allowed.
        """
        variables = {
            name: value
            for name, value in os.environ.items()
            if name in PASSED_VARIABLES or name.startswith("LC_")
        }
        variables.setdefault("PATH", os.defpath)
        for name in self.secrets:
            check_secret(name, self.label)
            if name in os.environ:
                variables[name] = os.environ[name]
        if self.environment is not None:
            folder = self.environment.ready_folder(self.label)
            variables["VIRTUAL_ENV"] = str(folder)
            variables["PATH"] = os.pathsep.join([f"{folder}/bin", variables["PATH"]])
        return variables

    def digest(self) -> str:
        """Return a hash of the command, of the content of its files, and of the
        environment: 12 hex digits.
        """
        is_path = os.sep in self.command[0]
        words = [self._content(word) for word in self.command[not is_path :]]
        words = words if is_path else [self.command[0], *words]
        contents = [self._content(name, required=True) for name in self.files]
        environment = self.environment.digest() if self.environment else None
        text = json.dumps([words, contents, environment])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def _file(self, word: str) -> Path | None:
        """Return the absolute path of a file that an argument names, or None."""
        if not word or word.startswith("-"):
            return None
        try:
            path = self.folder / user_path(word)
            return path.resolve() if path.is_file() else None
        except (OSError, ValueError):
            return None

    def _content(self, word: str, *, required: bool = False) -> str | list[str]:
        path = self._file(word) or (self.folder / user_path(word) if required else None)
        if path is None:
            return word
        try:
            content = path.read_bytes()
        except OSError as error:
            raise HarnessError(
                f"{self.label}: the file {path} cannot be read ({error.strerror})",
                value=word,
            ) from error
        return ["file", hashlib.sha256(content).hexdigest()]


def limits_of(values: Mapping[str, object], label: str) -> Limits:
    """Return limits of a mapping; raise :class:`HarnessError` for an unknown name, or a
    number that is not above 0.
    """
    names = Limits.__dataclass_fields__
    for name, value in values.items():
        if name not in names:
            raise HarnessError.of_name(
                f"{label}: limits has", name, names, "limits are"
            )
        is_whole = name in ("batch", "in_flight", "bytes_in_flight", "replicas")
        types = (int,) if is_whole else (int, float)
        good = isinstance(value, types) and not isinstance(value, bool)
        if not good or not value > 0:  # pyright: ignore[reportOperatorIssue]
            expected = (
                "a whole number of at least 1" if is_whole else "a number above 0"
            )
            raise HarnessError(
                f"{label}: limits.{name} is {value!r:.40}; expected {expected}"
            )
    return Limits(**values)  # pyright: ignore[reportArgumentType]


def texts_of(value: object, key: str, label: str) -> tuple[str, ...]:
    """Return a list of texts; raise :class:`HarnessError` for anything else."""
    items: Iterable[object] = value if isinstance(value, (list, tuple)) else [value]
    texts = tuple(item for item in items if isinstance(item, str))
    if not isinstance(value, (list, tuple)) or len(texts) < len(value):
        raise HarnessError(f"{label}: {key} is {value!r:.80}; expected a list of texts")
    return texts
