"""Options of several verbs, and the parser of their arguments."""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import contextmanager, redirect_stdout
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from harness.errors import HarnessError, InputError, did_you_mean
from harness.registry import current, use_files
from harness.reporting.folding import fold, terminal_width

if TYPE_CHECKING:
    from harness.contracts import VerbResult
    from harness.run.execution import Options

_json_stream: TextIO | None = None
"""Stdout of the process within :func:`json_alone`."""
_CHOICE = re.compile(
    r"argument (?P<name>.+?): invalid choice: '(?P<value>.*)' \(choose from "
    r"(?P<choices>.*)\)",
    re.DOTALL,
)
HELP_WIDTH = 80
"""Columns of the first paragraph of a help text."""
_NUMBER = re.compile(r"-\.?\d.*")
"""A value that begins as a negative number does, such as ``-1,1``; no option does."""


def entry_module(kind: str, name: str) -> ModuleType:
    """Import and return the module of a registered command or trainer.

    Raises :class:`HarnessError` when it cannot be imported, or lacks ``add_arguments``
    or ``run``.
    """
    module = current().load_module(kind, name)
    missing = [
        item
        for item in ("add_arguments", "run")
        if not callable(getattr(module, item, None))
    ]
    if missing and not hasattr(module, "dispatch"):
        raise HarnessError(
            f"{kind.removesuffix('s')} '{name}': the module {module.__name__} has no "
            f"function {' and no function '.join(missing)}; "
            "a command has add_arguments(parser) and run(args)"
        )
    return module


Arguments = argparse._ActionsContainer  # pyright: ignore[reportPrivateUsage]
"""A parser or a group of its arguments."""


def add_flag(parser: Arguments, name: str, help: str) -> None:
    """Add an option without a value."""
    parser.add_argument(name, action="store_true", help=help)


def add_overwrite(parser: Arguments) -> None:
    """Add the option ``--overwrite`` of verbs that write files for people."""
    add_flag(
        parser,
        "--overwrite",
        "replace files that the harness did not write, "
        "or that people have changed since",
    )


def add_count(
    parser: Arguments, name: str, help: str, default: int | None = None
) -> None:
    """Add an option that is a whole number."""
    parser.add_argument(name, type=int, default=default, metavar="N", help=help)


def add_list(parser: Arguments, name: str, metavar: str, help: str) -> None:
    """Add an option that may be repeated."""
    parser.add_argument(name, action="append", default=[], metavar=metavar, help=help)


def add_columns(parser: Arguments, name: str, metavar: str, help: str) -> None:
    """Add an option of columns or systems of a file, comma-separated or repeated."""
    parser.add_argument(
        name,
        action="extend",
        type=_split_commas,
        default=[],
        metavar=f"{metavar},...",
        help=help,
    )


def _split_commas(text: str) -> list[str]:
    return [name for name in map(str.strip, text.split(",")) if name]


def add_names(
    parser: Arguments, *names: str, help: str, required: bool = False
) -> None:
    """Add an option of metrics of a run, comma-separated or repeated; commas in
    brackets belong to a name, as in ``trm(a, b)``.
    """
    parser.add_argument(
        *names,
        action="extend",
        type=_split_names,
        default=None,
        metavar="NAME,...",
        help=help,
        required=required,
    )


def _split_names(text: str) -> list[str]:
    """Return the names of a comma-separated list.

    >>> _split_names("cider, trm(bert, l2),distinct2[n=2]")
    ['cider', 'trm(bert, l2)', 'distinct2[n=2]']
    """
    from harness.spec.metric_text import split_outside_brackets

    return [name for name in map(str.strip, split_outside_brackets(text)) if name]


def add_format(parser: Arguments, help: str) -> None:
    """Add the option ``--format``; the list of choices in its usage would not fit a
    narrow terminal.
    """
    from harness.reporting.formats import format_names

    names = format_names()
    text = f"{help}: {', '.join(names)} (default: table)"
    parser.add_argument(
        "--format", choices=names, default="table", metavar="FORM", help=text
    )


def add_registry(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--registry``."""
    add_list(
        parser, "--registry", "FILE", "an additional registry.yaml (may be repeated)"
    )


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the options ``--registry`` and ``--json``."""
    add_registry(parser)
    add_json(parser)


def add_permissions(parser: argparse.ArgumentParser) -> None:
    """Add the options ``--allow-secret`` and ``--create-environments``, for a verb
    that creates components from a file.
    """
    add_list(
        parser,
        "--allow-secret",
        "NAME",
        "an environment variable that a file may have read and sent (may be repeated)",
    )
    add_flag(
        parser,
        "--create-environments",
        "create the environments of programs that are not there, which downloads "
        "packages",
    )


def use_registry(args: argparse.Namespace) -> None:
    """Add the registry files of ``--registry``, for a verb that has it,
    to the registry of this process.
    """
    if getattr(args, "registry", None):
        use_files(args.registry)


def add_scale(parser: argparse.ArgumentParser, *, with_shard: bool = True) -> None:
    """Add the options of executors and shards, which change no digit."""
    group = parser.add_argument_group("scale")
    group.add_argument(
        "--executor",
        choices=("local", "process", "ray"),
        default="local",
        help="where shards are scored (default: local)",
    )
    add_count(
        group, "--workers", "workers of process and ray (default: the number of cores)"
    )
    group.add_argument(
        "--address",
        metavar="HOST:PORT",
        help="an existing Ray cluster (default: one on this machine)",
    )
    add_count(
        group, "--shard-size", "examples per shard (default: found from the memory)"
    )
    if with_shard:
        group.add_argument(
            "--shard",
            metavar="I/N",
            help="compute only part I of N; 'rank' takes both from RANK and "
            "WORLD_SIZE or SLURM",
        )


def scale_options(args: argparse.Namespace) -> Options:
    """Return the settings of :func:`add_scale`;
    raise :class:`InputError` for a value that is not possible.
    """
    from harness.run.execution import Options
    from harness.run.executor import ExecutorOptions
    from harness.run.shard_grid import Part

    for name in ("workers", "shard_size"):
        value = getattr(args, name)
        if value is not None and value < 1:
            raise InputError(
                f"--{name.replace('_', '-')} is {value}; expected at least 1",
                value=value,
            )
    if args.workers is not None and args.executor == "local":
        raise InputError(
            "--workers is for --executor process or ray", value=args.workers
        )
    if args.address is not None and args.executor != "ray":
        raise InputError("--address is for --executor ray", value=args.address)

    text = getattr(args, "shard", None)  # rescore has no shards
    shard = None
    if text is not None:
        shard = Part.from_environment() if text == "rank" else Part.parse(text)
    executor = ExecutorOptions(args.executor, args.workers, args.address)
    return Options(executor, args.shard_size, shard)


def add_score_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that declare direction and range of the scores of logs."""
    group = parser.add_argument_group("logs of other harnesses")
    add_list(
        group,
        "--lower-is-better",
        "NAME",
        "a metric of a log that is a cost; may be repeated",
    )
    add_list(
        group,
        "--higher-is-better",
        "NAME",
        "a metric of a log that is none, whatever its name; may be repeated",
    )
    add_list(
        group,
        "--bounds",
        "LOW,HIGH",
        "smallest and largest possible score: of all metrics, or NAME=LOW,HIGH; "
        "may be repeated",
    )


def score_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of :func:`harness.compare` that :func:`add_score_options`
    adds; raise :class:`InputError` for a wrong one.
    """
    from harness.analysis.score_declarations import parse_bounds

    declared = {
        "lower_is_better": args.lower_is_better,
        "higher_is_better": args.higher_is_better,
    }
    return {**declared, "bounds": parse_bounds(args.bounds)}


def name_options(text: str, args: argparse.Namespace) -> str:
    """Return a text of the library with the options of a verb in place of the
    parameters that it names.

    A parameter begins the text, has a value, or is one of the directions: other words
    may be words of English, or names of files. A mode of a run is an option of its own.

    >>> args = argparse.Namespace(draws=0, force=False, bounds=(), lower_is_better=[])
    >>> name_options("draws is 0; force=True compares; no bounds", args)
    '--draws is 0; --force compares; no bounds'
    >>> name_options("name it in lower_is_better, or give bounds=(LOW, HIGH)", args)
    'name it in --lower-is-better, or give --bounds LOW,HIGH'
    """
    for name in vars(args):
        option = f"--{name.replace('_', '-')}"
        text = re.sub(
            rf"^{name}(?= (is|has|occurs|belongs|compares|follows)\b|: )", option, text
        )
        if name in ("lower_is_better", "higher_is_better"):
            text = text.replace(name, option)
    return name_values(text, args)


def name_values(text: str, args: argparse.Namespace) -> str:
    """Return a text of the library with the options of a verb in place of parameters
    with a value.

    >>> args = argparse.Namespace(fresh=False, executor="local", to=None, set=[])
    >>> name_values("mode='fresh' replaces it, executor='process' helps", args)
    '--fresh replaces it, --executor process helps'
    >>> name_values("give to='DIR', or params={'n': ...}", args)
    'give --to DIR, or --set n=...'
    >>> name_values("a folder, mode='extend' to keep what both share, or none", args)
    'a folder, or none'
    >>> name_values("id=None, or id=...", argparse.Namespace(id=""))
    '--id null, or --id NAME'
    """
    for name in vars(args):
        option = f"--{name.replace('_', '-')}"
        text = re.sub(rf"\b{name}=True\b|\bmode='{name}'", option, text)
        text = re.sub(rf"\b{name}=\((\S+), (\S+)\)", rf"{option} \1,\2", text)
        text = re.sub(rf"\b{name}='([^']+)'", rf"{option} \1", text)
        text = re.sub(rf"\b{name}=(?=\d)", f"{option} ", text)
        text = re.sub(rf"\b{name}=None\b", f"{option} null", text)
        text = re.sub(rf"\b{name}s?=\.\.\.", f"{option} NAME", text)
    if "extend" not in vars(args):
        text = text.replace("mode='extend' to keep what both share, ", "")
    if "set" in vars(args):
        text = re.sub(r"\bparams=\{'(\w+)': \.\.\.\}", r"--set \1=...", text)
    return text


def add_all_results(parser: Arguments) -> None:
    """Add the option ``--all`` of a verb that prints a run."""
    add_flag(
        parser,
        "--all",
        "print every result with its interval, and every view, "
        "of a run of many results too",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--json``."""
    add_flag(parser, "--json", "print JSON")


@contextmanager
def json_alone(args: argparse.Namespace) -> Generator[None]:
    """Context of a verb: with ``--json``, stdout has what :func:`print_json` prints
    alone; what plugins print goes to stderr.
    """
    global _json_stream
    if getattr(args, "json", False) is not True or _json_stream is not None:
        yield
        return
    _json_stream = sys.stdout
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _json_stream = None


def print_json(value: object) -> None:
    """Print JSON on stdout: ASCII, keys in order, null for NaN."""
    from harness.rundir.format import to_json

    stream = _json_stream or sys.stdout
    text = json.dumps(json.loads(to_json(value)), indent=1, ensure_ascii=True)
    stream.write(text + "\n")


def print_verb_result(result: VerbResult, *, as_json: bool) -> None:
    """Print the result of a verb: its JSON, or its tables and lines."""
    if as_json:
        print_json(result.to_dict())
        return
    from harness.reporting.blocks import print_blocks

    print_blocks(result.blocks())


def _fill_first_paragraph(text: str) -> str:
    """Return a docstring whose first paragraph is filled anew: its lines may end where
    a clause does. Examples follow it, whose lines are their own.
    """
    first, gap, examples = text.partition("\n\n")
    return textwrap.fill(" ".join(first.split()), HELP_WIDTH) + gap + examples


class Parser(argparse.ArgumentParser):
    """Argument parser of ``harness VERB``.

    Raises :class:`HarnessError` where argparse prints its usage and exits.
    """

    intermixed = False
    """True for a verb whose positional arguments may stand between options;
    ``arguments`` of its namespace has all, in their order.
    """

    # argparse creates the parsers of subcommands through this signature
    def __init__(self, **options: Any) -> None:
        if options.get("description"):
            options["description"] = _fill_first_paragraph(options["description"])
        super().__init__(**{"formatter_class": _Formatter, **options})
        # argparse takes "-1,1" for an option unless its pattern of negative numbers,
        # which it keeps in this attribute, has it.
        self._negative_number_matcher = _NUMBER

    def parse_args(
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:  # type: ignore[override]
        """Parse arguments; raise :class:`HarnessError` with the nearest option for an
        unknown one.
        """
        arguments = sys.argv[1:] if args is None else list(args)
        if self._subparsers is None:  # a subcommand has its own options
            self._check_options(arguments)
        if self.intermixed:
            result = super().parse_intermixed_args(arguments, namespace)
            result.arguments = arguments
            return result
        return super().parse_args(arguments, namespace)

    def error(self, message: str) -> NoReturn:
        """Raise :class:`HarnessError` with the message of argparse,
        invalid choices with the nearest one.
        """
        match = _CHOICE.fullmatch(message)
        if match:
            choices = re.findall(r"'([^']*)'", match["choices"])
            hint = did_you_mean(match["value"], choices)
            message = (
                f"{match['name']}: no '{match['value']}'{hint}; "
                f"there are {', '.join(choices)}"
            )
        self._raise(message)

    def _check_options(self, arguments: Sequence[str]) -> None:
        """Raise :class:`HarnessError` for the first unknown option, before argparse
        reports arguments that it makes missing.
        """
        options = self._option_string_actions
        for token in arguments:
            if token == "--":
                return
            name = token.partition("=")[0]
            if not token.startswith("-") or token == "-":
                continue
            # a value, such as -1,1 or the text of a condition
            if " " in name or _NUMBER.fullmatch(token):
                continue
            # argparse takes the beginning of an option, and -mNAME
            is_known = any(option.startswith(name) for option in options)
            if not is_known and token[:2] not in options:
                self._raise(f"no option '{name}'{_suggest(name, options)}")

    def _raise(self, message: str) -> NoReturn:
        verb = self.prog.removeprefix("harness").strip()
        start = f"{verb}: " if verb else ""
        raise HarnessError(f"{start}{message} ('{self.prog} --help' lists the options)")


def _suggest(name: str, options: Collection[str]) -> str:
    """Return the advice for an unknown option: the nearest one, or the key of the spec
    that it names.
    """
    alike = _beginning_alike(name, options)
    if len(name) == 2 and alike:
        return f"; did you mean {' or '.join(alike)}?"
    if "--set" in options and not alike:
        from harness.spec.models import Spec

        for key in Spec.model_fields:
            if len(name) > 4 and key.startswith(name.lstrip("-")):
                return f"; '{key}' is a key of the spec: --set {key}=VALUE"
    return did_you_mean(name, alike or options)


def _beginning_alike(name: str, options: Iterable[str]) -> list[str]:
    """Return the options that begin with the letter of a short ``name``, or with all of
    a long one but at most its last character.

    At least three letters of a long name are compared.

    >>> (
    ...     _beginning_alike("--refs", ["--references", "--fresh"]),
    ...     _beginning_alike("-o", ["--output", "--fresh"]),
    ... )
    (['--references'], ['--output'])
    """
    is_short = len(name) == 2
    beginning = f"-{name}" if is_short else name[:-1]
    return [
        option
        for option in options
        if (is_short or len(beginning) > 4) and option.startswith(beginning)
    ]


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(
            prog, max_help_position=28, width=min(110, terminal_width() or 110)
        )

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return fold(super()._fill_text(text, width, indent), terminal_width())
