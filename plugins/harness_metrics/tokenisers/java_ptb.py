"""The COCO caption toolkit's tokeniser, Stanford's Java program, as the reference
implementation (``tokenizer: java-ptb``).

Differences from the toolkit's wrapper:

- captions are passed through a temporary folder, so that a read-only installation
  works;
- characters that end a line for the program are replaced by blanks;
- each caption is followed by a line in lower case, so that its tokens do not depend on
  the next caption;
- an empty caption keeps its line;
- standard error is read, and the process ends with the call.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from harness.errors import HarnessError
from harness_metrics.tokenisers.java_runtime import pycocoevalcap_file, run_java

NEEDED_BY = "the tokenizer 'java-ptb'"
"""Requester in error messages."""
_PROGRAM = [
    "edu.stanford.nlp.process.PTBTokenizer",
    "-preserveLines",
    "-lowerCase",
    "-encoding",
    "UTF-8",
]
"""Class and options of the toolkit's wrapper."""
_SEPARATOR = "zz"
_PUNCTUATION = frozenset(
    [
        "''",
        "'",
        "``",
        "`",
        "-LRB-",
        "-RRB-",
        "-LCB-",
        "-RCB-",
        ".",
        "?",
        "!",
        ",",
        ":",
        "-",
        "--",
        "...",
        ";",
    ]
)
"""Tokens that the toolkit's wrapper removes."""
_LINE_BREAKS = str.maketrans(dict.fromkeys("\n\r\v\f\u2028\u2029", " "))
"""The characters that end a line for the program, as blanks."""


def tokenize(captions: list[str]) -> list[str]:
    """Return the tokens of each caption without punctuation, in lower case,
    joined by one blank.

    Raises :class:`HarnessError` without Java or the jar.
    """
    return [
        " ".join(token for token in line.split(" ") if token not in _PUNCTUATION)
        for line in token_lines(captions)
    ]


def tokens_raw(captions: list[str]) -> list[list[str]]:
    """Return the tokens of each caption before punctuation is removed."""
    return [line.split(" ") if line else [] for line in token_lines(captions)]


def token_lines(captions: list[str]) -> list[str]:
    """Return the program's output line for each caption, without trailing blanks."""
    if not captions:
        return []

    jar = pycocoevalcap_file(
        "tokenizer", "stanford-corenlp-3.4.1.jar", needed_by=NEEDED_BY
    )
    with tempfile.TemporaryDirectory(prefix="harness-ptb-") as folder:
        source = Path(folder, "captions.txt")
        text = "".join(
            f"{caption.translate(_LINE_BREAKS)}\n{_SEPARATOR}\n" for caption in captions
        )
        source.write_bytes(text.encode("utf-8", "replace"))

        encodings = ["-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8"]
        output = run_java(
            [*encodings, "-cp", str(jar), *_PROGRAM, str(source)], needed_by=NEEDED_BY
        )

    lines = output.decode("utf-8").split("\n")
    count = 2 * len(captions)
    separators = lines[1:count:2]
    if len(lines) < count or any(line != _SEPARATOR for line in separators):
        raise HarnessError(
            f"{NEEDED_BY}: the program returned {len(lines)} lines; expected {count}"
        )
    return [line.rstrip() for line in lines[0:count:2]]
