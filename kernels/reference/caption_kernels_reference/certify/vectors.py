"""Certify another implementation of a metric:
run it against the test vectors and print the largest errors.

    python -m caption_kernels_reference.certify module:function --metric cider
    python -m caption_kernels_reference.certify module

The second form takes every function of the module that has the name of a metric.
``kernels/specification.md`` in the repository defines the metrics. Exit code 0 when all
errors are within the tolerance, 1 when one is not, 2 for a mistake in the arguments.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import caption_kernels

Case = dict[str, Any]
_LISTS = "f(candidates: list[str], references: list[list[str]]) -> list[float]"


class Metric(NamedTuple):
    """Calls of the function of a metric, and the file of its cases."""

    signature: str
    file: str
    batch: int
    """Cases per call; 0 for all cases of a kind."""
    arguments: Callable[[list[Case], dict[str, Any]], tuple[Any, ...]]
    """Arguments of the call for some cases; the second argument is the file."""
    expected: Callable[[list[Case]], list[Any]]


def _corpus(cases: list[Case], _: dict[str, Any]) -> tuple[Any, ...]:
    return cases[0]["candidates"], cases[0]["references"]


METRICS = {
    "ptb": Metric(
        "f(texts: list[str]) -> list[str]: tokens of raw texts in lower case without "
        "punctuation, joined by one blank",
        "ptb",
        0,
        lambda cases, _: ([case["text"] for case in cases],),
        lambda cases: [case["result"] for case in cases],
    ),
    "bleu": Metric(
        f"{_LISTS}: BLEU-1 to BLEU-4 of the corpus",
        "bleu",
        1,
        _corpus,
        lambda cases: cases[0]["result"],
    ),
    "rouge": Metric(
        f"{_LISTS}: ROUGE-L of each example",
        "rouge",
        1,
        _corpus,
        lambda cases: cases[0]["result"],
    ),
    **{
        name: Metric(
            f"{_LISTS}: {title} of each example, document frequencies of the "
            "references",
            "cider",
            1,
            _corpus,
            lambda cases, name=name: cases[0]["result"][name],
        )
        for name, title in (
            ("cider", "CIDEr"),
            ("ciderd", "CIDEr-D"),
            ("ciderr", "CIDEr-R"),
        )
    },
    "meteor": Metric(
        "f(candidates: list[str], references: list[list[str]], lexicon: dict) "
        "-> list[float]: METEOR of each raw candidate with its best "
        "reference; the lexicon has the texts of the jar's files (function_words, "
        "prefixes, exceptions, synsets) and paraphrases, a list "
        "of pairs",
        "meteor",
        1,
        lambda cases, file: (
            *_corpus(cases, file),
            file["lexicons"][cases[0]["lexicon"]],
        ),
        lambda cases: cases[0]["result"],
    ),
    "stem": Metric(
        "f(words: list[str]) -> list[str]: stems of words in lower case",
        "stem",
        0,
        lambda cases, _: ([case["word"] for case in cases],),
        lambda cases: [case["result"] for case in cases],
    ),
}


@dataclass
class Tally:
    """Errors of the cases of one kind."""

    cases: int = 0
    numbers: int = 0
    beyond: int = 0
    """Numbers (or texts) beyond the tolerance."""
    largest: float = 0.0
    """Largest error; 1 for a text that differs, infinite for a call that fails."""
    worst: str = ""
    """The case of the largest error."""

    def add(self, error: float, tolerance: float, describe: Callable[[], str]) -> None:
        """Count one number."""
        self.numbers += 1
        self.beyond += not error <= tolerance
        if error > self.largest:
            self.largest = error
            self.worst = describe()


@dataclass
class Report:
    """Errors of one metric by kind of case."""

    metric: str
    tolerance: float
    kinds: dict[str, Tally] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """True when every error is within the tolerance."""
        return not any(tally.beyond for tally in self.kinds.values())

    def record(self) -> dict[str, Any]:
        """Return the numbers of the table as a JSON object;
        an infinite error is None.
        """
        names = ("cases", "numbers", "beyond", "worst")
        kinds = {
            kind: {name: getattr(tally, name) for name in names}
            | {"largest": _finite(tally.largest)}
            for kind, tally in self.kinds.items()
        }
        return {
            "metric": self.metric,
            "tolerance": self.tolerance,
            "passed": self.passed,
            "kinds": kinds,
        }

    def lines(self) -> Iterator[str]:
        """Yield the table."""
        tallies = list(self.kinds.values())
        total = Tally(
            cases=sum(tally.cases for tally in tallies),
            numbers=sum(tally.numbers for tally in tallies),
            beyond=sum(tally.beyond for tally in tallies),
            largest=max((tally.largest for tally in tallies), default=0.0),
        )

        yield (
            f"{self.metric + ': kind of case':<28} {'cases':>6} {'values':>7} "
            f"{'beyond':>7}  largest error"
        )
        for kind, tally in [*self.kinds.items(), ("all", total)]:
            yield (
                f"  {kind:<26} {tally.cases:>6} {tally.numbers:>7} "
                f"{tally.beyond:>7}  {tally.largest:.3g}"
            )

        for kind, tally in self.kinds.items():
            if tally.beyond:
                yield f"  {kind}: {tally.worst}"
        yield f"  {'within' if self.passed else 'NOT within'} {self.tolerance:g}"


def _finite(error: float) -> float | None:
    return error if error < math.inf else None


def find_vectors() -> Path:
    """Return the folder of the vectors: inside the installed package caption_kernels,
    or beside it in a checkout.

    Raises
    ------
    FileNotFoundError
        When there is none; the message is one line.
    """
    package = Path(caption_kernels.__file__).parent
    for folder in (package / "vectors", package.parent / "vectors"):
        if (folder / "cider.json").is_file():
            return folder
    raise FileNotFoundError(
        f"no test vectors in {package / 'vectors'}: install caption-kernels again"
    )


def certify(
    function: Callable[..., Any], metric: str, tolerance: float = 1e-9
) -> Report:
    """Return the errors of a function that computes a metric;
    :data:`METRICS` has the signatures.
    """
    entry = METRICS[metric]
    file = json.loads(
        (find_vectors() / f"{entry.file}.json").read_text(encoding="utf-8")
    )
    report = Report(metric, tolerance)
    for cases in _calls(file["cases"], entry.batch):
        tally = report.kinds.setdefault(cases[0]["kind"], Tally())
        tally.cases += len(cases)
        _compare(function, entry, cases, file, tally, tolerance)
    return report


def _calls(cases: list[Case], batch: int) -> Iterator[list[Case]]:
    """Yield the cases of each call, all of one kind."""
    if batch == 1:
        yield from ([case] for case in cases)
        return
    for kind in dict.fromkeys(case["kind"] for case in cases):
        yield [case for case in cases if case["kind"] == kind]


def _compare(
    function: Callable[..., Any],
    entry: Metric,
    cases: list[Case],
    file: dict[str, Any],
    tally: Tally,
    tolerance: float,
) -> None:
    arguments = entry.arguments(cases, file)
    expected = entry.expected(cases)
    argument_text = f"{arguments[0]!r:.120}"

    try:
        values = list(function(*arguments))
    except Exception as error:  # whatever an implementation raises is a result here
        message = (
            f"{type(error).__name__}: {error}".encode("utf-8", "backslashreplace")
            .decode()
            .splitlines()[0]
        )
        values = []
        argument_text = f"{message:.120} for {argument_text}"

    # An implementation that raises is wrong in every case of the call.
    if len(values) != len(expected):
        for _ in expected:
            tally.add(
                math.inf,
                tolerance,
                lambda: (
                    f"{len(values)} values in place of {len(expected)}: {argument_text}"
                ),
            )
        return

    for number, (value, right) in enumerate(zip(values, expected)):
        location = (
            f"{arguments[0][number]!r:.120}"
            if entry.batch == 0
            else f"value {number + 1} of {argument_text}"
        )
        tally.add(
            _error(value, right),
            tolerance,
            lambda v=value, r=right, p=location: (
                f"{v!r:.80} in place of {r!r:.80}: {p}"
            ),
        )


def _error(value: Any, right: Any) -> float:
    """Return the absolute error of a number, or whether a text differs;
    infinite for what is neither.
    """
    if isinstance(right, str):
        return float(value != right)
    try:
        error = abs(float(value) - right)
    except (TypeError, ValueError):
        return math.inf
    return math.inf if math.isnan(error) else error


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"certify: {message}\n")


def _parser() -> argparse.ArgumentParser:
    signatures = "\n".join(
        f"  {name:<7} {metric.signature}" for name, metric in METRICS.items()
    )

    parser = _Parser(
        prog="python -m caption_kernels_reference.certify",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=(__doc__ or "").partition("\n\n")[0],
        epilog=(
            f"functions by metric:\n{signatures}\n\nTexts of bleu, rouge, cider, "
            "ciderd and ciderr are tokenised: words joined by single "
            "blanks.\nA text that differs is an error of 1, "
            "a call that fails an infinite one. Exit code 0 within the tolerance, "
            "else 1."
        ),
    )

    parser.add_argument(
        "target",
        metavar="module:function",
        help="the implementation; a module alone: its functions named as metrics",
    )
    parser.add_argument("--metric", choices=METRICS, help="what the function computes")
    parser.add_argument(
        "--tolerance",
        type=_tolerance,
        default=1e-9,
        help="largest absolute error (default 1e-9)",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object per metric; an infinite error is null",
    )

    return parser


def _tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no tolerance; expected a number from 0 on"
        )
    return value


def _functions(
    target: str, metric: str | None
) -> Iterable[tuple[str, Callable[..., Any]]]:
    """Return metrics and functions; raise ValueError, one line,
    for a target that is not there.
    """
    name, colon, attribute = target.partition(":")
    if colon and not (name and attribute):
        raise ValueError(f"{target!r} is no target; expected module:function or module")

    try:
        module = import_module(name)
    except Exception as error:  # a module may fail in any way while it is imported
        raise ValueError(
            f"cannot import {name!r}: {type(error).__name__}: {error}".splitlines()[0]
        ) from error

    # A module alone: its functions that are named as metrics.
    if not colon:
        names = (
            [metric]
            if metric
            else [name for name in METRICS if callable(getattr(module, name, None))]
        )
        if not names:
            raise ValueError(
                f"{name!r} has no function named as a metric: {', '.join(METRICS)}"
            )
        return [(attribute, _function(module, name, attribute)) for attribute in names]

    if metric is None:
        raise ValueError(f"--metric is missing; expected one of {', '.join(METRICS)}")
    return [(metric, _function(module, name, attribute))]


def _function(module: object, name: str, attribute: str) -> Callable[..., Any]:
    target: object = module
    for step in attribute.split("."):
        target = getattr(target, step, None)
    if not callable(target):
        raise ValueError(f"{name!r} has no function {attribute!r}")
    return target


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        functions = _functions(options.target, options.metric)
        reports = [
            certify(function, metric, options.tolerance)
            for metric, function in functions
        ]
    except (ValueError, FileNotFoundError) as error:
        parser.error(str(error))
    for report in reports:
        print(
            *([json.dumps(report.record())] if options.json else report.lines()),
            sep="\n",
        )
    return 0 if all(report.passed for report in reports) else 1
