"""The toolkit's own tokeniser, Stanford's Java program, kept as the reference implementation (``engine: java``).

The same interface as :mod:`harness.plugins.tokenisers.ptb.tokeniser`. Against the toolkit's wrapper: captions go through a temporary
folder of their own (a read-only installation works), everything that ends a line for the program is a blank, each caption
is followed by a line in lower case so that it never depends on its neighbour, an empty caption keeps its line, standard
error is read, and the process ends with the call.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from harness.errors import HarnessError
from harness.plugins.tokenisers.java_runtime import pycocoevalcap_file, run_java
from harness.plugins.tokenisers.ptb.tokeniser import PUNCTUATION, one_line

NEEDED_BY = "the tokeniser with engine 'java'"
_SEPARATOR = "zz"


def tokenize(captions: list[str]) -> list[str]:
    """As :func:`~harness.plugins.tokenisers.ptb.tokeniser.tokenize`; raises HarnessError without Java or the jar."""
    return [" ".join(token for token in line.split(" ") if token not in PUNCTUATION) for line in token_lines(captions)]


def tokens_raw(captions: list[str]) -> list[list[str]]:
    """As :func:`harness.plugins.tokenisers.ptb.tokeniser.tokens_raw`."""
    return [line.split(" ") if line else [] for line in token_lines(captions)]


def token_lines(captions: list[str]) -> list[str]:
    """The program's line for each caption, less trailing blanks."""
    if not captions:
        return []
    jar = pycocoevalcap_file("tokenizer", "stanford-corenlp-3.4.1.jar", needed_by=NEEDED_BY)
    with tempfile.TemporaryDirectory(prefix="harness-ptb-") as folder:
        source = Path(folder, "captions.txt")
        text = "".join(f"{one_line(caption)}\n{_SEPARATOR}\n" for caption in captions)
        source.write_bytes(text.encode("utf-8", "replace"))
        program = ["edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase", "-encoding", "UTF-8"]
        output = run_java(
            ["-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-cp", str(jar), *program, str(source)],
            needed_by=NEEDED_BY,
        )
    lines = output.decode("utf-8").split("\n")
    if len(lines) < 2 * len(captions) or any(line != _SEPARATOR for line in lines[1 : 2 * len(captions) : 2]):
        raise HarnessError(f"{NEEDED_BY}: the program gave {len(lines)} lines for {2 * len(captions)}")
    return [line.rstrip() for line in lines[0 : 2 * len(captions) : 2]]
