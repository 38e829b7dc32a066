"""Planted faults that are drawn with a seed,
from the mutants of lines that tests execute.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tools import cpp_mutants
from tools.mutants.faults import CORE, Area, Fault
from tools.mutants.processes import ROOT


def draw(areas: dict[str, Area], seed: int, record: Path) -> Iterator[Fault]:
    """Yield the drawn faults of every area: mutants of lines that a test of the record
    executes, without those with a reason.
    """
    from tools.mutants import lines
    from tools.mutants.mutants import mutants_of, sample, sources
    from tools.mutants.run import REASONS, key

    executed = lines.ExecutedLines(record)
    reasons: dict[str, str] = json.loads(REASONS.read_text(encoding="utf-8"))
    for number, area in enumerate(areas.values()):
        if area.sources[0].startswith(CORE):
            yield from _draw_kernels(area, seed)
            continue

        every = []
        for file in sources(ROOT, area.sources, []):
            covered = executed.covered(file)
            every += [
                mutant
                for mutant in mutants_of(
                    file, (ROOT / file).read_text(encoding="utf-8")
                )
                if mutant.line in covered
            ]

        # More are drawn than needed: those with a reason are left out.
        chosen = []
        for mutant in sample(every, 4 * area.drawn, 1000 * seed + number):
            source = (ROOT / mutant.path).read_text(encoding="utf-8")
            if key(mutant, source) not in reasons and len(chosen) < area.drawn:
                chosen.append(
                    _describe(
                        area, len(chosen) + 1, mutant.path, source, mutant.code(source)
                    )
                )
        yield from chosen


def _draw_kernels(area: Area, seed: int) -> Iterator[Fault]:
    """Yield the drawn faults of the kernels, one of each of the files that come first
    by their number of lines.
    """
    from tools.kernel_mutants import reasons

    quotas = cpp_mutants.quotas(area.drawn)
    number = 0
    for path, count in quotas.items():
        mutants = [
            mutant
            for mutant in cpp_mutants.in_order(path, seed)
            if mutant.name not in reasons()
        ]
        for mutant in mutants[:count]:
            number += 1
            yield _describe(area, number, CORE + path, mutant.source, mutant.code)


def _describe(area: Area, number: int, path: str, source: str, code: str) -> Fault:
    """Return the change of a source as a fault: whole lines,
    as many as the place needs to be told from others.
    """
    before = source.splitlines(keepends=True)
    after = code.splitlines(keepends=True)
    first = next(k for k, pair in enumerate(zip(before, after)) if pair[0] != pair[1])
    same_end = next(
        k
        for k, pair in enumerate(zip(reversed(before), reversed(after)))
        if pair[0] != pair[1]
    )
    last = len(before) - same_end
    last_after = len(after) - same_end
    while source.count("".join(before[first:last])) > 1:
        first -= 1
    return Fault(
        f"{area.name}-drawn-{number}",
        area.name,
        "drawn",
        path,
        "".join(before[first:last]),
        "".join(after[first:last_after]),
    )


def write_fault(fault: Fault) -> str:
    """Return a fault as an entry of the list."""
    fields = {name: value for name, value in vars(fault).items() if value}
    return "[[fault]]\n" + "".join(
        f"{name} = {json.dumps(value, ensure_ascii=False)}\n"
        for name, value in fields.items()
    )
