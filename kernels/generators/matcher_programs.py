"""Programs for the matcher of the compiled PTB tokeniser,
made of Python's parse trees of regular expressions.

Python's own parser reads an expression. Its tree becomes a program for a small
backtracking matcher (``core/ptb_matcher.cpp``) that tries the alternatives in Python's
order, so that it finds the match that ``re`` finds. The order is kept only where it can
matter: alternatives whose first characters differ exclude each other. Grouped by first
character they form a tree, in which the matcher finds a word of a long list without
trying all words before it. Which characters ``(?i:k)`` matches is asked of ``re``
itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

LAST = 0x10FFFF
NO_LIMIT = 0xFFFF
"""Upper bound of a repeat without one."""

OPERATIONS = (
    "CHARACTER",
    "SET",
    "RUN",
    "WHOLE_RUN",
    "TRY",
    "UNLESS",
    "PUSH",
    "JUMP",
    "LOOK",
    "TOKEN_END",
    "MATCH",
)
"""Instructions of the matcher, in the order of their numbers."""

Ranges = tuple[tuple[int, int], ...]
"""A set of characters: sorted ranges of code points, first and last,
that neither overlap nor touch.
"""
EVERYTHING: Ranges = ((0, LAST),)


def merge(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return any ranges as a set of characters.

    >>> merge([(5, 9), (1, 2), (3, 6)])
    ((1, 9),)
    """
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return tuple(merged)


def union(sets: Iterable[Ranges]) -> Ranges:
    """Return the characters that are in any of the sets."""
    return merge(part for characters in sets for part in characters)


def complement(characters: Ranges) -> Ranges:
    """Return all other characters.

    >>> complement(((0, 4), (9, LAST)))
    ((5, 8),)
    """
    ends = [-1, *(end for part in characters for end in part), LAST + 1]
    return tuple((a + 1, b - 1) for a, b in zip(ends[::2], ends[1::2]) if a + 1 < b)


def intersection(a: Ranges, b: Ranges) -> Ranges:
    """Return the characters that are in both sets."""
    return complement(union([complement(a), complement(b)]))


def of_characters(text: Iterable[str]) -> Ranges:
    """Return the characters of a text as a set."""
    return merge((ord(character), ord(character)) for character in text)


COMMON = of_characters("abcdefghijklmnopqrstuvwxyz \n")
"""Characters of nearly every text."""


# The tree of an expression, simpler than Python's: case, groups and classes are
# resolved.
@dataclass(frozen=True)
class Characters:
    """One character of a set; with ``look``, it is looked at and not taken."""

    allowed: Ranges
    look: bool = False


@dataclass(frozen=True)
class Repeat:
    """An expression ``least`` to ``most`` times, as often as possible."""

    body: tuple[Node, ...]
    least: int
    most: int


@dataclass(frozen=True)
class Choice:
    """The first of the alternatives with which the rest matches, too."""

    alternatives: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True)
class TokenEnd:
    """The end of the token; what follows in the rule is its context."""


Node = Characters | Repeat | Choice | TokenEnd
Nodes = tuple[Node, ...]


@cache
def all_characters() -> str:
    """Return every code point once, in order."""
    return "".join(map(chr, range(LAST + 1)))


@cache
def _any_case(character: int) -> Ranges:
    """Return the characters that ``(?i:character)`` matches in Python."""
    return of_characters(
        re.findall(f"(?i:{re.escape(chr(character))})", all_characters())
    )


def _class(items: list[tuple[Any, Any]], ignore_case: bool) -> Ranges:
    """Return the characters of a class ``[...]``."""
    negated = items[0][0] is ops.NEGATE
    parts: list[Ranges] = []
    for kind, value in items[1:] if negated else items:
        if kind is ops.CATEGORY:
            continue
        first, last = (value, value) if kind is ops.LITERAL else value
        parts.extend(
            map(_any_case, range(first, last + 1))
            if ignore_case
            else [((first, last),)]
        )
    categories = {value for kind, value in items if kind is ops.CATEGORY}
    if categories == {ops.CATEGORY_SPACE, ops.CATEGORY_NOT_SPACE} and not negated:
        return EVERYTHING
    if categories:
        raise ValueError(
            f"of the categories the tables can hold [\\s\\S] alone, not {categories}"
        )
    if negated and ignore_case:
        raise ValueError(
            "a negated class that ignores case is not one that the tables can hold"
        )
    return complement(union(parts)) if negated else union(parts)


def parse(pattern: str) -> Nodes:
    """Return an expression as a sequence of nodes.

    >>> letter, digit = parse("(?i:a)[0-9]")
    >>> letter
    Characters(allowed=((65, 65), (97, 97)), look=False)
    >>> digit
    Characters(allowed=((48, 57),), look=False)
    """
    return read(parser.parse(pattern))


def read(tree: Iterable[tuple[Any, Any]], ignore_case: bool = False) -> Nodes:
    """Return Python's parse tree of an expression as a sequence of nodes."""
    nodes: list[Node] = []
    for kind, value in tree:
        if kind is ops.LITERAL:
            nodes.append(
                Characters(_any_case(value) if ignore_case else ((value, value),))
            )
        elif kind is ops.NOT_LITERAL and not ignore_case:
            nodes.append(Characters(complement(((value, value),))))
        elif kind is ops.IN:
            nodes.append(Characters(_class(value, ignore_case)))
        elif kind is ops.SUBPATTERN:
            group, added, removed, body = value
            if removed or added not in (0, ops.SRE_FLAG_IGNORECASE):
                raise ValueError("a rule sets a flag other than (?i:")
            nodes.extend(read(body, ignore_case or bool(added)))
            if group is not None:
                nodes.append(TokenEnd())
        elif kind is ops.BRANCH:
            nodes.append(
                Choice(tuple(read(branch, ignore_case) for branch in value[1]))
            )
        elif kind is ops.MAX_REPEAT:
            least, most, body = value
            nodes.append(
                Repeat(
                    read(body, ignore_case),
                    least,
                    NO_LIMIT if most is ops.MAXREPEAT else most,
                )
            )
        elif kind is ops.ASSERT and value[0] == 1:
            (ahead,) = read(value[1], ignore_case)
            if not isinstance(ahead, Characters):
                raise ValueError("a rule looks ahead by more than one character")
            nodes.append(Characters(ahead.allowed, look=True))
        else:
            raise ValueError(f"{kind} is not in the language of the matcher")
    return tuple(nodes)


def may_be_empty(node: Node) -> bool:
    """Return whether a node matches without taking a character."""
    if isinstance(node, Characters):
        return node.look
    if isinstance(node, Repeat):
        return node.least == 0 or all(map(may_be_empty, node.body))
    if isinstance(node, Choice):
        return any(all(map(may_be_empty, branch)) for branch in node.alternatives)
    return True


def first_characters(nodes: Nodes) -> Ranges:
    """Return the characters with which a match can begin;
    all where the match may be empty.
    """
    if not nodes:
        return EVERYTHING
    node = nodes[0]
    rest = nodes[1:]
    if isinstance(node, TokenEnd):
        return first_characters(rest)
    if isinstance(node, Characters):
        return (
            intersection(node.allowed, first_characters(rest))
            if node.look
            else node.allowed
        )
    if isinstance(node, Repeat):
        own = first_characters(node.body)
    else:
        own = union(first_characters(branch) for branch in node.alternatives)
    return union([own, first_characters(rest)]) if may_be_empty(node) else own


def needed(nodes: Nodes) -> Ranges:
    """Return a set of which every match, context included, has a character;
    it has no letter and no blank.

    The matcher spares itself a rule where the rest of a text has none of these. All
    characters are returned where there is no such set, or only one that has every
    possible first character and so spares nothing.
    """
    first = first_characters(nodes)
    sets = [
        set_
        for set_ in _needed_by(nodes)
        if not intersection(set_, COMMON) and intersection(set_, first) != first
    ]
    return min(sets, key=_size, default=EVERYTHING)


def _needed_by(nodes: Nodes) -> list[Ranges]:
    """Return sets of which every match has a character:
    the rarest of each node that must match.
    """
    sets = []
    for node in nodes:
        if isinstance(node, Characters):
            sets.append(node.allowed)
        elif isinstance(node, Repeat) and node.least:
            sets += [first_characters(node.body), *_needed_by(node.body)]
        elif isinstance(node, Choice):
            sets.append(union(map(first_characters, node.alternatives)))
            sets.append(
                union(
                    min(_needed_by(branch), key=_size, default=EVERYTHING)
                    for branch in node.alternatives
                )
            )
    return sets


def _size(characters: Ranges) -> tuple[int, int]:
    """Return a key that is lower for sets that are rarer in captions."""
    return _n_characters(intersection(characters, COMMON)), _n_characters(characters)


def _n_characters(characters: Ranges) -> int:
    return sum(last - first + 1 for first, last in characters)


def groups_of_alternatives(alternatives: Iterable[Nodes]) -> list[list[Nodes]]:
    """Return alternatives in groups that exclude each other by their first character;
    in a group the order is kept.

    Neighbours in a group that begin with the same set become one alternative, which
    goes on with a choice.
    """
    groups: list[tuple[Ranges, list[tuple[int, Nodes]]]] = []
    for place, branch in enumerate(alternatives):
        first = first_characters(branch)
        members = [(place, branch)]
        apart = []
        for other_first, others in groups:
            if intersection(first, other_first):
                first = union([first, other_first])
                members = members + others
            else:
                apart.append((other_first, others))
        groups = [*apart, (first, members)]
    return [
        _with_shared_beginnings(
            [branch for _, branch in sorted(members, key=lambda m: m[0])]
        )
        for _, members in groups
    ]


def _with_shared_beginnings(branches: list[Nodes]) -> list[Nodes]:
    runs: list[tuple[Node | None, list[Nodes]]] = []
    for branch in branches:
        begin = (
            branch[0]
            if branch and isinstance(branch[0], Characters) and not branch[0].look
            else None
        )
        if runs and begin is not None and runs[-1][0] == begin:
            runs[-1][1].append(branch)
        else:
            runs.append((begin, [branch]))
    return [
        run[0]
        if begin is None or len(run) == 1
        else (begin, Choice(tuple(branch[1:] for branch in run)))
        for begin, run in runs
    ]


@dataclass
class Tables:
    """The programs of all rules and the sets that they use."""

    code: list[int] = field(default_factory=list)
    sets: dict[Ranges, int] = field(default_factory=dict)

    def program(self, nodes: Nodes, last: str) -> int:
        """Append a program, return its address."""
        start = len(self.code)
        self._nodes(nodes)
        self._emit(last)
        if max(len(self.code), len(self.sets)) > NO_LIMIT:
            raise ValueError("the programs are too long for 16-bit addresses")
        return start

    def set_id(self, characters: Ranges) -> int:
        """Return the number of a set."""
        return self.sets.setdefault(characters, len(self.sets))

    def _emit(self, operation: str, *arguments: int) -> int:
        """Append an instruction, return the address of its last argument."""
        self.code += [OPERATIONS.index(operation), *arguments]
        return len(self.code) - 1

    def _land(self, jumps: Iterable[int]) -> None:
        """Let jumps lead to the next instruction."""
        for place in jumps:
            self.code[place] = len(self.code)

    def _nodes(self, nodes: Nodes) -> None:
        for place, node in enumerate(nodes):
            if isinstance(node, TokenEnd):
                self._emit("TOKEN_END")
            elif (
                isinstance(node, Repeat)
                and len(node.body) == 1
                and isinstance(node.body[0], Characters)
            ):
                self._run(
                    node, node.body[0].allowed, first_characters(nodes[place + 1 :])
                )
            elif isinstance(node, Repeat):
                self._repeat(node)
            elif isinstance(node, Choice):
                self._choice(groups_of_alternatives(node.alternatives))
            elif node.look:
                self._emit("LOOK", self.set_id(node.allowed))
            elif (
                len(node.allowed) == 1
                and node.allowed[0][0] == node.allowed[0][1] <= NO_LIMIT
            ):
                self._emit("CHARACTER", node.allowed[0][0])
            else:
                self._emit("SET", self.set_id(node.allowed))

    def _run(self, node: Repeat, allowed: Ranges, following: Ranges) -> None:
        """Append a repeat of one set.

        Where no character of the set can follow, a shorter run cannot match either.
        """
        shorter_may_match = node.most != NO_LIMIT or intersection(allowed, following)
        self._emit(
            "RUN" if shorter_may_match else "WHOLE_RUN",
            self.set_id(allowed),
            node.least,
            node.most,
        )

    def _repeat(self, node: Repeat) -> None:
        body = node.body
        if all(map(may_be_empty, body)):
            raise ValueError("the body of a repeat may be empty")
        again = len(self.code)
        for _ in range(node.least):
            again = len(self.code)
            self._nodes(body)
        first = self.set_id(first_characters(body))
        if node.most == NO_LIMIT:
            head = len(self.code)
            leave = self._emit("TRY", first, 0)
            if node.least:
                self._emit("JUMP", again)
            else:
                self._nodes(body)
                self._emit("JUMP", head)
            self._land([leave])
            return
        leaves = []
        for _ in range(node.most - node.least):
            leaves.append(self._emit("TRY", first, 0))
            self._nodes(body)
        self._land(leaves)

    def _choice(self, groups: list[list[Nodes]]) -> None:
        done = []
        for number, group in enumerate(groups):
            is_last = number == len(groups) - 1
            first = self.set_id(union(map(first_characters, group)))
            skip = [] if is_last else [self._emit("UNLESS", first, 0)]
            done += self._in_order(group)
            if not is_last:
                done.append(self._emit("JUMP", 0))
            self._land(skip)
        self._land(done)

    def _in_order(self, group: list[Nodes]) -> list[int]:
        """Append alternatives that may begin alike;
        return the jumps behind all of them.
        """
        done = []
        for branch in group[:-1]:
            skip = self._emit("TRY", self.set_id(first_characters(branch)), 0)
            if all(map(may_be_empty, branch)):
                self.code[skip - 2 : skip + 1] = [OPERATIONS.index("PUSH"), 0]
                skip -= 1
            self._nodes(branch)
            done.append(self._emit("JUMP", 0))
            self._land([skip])
        self._nodes(group[-1])
        return done
