"""The states that a command may make of a run directory, by the documentation.

A directory is in one of a few states. A killed command leaves the state before it or
the one after it; which one is not known until somebody looks. The model therefore keeps
the set of states that are possible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["empty", "unfinished", "done", "part"]
READERS = ("compare", "report", "export", "score")
"""Verbs that leave the results of a run as they are."""
SHARDS = 2
ONE_SYSTEM = ("served", "scored")
"""Specs of one model, which has nothing to be compared with."""
SHARDED = "large"
"""The spec whose parts are computed and merged."""


@dataclass(frozen=True, order=True)
class State:
    """The content of a run directory."""

    kind: Kind = "empty"
    spec: str = ""
    data: int = 0
    """Version of the data that the run read."""
    rescored: tuple[str, ...] = ()
    """Metrics that ``rescore`` added, in their order."""
    waits: str = ""
    """Spec and version of the data of a run that was begun beside this one and
    interrupted; empty without one.
    """

    def __str__(self) -> str:
        waiting = f"(and {self.waits} begun)" if self.waits else ""
        return " ".join(
            filter(
                None,
                (
                    self.kind,
                    self.spec,
                    f"data {self.data}" if self.spec else "",
                    "+".join(self.rescored),
                    waiting,
                ),
            )
        )


EMPTY = State()


@dataclass(frozen=True, order=True)
class Verb:
    """A command: its verb with the options that change its meaning, and the spec,
    metric, shard or format that it names.
    """

    name: str
    argument: str = ""

    @property
    def reads(self) -> bool:
        """True for a verb that leaves the results as they are."""
        return self.name in READERS

    @property
    def target(self) -> str:
        """Folder of the history that the verb works on."""
        return f"part{self.argument}" if self.name == "shard" else "run"

    @property
    def spec(self) -> str:
        """Spec that the directory holds afterwards; empty for verbs that keep it."""
        if self.name == "shard":
            return f"{SHARDED}/{self.argument}"
        if self.name == "merge":
            return SHARDED
        return self.argument if self.name in ("run", "extend", "fresh") else ""

    def __str__(self) -> str:
        return f"{self.name} {self.argument}".strip()


@dataclass(frozen=True)
class Outcome:
    """One permitted end of a command: success, or a refusal in one line,
    and the state that it leaves.
    """

    succeeds: bool
    state: State


def outcomes(
    verb: Verb, state: State, data: int, parts: tuple[State, ...]
) -> set[Outcome]:
    """Return the permitted ends of an undisturbed command in a state of its directory.

    Parameters
    ----------
    verb : Verb
        The command.
    state : State
        What its directory holds.
    data : int
        Version of the data that lies there.
    parts : tuple of State
        What the directories of the parts hold.
    """
    refusal = {Outcome(False, state)}

    if verb.name == "score":
        return {Outcome(True, state)}
    if verb.name == "compare" and state.spec in ONE_SYSTEM:
        return refusal
    if verb.reads:
        return {Outcome(True, state)} if state.kind == "done" else refusal

    if verb.name == "rescore":
        if state.kind != "done":
            return refusal
        if verb.argument in state.rescored:
            return {Outcome(True, state)}
        rescored = Outcome(
            True, replace(state, data=data, rescored=(*state.rescored, verb.argument))
        )
        return {rescored} if data == state.data else {rescored, *refusal}

    after = State("part" if verb.name == "shard" else "done", verb.spec, data)
    if verb.name == "fresh":
        return {Outcome(True, after)}

    if verb.name == "merge" and any(
        part != State("part", f"{SHARDED}/{k}", data) for k, part in enumerate(parts, 1)
    ):
        return refusal

    if verb.name == "extend":
        return refusal if state.kind == "empty" else {Outcome(True, after)}
    # A run of judgments takes any metrics: another list of them is the same run.
    is_same_run = (
        state.spec == after.spec
        and state.data == data
        and (not state.rescored or state.spec == "judged")
    )
    if state.waits == f"{verb.spec} {data}" and not is_same_run:
        return {Outcome(True, after)}
    return {Outcome(True, after)} if state.kind == "empty" or is_same_run else refusal


def after_success(
    verb: Verb, states: Iterable[State], data: int, parts: tuple[State, ...]
) -> set[State]:
    """Return the states that a successful command may leave."""
    return {
        end.state
        for state in states
        for end in outcomes(verb, state, data, parts)
        if end.succeeds
    }


def after_refusal(
    verb: Verb, states: Iterable[State], data: int, parts: tuple[State, ...]
) -> set[State]:
    """Return the states in which the command may refuse."""
    return {
        end.state
        for state in states
        for end in outcomes(verb, state, data, parts)
        if not end.succeeds
    }


def after_interruption(
    verb: Verb, states: Iterable[State], data: int, parts: tuple[State, ...]
) -> set[State]:
    """Return the states that a command may leave that is killed or refused by the
    system at any moment.

    Old results stay until the new ones are there; a run that replaces them waits beside
    them, and the same command without ``--extend`` or ``--fresh`` continues it too. A
    directory without results may become that of the new run, unfinished.
    """
    possible = set(states)
    for state in states:
        after = after_success(verb, [state], data, parts)
        possible |= after
        if after and verb.name in ("extend", "fresh") and state.kind != "empty":
            possible.add(replace(state, waits=f"{verb.spec} {data}"))
        if after and verb.spec and state.kind in ("empty", "unfinished"):
            possible |= {EMPTY, State("unfinished", verb.spec, data)}
    return possible
