"""The original METEOR: pycocoevalcap's jar as a child process, the reference
implementation of ``engine: java``.

The jar answers each line with one line (``-stdio``), so a line break within a text
would shift all later answers, and ``|||`` ends a field. Line breaks are therefore
replaced by blanks and bars are surrounded by blanks; neither changes the words of the
text. Unpaired surrogates are replaced by U+FFFD. A thread writes the requests while the
answers are read, another reads standard error, and the process ends with its owner.
"""

from __future__ import annotations

import re
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from types import TracebackType
from typing import IO

import numpy as np

from caption_kernels import normalise
from caption_kernels.batches.meteor import N_STATISTICS, Aligned, Pair
from harness.errors import HarnessError, InputError
from harness_metrics.meteor.installed import find_sources, lexicon
from harness_metrics.tokenisers.java_runtime import drain, end, java_command

_LINE_ENDS = re.compile("[\r\n]+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_SEGMENTS_PER_REQUEST = 500
"""Segments that one EVAL request scores."""


class JavaMeteor:
    """A running jar; a context manager.

    The start takes about 10 s and 1.4 GB of memory.

    Parameters
    ----------
    memory : str
        Heap limit in Java's notation.

    Raises
    ------
    MissingExtra
        If there is no Java runtime or no pycocoevalcap.
    """

    def __init__(self, memory: str = "2G") -> None:
        # the jar reads the paraphrases from data/ in its own folder
        sources = find_sources()
        java = java_command(needed_by="METEOR (engine: java)", memory=memory)
        options = ["-", "-", "-stdio", "-l", "en", "-norm"]
        self._process = subprocess.Popen(
            [*java, "-Dfile.encoding=UTF-8", "-jar", str(sources.jar), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

        self._errors: deque[str] = deque(maxlen=20)  # last lines of standard error
        threading.Thread(
            target=drain, args=(self._process.stderr, self._errors), daemon=True
        ).start()
        self._lock = threading.Lock()
        self._end = weakref.finalize(self, end, self._process)

    def __enter__(self) -> JavaMeteor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._end()

    def statistics(self, pairs: Iterable[Pair]) -> np.ndarray:
        """Return statistics of shape (n, 23), float64, as
        :func:`harness_metrics.meteor.engine.statistics`.

        Raises :class:`InputError` for a hypothesis without references,
        :class:`HarnessError` if the jar ends or answers something else.
        """
        lines = [_request(number, *pair) for number, pair in enumerate(pairs, start=1)]
        answers = [self._numbers(line) for line in self._ask(lines, len(lines))]
        return np.array(answers, dtype=np.float64).reshape(len(lines), N_STATISTICS)

    def scores(self, pairs: Iterable[Pair]) -> np.ndarray:
        """Return segment scores of shape (n,), each the highest over the references."""
        return self.evaluate(self.statistics(pairs))[0]

    def evaluate(self, statistics: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the jar's segment scores of shape (n,) of statistics (n, 23),
        and their corpus score.
        """
        rows = [
            " ".join(f"{value:.1f}" for value in row) for row in statistics.tolist()
        ]
        if not rows:
            return np.zeros(0), 0.0

        # An answer has the scores of the segments, and that of all of them last.
        segments: list[float] = []
        for first in range(0, len(rows), _SEGMENTS_PER_REQUEST):
            block = rows[first : first + _SEGMENTS_PER_REQUEST]
            request = " ||| ".join(["EVAL", *block])
            answers = list(self._ask([request], len(block) + 1))
            segments += [float(line) for line in answers[:-1]]

        request = " ||| ".join(["EVAL", *rows])
        answers = list(self._ask([request], len(rows) + 1))
        return np.array(segments), float(answers[-1])

    def _ask(self, lines: Sequence[str], n_answers: int) -> Iterator[str]:
        """Send all lines and yield ``n_answers`` answers; a second thread writes, so
        that neither pipe fills up.
        """
        with self._lock:
            writer = threading.Thread(
                target=_write, args=(self._process.stdin, lines), daemon=True
            )
            writer.start()
            for _ in range(n_answers):
                answer = self._process.stdout.readline()  # type: ignore[union-attr]
                if not answer:
                    raise HarnessError(self._end_message())
                yield answer.decode("utf-8").strip()
            writer.join()

    def _numbers(self, line: str) -> list[float]:
        try:
            numbers = [float(number) for number in line.split()]
        except ValueError:
            numbers = []
        if len(numbers) != N_STATISTICS:
            raise HarnessError(
                f"METEOR (engine: java) answered {line!r}; "
                f"expected {N_STATISTICS} numbers"
            )
        return numbers

    def _end_message(self) -> str:
        code = self._process.poll()
        reason = "; ".join(self._errors) or "no message on standard error"
        return (
            f"METEOR (engine: java) ended before its last answer (exit code {code}): "
            f"{reason}"
        )


def _request(number: int, hypothesis: str, references: Sequence[str]) -> str:
    if not references:
        raise InputError("a hypothesis needs at least one reference", f"pair {number}")
    fields = [_field(text) for text in (*references, hypothesis)]
    return " ||| ".join(["SCORE", *fields])


def _field(text: str) -> str:
    """Return the text as one field of a request,
    at least a blank because the jar drops an empty last field.

    >>> _field("a|||b\\nc")
    'a |  |  | b c'
    """
    text = _LINE_ENDS.sub(" ", _SURROGATES.sub("\ufffd", text))
    return text.replace("|", " | ").strip("".join(map(chr, range(33)))) or " "


def _write(stream: IO[bytes], lines: Sequence[str]) -> None:
    with suppress(OSError, ValueError):  # the jar has ended: the reader reports it
        for line in lines:
            stream.write(line.encode("utf-8") + b" \n")
        stream.flush()


@cache
def shared_jar() -> JavaMeteor:
    """Return the jar that all callers in this process share;
    it ends with the process.
    """
    return JavaMeteor()


class JavaTexts:
    """Table of the texts of a run, aligned by the jar; the interface of
    :class:`harness_metrics.meteor.engine.PreparedTexts`.
    """

    def __init__(self) -> None:
        self._jar = shared_jar()
        self._ids: dict[str, int] = {}

    def intern(self, texts: Iterable[str]) -> np.ndarray:
        """Return the ids (T,) of the texts, int64; new texts are added."""
        ids = self._ids
        return np.fromiter(
            (ids.setdefault(text, len(ids)) for text in texts), dtype=np.int64
        )

    def align_pairs(
        self, text_ids: np.ndarray, pairs: np.ndarray, *, with_statistics: bool
    ) -> Aligned:
        """Align the pairs ``pairs`` (N, N) of the texts ``text_ids`` (B, N),
        each distinct pair once.

        See :func:`harness_metrics.meteor.engine.align_pairs`.
        """
        texts = list(self._ids)
        hyps, refs = np.nonzero(pairs)
        sides = [text_ids[:, hyps].ravel(), text_ids[:, refs].ravel()]
        id_pairs = np.stack(sides, axis=1)
        distinct, inverse = np.unique(id_pairs, axis=0, return_inverse=True)

        rows: list[list[int]] = distinct.tolist()
        statistics = self._jar.statistics(
            (texts[hyp], [texts[ref]]) for hyp, ref in rows
        )
        scores = self._jar.evaluate(statistics)[0]

        shape = len(text_ids), len(hyps)
        scores = scores[inverse].reshape(shape)
        answers = statistics[inverse].reshape(*shape, N_STATISTICS).astype(np.int32)
        return Aligned(scores, answers if with_statistics else answers[:, :0])

    def same_words(self, ids: np.ndarray) -> np.ndarray:
        """Return numbers of the same shape as ``ids``, (B, N), int64, that are equal
        for texts with the same words.
        """
        texts = list(self._ids)
        numbers: dict[tuple[str, ...], int] = {}
        distinct, inverse = np.unique(ids, return_inverse=True)
        used: list[int] = distinct.tolist()
        words = normalise([texts[i] for i in used], lexicon())
        by_text = [numbers.setdefault(tuple(row), len(numbers)) for row in words]
        return np.asarray(by_text, dtype=np.int64)[inverse].reshape(np.shape(ids))
