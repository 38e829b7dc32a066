"""The original METEOR: pycocoevalcap's jar as a child process, hardened; the reference implementation behind ``engine: java``.

The jar answers one line for one line (``-stdio``), so a line break inside a text would shift all later answers, and ``|||`` ends a field.
Here line breaks become blanks and bars stand alone, neither of which changes the words that METEOR sees; half surrogates
become U+FFFD. Requests are pipelined by a writer thread, standard error is read all along, and the process ends with
its owner.
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
from typing import IO, Any

import numpy as np

from harness.errors import HarnessError, InputError
from harness.plugins.meteor.engine import Aligned, Pair
from harness.plugins.meteor.lexicon import lexicon
from harness.plugins.meteor.normaliser import words
from harness.plugins.meteor.score import N_STATISTICS
from harness.plugins.tokenisers.java_runtime import drain, end, java_command

_LINE_ENDS = re.compile("[\r\n]+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_EVALUATED_AT_ONCE = 500


class JavaMeteor:
    """A running jar; a context manager. Starting takes some 10 s and 1.4 GB.

    ``memory``: heap limit in Java's spelling. Raises :class:`~harness.errors.MissingExtra` without Java or pycocoevalcap.
    """

    def __init__(self, memory: str = "2G") -> None:
        sources = lexicon.find_sources()  # the jar finds the paraphrases in data/ beside it
        command = [*java_command(needed_by="METEOR (engine: java)", memory=memory), "-Dfile.encoding=UTF-8"]
        self._process = subprocess.Popen(
            [*command, "-jar", str(sources.jar), "-", "-", "-stdio", "-l", "en", "-norm"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._said: deque[str] = deque(maxlen=20)
        threading.Thread(target=drain, args=(self._process.stderr, self._said), daemon=True).start()
        self._lock = threading.Lock()
        self._end = weakref.finalize(self, end, self._process)

    def __enter__(self) -> JavaMeteor:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._end()

    def statistics(self, pairs: Iterable[Pair]) -> np.ndarray:
        """(n, 23) float64, as :func:`harness.plugins.meteor.engine.statistics`."""
        lines = [_request(number, *pair) for number, pair in enumerate(pairs, start=1)]
        answers = [self._numbers(line) for line in self._ask(lines, len(lines))]
        return np.array(answers, dtype=np.float64).reshape(len(lines), N_STATISTICS)

    def scores(self, pairs: Iterable[Pair]) -> np.ndarray:
        """(n,) segment scores, the highest over the references."""
        return self.evaluate(self.statistics(pairs))[0]

    def evaluate(self, statistics: np.ndarray) -> tuple[np.ndarray, float]:
        """The jar's own scores of (n, 23) statistics: (n,) segment scores, and the corpus score of all."""
        rows = [" ".join(f"{value:.1f}" for value in row) for row in statistics.tolist()]
        segments: list[float] = []
        for first in range(0, len(rows), _EVALUATED_AT_ONCE):
            part = rows[first : first + _EVALUATED_AT_ONCE]
            segments += [float(line) for line in self._ask([" ||| ".join(["EVAL", *part])], len(part) + 1)][:-1]
        if not rows:
            return np.zeros(0), 0.0
        whole = self._ask([" ||| ".join(["EVAL", *rows])], len(rows) + 1)
        return np.array(segments), float(list(whole)[-1])

    def _ask(self, lines: Sequence[str], n_answers: int) -> Iterator[str]:
        """Send all lines, yield ``n_answers`` lines; the jar is read while it is written to."""
        with self._lock:
            writer = threading.Thread(target=_write, args=(self._process.stdin, lines), daemon=True)
            writer.start()
            for _ in range(n_answers):
                answer = self._process.stdout.readline()  # type: ignore[union-attr]
                if not answer:
                    raise HarnessError(self._obituary())
                yield answer.decode("utf-8").strip()
            writer.join()

    def _numbers(self, line: str) -> list[float]:
        try:
            numbers = [float(number) for number in line.split()]
        except ValueError:
            numbers = []
        if len(numbers) != N_STATISTICS:
            raise HarnessError(f"METEOR (engine: java) answered {line!r}; expected {N_STATISTICS} numbers")
        return numbers

    def _obituary(self) -> str:
        code = self._process.poll()
        said = "; ".join(self._said) or "it said nothing"
        return f"METEOR (engine: java) ended in the middle (exit code {code}): {said}"


def _request(number: int, hypothesis: str, references: Sequence[str]) -> str:
    if not references:
        raise InputError("a hypothesis needs at least one reference", f"pair {number}")
    return " ||| ".join(["SCORE", *(_field(text) for text in (*references, hypothesis))])


def _field(text: str) -> str:
    """The text as one field of a request; never empty, because the jar drops an empty last field."""
    text = _LINE_ENDS.sub(" ", _SURROGATES.sub("\ufffd", text))
    return text.replace("|", " | ").strip("".join(map(chr, range(33)))) or " "


def _write(stream: IO[bytes], lines: Sequence[str]) -> None:
    with suppress(OSError, ValueError):  # a dead jar: the reader sees the end of the answers and says why
        for line in lines:
            stream.write(line.encode("utf-8") + b" \n")
        stream.flush()


@cache
def shared() -> JavaMeteor:
    """One jar for the whole process, ended with it."""
    return JavaMeteor()


def statistics(pairs: Iterable[Pair]) -> np.ndarray:
    """(n, 23) statistics by the shared jar."""
    return shared().statistics(pairs)


def scores(pairs: Iterable[Pair]) -> np.ndarray:
    """(n,) scores by the shared jar."""
    return shared().scores(pairs)


class JavaTexts:
    """A run's texts, aligned by the jar: the same interface as :class:`harness.plugins.meteor.engine.PreparedTexts`."""

    def __init__(self) -> None:
        self._jar = shared()
        self._ids: dict[str, int] = {}

    def intern(self, texts: Iterable[str]) -> np.ndarray:
        """(T,) int64 numbers of the texts."""
        ids = self._ids
        return np.fromiter((ids.setdefault(text, len(ids)) for text in texts), dtype=np.int64)

    def align_places(self, text_ids: np.ndarray, wanted: np.ndarray, *, with_statistics: bool) -> Aligned:
        """See :func:`harness.plugins.meteor.engine.align_places`; each distinct pair is asked for once."""
        texts = list(self._ids)
        hyps, refs = np.nonzero(wanted)
        places = np.stack([text_ids[:, hyps].ravel(), text_ids[:, refs].ravel()], axis=1)
        distinct, place = np.unique(places, axis=0, return_inverse=True)
        found = self._jar.statistics((texts[hyp], [texts[ref]]) for hyp, ref in distinct.tolist())
        scores = self._jar.evaluate(found)[0][place].reshape(len(text_ids), len(hyps))
        rows = found[place].reshape(len(text_ids), len(hyps), N_STATISTICS).astype(np.int32)
        return Aligned(scores, rows if with_statistics else rows[:, :0])

    def same_words(self, ids: np.ndarray) -> np.ndarray:
        """``ids.shape`` numbers, equal where texts have the same words."""
        texts, prefixes = list(self._ids), lexicon.jar_prefixes()
        numbers: dict[tuple[str, ...], int] = {}
        distinct, place = np.unique(ids, return_inverse=True)
        found = [numbers.setdefault(tuple(words(texts[i], prefixes)), len(numbers)) for i in distinct.tolist()]
        return np.asarray(found, dtype=np.int64)[place].reshape(np.shape(ids))
