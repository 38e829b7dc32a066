"""``harness VERB ...``: finds the verb's module, parses, runs, and turns mistakes into one line and exit code 2.

Each verb is a module with ``add_arguments(parser)`` and ``run(args) -> int``; only the verb asked for is imported.
Exit codes: 0 done; 1 some examples failed; 2 the spec or the input is wrong; 130 interrupted (resumable).
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import Any

from harness import __version__
from harness.cli.parser import Parser

VERBS = {
    "run": ("harness.cli.run", "run a spec: a YAML file or the name of a shipped task"),
    "score": ("harness.cli.score", "score a file of candidates against a file of references"),
    "list": ("harness.cli.list", "what there is: adapters, tasks, readers, metrics, distances, embeddings"),
    "show": ("harness.cli.show", "one thing's card: what it is, its parameters, an example"),
    "validate": ("harness.cli.validate", "check a spec without running it"),
    "schema": ("harness.cli.schema", "print the JSON Schema of a spec, for editors"),
    "report": ("harness.cli.report", "an HTML page of one or several runs"),
    "compare": ("harness.cli.compare", "does model A beat model B: paired tests between two runs"),
    "correlate": ("harness.cli.correlate", "correlation between two groups of metrics over runs or a table"),
    "power": ("harness.cli.power", "how many candidates and references reach a given p, from a pilot run"),
    "check": ("harness.cli.check", "check a plugin against the contract of its kind"),
    "new-plugin": ("harness.cli.new_plugin", "write a plugin as a package of its own, with a test of its contract"),
    "train": ("harness.cli.train", "train a model that the harness defines"),
}


def _help(commands: dict[str, str]) -> str:
    width = max(map(len, commands))
    lines = [f"  {name:<{width}}  {text}" for name, text in commands.items()]
    return (
        "usage: harness [--version] [--debug] VERB ...\n\n"
        "Evaluate captions and other conditional text: distribution-aware metrics with exact p-values.\n\n"
        "verbs:\n" + "\n".join(lines) + "\n\n'harness VERB --help' tells more. Start with: harness run coco\n"
    )


def _commands() -> dict[str, Any]:
    """Verb -> module name (ours, then the ones that manifests add)."""
    from harness.registry import current

    found: dict[str, tuple[str, str]] = {name: pair for name, pair in VERBS.items() if _exists(pair[0])}
    for entry in current().entries("commands"):
        found.setdefault(entry.name, (entry.target.partition(":")[0], entry.summary))
    return found


def _exists(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments or os.environ.get("HARNESS_DEBUG") == "1"
    arguments = [item for item in arguments if item != "--debug"]
    from harness.errors import HarnessError

    try:
        return _dispatch(arguments)
    except HarnessError as error:
        if debug:
            raise
        print(f"harness: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("harness: interrupted; run the same command again to go on where it stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a disk that is full, a folder that cannot be written
        if debug:
            raise
        print(f"harness: {error.filename or 'system'}: {error.strerror or error}", file=sys.stderr)
        return 2


def _dispatch(arguments: list[str]) -> int:
    from harness.errors import UnknownName, did_you_mean

    if arguments and arguments[0] in ("--version", "-V"):
        print(f"harness {__version__}")
        return 0
    commands = _commands()
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_help({name: text for name, (_, text) in commands.items()}), end="")
        return 0
    verb, rest = arguments[0], arguments[1:]
    if verb not in commands:
        added = _from_hooks(verb, rest)
        if added is not None:
            return added
        raise UnknownName(f"unknown verb '{verb}'{did_you_mean(verb, commands)}; verbs are {', '.join(commands)}")
    module = importlib.import_module(commands[verb][0])
    if hasattr(module, "dispatch"):  # a verb with further verbs below it
        done = module.dispatch(rest)
        if done is not None:
            return done
    parser = Parser(prog=f"harness {verb}", description=module.__doc__)
    module.add_arguments(parser)
    return int(module.run(parser.parse_args(rest)) or 0)


def _from_hooks(verb: str, rest: list[str]) -> int | None:
    """Run a verb added by a plugin's ``harness_commands`` hook; None when there is none of that name."""
    from harness.registry import current
    from harness.registry.hooks import Plugins

    parser = Parser(prog="harness")
    subparsers = parser.add_subparsers(dest="verb")
    Plugins().load(current()).call("harness_commands", subparsers=subparsers)
    if verb not in subparsers.choices:
        return None
    args = parser.parse_args([verb, *rest])
    return int(args.run(args) or 0)


if __name__ == "__main__":
    sys.exit(main())
