"""Verbs that write beside a run: what they are given,
and what must lie there afterwards.

A product is a folder or file that a verb writes for people, or a cache. All that it may
change lies below one folder of the history, which is compared name by name with that of
an undisturbed command: a temporary file that stays is a difference.
"""

from __future__ import annotations

import gzip
import json
import random
import sqlite3
import stat
import zipfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.files.outputs import OUTPUTS
from tools.soak.model import State, Verb

OVER = "over"
"""Argument of a verb that replaces what an earlier command of its kind wrote."""
PRODUCTS = (
    Verb("push"),
    Verb("push", OVER),
    Verb("new-plugin", "metric"),
    Verb("new-plugin", "reader"),
    Verb("label-plan"),
    Verb("label-plan", OVER),
    Verb("convert"),
    Verb("convert", OVER),
    Verb("warm"),
    Verb("arena"),
)
REFUSES_ITS_OWN = (
    Verb("push"),
    Verb("new-plugin", "metric"),
    Verb("new-plugin", "reader"),
)
"""Commands that refuse a folder in which they have finished already."""
OCCUPANTS = ("file", "folder", "link")
"""Kinds of things that somebody else put in place of an output."""
JUDGE = "judge"
"""Model of the server that answers as a judge."""
JUDGE_CONCURRENCY = 2
MINE = "mine\n"
_CACHES = ("arena", "warm")
_LISTS = {
    "function/english.words": "a\nthe\n.\n",
    "nonbreaking/english.prefixes": "# titles\nMr\nNo #NUMERIC_ONLY#\n",
    "synonym/english.exceptions": "go\nwent gone\nbe\nwent\n",
    "synonym/english.synsets": "go\n7 100\ndog\n30\nhound\n30 31\nbe\n8\n",
}
_PARAPHRASES = (("a dog", "the dog"), ("dog", "hound"), ("in front of", "before"))


@dataclass(frozen=True)
class Product:
    """The output of an undisturbed command."""

    tree: dict[str, str]
    output: str
    """Standard output."""
    calls: int
    """Calls that changed the file system."""
    answers: int
    """Answers of the judge."""


def output_of(verb: Verb, folder: Path) -> Path:
    """Return the output of a verb in the folder of its products: a file, a folder,
    or the folder of caches.
    """
    if verb.name == "label-plan":
        return folder / "plan.csv"
    return folder / ("cache" if verb.name in _CACHES else "out")


def cache_of(folder: Path) -> Path:
    """Return the folder of caches of a command: among its products,
    so that all that it writes is compared.
    """
    return folder / "cache"


def earlier(verb: Verb) -> Verb | None:
    """Return the command whose product a verb replaces."""
    return Verb(verb.name, "earlier") if verb.argument == OVER else None


def input_of(verb: Verb) -> State | None:
    """Return the run that a verb reads; None for a verb that reads none."""
    if verb.name not in ("push", "label-plan"):
        return None
    return State("done", "small" if verb.argument == "earlier" else "large")


def command_line(verb: Verb, run: Path | None, folder: Path) -> list[str]:
    """Return the command line of a verb that reads ``run`` and writes into ``folder``;
    it is given in the project's folder.
    """
    output = str(output_of(verb, folder))
    replaces = ["--overwrite"] if verb.argument == OVER else []
    match verb.name:
        case "push":
            return ["push", str(run), "--to", output, *replaces]
        case "new-plugin":
            return [
                "new-plugin",
                "soak-words",
                "--kind",
                verb.argument,
                "--output",
                output,
            ]
        case "label-plan":  # an unchanged plan is replaced without the option
            by = (
                [] if verb.argument == "earlier" else ["--by", "rouge", "--strata", "2"]
            )
            return ["label-plan", str(run), "--budget", "4", *by, "-o", output]
        case "convert":
            return [
                "convert",
                "earlier.npz" if verb.argument == "earlier" else "checkpoint.npz",
                "--to",
                output,
                *replaces,
            ]
        case "arena":
            return [
                "arena",
                "model.jsonl",
                "other.jsonl",
                "--references",
                "data.jsonl",
                "--judge",
                "judge.json",
                "--samples",
                "20",
                "--json",
            ]
        case "warm":
            return ["warm", "meteor", "--quiet"]
    raise ValueError(verb)


def write_inputs(project: Path, server: str) -> None:
    """Write what the verbs read beside runs: checkpoints, a judge, and the small word
    lists of a METEOR of the project's own.
    """
    for number, name in enumerate(("checkpoint", "earlier")):
        values = np.random.default_rng(number)
        np.savez(
            project / f"{name}.npz",
            weight=values.normal(size=(3, 4)).astype(np.float32),
            bias=np.zeros(3, np.float32),
        )
        (project / f"{name}.json").write_text(
            json.dumps({"words": ["a", "dog"], "number": number}), encoding="utf-8"
        )

    judge = {
        "base_url": server,
        "model": JUDGE,
        "concurrency": JUDGE_CONCURRENCY,
        "timeout": 5.0,
        "retries": 2,
        "first_wait": 0.01,
    }
    (project / "judge.json").write_text(json.dumps(judge), encoding="utf-8")

    generator = random.Random(7)
    words = ("a dog", "a red bus", "two cats", "runs", "sits", "outside")
    captions = [
        {"id": f"e{i}", "candidates": [" ".join(generator.sample(words, 3))]}
        for i in range(5)
    ]
    (project / "other.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in captions), encoding="utf-8"
    )
    _write_meteor(project / "packages" / "pycocoevalcap")


def _write_meteor(package: Path) -> None:
    """Write a package with METEOR's files by their names, of a few entries: the lexicon
    of the installed one takes seconds and 100 MB.
    """
    data = package / "meteor" / "data"
    data.mkdir(parents=True)
    (package / "__init__.py").touch()
    with zipfile.ZipFile(package / "meteor" / "meteor-1.5.jar", "w") as jar:
        for name, text in _LISTS.items():
            jar.writestr(name, text)
    lines = [
        line
        for phrase, paraphrase in _PARAPHRASES
        for line in ("0.5", phrase, paraphrase)
    ]
    with gzip.open(data / "paraphrase-en.gz", "wt", encoding="utf-8") as table:
        table.write("\n".join(lines) + "\n")


def read_tree(folder: Path) -> dict[str, str]:
    """Return kind, mode and content of everything in a folder by its name; of a data
    base of answers the rows.
    """
    tree: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        content = ""
        if path.is_symlink():
            content = str(path.readlink())
        elif path.suffix == ".sqlite":
            content = _read_rows(path)
        elif path.name == OUTPUTS:
            content = _read_outputs(path)
        elif stat.S_ISREG(mode):
            content = path.read_bytes().hex()
        tree[path.relative_to(folder).as_posix()] = f"{mode:o} {content}"
    return tree


def _read_outputs(path: Path) -> str:
    """Return the lines of a record of outputs that name a file that is there: a kill
    may leave a line that was cut off.
    """
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return repr(
        sorted(
            line
            for line in lines
            if (path.parent / line.partition("  ")[2]).is_file() and "  " in line
        )
    )


def _read_rows(path: Path) -> str:
    try:
        with closing(
            sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        ) as connection:
            return repr(
                connection.execute(
                    "SELECT key, checksum, row FROM answers ORDER BY key"
                ).fetchall()
            )
    except sqlite3.Error as error:
        return f"no data base: {error}"


def differences(found: dict[str, str], wanted: dict[str, str]) -> str:
    """Return what is too much, what is missing and what has another content, at most
    four names of each; empty for equal trees.
    """
    common = found.keys() & wanted.keys()
    groups = {
        "left over": found.keys() - wanted.keys(),
        "missing": wanted.keys() - found.keys(),
        "different": {name for name in common if found[name] != wanted[name]},
    }
    return "; ".join(
        f"{title}: {', '.join(sorted(names)[:4])}"
        for title, names in groups.items()
        if names
    )


def without_damaged(tree: dict[str, str]) -> dict[str, str]:
    """Return a tree without the data bases that were damaged by a power cut, which the
    harness keeps under another name.
    """
    return {
        name: content for name, content in tree.items() if not name.endswith(".damaged")
    }


def occupy(verb: Verb, kind: str, folder: Path, victim: Path) -> None:
    """Put a file, a folder with files of the names that verbs write, or a link to
    ``victim`` in place of an output.
    """
    output = output_of(verb, folder)
    if kind == "file":
        output.write_text(MINE)
    elif kind == "link":
        output.symlink_to(victim)
    else:
        output.mkdir()
        for name in ("README.md", "config.json", "judges", "meteor"):
            (output / name).write_text(MINE)


def end_when_occupied(verb: Verb, kind: str) -> int:
    """Return the exit status of a verb whose output somebody else wrote.

    A lexicon that cannot be stored is built in memory, with a note; a model is replaced
    where ``--overwrite`` asks for it.
    """
    replaces = verb == Verb("convert", OVER) and kind == "folder"
    return 0 if verb.name == "warm" or replaces else 2
