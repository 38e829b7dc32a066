"""The SPICE program as one process that answers request after request, so that its models are loaded once.

The program itself scores one file and ends. Two small Java classes, compiled once into the cache folder, make it serve here:
``Serve`` calls it for every file named on its standard input, and ``PassThrough`` stands in for the JavaScript engine that Java 15
dropped (the program only lays out its JSON with it). Parses are kept in a temporary folder for the life of the process, so a
reference of the whole run is parsed once. The process ends with its owner: on ``close``, on collection, and, since its input ends,
when Python dies.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import HarnessError, MissingExtra
from harness.plugins.meteor.lexicon.disk_cache import cache_root
from harness.plugins.tokenisers.java_runtime import LINE_BREAKS, drain, end

PAIRS_PER_REQUEST = 1024
"""The program holds all scene graphs of one request: this bounds its memory."""
Pair = tuple[str, Sequence[str]]

SOURCES = {
    "Serve": """
import java.io.*;

public class Serve {
    public static void main(String[] ignored) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        BufferedReader files = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String in; (in = files.readLine()) != null; ) {
            String store = files.readLine(), out = files.readLine();
            edu.anu.spice.SpiceScorer.main(new String[] {in, "-cache", store, "-out", out, "-subset", "-silent"});
            answers.println("done");
            answers.flush();
        }
        System.exit(0);
    }
}
""",
    "PassThrough": """
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
""",
}


def compiled(program: Path) -> Path:
    """The folder of the two classes, compiled against ``program`` (the SPICE jar) on first use; safe under concurrent first uses."""
    key = hashlib.sha256("".join(SOURCES.values()).encode()).hexdigest()[:12]
    folder = cache_root() / "spice" / f"classes-{key}"
    if folder.is_dir():
        return folder
    javac = shutil.which("javac")
    if javac is None:
        raise MissingExtra(
            "metric 'spice' needs javac, the Java compiler, once (install a JDK, for example openjdk-17-jdk-headless)"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        work = Path(temporary) / "classes"
        services = work / "META-INF" / "services"
        services.mkdir(parents=True)
        (services / "javax.script.ScriptEngineFactory").write_text("PassThrough\n")
        for name, source in SOURCES.items():
            (work / f"{name}.java").write_text(source)
        files = [str(work / f"{name}.java") for name in SOURCES]
        line = [javac, "--release", "8", "-nowarn", "-cp", str(program), "-d", str(work), *files]
        done = subprocess.run(line, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            raise HarnessError(f"metric 'spice': its Java classes did not compile: {_one_line(done.stderr)}")
        try:
            work.rename(folder)
        except OSError:
            if not folder.is_dir():  # not another process that was quicker
                raise
    return folder


class SpiceProcess:
    """One running SPICE program. ``command`` starts it; requests are answered one at a time."""

    def __init__(self, command: Sequence[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="spice-")
        self._store = Path(self._folder.name, "parses")
        self._store.mkdir()
        self._said: deque[str] = deque(maxlen=30)
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._reader = threading.Thread(target=drain, args=(self._process.stderr, self._said), daemon=True)
        self._reader.start()
        self.close = weakref.finalize(self, _end, self._process, self._folder)

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self.close.alive and self._process.poll() is None

    def evaluate(self, pairs: Sequence[Pair]) -> np.ndarray:
        """(K,) SPICE F of each (candidate, references); 0 where the program gives none. Raises :class:`HarnessError` when it fails."""
        parts = [pairs[first : first + PAIRS_PER_REQUEST] for first in range(0, len(pairs), PAIRS_PER_REQUEST)]
        with self._lock:
            return np.concatenate([np.empty(0), *map(self._request, parts)])

    def _request(self, pairs: Sequence[Pair]) -> np.ndarray:
        rows = [
            {
                "image_id": index,
                "test": LINE_BREAKS.sub(" ", text),
                "refs": [LINE_BREAKS.sub(" ", r) for r in references],
            }
            for index, (text, references) in enumerate(pairs)
        ]
        source, target = Path(self._folder.name, "in.json"), Path(self._folder.name, "out.json")
        source.write_text(json.dumps(rows), encoding="ascii")
        target.unlink(missing_ok=True)
        self._ask(source, self._store, target)
        try:
            answer = json.loads(target.read_text(encoding="utf-8", errors="replace"))
            found: dict[int, Any] = {row["image_id"]: row["scores"]["All"]["f"] for row in answer}
            scores = np.array([found[index] for index in range(len(rows))], dtype=np.float64)
        except (OSError, ValueError, TypeError, KeyError) as error:
            self.close()
            raise HarnessError(self._failure(f"gave no scores ({type(error).__name__})")) from error
        return np.where(np.isnan(scores), 0.0, scores)

    def _ask(self, *files: Path) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(OSError, ValueError):  # a dead program: its missing answer tells
            self._process.stdin.write("".join(f"{file}\n" for file in files).encode())
            self._process.stdin.flush()
        try:
            answer = self._process.stdout.readline()
        except BaseException:  # interrupted: its answer would be taken for the next request's
            self.close()
            raise
        if answer.strip() != b"done":
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
            self._reader.join(5)
            told = self._failure(f"ended in the middle (exit code {self._process.poll()})")
            self.close()
            raise HarnessError(told)

    def _failure(self, what: str) -> str:
        lines = list(self._said)
        cause = next((line for line in lines if "Exception" in line or "Error" in line), lines[-1] if lines else "")
        return f"metric 'spice': the Java program {what}: {_one_line(cause) or 'it said nothing'}"


def _one_line(text: str) -> str:
    return " ".join(text.split())[-400:]


def _end(process: subprocess.Popen[bytes], folder: tempfile.TemporaryDirectory[str]) -> None:
    end(process)
    folder.cleanup()
