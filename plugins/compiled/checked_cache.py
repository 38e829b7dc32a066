"""numba's cache of machine code with checksums: a damaged file counts as absent, and the function is compiled again.

numba unpickles whatever lies in its cache folder. A file that is cut off or altered then ends every later process, or puts
altered machine code to work. :func:`cached` replaces ``njit(cache=True, nogil=True)`` for entry points.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core.caching import IndexDataCacheFile

_log = logging.getLogger(__name__)
_MAGIC = b"harness-kernel-1"
_HEADER = len(_MAGIC) + hashlib.sha256().digest_size
_noted: list[str] = []
"""Damaged files of this process; the first is noted, the others are logged at level INFO."""


class CheckedCacheFile(IndexDataCacheFile):
    """Index and data files of one function, each with a SHA-256 of its content in front."""

    def _load_index(self) -> dict[Any, str]:
        content = self._content(Path(self._index_path))
        if content is None:
            return {}
        version, stamp, names = pickle.loads(content)
        return names if (version, stamp) == (numba.__version__, self._source_stamp) else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, self._dump((numba.__version__, self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        content = self._content(Path(self._data_path(name)))
        if content is None:
            raise FileNotFoundError(name)  # numba compiles the function and writes the file again
        return pickle.loads(content)

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), self._dump(data))

    def _content(self, path: Path) -> bytes | None:
        """Return the content of a file; None for one that is missing or damaged."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        content = data[_HEADER:]
        if data[:_HEADER] == _MAGIC + hashlib.sha256(content).digest():
            return content
        _log.log(logging.INFO if _noted else logging.WARNING, "note: %s is damaged; the code is compiled again", path)
        _noted.append(str(path))
        return None

    def _write(self, path: str, content: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(_MAGIC + hashlib.sha256(content).digest() + content)


def cached(function: Callable[..., Any]) -> Any:
    """Return ``function`` compiled on its first call without the interpreter lock, its machine code kept in numba's cache folder.

    Raises
    ------
    RuntimeError
        As numba does, when there is no writable cache folder.
    """
    dispatcher: Any = njit(cache=True, nogil=True)(function)
    cache = getattr(dispatcher, "_cache", None)  # none with NUMBA_DISABLE_JIT=1
    if cache is not None and hasattr(cache, "_cache_file"):
        impl = cache._impl
        cache._cache_file = CheckedCacheFile(
            cache_path=cache._cache_path,
            filename_base=f"{impl.filename_base}.checked",
            source_stamp=impl.locator.get_source_stamp(),
        )
    return dispatcher
