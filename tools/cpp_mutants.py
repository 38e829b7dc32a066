"""Changes of C++ sources, one token or statement each,
and the order in which they are drawn.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CORE = Path(__file__).resolve().parent.parent / "kernels" / "core"
MEMORY = re.compile(r"reserve|capacity|grow|shrink_to_fit|resize|MOST_|bad_alloc")
"""Lines that make room or bound it: they decide how much memory there is,
not what is computed.
"""
BINARY = """
<= < >    >= > <    == !=     != ==    < <= >=   > >= <
+ -    - +    * /    / *    % *    += -=   -= +=
&& ||     || &&     << >>     >> <<    & |       | &
"""
"""Operators of two operands, each with those that take its place;
line ends and double blanks separate them.
"""
WORDS = {
    "true": "false",
    "false": "true",
    "min": "max",
    "max": "min",
    "continue": "break",
    "break": "continue",
}
# Operators of two operands have blanks on both sides; brackets of templates, references
# and pointers have not.
SWAPS = {
    f" {row.split()[0]} ": [f" {new} " for new in row.split()[1:]]
    for row in re.split(r"  +|\n", BINARY)
    if row
}
SWAPS |= {
    "++": ["--"],
    "--": ["++"],
    "!": [""],
    **{old: [new] for old, new in WORDS.items()},
}
TOKEN = re.compile(
    "|".join(re.escape(token) for token in SWAPS if token[0] in " +-")
    + rf"|\b(?:{'|'.join(WORDS)})\b|!(?!=)|(?<![\w.'])\d+(?:u|ull)?(?![\w.'])"
)
STATEMENT = re.compile(
    r"^(\s*(?:(?:if|for|while) \(.*\) |else )?)"
    r"((?!(?:return|if|for|while|switch|case)\b)(?:[\w:.>\[\]()*-]+\(.*\)|\S+ "
    r"[-+*|&^]?= .*));$"
)
"""A call or an assignment on one line, perhaps after a condition."""
SKIPPED = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|(?<!\w)[uU]?'(?:\\.|[^'\\\n])+'"
    r"|^[ ]*#[^\n]*|\bstatic_assert\b[^;]*;|\btemplate <[^\n]*|\boperator\S+",
    re.S | re.M,
)
"""Comments, strings, characters, the preprocessor, heads of templates."""


@dataclass(frozen=True)
class Mutant:
    """One change of one line."""

    path: str
    """File, relative to ``kernels/core``."""
    start: int
    stop: int
    new: str
    """Text in place of the characters from ``start`` to ``stop``."""

    @property
    def source(self) -> str:
        """The file without the change."""
        return read(self.path)

    @property
    def code(self) -> str:
        """The file with the change."""
        return self.source[: self.start] + self.new + self.source[self.stop :]

    @property
    def line(self) -> int:
        """Number of the changed line, from 1."""
        return self.source.count("\n", 0, self.start) + 1

    @property
    def name(self) -> str:
        """The file and the changed line, before and after."""
        before, after = (
            text.splitlines()[self.line - 1].strip()
            for text in (self.source, self.code)
        )
        return f"{self.path}: {before} -> {after}"

    @property
    def key(self) -> str:
        """A hash of the change that edits of other lines leave as it is."""
        lines = self.source.splitlines()
        # equal lines are told apart
        same = sum(line == lines[self.line - 1] for line in lines[: self.line])
        column = self.start - self.source.rfind("\n", 0, self.start)
        return hashlib.sha256(f"{self.name} {same} {column}".encode()).hexdigest()[:16]


@cache
def read(path: str) -> str:
    """Return a file of ``kernels/core``; the same during the whole run."""
    return (CORE / path).read_text(encoding="utf-8")


def visible(source: str) -> str:
    """Return a source with blanks in place of all that is not changed.

    >>> visible('a = "x";  // 1')
    'a =    ;      '
    """
    text = SKIPPED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)
    return "\n".join(
        " " * len(line) if MEMORY.search(line) else line for line in text.split("\n")
    )


def mutants_of(path: str) -> Iterator[Mutant]:
    """Yield all mutants of a file."""
    text = visible(read(path))
    for match in TOKEN.finditer(text):
        token = match[0]
        if token[0].isdigit():
            number = token.rstrip("ul")
            news = (
                [
                    f"{int(number) + 1}",
                    *([f"{int(number) - 1}"] if int(number) > 0 else []),
                ]
                if number.isdigit()
                else []
            )
        else:
            news = list(SWAPS[token])
        for new in news:
            yield Mutant(path, match.start(), match.end(), new)
    start = 0
    for line in text.split("\n"):
        match = STATEMENT.match(line.rstrip())
        if match and match[2].count("(") == match[2].count(")"):
            yield Mutant(path, start + match.start(2), start + match.end(2), "")
        start += len(line) + 1


def in_order(path: str, seed: int) -> list[Mutant]:
    """Return the mutants of a file in the order in which they are drawn;
    edits of other lines leave it as it is.
    """
    return sorted(
        mutants_of(path),
        key=lambda mutant: hashlib.sha256(f"{seed} {mutant.key}".encode()).digest(),
    )


def files() -> list[str]:
    """Return the sources, those of METEOR last."""
    names = [path.name for path in CORE.iterdir() if path.suffix in (".cpp", ".hpp")]
    return sorted(names, key=lambda name: ("meteor" in name, name))


def quotas(count: int) -> dict[str, int]:
    """Return how many mutants each file has, in proportion to its lines of code."""
    changed = [name for name in files() if any(mutants_of(name))]
    lines = {
        name: sum(bool(line.strip()) for line in visible(read(name)).split("\n"))
        for name in changed
    }
    result: dict[str, int] = {}
    before = 0
    for name, size in lines.items():  # rounding the running sum keeps the total
        after = before + size
        result[name] = round(count * after / sum(lines.values())) - round(
            count * before / sum(lines.values())
        )
        before = after
    return result
