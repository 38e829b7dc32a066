"""The adversary: a state machine of hypothesis over all verbs and disturbances.

A history begins with a run directory in some state. Each step is a command, undisturbed or not; after each step the directory is looked at
as a reader does, and what it holds must equal an undisturbed directory in one of the states that :mod:`model` permits. At the end
the last command is given again, undisturbed. Nothing outside the history's folder may have changed at any time.
"""

from __future__ import annotations

import shutil
import signal
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tools.soak.cases import CONCURRENCY, SERVED_EXAMPLES
from tools.soak.commands import LIMITS, LOOK, End
from tools.soak.model import EMPTY, SHARDED, SHARDS, State, Verb, after_interruption, after_refusal, after_success
from tools.soak.places import FOREIGN, PLANTS, TEARS, Plant, changes_of, is_vital, snapshot, tear, write_foreign
from tools.soak.server import BEHAVIOURS
from tools.soak.shim import Fault
from tools.soak.workshop import FORMATS, METRICS, SPECS, Problem, Workshop, arguments, result_of

KILLS = ("kill-before", "kill-after", "kill-half")
PAID = "paid"
"""Fault of this module: SIGKILL when the server has given a number of answers."""
FAULTS = (*KILLS, "full", "read-only", "terminate")
ANOTHER_PROCESS = "another process"
HANG_SECONDS = 15.0
STARTS = (
    EMPTY,
    *(State("done", spec) for spec in SPECS),
    *(State("done", spec, 0, ("chrf",)) for spec in ("small", "large", "judged")),
    State("part"),
)
"""What a history begins with; ``part``: no run, and both of its parts."""

RUNS = st.builds(Verb, st.sampled_from(["run", "extend", "fresh"]), st.sampled_from(SPECS)).filter(
    lambda verb: (verb.name, verb.argument) != ("extend", "scored")
)
WRITERS = (
    RUNS
    | st.builds(Verb, st.just("rescore"), st.sampled_from(METRICS))
    | st.just(Verb("merge"))
    | st.builds(Verb, st.just("shard"), st.sampled_from([str(k) for k in range(1, SHARDS + 1)]))
)
EXPORTS = st.builds(Verb, st.just("export"), st.sampled_from(FORMATS))
READING = st.just(Verb("compare")) | st.just(Verb("report")) | EXPORTS | st.just(Verb("score"))
VERBS = WRITERS | READING
IN_RUN = VERBS.filter(lambda verb: verb.name not in ("shard", "score"))
SHARES = st.integers(0, 999)
"""Place in thousandths: of the calls of a command, of the files of a directory."""
CALLS = SHARES | st.integers(850, 999)
"""The same for a kill; half of them near the end, where the files of a run replace those of another."""


@dataclass
class Directory:
    """A run directory of a history, and what is known about it."""

    path: Path
    possible: set[State]
    damage: str = ""
    """``""``, ``derived`` (a file that the run can rebuild) or ``vital`` (results, samples or manifest)."""
    shares_files: bool = False
    """True for hard links to files of somebody else."""


class Adversary(RuleBasedStateMachine):
    """Histories of commands and disturbances."""

    shop: ClassVar[Workshop]

    def __init__(self) -> None:
        super().__init__()
        self.folder = self.shop.new_folder()
        self.outside = self.shop.folder / f"outside{self.folder.name}"
        self.outside.mkdir()
        (self.outside / "victim.txt").write_text("precious\n")
        self.directories = {name: Directory(self.folder / name, {EMPTY}) for name in ("run", "part1", "part2")}
        self.behaviour, self.answers = "good", "none"
        self.trace: list[str] = []
        self.last: Verb | None = None
        self.pending: list[str] = []
        """Disturbances that concern the next command."""
        self.disturbances = 0
        self.interruptions, self.answered = 0, [0] * 32
        """Kills of runs that ask the server, and the answers that they had received, since all answers were stored."""
        self.shop.set_data(0)
        self.untouched = self._snapshot()

    # ------------------------------------------------------------------ steps
    @initialize(state=st.sampled_from(STARTS), answers=st.sampled_from(["none", "servers"]), behaviour=st.sampled_from(BEHAVIOURS[:-1]))
    def start(self, state: State, answers: str, behaviour: str) -> None:
        """Begin with a copy of an undisturbed directory."""
        self.answers, self.behaviour = answers, behaviour
        self.trace.append(f"begin with {state}, HARNESS_ANSWERS={answers}, server {behaviour}")
        copied = {"run": state} if state.kind == "done" else {}
        if state.kind == "part":
            copied = {f"part{k}": State("part", f"{SHARDED}/{k}") for k in range(1, SHARDS + 1)}
        for name, held in copied.items():
            shutil.copytree(self.shop.directory(held), self.directories[name].path)
            self.directories[name].possible = {held}

    @rule(verb=VERBS)
    def command(self, verb: Verb) -> None:
        """Give a command, undisturbed."""
        self.perform(verb)

    @rule(verb=WRITERS, kind=st.sampled_from(KILLS), share=CALLS, again=st.booleans(), looks=st.booleans())
    def killed(self, verb: Verb, kind: str, share: int, again: bool, looks: bool) -> None:
        """Kill a writing command at one of its calls; then perhaps look, which may put things right, and perhaps give it again."""
        self.perform(verb, Fault(kind, share * self.shop.calls(verb) // 1000), looks=looks)
        if again:
            self.perform(verb)

    @rule(verb=VERBS, kind=st.sampled_from(FAULTS), share=CALLS)
    def interrupted(self, verb: Verb, kind: str, share: int) -> None:
        """Kill or terminate any command at one of its calls, or let the disk be full or read-only from there on."""
        self.perform(verb, Fault(kind, share * self.shop.calls(verb) // 1000))

    @rule(verb=VERBS, kind=st.sampled_from(LIMITS), amount=SHARES)
    def limited(self, verb: Verb, kind: str, amount: int) -> None:
        """Give a command few descriptors, little memory, small files or a clock that jumps."""
        self.perform(verb, Fault(kind, 4 + amount // 30 if kind == "few descriptors" else 20 * amount if kind == "small files" else amount))

    @rule(name=st.sampled_from(["run", "extend", "fresh"]), answers=st.integers(1, SERVED_EXAMPLES - 1), again=st.booleans())
    def killed_while_asking(self, name: str, answers: int, again: bool) -> None:
        """Kill a run when the server has given a number of answers, then perhaps give it again."""
        verb = Verb(name, "served")
        self.perform(verb, Fault(PAID, answers))
        if again:
            self.perform(verb)

    @rule(verb=IN_RUN, share=CALLS, second=IN_RUN | st.just(Verb(LOOK)), is_killed=st.booleans())
    def two_at_once(self, verb: Verb, share: int, second: Verb, is_killed: bool) -> None:
        """Stop a command at one of its calls, give a second one meanwhile, then let the first go on, or kill it."""
        self.overlap(verb, Fault("stop", share * self.shop.calls(verb) // 1000), second, is_killed)

    @rule(verb=IN_RUN, kind=st.sampled_from(PLANTS), share=SHARES)
    def planted(self, verb: Verb, kind: str, share: int) -> None:
        """Put a link, a FIFO or a folder in place of a file of the run directory during a command."""
        run = self.directories["run"]
        plant = Plant.put(kind, run.path, self.outside, share)
        self.untouched = self._snapshot()
        self.trace.append(f"put {plant}")
        damage, run.damage = run.damage, "vital"
        try:
            self.perform(verb, disturbance=f"planted {kind}")
        finally:
            plant.take_away()
            self.untouched = self._snapshot()
            run.damage = damage
        self.look("run")

    @rule(verb=IN_RUN, how=st.sampled_from(TEARS), share=SHARES)
    def torn(self, verb: Verb, how: str, share: int) -> None:
        """Damage a file of the run directory, then give a command."""
        run = self.directories["run"]
        name = tear(run.path, how, share)
        if not name:
            return
        self.trace.append(f"damage {name}: {how}")
        run.damage = "vital" if is_vital(name) or run.damage == "vital" else "derived"
        self.perform(verb, disturbance=f"torn {how}")

    @rule(verb=IN_RUN, kind=st.sampled_from(FOREIGN))
    def foreign(self, verb: Verb, kind: str) -> None:
        """Give a command a folder of somebody else in place of the run directory: it is refused and nothing in it changes."""
        folder = self.folder / "foreign"
        folder.mkdir()
        write_foreign(folder / "run", kind)
        for k in range(1, SHARDS + 1):
            if self.directories[f"part{k}"].path.is_dir():
                shutil.copytree(self.directories[f"part{k}"].path, folder / f"part{k}")
        before = snapshot(folder / "run")
        self._note(verb, f"foreign {kind}")
        end = self._run(verb, folder / "run")
        if end.code == 0 and verb.name != "report":  # a folder without runs has an empty page
            raise self._problem("accepted", f"{verb} with a foreign folder ends with 0")
        changes = changes_of(before, snapshot(folder / "run"))
        if changes:
            raise self._problem("outside", f"{verb} changes a foreign folder: {changes}")
        shutil.rmtree(folder)

    @rule()
    def shared_files(self) -> None:
        """Let the run directory be a copy by hard links, as ``cp -al`` makes it; the original must not change."""
        run = self.directories["run"]
        if run.path.is_dir() and not run.shares_files:
            original = self.outside / "original"
            shutil.rmtree(original, ignore_errors=True)
            run.path.rename(original)
            shutil.copytree(original, run.path, copy_function=lambda old, new: Path(new).hardlink_to(old))
            run.shares_files = True
            self.untouched = self._snapshot()
            self.trace.append("cp -al of the run directory")
            self.pending.append("hard links of all files")

    @rule()
    def other_data(self) -> None:
        """Change the data."""
        self.shop.set_data(1 - self.shop.data)
        self._forget_answers()
        self.untouched = self._snapshot()
        self.trace.append(f"data {self.shop.data}")
        self.pending.append("changed data")

    @rule(behaviour=st.sampled_from(BEHAVIOURS))
    def other_server(self, behaviour: str) -> None:
        """Change the manners of the server."""
        self.behaviour = behaviour
        self.trace.append(f"server {behaviour}")

    def teardown(self) -> None:
        """Give the last writing command again, undisturbed, and remove the history."""
        try:
            if self.last is not None and (self.shop.failure is None or self.shop.shrinks):
                self.behaviour = "good"
                self.perform(self.last)
        finally:
            self.shop.tally["histories"] += self.disturbances > 0
            shutil.rmtree(self.folder, ignore_errors=True)
            shutil.rmtree(self.outside, ignore_errors=True)

    # ------------------------------------------------------------------ one command
    def perform(self, verb: Verb, fault: Fault | None = None, *, disturbance: str = "", looks: bool = True) -> None:
        """Give a command and check its end, the directory and everything outside."""
        target = self.directories.get(verb.target, self.directories["run"])
        asks = verb.spec == "served"
        if verb.name in ("fresh", "extend") or (fault and fault.kind in ("full", "read-only", *LIMITS)) or disturbance:
            self._forget_answers()
        end = self._run(verb, target.path, fault)
        is_limited = fault is not None and fault.kind in LIMITS
        struck = bool(end.struck) or is_limited or (fault is not None and fault.kind == PAID and end.code < 0)
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
        self._step(verb, target, end, is_disturbed=struck or bool(disturbance) or is_down)
        self._check_outside(verb)
        if looks:
            self.look(verb.target)
        if asks:
            self._check_answers(end, struck)

    def _run(self, verb: Verb, path: Path, fault: Fault | None = None) -> End:
        """Run a command to its end; with the fault ``paid`` kill it when the server has given so many answers."""
        self.shop.server.begin(self.behaviour)
        for rest in ("export",):
            shutil.rmtree(self.folder / rest, ignore_errors=True)
        line = arguments(verb, path.parent, path)
        armed = fault if fault is not None and fault.kind != PAID else None
        self.trace.append(f"harness {' '.join(line)}" + (f"   # {fault}" if fault else ""))
        command = self.shop.command(line, self.folder, armed, answers=self.answers)
        if fault is not None and fault.kind == PAID:
            while sum(self.shop.server.answers) < fault.at and not command.has_ended():
                time.sleep(0.002)
            time.sleep(0.03)
            command.send(signal.SIGKILL)
        end = command.wait(HANG_SECONDS)
        self._check_end(verb, end)
        return end

    def _check_end(self, verb: Verb, end: End) -> None:
        self.shop.tally["commands"] += 1
        self.trace[-1] += f"   -> {end.code}" + (f" at {end.struck.replace(str(self.folder), '')}" if end.struck else "")
        if end.code:
            self.trace[-1] += f": {end.line}" if end.code > 0 else ""
        if end.problem:
            raise self._problem(end.problem, f"{verb} ends with {end.code}: {end.line}")

    def _step(self, verb: Verb, target: Directory, end: End, *, is_disturbed: bool) -> None:
        """Update the possible states of the directory by the end of a command."""
        before, data, parts = target.possible, self.shop.data, self._parts()
        if end.code in (0, 1):
            after = {state for part in parts for state in after_success(verb, before, data, part)}
            if not after:
                raise self._problem("accepted", f"{verb} succeeds in the state {_names(before)}")
            target.possible = after
            if verb.name in ("run", "extend", "fresh"):
                target.damage = ""
            if verb.reads and not is_disturbed:
                self._check_output(verb, target, end)
            return
        refusing = {state for part in parts for state in after_refusal(verb, before, data, part)}
        if is_disturbed or end.code != 2:
            target.possible = {state for part in parts for state in after_interruption(verb, before, data, part)}
        elif refusing:
            target.possible = refusing
        elif not self._may_refuse(verb, target, end):
            raise self._problem("refused", f"{verb} in the state {_names(before)}: {end.line}")
        if target.shares_files and end.code == 2:
            self._own_files(target)

    def _may_refuse(self, verb: Verb, target: Directory, end: End) -> bool:
        """Return True where damage or hard links permit a refusal that the state does not."""
        rebuilds = verb.name == "fresh" or (verb.name in ("run", "extend") and target.damage == "derived")
        by_damage = bool(target.damage) and not rebuilds
        return by_damage or (target.shares_files and "link" in end.text and not verb.reads)

    def _check_output(self, verb: Verb, target: Directory, end: End) -> None:
        """Compare what a reading verb gives with what it gives of an undisturbed directory."""
        found = result_of(verb, end, target.path.parent)
        states = {replace(EMPTY, data=self.shop.data)} if verb.name == "score" else target.possible
        wanted = [self.shop.expected_output(verb, state) for state in sorted(states)]
        if found not in wanted:
            raise self._problem("wrong", f"{verb} in the state {_names(states)}: {_difference(found, wanted[0])}")

    def look(self, name: str) -> None:
        """Read the run as a reader does: it holds one of the possible states, and from now on that one alone."""
        target = self.directories[name]
        end = self.shop.command([LOOK, str(target.path)], self.folder).wait(HANG_SECONDS)
        if end.problem:
            raise self._problem(end.problem, f"look ends with {end.code}: {end.line}")
        done = {state for state in target.possible if state.kind == "done"}
        if end.code == 0:
            matching = {state for state in done if self.shop.expected(state) == end.output}
            if not matching:
                wanted = self.shop.expected(min(done)) if done else ""
                text = f"the directory holds none of {_names(target.possible)}: {_difference(end.output, wanted)}"
                raise self._problem("wrong", text)
            target.possible = matching
        elif not target.damage:
            if done == target.possible:
                raise self._problem("lost", f"no results of {_names(done)}: {end.line}")
            target.possible = target.possible - done

    # ------------------------------------------------------------------ two at once
    def overlap(self, verb: Verb, fault: Fault, second: Verb, is_killed: bool) -> None:
        """Give a second command while the first is stopped at a call."""
        run, data = self.directories["run"], self.shop.data
        before = set(run.possible)
        self._forget_answers()
        self.shop.server.begin("good")
        line = arguments(verb, self.folder, run.path)
        first = self.shop.command(line, self.folder, fault, answers=self.answers)
        self.trace.append(f"harness {' '.join(line)}   # {fault}")
        at = len(self.trace) - 1
        meanwhile: End | None = None
        if first.waits_for_signal():
            self._note(verb, "second process", kills=is_killed)
            words = [LOOK, str(run.path)] if second.name == LOOK else arguments(second, self.folder, run.path)
            self.trace.append(f"meanwhile: harness {' '.join(words)}")
            meanwhile = self.shop.command(words, self.folder, answers=self.answers).wait(HANG_SECONDS)
            self._check_end(second, meanwhile)
            first.send(signal.SIGKILL if is_killed else signal.SIGCONT)
        end = first.wait(HANG_SECONDS)
        self.trace[at] += f"   -> {end.code} at {end.struck.replace(str(self.folder), '')}"
        if end.problem:
            raise self._problem(end.problem, f"{verb} beside {second} ends with {end.code}: {end.line}")
        if not verb.reads:
            self.last = verb
        reached = self._interleaved(before, [verb] if second.name == LOOK else [verb, second])
        run.possible = reached
        is_reader = second.reads or second.name == LOOK
        held = {state for part in self._parts() for state in after_interruption(verb, before, data, part)}
        if meanwhile is not None and meanwhile.code == 2 and not run.damage and not run.shares_files:
            blocked = ANOTHER_PROCESS in meanwhile.text and not is_reader
            refusals = {s for p in self._parts() for s in after_refusal(second, held, data, p)} if second.name != LOOK else set[State]()
            if not (blocked or refusals or (is_reader and any(state.kind != "done" for state in held))):
                raise self._problem("refused", f"{second} beside {verb} in the state {_names(before)}: {meanwhile.line}")
        self._check_outside(verb)
        self.look("run")

    def _interleaved(self, before: set[State], verbs: list[Verb]) -> set[State]:
        """Return the states that commands may leave, each of which may be interrupted, in any order."""
        reached = set(before)
        for _ in verbs:
            for verb in verbs:
                reached |= {state for part in self._parts() for state in after_interruption(verb, reached, self.shop.data, part)}
        return reached

    # ------------------------------------------------------------------ checks
    def _parts(self) -> list[tuple[State, ...]]:
        """Return every combination of states that the directories of the parts may hold."""
        first, second = (sorted(self.directories[f"part{k}"].possible) for k in range(1, SHARDS + 1))
        return [(a, b) for a in first for b in second]

    def _own_files(self, target: Directory) -> None:
        """Replace hard links to files of somebody else by copies."""
        for path in target.path.rglob("*"):
            if path.is_file() and not path.is_symlink() and path.stat().st_nlink > 1:
                beside = path.with_name(".copy")
                shutil.copyfile(path, beside)
                beside.rename(path)
        target.shares_files = False

    def _check_answers(self, end: End, struck: bool) -> None:
        """Check that no more answers were asked for again than requests were under way at the kills."""
        self.answered = [old + new for old, new in zip(self.answered, self.shop.server.answers)]
        repeated = sum(max(0, count - 1) for count in self.answered)
        permitted = CONCURRENCY * self.interruptions
        if repeated > permitted:
            text = f"{repeated} answers were asked for again after {self.interruptions} kills; {permitted} requests were under way"
            raise self._problem("paid", text)
        if struck:
            self.interruptions += 1
        elif end.code == 0:
            self._forget_answers()

    def _forget_answers(self) -> None:
        self.interruptions, self.answered = 0, [0] * len(self.answered)

    def _snapshot(self) -> dict[str, str]:
        return {**snapshot(self.outside), **snapshot(self.shop.project)}

    def _check_outside(self, verb: Verb) -> None:
        changes = changes_of(self.untouched, self._snapshot())
        if changes:
            raise self._problem("outside", f"{verb} changes files outside the run directory: {changes}")

    def _note(self, verb: Verb, disturbance: str, *, kills: bool = False) -> None:
        row = "judgments" if verb.argument == "judged" else "score" if verb.argument == "scored" else verb.name
        self.shop.tally[f"{row}|{disturbance}"] += 1
        self.shop.tally["kills"] += kills
        self.disturbances += 1

    def _problem(self, kind: str, text: str) -> Problem:
        text = text.replace(str(self.folder), "HISTORY")
        problem = Problem(kind, text)
        if self.shop.failure is None or self.shop.shrinks:
            self.shop.failure = (problem, [line.replace(str(self.folder), "HISTORY") for line in self.trace])
        return problem


def _names(states: set[State]) -> str:
    return "{" + ", ".join(map(str, sorted(states))) + "}"


def _difference(found: str, wanted: str) -> str:
    """Return the surroundings of the first difference of two texts."""
    at = next((i for i, pair in enumerate(zip(found, wanted)) if pair[0] != pair[1]), min(len(found), len(wanted)))
    return f"found ...{found[max(0, at - 60) : at + 60]!r}..., expected ...{wanted[max(0, at - 60) : at + 60]!r}..."
