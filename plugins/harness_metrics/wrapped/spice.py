"""SPICE (Anderson et al. 2016) through its authors' Java program,
one process per metric.

Requirements: a Java runtime with its compiler (``javac``), the package pycocoevalcap
(spice-1.0.jar and its libraries), and the two CoreNLP 3.6.0 jars in ``jars``,
$HARNESS_SPICE_JARS or the folder ``spice`` of the cache. Since Java 16 the program's
serialiser needs module openings, which the command line adds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from caption_kernels.coco.spice import OPENINGS
from harness.contracts import (
    Batch,
    CaptionSet,
    CodePath,
    Features,
    MeanMetric,
    MetricSpec,
)
from harness.errors import InputError
from harness_metrics.bases.example_values import mean_of_defined
from harness_metrics.tokenisers.java_runtime import java_command, pycocoevalcap_file
from harness_metrics.wrapped.spice_jars import check_jars, fetch_jars, find_jars
from harness_metrics.wrapped.spice_process import KINDS, SpiceProcess, compile_classes

MAX_WORDS = 200
"""Largest number of words of a sentence: the parser needs cubic time and quadratic
memory.
"""


def command(jars: Sequence[Path], memory: str) -> list[str]:
    """Return the command line of the serving program;
    ``memory`` is the limit of its heap in Java's notation.
    """
    program = pycocoevalcap_file("spice", "spice-1.0.jar", needed_by="metric 'spice'")
    libraries = sorted((program.parent / "lib").glob("*.jar"))
    check_jars(jars)
    path = os.pathsep.join(
        map(str, [compile_classes(program), program, *jars, *libraries])
    )
    return [
        *java_command(needed_by="metric 'spice'", memory=memory),
        *OPENINGS,
        "-cp",
        path,
        "Serve",
    ]


def check_lengths(item: CaptionSet) -> None:
    """Raise :class:`InputError`, naming the example,
    for a sentence of more than :data:`MAX_WORDS` words.
    """
    for text in (*item.candidates, *item.references):
        if len(text) <= MAX_WORDS:
            continue  # a text has fewer words than letters

        longest = max(len(sentence.split()) for sentence in re.split("[.!?]", text))
        if longest > MAX_WORDS:
            raise InputError(
                f"sentence of {longest} words; metric 'spice' accepts at most "
                f"{MAX_WORDS}: {text[:60]!r}...",
                f"example '{item.id}'",
            )


class Spice(MeanMetric):
    """SPICE: F-score of the scene-graph tuples of a candidate and of all its
    references, in [0, 1]; higher is better.

    The score of an example is the mean over its candidates. The first score starts one
    Java process, which serves the whole run; about ten pairs of a candidate and its
    references are scored per second. ``details`` has the mean F-score of the tuples of
    each category, over the candidates where the category occurs in either text.

    Parameters
    ----------
    jars : str, optional
        Folder of the two CoreNLP jars.
    memory : str
        Limit of the Java heap; default ``4G``.

    Raises
    ------
    MissingExtra
        Without the jars; at the first score, without Java, javac or pycocoevalcap.

    References
    ----------
    Anderson, Fernando, Johnson & Gould (2016), "SPICE: Semantic Propositional Image
    Caption Evaluation".
    """

    def __init__(self, *, jars: CodePath | None = None, memory: str = "4G") -> None:
        self.jars = find_jars(jars)
        self.memory = memory
        self._process: SpiceProcess | None = None
        self.spec = MetricSpec(
            "spice",
            higher_is_better=True,
            needs=frozenset({"references", "java"}),
            bounds=(0.0, 1.0),
            untestable="takes a tenth of a second per caption: "
            "too slow to score relabeled texts",
        )

    def signature(self) -> str:
        """Return the versions of the program and of CoreNLP as one string."""
        return "spice|1.0|corenlp:3.6.0"

    def check_installation(self) -> None:
        """Raise :class:`MissingExtra` without Java, javac or pycocoevalcap."""
        command(self.jars, self.memory)

    @classmethod
    def fetch(cls) -> None:
        """Find or download the two CoreNLP jars; see :func:`fetch_jars`."""
        fetch_jars()

    def stats(self, batch: Batch, features: Features, state: object) -> np.ndarray:
        """Return mean SPICE over the candidates of each example and that of each
        category, shape (B, 7), in [0, 1].

        Each distinct pair of a candidate and its references is scored once per run.
        Categories without tuples are NaN. Raises :class:`InputError` for a sentence
        that is too long.
        """
        for item in batch.sets:
            check_lengths(item)

        pair_scores = features.memo(
            (self.signature(), "pairs"), dict[tuple[int, ...], np.ndarray]
        )
        texts = features.texts
        keys: list[tuple[int, ...]] = []
        for candidates, references in zip(
            batch.candidate_ids.tolist(), batch.reference_ids.tolist()
        ):
            keys += [(candidate, *references) for candidate in candidates]

        new = [key for key in dict.fromkeys(keys) if key not in pair_scores]
        if new:
            pairs = [(texts[key[0]], [texts[i] for i in key[1:]]) for key in new]
            pair_scores.update(zip(new, self._serving().evaluate(pairs)))

        scores = np.array([pair_scores[key] for key in keys])
        scores = scores.reshape(len(batch), batch.n, len(KINDS))
        all_tuples = scores[..., 0].mean(axis=1)
        categories = np.apply_along_axis(mean_of_defined, 1, scores[..., 1:])
        return np.column_stack([all_tuples, categories])

    def details(self, stats: np.ndarray) -> dict[str, object]:
        """Return the mean of each category from statistics (B, 7),
        without those that no example has.
        """
        means = np.apply_along_axis(mean_of_defined, 0, stats[:, 1:]).tolist()
        return {
            name: value
            for name, value in zip(map(str.lower, KINDS[1:]), means)
            if value == value
        }

    def _serving(self) -> SpiceProcess:
        """Return the running process; start one where there is none or it has ended."""
        if self._process is None or not self._process.alive:
            self._process = SpiceProcess(command(self.jars, self.memory))
        return self._process
