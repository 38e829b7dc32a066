"""Environments of programs: virtual environments that uv creates from a declaration, or
that the user has.

Layout: ``environments/DIGEST`` in the folder of caches, a whole folder that appears at
once: a process that is killed, or two that create it at the same time, leave the whole
environment or none. ``environment.json`` beside ``bin`` says what it was made of. A
lock (``DIGEST.lock``) is held by the process that creates or removes an environment and
by its uv: after a kill of the harness the next one waits until that uv has ended.

uv is a program of its own, which downloads packages and may run code of theirs: it is
called by ``harness env create``, and on first use only where the user says so
(:func:`harness.registry.permissions.may_create_environments`).
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from harness.contracts import Values
from harness.errors import HarnessError, MissingExtra
from harness.files.announcements import announce
from harness.files.user_path import cache_folder, user_path
from harness.files.whole_folder import remove_left_overs, temporary_name
from harness.programs.child import launcher_command
from harness.registry.permissions import may_create_environments

KEYS = ("python", "requirements", "build", "project", "path")
"""Keys of a declaration."""
DESCRIPTION = "environment.json"
"""File of a created environment."""
_LOCK_FILES = ("uv.lock", "pyproject.toml")


@dataclass(frozen=True)
class Environment:
    """A virtual environment: of requirements, of a project, or a path."""

    python: str = ""
    requirements: tuple[str, ...] = ()
    build: bool = False
    """Packages may be built from source, which runs their code."""
    project: str = ""
    """Folder with ``pyproject.toml`` and ``uv.lock``."""
    path: str = ""
    """Folder of an environment that the user has."""

    @property
    def folder(self) -> Path:
        """The folder of the environment, which need not exist."""
        if self.path:
            return Path(self.path)
        return cache_folder("environments") / self.digest()

    @property
    def is_ready(self) -> bool:
        """True where the environment can be used."""
        if self.path:
            return (self.folder / "bin").is_dir()
        return (self.folder / DESCRIPTION).is_file()

    def digest(self) -> str:
        """Return a hash of the declaration and of the lock file of its project: 12 hex
        digits. The path of an environment of the user is no part of it.
        """
        values = asdict(self)
        values["path"] = bool(self.path)
        if self.path:
            configuration = self.folder / "pyvenv.cfg"
            values["path"] = _hash_file(configuration)
        if self.project:
            folder = Path(self.project)
            values["project"] = [_hash_file(folder / name) for name in _LOCK_FILES]
        text = json.dumps(values, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def ready_folder(self, label: str) -> Path:
        """Return the folder of the environment, created where the user lets first use
        do so; raise :class:`MissingExtra` with the command where it is not there.
        """
        if self.is_ready:
            return self.folder
        if self.path:
            raise MissingExtra(
                f"{label}: there is no virtual environment in {self.path}"
            )
        if may_create_environments():
            return self.create(label)
        name = label.partition("'")[2].rstrip("'") or label
        raise MissingExtra(
            f"{label}: its environment is not created yet: harness env create {name} "
            "(it downloads packages; --create-environments lets a run do it)"
        )

    def create(self, label: str) -> Path:
        """Create the environment with uv and return its folder; nothing is done where
        it is there.

        Raises
        ------
        MissingExtra
            uv is not installed.
        HarnessError
            uv fails; the message has the last lines of what it says.
        """
        if self.path:
            return self.ready_folder(label)
        uv = shutil.which("uv")
        if uv is None:
            raise MissingExtra(
                f"{label}: its environment is created by uv, which is not installed "
                "(https://docs.astral.sh/uv), or name an environment of your own: "
                "environment: {path: VENV}"
            )
        target = self.folder
        target.parent.mkdir(parents=True, exist_ok=True)
        with _lock(target, label) as lock:
            if not self.is_ready:
                with announce(f"{label}: creating its environment"):
                    self._create(uv, target, label, lock)
        return target

    def remove(self, label: str) -> None:
        """Remove the environment; raise :class:`HarnessError` for one that is not
        created, or that is the user's own.
        """
        if self.path:
            raise HarnessError(
                f"{label}: the environment is your own, {self.path}; nothing is removed"
            )
        remove_environment(self.folder, label)

    def _create(self, uv: str, target: Path, label: str, lock: int) -> None:
        """Create the environment beside its place and rename it there."""
        remove_left_overs(target.parent, [target.name])
        work = target.with_name(temporary_name(target.name))
        shutil.rmtree(work, ignore_errors=True)
        try:
            for command in self._commands(uv, work):
                _run(command, work, label, lock)
            values = {**asdict(self), "label": label}
            description = work / DESCRIPTION
            description.write_text(json.dumps(values, indent=1), encoding="utf-8")
            shutil.rmtree(target, ignore_errors=True)
            os.replace(work, target)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _commands(self, uv: str, folder: Path) -> list[list[str]]:
        """Return the command lines that create the environment in a folder."""
        wheels = [] if self.build else ["--no-build"]
        if self.project:
            sync = [uv, "sync", "--frozen", "--no-dev", "--project", self.project]
            # The project itself is built, as its declaration allows.
            sync += [] if self.build else ["--no-build", "--no-install-project"]
            return [sync]
        version = ["--python", self.python] if self.python else []
        # Scripts name the interpreter by its place: the environment is moved once.
        create = [uv, "venv", "--relocatable", "--no-project", *version, str(folder)]
        if not self.requirements:
            return [create]
        python = str(folder / "bin" / "python")
        install = [uv, "pip", "install", "--python", python, *wheels]
        return [create, [*install, *self.requirements]]


def environment_of(value: object, folder: Path, label: str) -> Environment:
    """Return the environment of a declaration; paths are relative to a folder.

    Raises :class:`HarnessError` for an unknown key, a value of another type, or two
    ways at once.
    """
    if not isinstance(value, Mapping):
        raise HarnessError(
            f"{label}: environment is {value!r:.60}; expected {{python: '3.8', "
            "requirements: [...]}, {project: DIR} or {path: VENV}"
        )
    values = {str(key): item for key, item in cast("Values", value).items()}
    for key in values:
        if key not in KEYS:
            raise HarnessError.of_name(
                f"{label}: environment has no key", key, KEYS, "keys are"
            )
    ways = [key for key in ("requirements", "project", "path") if key in values]
    if len(ways) > 1 or not (ways or "python" in values):
        raise HarnessError(
            f"{label}: environment has {' and '.join(ways) or 'neither'}; expected "
            "one of requirements, project and path"
        )
    requirements = values.get("requirements", [])
    if not isinstance(requirements, list) or not all(
        isinstance(item, str) and item and not item.startswith("-")
        for item in cast("list[object]", requirements)
    ):
        raise HarnessError(
            f"{label}: requirements is {requirements!r:.80}; expected a list such as "
            "[numpy==1.20.3]"
        )
    python = values.get("python", "")
    if not isinstance(python, str):
        raise HarnessError(
            f'{label}: python is {python!r}; expected a text: python: "3.8" '
            "(without quotes YAML reads 3.10 as 3.1)"
        )
    if not isinstance(values.get("build", False), bool):
        raise HarnessError(f"{label}: build is no truth value; expected true or false")
    places = {
        key: str((folder / user_path(str(values[key]))).absolute())
        for key in ("project", "path")
        if key in values
    }
    return Environment(
        python=python,
        requirements=tuple(cast("list[str]", requirements)),
        build=bool(values.get("build", False)),
        **places,
    )


def created_environments() -> list[tuple[Path, Values]]:
    """Return folder and description of the environments in the folder of caches."""
    base = cache_folder("environments")
    if not base.is_dir():
        return []
    found: list[tuple[Path, Values]] = []
    for folder in sorted(base.iterdir()):
        # Temporary names begin with a full stop.
        if folder.name.startswith("."):
            continue
        description = folder / DESCRIPTION
        if description.is_file():
            found.append((folder, json.loads(description.read_text(encoding="utf-8"))))
    return found


def remove_environment(folder: Path, label: str) -> None:
    """Remove a created environment; raise :class:`HarnessError` where there is none.

    It disappears at once: a kill leaves no part under its name.
    """
    if not (folder / DESCRIPTION).is_file():
        raise HarnessError(f"{label}: the environment is not created")
    with _lock(folder, label):
        remove_left_overs(folder.parent, [folder.name])
        removed = folder.with_name(temporary_name(folder.name))
        shutil.rmtree(removed, ignore_errors=True)
        # Another process may have removed it meanwhile.
        with suppress(FileNotFoundError):
            os.replace(folder, removed)
        shutil.rmtree(removed, ignore_errors=True)


@contextmanager
def _lock(target: Path, label: str) -> Generator[int]:
    """Context in which one process at a time creates or removes an environment; the
    value is the descriptor of the lock.
    """
    with open(target.with_name(f"{target.name}.lock"), "wb") as file:
        with announce(f"{label}: waiting for another process that creates it"):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def _run(command: Sequence[str], folder: Path, label: str, lock: int) -> None:
    """Run uv; raise :class:`HarnessError` with the end of what it says."""
    variables = {
        **os.environ,
        "UV_PROJECT_ENVIRONMENT": str(folder),
        "UV_NO_PROGRESS": "1",
    }
    done = subprocess.run(
        [*launcher_command(), *command],
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        # Where uv outlives this process, nobody else may write beside it.
        pass_fds=(lock,),
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        text = " ".join(done.stdout.split())[-600:]
        raise HarnessError(
            f"{label}: its environment could not be created: {' '.join(command[1:3])} "
            f"ended with code {done.returncode}: {text}"
        )


def _hash_file(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""
