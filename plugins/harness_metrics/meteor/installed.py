"""METEOR's lexicon of the installed pycocoevalcap,
with the errors and messages of the harness.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache
from threading import Lock, Thread, main_thread

from caption_kernels import Lexicon
from caption_kernels.lexicon import installed as source
from harness.errors import HarnessError, MissingExtra
from harness.files.announcements import announce

_first_use = Lock()


def lexicon() -> Lexicon:
    """Return the lexicon of this process, built once on a machine by the first caller.

    Raises
    ------
    MissingExtra
        If pycocoevalcap is not installed, or lacks METEOR's files.
    HarnessError
        If one of its files is damaged.
    """
    with _first_use:
        return _load()


def start_loading() -> None:
    """Load the lexicon in a thread; what goes wrong there goes wrong again, with a
    message, where the lexicon is needed.

    The process ends when the thread has: the interpreter stops a daemon thread that
    returns from compiled code while it shuts down, and the C++ library aborts the
    process then.
    """
    Thread(target=_load_quietly).start()


def find_sources() -> source.Sources:
    """Return the paths of METEOR's data; raises :class:`MissingExtra` without
    pycocoevalcap.
    """
    with _harness_errors():
        return source.find_sources()


def _load_quietly() -> None:
    try:
        with suppress(HarnessError):
            lexicon()
    except Exception:
        # While a process ends no executor takes work any more: the next process builds
        # the lexicon.
        if main_thread().is_alive():
            raise


@cache
def _load() -> Lexicon:
    with _harness_errors():
        sources = source.find_sources()
        line = announce("METEOR: building its lexicon, once on this machine")
        return source.load_lexicon(sources, building=line, in_background=True)


@contextmanager
def _harness_errors() -> Generator[None, None, None]:
    try:
        yield
    except source.MissingSources as error:
        raise MissingExtra(str(error)) from error
    except source.DamagedSources as error:
        raise HarnessError(str(error)) from error
