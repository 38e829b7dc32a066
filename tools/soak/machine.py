"""The adversary: a state machine of hypothesis over all verbs and disturbances.

A history begins with a run directory in some state. Each step is a command, undisturbed
or not; after each step the directory is looked at as a reader does, and what it holds
must equal an undisturbed directory in one of the states that :mod:`model` permits. At
the end the last command is given again, undisturbed. Nothing outside the history's
folder may have changed at any time.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from tools.soak.cases import SERVED_EXAMPLES
from tools.soak.commands import LIMITS, LOOK
from tools.soak.history import COMMIT, DAMAGED_COMMIT, PAID, History
from tools.soak.model import EMPTY, SHARDED, SHARDS, State, Verb
from tools.soak.places import (
    FOREIGN,
    PLANTS,
    TEARS,
    Plant,
    alter,
    changes_of,
    is_vital,
    link_files,
    snapshot,
    tear,
    unlink_files,
    write_foreign,
)
from tools.soak.products import OCCUPANTS, PRODUCTS
from tools.soak.server import BEHAVIOURS
from tools.soak.shim import POWER_CUT, Fault
from tools.soak.workshop import FORMATS, METRICS, SPECS

KILLS = ("kill-before", "kill-after", "kill-half")
FAULTS = (*KILLS, "full", "read-only", "terminate")
STARTS = (
    EMPTY,
    *(State("done", spec) for spec in SPECS),
    *(State("done", spec, 0, ("chrf",)) for spec in ("small", "large", "judged")),
    State("part"),
)
"""Beginnings of a history; ``part``: no run, and both of its parts."""

RUNS = st.builds(
    Verb, st.sampled_from(["run", "extend", "fresh"]), st.sampled_from(SPECS)
).filter(lambda verb: (verb.name, verb.argument) != ("extend", "scored"))
WRITERS = (
    RUNS
    | st.builds(Verb, st.just("rescore"), st.sampled_from(METRICS))
    | st.just(Verb("merge"))
    | st.builds(
        Verb, st.just("shard"), st.sampled_from([str(k) for k in range(1, SHARDS + 1)])
    )
)
EXPORTS = st.builds(Verb, st.just("export"), st.sampled_from(FORMATS))
READING = (
    st.just(Verb("compare"))
    | st.just(Verb("report"))
    | EXPORTS
    | st.just(Verb("score"))
)
VERBS = WRITERS | READING
IN_RUN = VERBS.filter(lambda verb: verb.name not in ("shard", "score"))
REPLACING = st.builds(
    Verb, st.sampled_from(["fresh", "fresh", "extend"]), st.sampled_from(SPECS[:4])
) | st.builds(Verb, st.just("rescore"), st.sampled_from(METRICS))
"""Verbs whose files replace those of another run by a commit."""
SHARES = st.integers(0, 999)
"""Place in thousandths: of the calls of a command, of the files of a directory."""
CALLS = SHARES | st.integers(850, 999)
"""The same for a kill; half of them near the end,
where the files of a run replace those of another.
"""
SINCE_COMMIT = st.integers(0, 12).map(lambda at: Fault("kill-after", at, COMMIT))
"""A kill after the rename that commits, or after one of the renames that follow."""
DISTURBANCES = st.tuples(
    st.sampled_from((*FAULTS, POWER_CUT, POWER_CUT)),
    st.integers(0, 1050),
    st.integers(0, 40),
)
"""Fault, place in thousandths, seed of a power cut."""


class Adversary(History):
    """Histories of commands and disturbances."""

    @initialize(
        state=st.sampled_from(STARTS),
        answers=st.sampled_from(["none", "servers"]),
        behaviour=st.sampled_from(BEHAVIOURS[:-1]),
    )
    def start(self, state: State, answers: str, behaviour: str) -> None:
        """Begin with a copy of an undisturbed directory."""
        self.answers = answers
        self.behaviour = behaviour
        self.trace.append(
            f"begin with {state}, HARNESS_ANSWERS={answers}, server {behaviour}"
        )
        copied = {"run": state} if state.kind == "done" else {}
        if state.kind == "part":
            copied = {
                f"part{k}": State("part", f"{SHARDED}/{k}")
                for k in range(1, SHARDS + 1)
            }
        for name, held in copied.items():
            shutil.copytree(self.shop.directory(held), self.directories[name].path)
            self.directories[name].possible = {held}

    @rule(verb=VERBS)
    def command(self, verb: Verb) -> None:
        """Give a command, undisturbed."""
        self.perform(verb)

    @rule(
        verb=WRITERS | REPLACING,
        kind=st.sampled_from(KILLS),
        share=CALLS,
        again=st.booleans(),
        looks=st.booleans(),
    )
    def killed(
        self, verb: Verb, kind: str, share: int, again: bool, looks: bool
    ) -> None:
        """Kill a writing command at one of its calls; then perhaps look, which may put
        things right, and perhaps give it again.
        """
        self.perform(
            verb, Fault(kind, share * self.shop.calls(verb) // 1000), looks=looks
        )
        if again:
            self.perform(verb)

    @rule(verb=VERBS, kind=st.sampled_from(FAULTS), share=CALLS)
    def interrupted(self, verb: Verb, kind: str, share: int) -> None:
        """Kill or terminate any command at one of its calls,
        or let the disk be full or read-only from there on.
        """
        self.perform(verb, Fault(kind, share * self.shop.calls(verb) // 1000))

    @rule(verb=VERBS, kind=st.sampled_from(LIMITS), amount=SHARES)
    def limited(self, verb: Verb, kind: str, amount: int) -> None:
        """Give a command few descriptors, little memory,
        small files or a clock that jumps.
        """
        self.perform(
            verb,
            Fault(
                kind,
                4 + amount // 30
                if kind == "few descriptors"
                else 20 * amount
                if kind == "small files"
                else amount,
            ),
        )

    @rule(
        verb=REPLACING,
        fault=SINCE_COMMIT,
        then=st.none() | WRITERS,
        kind=st.sampled_from(KILLS),
        share=SHARES,
    )
    def committing(
        self, verb: Verb, fault: Fault, then: Verb | None, kind: str, share: int
    ) -> None:
        """Kill a command among the renames of its commit; then look on a disk that
        cannot be written, or kill another command too.
        """
        self.perform(verb, fault, looks=False)
        if then is None:
            self.look("run", Fault("read-only", 0))
        else:
            self.perform(then, Fault(kind, share * self.shop.calls(then) // 1000))

    @rule(
        verb=WRITERS | REPLACING,
        share=st.integers(0, 1050),
        seed=st.integers(0, 40),
        mark=st.sampled_from(["", COMMIT]),
        again=st.booleans(),
    )
    def power_cut(
        self, verb: Verb, share: int, seed: int, mark: str, again: bool
    ) -> None:
        """Cut the power at a call of a writing command, among its renames, or when it
        has ended: what was not synced is lost.
        """
        at = share * 12 // 1000 if mark else share * self.shop.calls(verb) // 1000
        self.perform(verb, Fault(POWER_CUT, at, mark, seed))
        if again:
            self.perform(verb)

    @rule(index=st.integers(1, SHARDS), kind=st.sampled_from(KILLS), share=CALLS)
    def unfinished_part(self, index: int, kind: str, share: int) -> None:
        """Kill a command that computes a part, then merge:
        a part that has not finished is refused.
        """
        for k in range(1, SHARDS + 1):
            part = self.directories[f"part{k}"]
            shutil.rmtree(part.path, ignore_errors=True)
            part.possible = {EMPTY if k == index else State("part", f"{SHARDED}/{k}")}
            if k != index:
                shutil.copytree(
                    self.shop.directory(State("part", f"{SHARDED}/{k}")), part.path
                )
        verb = Verb("shard", str(index))
        self.perform(verb, Fault(kind, share * self.shop.calls(verb) // 1000))
        self.perform(Verb("merge"))

    @rule(
        name=st.sampled_from(["run", "fresh", "fresh"]),
        answers=st.integers(1, SERVED_EXAMPLES - 1),
        again=st.integers(0, 3),
    )
    def killed_while_asking(self, name: str, answers: int, again: int) -> None:
        """Kill a run when the server has given a number of answers,
        then perhaps give it again.
        """
        verb = Verb(name, "served")
        self.perform(verb, Fault(PAID, answers))
        if again:  # a run that had ended when it was killed begins anew with --fresh
            states = self.directories["run"].possible
            self.perform(
                verb,
                goes_on=name == "run"
                or not any((s.kind, s.spec) == ("done", "served") for s in states),
            )

    @rule(
        verb=IN_RUN,
        share=CALLS,
        second=IN_RUN | st.just(Verb(LOOK)),
        is_killed=st.booleans(),
    )
    def two_at_once(
        self, verb: Verb, share: int, second: Verb, is_killed: bool
    ) -> None:
        """Stop a command at one of its calls, give a second one meanwhile,
        then let the first go on, or kill it.
        """
        self.overlap(
            verb,
            Fault("stop", share * self.shop.calls(verb) // 1000),
            second,
            is_killed,
        )

    @rule(
        verb=REPLACING,
        at=st.integers(1, 8),
        second=st.just(Verb(LOOK)) | REPLACING,
        is_killed=st.booleans(),
    )
    def two_at_a_commit(
        self, verb: Verb, at: int, second: Verb, is_killed: bool
    ) -> None:
        """Stop a command among the renames of its commit, and read,
        or write another run, meanwhile.
        """
        self.overlap(verb, Fault("stop", at, COMMIT), second, is_killed)

    @rule(verb=IN_RUN)
    def linked(self, verb: Verb) -> None:
        """Let every file of the run directory be a symbolic link to a copy elsewhere
        during a command.
        """
        run = self.directories["run"]
        links = link_files(run.path, self.outside / "linked")
        self.untouched = self._snapshot()
        self.trace.append(f"{len(links)} files are links")
        damage = run.damage
        run.damage = "vital"
        try:
            self.perform(verb, disturbance="links of all files")
        finally:
            unlink_files(links)
            self.untouched = self._snapshot()
            run.damage = damage
        self.look("run")

    @rule(is_answer=st.booleans(), share=SHARES, verb=st.none() | IN_RUN)
    def altered(self, is_answer: bool, share: int, verb: Verb | None) -> None:
        """Replace a letter or digit of the results by another; or one of the captions,
        so that the run must write its results again.
        """
        run = self.directories["run"]
        results = run.path / "results.json"
        answers = sorted(run.path.glob("candidates/*.jsonl"))
        path = answers[share % len(answers)] if is_answer and answers else results
        # a second character may be one of the name of the checksum, without which
        # results are read
        if not path.is_file() or run.damage:
            return
        alter(path, share)
        if path != results:
            results.unlink(missing_ok=True)
            verb = Verb("run", min(run.possible).spec or "small")
        self.trace.append(
            f"a character of {path.name} altered"
            + (", results removed" if path != results else "")
        )
        run.damage = "vital"
        self.look("run")
        if verb is not None:
            self.perform(
                verb,
                disturbance="altered answers" if path != results else "altered results",
            )

    @rule(verb=IN_RUN, kind=st.sampled_from(PLANTS), share=SHARES)
    def planted(self, verb: Verb, kind: str, share: int) -> None:
        """Put a link, a FIFO or a folder in place of a file of the run directory during
        a command.
        """
        run = self.directories["run"]
        plant = Plant.put(kind, run.path, self.outside, share)
        self.untouched = self._snapshot()
        self.trace.append(f"put {plant}")
        # A refusal makes hard links to copies, which the planted one must not become:
        # it is known by its inode.
        before, (run.damage, run.shares_files) = (
            (run.damage, run.shares_files),
            ("vital", False),
        )
        try:
            self.perform(verb, disturbance=f"planted {kind}")
        finally:
            plant.take_away()
            self.untouched = self._snapshot()
            run.damage, run.shares_files = before
        self.look("run")

    @rule(verb=IN_RUN, how=st.sampled_from(TEARS), share=SHARES)
    def torn(self, verb: Verb, how: str, share: int) -> None:
        """Damage a file of the run directory, then give a command."""
        run = self.directories["run"]
        name = tear(run.path, how, share)
        if not name:
            return
        self.trace.append(f"damage {name}: {how}")
        if name == COMMIT or run.damage == DAMAGED_COMMIT:
            run.damage = DAMAGED_COMMIT
        else:
            run.damage = (
                "vital" if is_vital(name) or run.damage == "vital" else "derived"
            )
        self.perform(verb, disturbance=f"torn {how}")

    @rule(verb=IN_RUN, kind=st.sampled_from(FOREIGN))
    def foreign(self, verb: Verb, kind: str) -> None:
        """Give a command a folder of somebody else in place of the run directory: it is
        refused and nothing in it changes.
        """
        folder = self.folder / "foreign"
        folder.mkdir()
        write_foreign(folder / "run", kind)
        for k in range(1, SHARDS + 1):
            if self.directories[f"part{k}"].path.is_dir():
                shutil.copytree(self.directories[f"part{k}"].path, folder / f"part{k}")
        before = snapshot(folder / "run")
        self._note(verb, f"foreign {kind}")
        end = self._run(verb, folder / "run")
        # a folder without runs has an empty page
        if end.code == 0 and verb.name != "report":
            raise self._problem("accepted", f"{verb} with a foreign folder ends with 0")
        changes = changes_of(before, snapshot(folder / "run"))
        if changes:
            raise self._problem(
                "outside", f"{verb} changes a foreign folder: {changes}"
            )
        shutil.rmtree(folder)

    @rule(
        verb=st.sampled_from(PRODUCTS),
        disturbances=st.lists(DISTURBANCES, min_size=1, max_size=2),
    )
    def produced(self, verb: Verb, disturbances: list[tuple[str, int, int]]) -> None:
        """Disturb a verb that writes beside a run, once or twice,
        then give it again.
        """
        calls = self.shop.product(verb).calls
        self.produce(
            verb,
            [
                Fault(kind, share * calls // 1000, "", seed)
                for kind, share, seed in disturbances
            ],
        )

    @rule(verb=st.sampled_from(PRODUCTS), kind=st.sampled_from(OCCUPANTS))
    def taken(self, verb: Verb, kind: str) -> None:
        """Put something of somebody else in place of the output of a verb."""
        self.occupied(verb, kind)

    @rule()
    def shared_files(self) -> None:
        """Let the run directory be a copy by hard links, as ``cp -al`` makes it; the
        original must not change.
        """
        run = self.directories["run"]
        if run.path.is_dir() and not run.shares_files:
            original = self.outside / "original"
            shutil.rmtree(original, ignore_errors=True)
            run.path.rename(original)
            shutil.copytree(
                original,
                run.path,
                copy_function=lambda old, new: Path(new).hardlink_to(old),
            )
            run.shares_files = True
            self.untouched = self._snapshot()
            self.trace.append("cp -al of the run directory")
            self.pending.append("hard links of all files")

    @rule()
    def other_data(self) -> None:
        """Change the data."""
        self._change_data()

    @rule()
    def rerun_on_other_data(self) -> None:
        """Change the data, then give the run that the directory holds again: it is
        another one, and refused.
        """
        self._change_data()
        self.perform(Verb("run", min(self.directories["run"].possible).spec or "small"))

    def _change_data(self) -> None:
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
