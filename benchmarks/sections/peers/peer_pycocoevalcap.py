"""Metrics of pycocoevalcap with the signatures of caption_kernels_reference.certify.

Its CIDEr is CIDEr-D.

METEOR is its jar, with the word lists of a lexicon in place of the jar's own, and the
lexicon's paraphrases.
"""

from __future__ import annotations

import gzip
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.meteor import meteor as toolkit_meteor
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

References = Sequence[Sequence[str]]


def ptb(texts: Sequence[str]) -> list[str]:
    """Return tokens of raw texts.

    The tokeniser reads all captions as one text, so that the next one may change the
    end of a caption: the vectors are for captions followed by a line in lower case,
    here an additional caption.
    """
    lines = PTBTokenizer().tokenize(
        {k: [{"caption": text}, {"caption": "z"}] for k, text in enumerate(texts)}
    )
    return [lines[k][0] for k in range(len(texts))]


def bleu(candidates: Sequence[str], references: References) -> list[float]:
    """Return BLEU-1 to BLEU-4 of the corpus."""
    return Bleu(4).compute_score(*_mappings(candidates, references), verbose=0)[0]


def rouge(candidates: Sequence[str], references: References) -> list[float]:
    """Return ROUGE-L of each example."""
    return list(Rouge().compute_score(*_mappings(candidates, references))[1])


def ciderd(candidates: Sequence[str], references: References) -> list[float]:
    """Return CIDEr-D of each example."""
    return list(Cider().compute_score(*_mappings(candidates, references))[1])


def _mappings(
    candidates: Sequence[str], references: References
) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    return {k: list(texts) for k, texts in enumerate(references)}, {
        k: [text] for k, text in enumerate(candidates)
    }


def meteor(
    candidates: Sequence[str], references: References, lexicon: Mapping[str, Any]
) -> list[float]:
    """Return METEOR of each example."""
    files = tuple(
        lexicon[name]
        for name in ("function_words", "prefixes", "exceptions", "synsets")
    )
    process = _start_meteor(*files, tuple(map(tuple, lexicon["paraphrases"])))
    return [
        process.score(candidate, texts)
        for candidate, texts in zip(candidates, references, strict=True)
    ]


class _Meteor:
    """The program of the jar, which answers on its standard output."""

    def __init__(self, folder: Path) -> None:
        options = ["-stdio", "-l", "en", "-norm", "-a", "table.gz"]
        command = [
            "java",
            "-Dfile.encoding=UTF-8",
            "-Xmx2G",
            "-jar",
            "meteor.jar",
            "-",
            "-",
            *options,
        ]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, cwd=folder, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
        )

    def score(self, candidate: str, references: Sequence[str]) -> float:
        """Return the score of the best reference; the program gives the scores of all
        segments, here one, then that of the corpus.
        """
        self._write("SCORE", *references, candidate)
        self._write("EVAL", self._read())
        score = self._read()
        self._read()
        return float(score)

    def _write(self, *fields: str) -> None:
        # A blank field in place of an empty one, which the program drops; a line break
        # would end the request.
        line = " ||| ".join(
            " ".join(field.split("\n")).strip("".join(map(chr, range(33)))) or " "
            for field in fields
        )
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b" \n")
        self._process.stdin.flush()

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().decode().strip()


@cache
def _start_meteor(
    functions: str,
    prefixes: str,
    exceptions: str,
    synsets: str,
    paraphrases: tuple[tuple[str, str], ...],
) -> _Meteor:
    folder = Path(tempfile.mkdtemp(prefix="meteor-"))
    lists = {
        "function/english.words": functions,
        "nonbreaking/english.prefixes": prefixes,
        "synonym/english.exceptions": exceptions,
        "synonym/english.synsets": synsets,
    }
    jar = Path(toolkit_meteor.__file__).with_name(toolkit_meteor.METEOR_JAR)
    with (
        zipfile.ZipFile(jar) as whole,
        zipfile.ZipFile(folder / "meteor.jar", "w") as changed,
    ):
        for name in whole.namelist():
            own = lists.get(name)
            changed.writestr(name, whole.read(name) if own is None else own.encode())
    with gzip.open(folder / "table.gz", "wb") as table:
        table.write(
            "".join(
                f"0.5\n{phrase}\n{other}\n" for phrase, other in paraphrases
            ).encode()
        )
    return _Meteor(folder)
