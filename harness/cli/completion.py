"""Print the completion script of a shell: verbs, options,
names of tasks and components, files.

  harness completion bash > ~/.local/share/bash-completion/completions/harness
  harness completion zsh > ~/.zfunc/_harness                    (a folder of $fpath)
  harness completion fish > ~/.config/fish/completions/harness.fish

The names are those of this moment: print the script again after installing a plugin.
"""

from __future__ import annotations

import argparse
import importlib

from harness.cli.options import entry_module
from harness.errors import HarnessError, require

SHELLS = ("bash", "zsh", "fish")
FILES = {"FILE", "TABLE"}
"""Names of values that are files."""
FOLDERS = {"DIR", "FOLDER", "RUN"}
"""Names of values that are folders."""
WITH_FILES = {("run", "spec"), ("validate", "spec"), ("check", "target")}
"""Arguments, by verb, that are a name or a file."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness completion``."""
    parser.add_argument("shell", help=", ".join(SHELLS))


def run(args: argparse.Namespace) -> int:
    """Print the script; raise :class:`HarnessError` for another shell."""
    if args.shell not in SHELLS:
        raise HarnessError.of_name(
            "completion: no shell", args.shell, SHELLS, "there are"
        )
    shtab = require("shtab", needed_by="harness completion")
    print(shtab.complete(full_parser(), shell=args.shell))
    return 0


def full_parser() -> argparse.ArgumentParser:
    """Return one parser of all verbs, built-in and of manifests,
    whose arguments have their completions.

    A verb that cannot be imported, because a package is missing, completes its name
    alone.
    """
    from harness.cli.main import VERBS, commands

    parser = argparse.ArgumentParser(prog="harness")
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.add_argument("--debug", action="store_true", help="print tracebacks")
    parser.add_argument(
        "--no-local-plugins",
        action="store_true",
        help="leave out the registry.yaml of the folder",
    )
    verbs = parser.add_subparsers(dest="verb")
    for verb, text in commands().items():
        of_verb = verbs.add_parser(verb, help=text)
        try:
            if verb in VERBS:
                module = importlib.import_module(VERBS[verb][0])
            else:
                module = entry_module("commands", verb)
            module.add_arguments(of_verb)
        except HarnessError:
            continue
        for action in of_verb._actions:
            _complete(verb, action)
    return parser


def _complete(verb: str, action: argparse.Action) -> None:
    """Set the completion of one argument: names, files, or names and files."""
    if action.choices is not None or action.nargs == 0:
        return
    import shtab

    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    names = _names(verb, action.dest)
    completion = None
    if metavar in FOLDERS:
        completion = shtab.DIRECTORY
    elif metavar in FILES or (verb, action.dest) in WITH_FILES:
        completion = shtab.FILE

    if names and completion:
        function = f"_harness_{verb}_{action.dest}".replace("-", "_")
        completion = _names_and_files(function, names)
    if completion:
        action.complete = completion  # type: ignore[attr-defined]
    elif names:
        action.choices = names


def _names_and_files(function: str, names: list[str]) -> dict[str, object]:
    """Return the completion of an argument that is one of some names or a file,
    for each shell.
    """
    words = " ".join(names)
    bash = f'{function}() {{ compgen -W "{words}" -- "$1"; compgen -f -- "$1"; }}'
    return {
        "preamble": {
            "bash": bash,
            "zsh": f"{function}() {{ compadd -- {words}; _files }}",
        },
        "bash": function,
        "zsh": function,
        "fish": f"{words} (__fish_complete_path (commandline -ct))",
    }


def _names(verb: str, argument: str) -> list[str]:
    """Return the names that an argument takes; none for other values."""
    from harness.registry import current
    from harness.registry.component_kinds import KINDS

    if (verb, argument) == ("list", "kind"):
        return [*KINDS]
    if argument == "shell":
        return [*SHELLS]
    kinds = {
        "spec": ["tasks"],
        "name": KINDS,
        "target": KINDS,
        "metric": ["metrics"],
    }.get(argument, [])
    if verb not in ("run", "validate", "show", "check", "score"):
        return []
    entries = [entry for kind in kinds for entry in current().entries(kind)]
    return sorted({current().bare_name(entry) for entry in entries})
