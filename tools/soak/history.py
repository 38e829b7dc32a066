"""One history of the adversary: commands given to a few directories,
and what must be true after each of them.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from hypothesis.stateful import RuleBasedStateMachine

from tools.soak.cases import CONCURRENCY
from tools.soak.commands import LIMITS, LOOK, End
from tools.soak.model import (
    EMPTY,
    SHARDS,
    State,
    Verb,
    after_interruption,
    after_refusal,
    after_success,
)
from tools.soak.places import changes_of, snapshot
from tools.soak.power import chances, lose_unsynced
from tools.soak.products import (
    JUDGE_CONCURRENCY,
    REFUSES_ITS_OWN,
    Product,
    cache_of,
    command_line,
    differences,
    end_when_occupied,
    occupy,
    read_tree,
    without_damaged,
)
from tools.soak.shim import POWER_CUT, Fault
from tools.soak.workshop import Problem, Workshop, arguments, result_of

PAID = "paid"
"""Fault of this module: SIGKILL when the server has given a number of answers."""
COMMIT = "commit.json"
PENDING = ".next"
RESULTS = "results.json"
"""File whose rename puts the files of a run in place of those of another, the folder of
these files before, and the results.
"""
DAMAGED_COMMIT = "commit"
"""Damage of a directory whose commit.json is not one of this program: every verb may
refuse it until somebody removes the file.
"""
ANOTHER_PROCESS = "another process"
HANG_SECONDS = 15.0


@dataclass
class Directory:
    """A run directory of a history, and what is known about it."""

    path: Path
    possible: set[State]
    damage: str = ""
    """``""``, ``derived`` (a file that the run can rebuild) or ``vital`` (results,
    samples or manifest).
    """
    shares_files: bool = False
    """True for hard links to files of somebody else."""


class History(RuleBasedStateMachine):
    """Directories, what they may hold, and checks."""

    shop: ClassVar[Workshop]

    def __init__(self) -> None:
        super().__init__()
        self.folder = self.shop.new_folder()
        self.outside = self.shop.folder / f"outside{self.folder.name}"
        self.outside.mkdir()
        (self.outside / "victim.txt").write_text("precious\n")
        self.directories = {
            name: Directory(self.folder / name, {EMPTY})
            for name in ("run", "part1", "part2")
        }
        self.behaviour = "good"
        self.answers = "none"
        self.trace: list[str] = []
        self.last: Verb | None = None
        self.pending: list[str] = []
        """Disturbances that concern the next command."""
        self.disturbances = 0
        self.interruptions = 0
        self.answered = [0] * 32
        """Kills of runs that ask the server, and the answers that they had received,
        since all answers were stored.
        """
        self.shop.set_data(0)
        self.untouched = self._snapshot()

    def teardown(self) -> None:
        """Give the last writing command again, undisturbed, and remove the history."""
        try:
            if self.last is not None and (
                self.shop.failure is None or self.shop.shrinks
            ):
                self.behaviour = "good"
                self.perform(self.last)
        finally:
            self.shop.tally["histories"] += self.disturbances > 0
            shutil.rmtree(self.folder, ignore_errors=True)
            shutil.rmtree(self.outside, ignore_errors=True)

    def perform(
        self,
        verb: Verb,
        fault: Fault | None = None,
        *,
        disturbance: str = "",
        looks: bool = True,
        goes_on: bool = False,
    ) -> None:
        """Give a command and check its end, the directory and everything outside;
        ``goes_on`` after a kill: it asks for nothing again.
        """
        target = self.directories.get(verb.target, self.directories["run"])
        asks = verb.spec == "served"

        # A run that begins anew, or whose store cannot be written, may ask for every
        # answer again.
        if (
            (verb.name in ("fresh", "extend") and not goes_on)
            or (fault and fault.kind in ("full", "read-only", *LIMITS))
            or disturbance
        ):
            self._forget_answers()
        end = self._run(verb, target.path, fault)
        # before a run to compare with, which may not have been made yet, asks the
        # server too
        answers = self.shop.server.answers
        is_limited = fault is not None and fault.kind in LIMITS
        struck = (
            bool(end.struck)
            or is_limited
            or (fault is not None and fault.kind == PAID and end.code < 0)
        )

        if fault is not None and struck:
            self._note(verb, fault.kind, kills=end.code == -signal.SIGKILL)
        elif disturbance:
            self._note(verb, disturbance)
        elif asks and self.behaviour != "good":
            self._note(verb, f"server {self.behaviour}")
        for name in self.pending:
            self._note(verb, name)
        self.pending.clear()

        if not verb.reads:
            self.last = verb
        is_down = asks and self.behaviour == "down"

        self._step(
            verb, target, end, is_disturbed=struck or bool(disturbance) or is_down
        )
        self._check_outside(verb)
        if looks:
            self.look(verb.target)

        if asks:
            self._check_answers(answers, end, struck)
            finished = (target.path / RESULTS).exists() and not (
                target.path / PENDING
            ).exists()
            if (
                struck
                and verb.name == "fresh"
                and ((target.path / COMMIT).exists() or finished)
            ):
                # it was killed after its commit: the next one begins anew
                self._forget_answers()

    def _run(self, verb: Verb, path: Path, fault: Fault | None = None) -> End:
        """Run a command to its end; with the fault ``paid`` kill it when the server has
        given so many answers.
        """
        self.shop.server.begin(self.behaviour)
        for rest in ("export",):
            shutil.rmtree(self.folder / rest, ignore_errors=True)
        line = arguments(verb, path.parent, path)
        armed = fault if fault is not None and fault.kind != PAID else None
        self.trace.append(
            f"harness {' '.join(line)}" + (f"   # {fault}" if fault else "")
        )
        command = self.shop.command(line, self.folder, armed, answers=self.answers)
        if fault is not None and fault.kind == PAID:
            while sum(self.shop.server.answers) < fault.at and not command.has_ended():
                time.sleep(0.002)
            time.sleep(0.03)
            command.send(signal.SIGKILL)
        end = command.wait(HANG_SECONDS)
        if fault is not None and fault.kind == POWER_CUT:
            lose_unsynced(self.folder, command.kept, chances(fault.seed))
        self._check_end(verb, end)
        return end

    def _check_end(self, verb: Verb, end: End) -> None:
        self.shop.tally["commands"] += 1
        self.trace[-1] += f"   -> {end.code}" + (
            f" at {end.struck.replace(str(self.folder), '')}" if end.struck else ""
        )
        if end.code:
            self.trace[-1] += f": {end.line}" if end.code > 0 else ""
        if end.problem:
            raise self._problem(end.problem, f"{verb} ends with {end.code}: {end.line}")

    def _step(
        self, verb: Verb, target: Directory, end: End, *, is_disturbed: bool
    ) -> None:
        """Update the possible states of the directory by the end of a command."""
        before = target.possible
        data = self.shop.data
        parts = self._parts()

        if end.code in (0, 1):
            after = {
                state
                for part in parts
                for state in after_success(verb, before, data, part)
            }
            if not after:
                raise self._problem(
                    "accepted", f"{verb} succeeds in the state {_names(before)}"
                )
            target.possible = after
            if verb.name in ("run", "extend", "fresh"):
                target.damage = ""
            if verb.reads and not is_disturbed:
                self._check_output(verb, target, end)
            return

        refusing = {
            state for part in parts for state in after_refusal(verb, before, data, part)
        }

        if is_disturbed or end.code != 2:
            target.possible = {
                state
                for part in parts
                for state in after_interruption(verb, before, data, part)
            }
        elif refusing:
            target.possible = refusing
        elif not self._may_refuse(verb, target, end):
            raise self._problem(
                "refused", f"{verb} in the state {_names(before)}: {end.line}"
            )

        if target.shares_files and end.code == 2:
            self._own_files(target)

    def _may_refuse(self, verb: Verb, target: Directory, end: End) -> bool:
        """Return True where damage or hard links permit a refusal that the state does
        not.
        """
        if target.damage == DAMAGED_COMMIT:
            return True
        rebuilds = verb.name == "fresh" or (
            verb.name in ("run", "extend") and target.damage == "derived"
        )
        by_damage = bool(target.damage) and not rebuilds
        return by_damage or (
            target.shares_files and "link" in end.text and not verb.reads
        )

    def _check_output(self, verb: Verb, target: Directory, end: End) -> None:
        """Compare what a reading verb gives with what it gives of an undisturbed
        directory.
        """
        found = result_of(verb, end, target.path.parent)
        states = (
            {replace(EMPTY, data=self.shop.data)}
            if verb.name == "score"
            else target.possible
        )
        wanted = [self.shop.expected_output(verb, state) for state in sorted(states)]
        if found not in wanted:
            raise self._problem(
                "wrong",
                f"{verb} in the state {_names(states)}: "
                f"{_difference(found, wanted[0])}",
            )

    def look(self, name: str, fault: Fault | None = None) -> None:
        """Read the run as a reader does: it holds one of the possible states,
        and from now on that one alone.
        """
        target = self.directories[name]
        if fault is not None:
            self.trace.append(f"look   # {fault}")
        end = self.shop.command([LOOK, str(target.path)], self.folder, fault).wait(
            HANG_SECONDS
        )
        if end.problem:
            raise self._problem(end.problem, f"look ends with {end.code}: {end.line}")
        if end.code == 0:
            target.possible = self._matching(target.possible, end)
        elif not target.damage:
            done = {state for state in target.possible if state.kind == "done"}
            if done == target.possible:
                raise self._problem("lost", f"no results of {_names(done)}: {end.line}")
            finished = (
                {state for state in target.possible if state.kind == "part"}
                if _is_unfinished_part(target.path)
                else set[State]()
            )
            target.possible = target.possible - done - finished

    def _matching(self, states: set[State], end: End) -> set[State]:
        """Return the states whose undisturbed directory gives a reader the same as this
        one did.
        """
        done = {state for state in states if state.kind == "done"}
        matching = {state for state in done if self.shop.expected(state) == end.output}
        if not matching:
            wanted = self.shop.expected(min(done)) if done else ""
            raise self._problem(
                "wrong",
                f"the directory holds none of {_names(states)}: "
                f"{_difference(end.output, wanted)}",
            )
        return matching

    def produce(self, verb: Verb, faults: list[Fault]) -> None:
        """Give a verb that writes beside a run with each of the faults, then
        undisturbed: it leaves what an undisturbed one leaves.
        """
        wanted = self.shop.product(verb)

        made = self.folder / "made"
        self.shop.prepare(verb, made)
        kept = self._kept(verb, made)
        asked = 0

        for fault in faults:
            asked += self._disturb(verb, fault, made, wanted)
        is_whole = not differences(read_tree(made), wanted.tree)
        end = self._make(verb, made)
        asked += sum(self.shop.server.answers)

        if end.code and not (end.code == 2 and is_whole and verb in REFUSES_ITS_OWN):
            raise self._problem("refused", f"{verb} after {_list(faults)}: {end.line}")
        if not end.code and verb.name == "arena" and end.output != wanted.output:
            raise self._problem(
                "wrong",
                f"{verb} after {_list(faults)}: "
                f"{_difference(end.output, wanted.output)}",
            )

        # What a power cut took may lack lines of the store, which is whole without
        # them.
        has_lost_power = any(fault.kind == POWER_CUT for fault in faults)
        tree = read_tree(made)
        if verb.name == "arena" and has_lost_power:
            tree = without_damaged(tree)
        self._check_product(verb, tree, wanted, faults)

        if (
            verb.name == "arena"
            and not has_lost_power
            and asked > wanted.answers + JUDGE_CONCURRENCY * len(faults)
        ):
            raise self._problem(
                "paid",
                f"{verb} after {_list(faults)}: {asked} answers in place of "
                f"{wanted.answers}",
            )

        self._check_kept(verb, made, kept)
        shutil.rmtree(made)

    def occupied(self, verb: Verb, kind: str) -> None:
        """Give a verb whose output somebody else wrote: it stays as it is,
        and nothing is written beside it.
        """
        made = self.folder / "made"
        made.mkdir()
        occupy(verb, kind, made, self.outside / "victim.txt")
        kept = self._kept(verb, made)
        before = snapshot(made)
        expected = end_when_occupied(verb, kind)
        self._note(verb, f"occupied by a {kind}")
        end = self._make(verb, made)
        if end.code != expected:
            kind_of_problem = "refused" if end.code else "accepted"
            raise self._problem(
                kind_of_problem,
                f"{verb} where somebody's {kind} lies ends with {end.code}, "
                f"not {expected}: {end.line}",
            )
        changes = (
            changes_of(before, snapshot(made))
            if end.code or verb.name == "warm"
            else ""
        )
        if changes:
            raise self._problem(
                "outside", f"{verb} changes what somebody else wrote: {changes}"
            )
        self._check_kept(verb, made, kept)
        shutil.rmtree(made)

    def _disturb(self, verb: Verb, fault: Fault, made: Path, wanted: Product) -> int:
        """Give a verb with a fault; return the number of answers of the server."""
        end = self._make(verb, made, fault)
        if end.struck or fault.kind in LIMITS:
            self._note(verb, fault.kind, kills=end.code == -signal.SIGKILL)
        # A lexicon that cannot be stored is built in memory: the command ends with 0
        # and a note.
        if end.code == 0 and verb.name != "warm" and fault.kind != POWER_CUT:
            self._check_product(verb, read_tree(made), wanted, [fault])
        return sum(self.shop.server.answers)

    def _make(self, verb: Verb, made: Path, fault: Fault | None = None) -> End:
        """Run a verb that writes beside a run to its end."""
        self.shop.server.begin("good")
        line = command_line(verb, self.shop.input(verb), made)
        self.trace.append(
            f"harness {' '.join(line)}" + (f"   # {fault}" if fault else "")
        )
        end = self.shop.command(line, self.folder, fault, cache=cache_of(made))
        kept = end.kept
        end = end.wait(HANG_SECONDS)
        if fault is not None and fault.kind == POWER_CUT:
            lose_unsynced(self.folder, kept, chances(fault.seed))
        self._check_end(verb, end)
        return end

    def _check_product(
        self, verb: Verb, tree: dict[str, str], wanted: Product, faults: list[Fault]
    ) -> None:
        found = differences(tree, wanted.tree)
        if found:
            raise self._problem(
                "wrong", f"{verb} after {_list(faults)} leaves another tree: {found}"
            )

    def _kept(self, verb: Verb, made: Path) -> dict[str, str]:
        """Return all that a verb may not change: the run that it reads, and the folder
        of the history but for the products.
        """
        run = self.shop.input(verb)
        beside = {
            name: content
            for name, content in snapshot(self.folder).items()
            if Path(name) != made and made not in Path(name).parents
        }
        return {**beside, **(snapshot(run) if run is not None else {})}

    def _check_kept(self, verb: Verb, made: Path, kept: dict[str, str]) -> None:
        changes = changes_of(kept, self._kept(verb, made))
        if changes:
            raise self._problem(
                "outside", f"{verb} changes files that are no output of it: {changes}"
            )
        self._check_outside(verb)

    def overlap(self, verb: Verb, fault: Fault, second: Verb, is_killed: bool) -> None:
        """Give a second command while the first is stopped at a call."""
        run = self.directories["run"]
        before = set(run.possible)

        self._forget_answers()
        self.shop.server.begin("good")
        line = arguments(verb, self.folder, run.path)
        first = self.shop.command(line, self.folder, fault, answers=self.answers)
        self.trace.append(f"harness {' '.join(line)}   # {fault}")
        at = len(self.trace) - 1

        meanwhile: End | None = None
        is_locked = False
        if first.waits_for_signal():
            self._note(verb, "second process", kills=is_killed)
            is_locked = _is_locked(run.path)
            words = (
                [LOOK, str(run.path)]
                if second.name == LOOK
                else arguments(second, self.folder, run.path)
            )
            self.trace.append(f"meanwhile: harness {' '.join(words)}")
            meanwhile = self.shop.command(
                words, self.folder, answers=self.answers
            ).wait(HANG_SECONDS)
            self._check_end(second, meanwhile)
            first.send(signal.SIGKILL if is_killed else signal.SIGCONT)

        end = first.wait(HANG_SECONDS)
        self.trace[at] += (
            f"   -> {end.code} at {end.struck.replace(str(self.folder), '')}"
        )

        if end.problem:
            raise self._problem(
                end.problem, f"{verb} beside {second} ends with {end.code}: {end.line}"
            )

        if not verb.reads:
            self.last = verb
        reached = self._interleaved(
            before, [verb] if second.name == LOOK else [verb, second]
        )
        run.possible = reached

        if meanwhile is not None:
            self._check_meanwhile(verb, second, meanwhile, before, is_locked=is_locked)
        self._check_outside(verb)
        self.look("run")

    def _check_meanwhile(
        self,
        verb: Verb,
        second: Verb,
        meanwhile: End,
        before: set[State],
        *,
        is_locked: bool,
    ) -> None:
        """Raise a problem unless a command that ran beside another one found a state
        that the other may have had, or was refused because of it.
        """
        run = self.directories["run"]
        data = self.shop.data
        is_reader = second.reads or second.name == LOOK
        held = {
            state
            for part in self._parts()
            for state in after_interruption(verb, before, data, part)
        }

        if meanwhile.code in (0, 1):
            if second.name == LOOK:
                self._matching(held, meanwhile)
            elif is_locked and second.spec:
                raise self._problem(
                    "accepted", f"{second} writes the run that {verb} is writing"
                )

        if meanwhile.code == 2 and not run.damage and not run.shares_files:
            # Verbs that write their output into the run carry out an unfinished commit
            # first.
            blocked = ANOTHER_PROCESS in meanwhile.text and (
                not is_reader or second.name in ("compare", "report")
            )
            refusals = set[State]()
            if second.name != LOOK:
                for part in self._parts():
                    refusals |= after_refusal(second, held, data, part)
            if not (
                blocked
                or refusals
                or (is_reader and any(state.kind != "done" for state in held))
            ):
                raise self._problem(
                    "refused",
                    f"{second} beside {verb} in the state {_names(before)}: "
                    f"{meanwhile.line}",
                )

    def _interleaved(self, before: set[State], verbs: list[Verb]) -> set[State]:
        """Return the states that commands may leave,
        each of which may be interrupted, in any order.
        """
        reached = set(before)
        for _ in verbs:
            for verb in verbs:
                reached |= {
                    state
                    for part in self._parts()
                    for state in after_interruption(verb, reached, self.shop.data, part)
                }
        return reached

    def _parts(self) -> list[tuple[State, ...]]:
        """Return every combination of states that the directories of the parts may
        hold.
        """
        first, second = (
            sorted(self.directories[f"part{k}"].possible) for k in range(1, SHARDS + 1)
        )
        return [(a, b) for a in first for b in second]

    def _own_files(self, target: Directory) -> None:
        """Replace hard links to files of somebody else by copies."""
        for path in target.path.rglob("*"):
            if path.is_file() and not path.is_symlink() and path.stat().st_nlink > 1:
                beside = path.with_name(".copy")
                shutil.copyfile(path, beside)
                beside.rename(path)
        target.shares_files = False

    def _check_answers(self, answers: list[int], end: End, struck: bool) -> None:
        """Check that no more answers were asked for again than requests were under way
        at the kills.
        """
        self.answered = [old + new for old, new in zip(self.answered, answers)]
        repeated = sum(max(0, count - 1) for count in self.answered)
        permitted = CONCURRENCY * self.interruptions
        if repeated > permitted:
            text = (
                f"{repeated} answers were asked for again after {self.interruptions} "
                f"kills; {permitted} requests were under way"
            )
            raise self._problem("paid", text)
        if struck:
            self.interruptions += 1
        elif end.code == 0:
            self._forget_answers()

    def _forget_answers(self) -> None:
        self.interruptions = 0
        self.answered = [0] * len(self.answered)

    def _snapshot(self) -> dict[str, str]:
        return {**snapshot(self.outside), **snapshot(self.shop.project)}

    def _check_outside(self, verb: Verb) -> None:
        changes = changes_of(self.untouched, self._snapshot())
        if changes:
            raise self._problem(
                "outside", f"{verb} changes files outside the run directory: {changes}"
            )

    def _note(self, verb: Verb, disturbance: str, *, kills: bool = False) -> None:
        rows = {"judged": "judgments", "scored": "score"}
        row = rows.get(verb.argument, verb.name)
        self.shop.tally[f"{row}|{disturbance}"] += 1
        self.shop.tally["kills"] += kills
        self.disturbances += 1

    def _problem(self, kind: str, text: str) -> Problem:
        text = text.replace(str(self.folder), "HISTORY")
        problem = Problem(kind, text)
        if self.shop.failure is None or self.shop.shrinks:
            self.shop.failure = (
                problem,
                [line.replace(str(self.folder), "HISTORY") for line in self.trace],
            )
        return problem


def _is_locked(run: Path) -> bool:
    """Return True when a process holds the lock of a run directory."""
    try:
        descriptor = os.open(run / ".lock", os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _is_unfinished_part(folder: Path) -> bool:
    """Return True for a folder that no commit changes and whose shards.json does not
    say that the part has finished.
    """
    if (folder / COMMIT).exists():
        return False
    try:
        return (
            json.loads((folder / "shards.json").read_bytes()).get("finished")
            is not True
        )
    except (FileNotFoundError, ValueError):
        return True


def _list(faults: list[Fault]) -> str:
    return ", ".join(map(str, faults))


def _names(states: set[State]) -> str:
    return "{" + ", ".join(map(str, sorted(states))) + "}"


def _difference(found: str, wanted: str) -> str:
    """Return the surroundings of the first difference of two texts."""
    at = next(
        (i for i, pair in enumerate(zip(found, wanted)) if pair[0] != pair[1]),
        min(len(found), len(wanted)),
    )
    return (
        f"found ...{found[max(0, at - 60) : at + 60]!r}..., "
        f"expected ...{wanted[max(0, at - 60) : at + 60]!r}..."
    )
