"""Mutants of a module: copies with one small change each,
by the operators of cosmic-ray.
"""

from __future__ import annotations

import ast
import collections
import hashlib
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.exception_replacer import ExceptionReplacer
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import OPERATOR_PROVIDERS, get_operator
from cosmic_ray.work_item import MutationSpec

ARITHMETIC = ("Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow")
BITS = ("BitOr", "BitAnd", "BitXor", "LShift", "RShift")
ORDER = ("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE")
OTHERS = (
    "AddNot",
    "ExceptionReplacer",
    "NumberReplacer",
    "ReplaceAndWithOr",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ReplaceFalseWithTrue",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceUnaryOperator_Delete_USub",
    "ZeroIterationForLoop",
)
BOUNDS = re.compile(
    r"size: int = 1 "
    r"<<|\b(memory_bytes|batch_size|_?(MEMORY|CHUNK|BLOCK|CACHE)(_BYTES)?|_PAIRS|MAX_PRODUCT|MAX_LEVELS|_REQUEST)\b"
)
"""Lines that bound memory or choose the size of blocks: they decide how much is
computed at once, not what.
"""


def operator_names() -> list[str]:
    """Return the names of the operators:
    those of cosmic-ray that keep the type of an expression.

    ``==`` never becomes ``is``, nor ``+`` ``@``: such mutants raise an error at once,
    or are equal to the original.
    """
    pairs = [("Binary", group) for group in (ARITHMETIC, BITS)]
    pairs += [("Comparison", group) for group in (ORDER, ("Is", "IsNot"))]
    replaced = [
        f"Replace{kind}Operator_{old}_{new}"
        for kind, group in pairs
        for old in group
        for new in group
        if old != new
    ]
    return [*replaced, *OTHERS]


class ReturnNone(Operator):
    """Replace the value of a return statement with None."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the position of a return statement with a value."""
        if (
            node.type == "return_stmt"
            and len(node.children) == 2
            and node.children[1].get_code().strip() != "None"
        ):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """Return the statement without its value."""
        value = get_ast("None").children[0]
        value.prefix = " "
        node.children[1] = value
        return node

    @classmethod
    def examples(cls) -> tuple[Any, ...]:
        """Return no examples: cosmic-ray's own tests do not read this operator."""
        return ()


class CaughtException(ExceptionReplacer):
    """Replace a caught exception; one with a dotted name is left alone, which
    cosmic-ray cannot replace.
    """

    @staticmethod
    def _name_nodes(node: Any) -> list[Any]:
        return [
            name for name in ExceptionReplacer._name_nodes(node) if name.type == "name"
        ]


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    path: str
    """File, relative to the root of the repository."""
    operator: str
    occurrence: int
    line: int
    column: int
    end: tuple[int, int] = (0, 0)
    """Line and column where the changed text ends."""

    def specification(self) -> MutationSpec:
        """Return the change as the runner of cosmic-ray takes it."""
        provider = "harness" if self.operator in OWN else "core"
        start = (self.line, self.column)
        return MutationSpec(
            self.path, f"{provider}/{self.operator}", self.occurrence, start, self.end
        )

    def code(self, source: str) -> str:
        """Return the mutated source."""
        operator = _operators()[self.operator]
        text = mutate_code(source, operator, self.occurrence)
        assert text is not None, self
        return text

    def change(self, source: str) -> tuple[str, str]:
        """Return the first changed line, before and after."""
        before = source.splitlines()
        after = self.code(source).splitlines()
        at = next(
            (i for i, pair in enumerate(zip(before, after)) if pair[0] != pair[1]),
            len(before) - 1,
        )
        return before[at].strip(), after[at].strip()


OWN: dict[str, Any] = {
    "ReturnNone": ReturnNone,
    "ExceptionReplacer": CaughtException,
}
"""Operators beside those of cosmic-ray, or in their place."""
# The runner finds operators by their provider and name.
OPERATOR_PROVIDERS["harness"] = OWN


@cache
def _operators() -> dict[str, Any]:
    names = dict.fromkeys(("ReturnNone", *operator_names()))
    return {
        name: (OWN[name] if name in OWN else get_operator(f"core/{name}"))()
        for name in names
    }


def mutants_of(path: str, source: str) -> list[Mutant]:
    """Return all mutants of a source text, in the order of their places."""
    skipped = _ranges_without_effect(source)
    bounds = {
        number
        for number, text in enumerate(source.splitlines(), 1)
        if BOUNDS.search(text)
    }
    nodes = list(ast_nodes(get_ast(source)))
    found: list[Mutant] = []
    for name, operator in _operators().items():
        positions = [
            place for node in nodes for place in operator.mutation_positions(node)
        ]
        for occurrence, ((line, column), end) in enumerate(positions):
            if line not in bounds and not any(
                first <= (line, column) < last for first, last in skipped
            ):
                found.append(Mutant(path, name, occurrence, line, column, end))
    return sorted(found, key=lambda m: (m.line, m.column, m.operator, m.occurrence))


def _ranges_without_effect(
    source: str,
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the ranges whose change cannot change a number: annotations, decorators,
    imports for types, messages of errors.
    """
    ranges: list[ast.AST] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            ranges += node.decorator_list
        if isinstance(node, ast.FunctionDef):
            arguments = [
                *node.args.posonlyargs,
                *node.args.args,
                *node.args.kwonlyargs,
                node.args.vararg,
                node.args.kwarg,
            ]
            ranges += [
                a.annotation
                for a in arguments
                if a is not None and a.annotation is not None
            ]
            ranges += [node.returns] if node.returns is not None else []
        elif isinstance(node, ast.AnnAssign):
            ranges.append(node.annotation)
        elif isinstance(node, ast.JoinedStr | ast.Raise) or _is_for_types(node):
            ranges.append(node)

    found: list[Any] = [*ranges]
    return [((n.lineno, n.col_offset), (n.end_lineno, n.end_col_offset)) for n in found]


def _is_for_types(node: ast.AST) -> bool:
    """Return True for imports under TYPE_CHECKING,
    and for names of unions such as ``str | int``.
    """
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.BinOp):
        return False
    value = node.value
    return (
        isinstance(value.op, ast.BitOr)
        and isinstance(value.left, ast.Name)
        and ast.unparse(node.targets[0])[0].isupper()
    )


def sample(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """Return mutants of ``count`` places, drawn without replacement;
    of each place one of its changes.

    A place is drawn by a hash of its line and column, so that edits elsewhere leave the
    other places of a sample as they are.
    """
    places: dict[tuple[str, int, int], list[Mutant]] = {}
    for mutant in mutants:
        places.setdefault((mutant.path, mutant.line, mutant.column), []).append(mutant)
    lines = {
        path: _source(path).splitlines() for path in {mutant.path for mutant in mutants}
    }
    seen: collections.Counter[str] = collections.Counter()
    draws: list[tuple[bytes, list[Mutant]]] = []
    for (path, line, column), changes in sorted(places.items()):
        text = (
            f"{seed} {path} {lines[path][line - 1].strip()} {changes[0].operator} "
            f"{column}"
        )
        seen[text] += 1
        draws.append(
            (hashlib.sha256(f"{text} {seen[text]}".encode()).digest(), changes)
        )
    draws.sort(key=lambda item: item[0])
    chosen = (changes[draw[-1] % len(changes)] for draw, changes in draws)
    return list(
        itertools.islice((mutant for mutant in chosen if _compiles(mutant)), count)
    )


@cache
def _source(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


def _compiles(mutant: Mutant) -> bool:
    """Return False for a mutant that is no program, such as ``**`` in place of the
    ``*`` of keyword arguments.
    """
    source = _source(mutant.path)
    try:
        return ast.dump(ast.parse(mutant.code(source))) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


def sources(root: Path, patterns: Sequence[str], exclude: Sequence[str]) -> list[str]:
    """Return the files that match a pattern, relative to the root."""
    left_out = {path for pattern in exclude for path in root.glob(pattern)}
    files = {path for pattern in patterns for path in root.glob(pattern)} - left_out
    return sorted(
        str(path.relative_to(root)) for path in files if path.name != "__init__.py"
    )
