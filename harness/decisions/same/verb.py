"""The function of the verb ``same``."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from harness.contracts import Values, VerbResult
from harness.decisions.same.answer_kernels import KERNELS
from harness.decisions.same.level import NightSeries
from harness.decisions.same.metric_kernels import metric_kernel
from harness.decisions.same.plan import Design, plan
from harness.decisions.same.run import sources_of_run
from harness.decisions.same.same import SourceComparison, compare_all
from harness.decisions.same.sources import Source, common_prompts, smallest_p_of
from harness.decisions.same.statistics import Settings
from harness.decisions.same.tables import matrix_table, plan_table, report_lines
from harness.decisions.same.until import Evidence, follow
from harness.errors import HarnessError
from harness.reporting.table import Table
from harness.results import ComparedRun, Run
from harness.run.captions_by_id import read_answers, read_prompts
from harness.run.file_labels import file_labels
from harness.run.file_options import FileOptions
from harness.run.metric_plan import unique

ENOUGH = 0.8
"""Power from which a difference that is not shown is an answer."""
SHOWN_PROMPTS = 2
"""Number of prompts that the test of two sources shows."""
AnySource = str | Path | Run | Source | Mapping[str, Sequence[str]]


class SourceComparisons(VerbResult, list[SourceComparison]):
    """Tests of all pairs of sources."""

    def __init__(self, rows: Iterable[SourceComparison], settings: Settings) -> None:
        super().__init__(rows)
        self.settings = settings

    def to_dict(self) -> list[Values]:
        """Return the comparisons."""
        return [asdict(row) for row in self]

    def blocks(self, prompts: int = SHOWN_PROMPTS) -> Iterator[Table | str]:
        """Yield the matrix of several pairs, and the lines of each, with the
        ``prompts`` that differ most where there is one pair.
        """
        if len(self) > 1:
            yield matrix_table(self)
        prompt_count = prompts if len(self) == 1 else 0
        for row in self:
            yield from report_lines(row, self.settings, prompt_count)


class SamePlan(VerbResult, list[Design]):
    """Smallest checks that find each change with the power :data:`ENOUGH`."""

    def to_dict(self) -> list[Values]:
        """Return the designs."""
        return [asdict(design) for design in self]

    def blocks(self) -> Iterator[Table]:
        """Yield the table."""
        yield plan_table(self, ENOUGH)


@dataclass(frozen=True)
class FollowedSources(VerbResult):
    """Evidence of two sources batch by batch."""

    ROWS = "batches"

    labels: tuple[str, str]
    batches: Sequence[Evidence]
    notes: Sequence[str]
    alpha: float

    @property
    def different(self) -> bool:
        """True where a difference is shown."""
        return self.batches[-1].e >= 1 / self.alpha

    def to_dict(self) -> Values:
        """Return verdict, batches and notes."""
        return {
            "different": self.different,
            "batches": [asdict(batch) for batch in self.batches],
            "notes": list(self.notes),
        }

    def blocks(self) -> Iterator[str]:
        """Yield a line for each batch, the verdict and the notes."""
        for number, batch in enumerate(self.batches, 1):
            yield f"batch {number}: {batch.answers:,} answers, e {batch.e:.3g}"
        verdict = "different" if self.different else "a difference is not shown"
        yield (
            f"{' and '.join(self.labels)}: {verdict} at level {self.alpha:.3g} "
            f"(e of {1 / self.alpha:.3g} needed)"
        )
        for note in self.notes:
            yield f"  note: {note}"


def same(
    *sources: AnySource,
    id: str | None = "",
    column: str = "",
    labels: Sequence[str] = (),
    kernels: Sequence[str] = (),
    margin: float | None = None,
    alpha: float = 0.05,
    nights: int | None = None,
    night: int | None = None,
    until: int | None = None,
    plan: bool = False,
    draws: int = 1000,
    seed: int = 0,
) -> SourceComparisons | SamePlan | FollowedSources:
    """Test whether sources write the same distribution of answers.

    Parameters
    ----------
    *sources : str, Path, Run, Source or mapping
        Files of answers, run directories (each model is a source), ``RUN::MODEL``,
        runs, or mappings of the id of a prompt to its answers.
    id, column : str, optional
        Columns of the ids of prompts and of the answers in files; an id None matches
        records by position.
    labels : sequence of str
        Names of the sources, in their order.
    kernels : sequence of str
        String kernels, or metrics as ``NAME:PARAMETER=VALUE``; default: those of
        :data:`harness.decisions.same.answer_kernels.KERNELS`.
    margin : float, optional
        Largest MMD² that counts as equivalent.
    alpha : float
        Level of the test.
    nights, night : int, optional
        Number of checks of a series, which spend the level in equal parts, and number
        of this check.
    until : int, optional
        Read the answers in batches of so many per prompt, and stop when a difference is
        shown.
    plan : bool
        Return the power of checks by numbers of prompts and answers, from one source.
    draws, seed : int
        Number and seed of the random relabelings.

    Returns
    -------
    SourceComparisons
        Of all pairs of sources; :class:`SamePlan` with ``plan``,
        :class:`FollowedSources` with ``until``.

    Raises
    ------
    HarnessError
        There are fewer than two sources, they share no prompt, a number is out of
        range, or no number of relabelings serves the level.
    """
    names = tuple(dict.fromkeys(kernels)) or KERNELS
    _verify_kernels(names, until)
    _verify_numbers(alpha, night=night, nights=nights, until=until, draws=draws)
    series = NightSeries(night, nights)
    series.check()
    settings = Settings(names, draws, seed, series.level(alpha), margin=margin)

    opened = _open_sources(sources, id, column, labels)
    if plan:
        return _plan_checks(opened, settings)
    if len(opened) < 2:
        raise HarnessError(
            "same: one source; expected at least two: harness same A.jsonl B.jsonl"
        )
    if until:
        return _follow(opened, until, settings)
    if night or nights:
        pairs = list(itertools.combinations(opened, 2))
        smallest = max(smallest_p_of(a, b) for a, b in pairs)
        series.check_level(alpha, smallest, names, len(pairs))
    return SourceComparisons(compare_all(opened, settings), settings)


def _verify_kernels(names: Sequence[str], until: int | None) -> None:
    """Raise :class:`HarnessError` for an unknown metric, before anything is read, and
    for one where answers are read in batches.
    """
    for name in names:
        if name not in KERNELS and metric_kernel(name) and until:
            raise HarnessError(
                f"until follows {', '.join(KERNELS)}; found the metric '{name}'",
                parameter="until",
                value=name,
            )


def _verify_numbers(alpha: float, **counts: int | None) -> None:
    """Raise :class:`HarnessError` for a count below 1, or a level that is none."""
    for name, value in counts.items():
        if value is not None and value < 1:
            raise HarnessError(
                f"{name} is {value}; expected at least 1", parameter=name, value=value
            )
    if not 0 < alpha < 1:
        raise HarnessError(
            f"alpha is {alpha:g}; expected a number between 0 and 1",
            parameter="alpha",
            value=alpha,
        )


def _open_sources(
    sources: Sequence[AnySource], id: str | None, column: str, labels: Sequence[str]
) -> list[Source]:
    """Return the sources; a run has all its models."""
    options = FileOptions(id, (column,) if column else ())
    files = [
        source
        for source in sources
        if isinstance(source, (str, Path))
        and not Path(str(source).partition("::")[0]).is_dir()
    ]
    names = iter(file_labels([str(file) for file in files]) if files else ())
    opened: list[Source] = []
    for number, source in enumerate(sources, 1):
        if isinstance(source, Source):
            opened.append(source)
        elif isinstance(source, Mapping):
            opened.append(Source(f"source {number}", source))
        elif source in files:
            answers = read_answers(str(source), options)
            prompts = read_prompts(str(source), options)
            opened.append(Source(next(names), answers, prompts, kind="file"))
        else:
            opened += sources_of_run(ComparedRun.open(source))

    texts = labels or unique([source.label for source in opened])
    if len(texts) != len(opened):
        raise HarnessError(
            f"same: {len(texts)} labels for {len(opened)} sources; expected one each"
        )
    return [replace(source, label=label) for label, source in zip(texts, opened)]


def _plan_checks(sources: Sequence[Source], settings: Settings) -> SamePlan:
    """Return the smallest checks that find each change; a second source is a change
    itself.
    """
    other = sources[1] if len(sources) > 1 else None
    return SamePlan(plan(sources[0], settings, other, ENOUGH))


def _follow(
    sources: Sequence[Source], size: int, settings: Settings
) -> FollowedSources:
    """Return the evidence after each batch of two sources."""
    if len(sources) != 2:
        raise HarnessError(
            f"until follows two sources; found {len(sources)}", parameter="until"
        )
    first, second = sources
    prompts, notes = common_prompts(first, second, settings.seed)
    batches = list(follow(prompts, size, settings))
    return FollowedSources((first.label, second.label), batches, notes, settings.alpha)
