"""Targets beside files: prompts, labels that a run prints in the end, exported files,
the terminal.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from pathlib import Path

from hypothesis import strategies as st

import harness
from harness.contracts import Example
from harness.files.outputs import OUTPUTS
from tools.fuzz.fuzz_inputs import SCALARS, TEXTS, encoded
from tools.fuzz.fuzz_target import NotAnInput, check_one_line, read_list, target

LONGEST_PROMPT = 1 << 20
"""Characters of a prompt beyond which a field has made it grow:
the texts of an input are shorter.
"""

FIELDS = (
    "{id}",
    "{source}",
    "{place}",
    "{}",
    "{0}",
    "{id.foo}",
    "{id[0]}",
    "{id.__class__.__mro__}",
    "{id!r}",
    "{id:>30000000}",
    "{{",
    "}",
)
PROMPTS = st.lists(st.sampled_from(FIELDS) | TEXTS, max_size=4).map("".join)
CONTROLS = (
    "\x1b]0;title\x07",
    "\x1b[31m",
    "\x9b31m",
    "\x9d0;t\x9c",
    "\u202e",
    "\u2066",
    "\x00",
    "\x7f",
    "\r",
    "\n",
    "\t",
    "\b",
    "\ud800",
)
HOSTILE = (
    *CONTROLS,
    "../../x",
    "/etc/passwd",
    "=1+1",
    "<script>",
    "|",
    "\\",
    "{{x}}",
    "[red]",
    "[/]",
    "%",
    "$",
    "CON",
    "a" * 300,
    "",
)
LABELS = st.lists(
    st.sampled_from(HOSTILE) | st.text(max_size=4), min_size=1, max_size=3
).map("".join)
SESSIONS = encoded(st.tuples(LABELS, LABELS, LABELS | TEXTS))
FORMATS = ("lm-eval", "coco", "vdtk")
TABLES = ("table", "csv", "markdown", "latex")
UNPRINTED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
"""Control characters that no terminal may get: all but tab and line feed, and those
that change the direction of writing.
"""


@target(
    encoded(
        st.tuples(
            PROMPTS,
            TEXTS,
            st.none() | TEXTS,
            st.dictionaries(
                st.sampled_from(["place", "id", "a.b", ""]), SCALARS, max_size=2
            ),
        )
    )
)
def prompts(data: bytes, folder: Path) -> None:
    """Prompts with fields of an example: filled or refused,
    and never larger than their texts.
    """
    from harness_models.openai.messages import Messages

    prompt, identity, source, meta = read_list(data, 4)
    if (
        not isinstance(prompt, str)
        or not isinstance(identity, str)
        or not isinstance(source, str | None)
        or not isinstance(meta, dict)
    ):
        raise NotAnInput
    text = Messages(prompt=prompt).text(
        Example(identity, ("a",), source=source, meta=meta)
    )
    assert len(text) <= max(LONGEST_PROMPT, 64 * len(data)), (
        f"a prompt of {len(text)} characters from an input of {len(data)} bytes"
    )
    assert "<class" not in text or "<class" in prompt + identity + str(source) + str(
        meta
    ), "an attribute of an object in a prompt"


def _run(data: bytes, folder: Path) -> Path:
    """Run a spec with a label, the id of an example and a caption of the input,
    and return its directory.
    """
    label, identity, caption = read_list(data, 3)
    # a spec replaces variables
    if (
        not all(isinstance(text, str) for text in (label, identity, caption))
        or "${" in label
    ):
        raise NotAnInput

    examples = [(identity, caption), ("second", "a dog")]
    (folder / "d.jsonl").write_text(
        "".join(
            json.dumps({"id": name, "references": ["a dog", "dogs"]}) + "\n"
            for name, _ in examples
        )
    )
    (folder / "p.jsonl").write_text(
        "".join(
            json.dumps({"id": name, "candidates": [text, "cats"]}) + "\n"
            for name, text in examples
        )
    )

    spec = {
        "task": "fuzz",
        "dataset": {"reader": "jsonl", "path": str(folder / "d.jsonl")},
        "models": [
            {
                "predictions": {
                    "path": str(folder / "p.jsonl"),
                    "label": label,
                    "allow_empty": True,
                }
            },
            "human",
        ],
        "metrics": ["rouge"],
        "bootstrap": {"samples": 10},
    }

    harness.evaluate(spec, output=folder / "run", mode="fresh")
    return folder / "run"


@target(SESSIONS, scores=True)
def labels(data: bytes, folder: Path) -> None:
    """Labels, ids and captions of any characters: refused before anything is computed,
    or in the results as they are.
    """
    label, identity, _ = read_list(data, 3)
    inner = folder / "inner"
    inner.mkdir(exist_ok=True)
    before = set(folder.iterdir())
    run = harness.Run.open(_run(data, inner))
    assert not label or {record.model for record in run.records} == {label, "human"}, (
        "another label in the results"
    )
    assert identity in run.samples.texts("example"), "another id in the samples"
    assert set(folder.iterdir()) == before, "a file beside the folder"


@target(SESSIONS, scores=True)
def exports(data: bytes, folder: Path) -> None:
    """Exported files lie in their folder, whatever the labels are,
    and are JSON where they say so.
    """
    run = _run(data, folder)
    before = set(folder.iterdir())
    problems: list[str] = []

    for name in FORMATS:
        out = folder / "out" / name
        try:
            files = harness.export(run, name, out)
        except harness.HarnessError as error:
            problems.append(str(error))
            continue
        for file in files:
            assert file.resolve().is_relative_to(out.resolve()), (
                f"a file outside the folder of the export: {file}"
            )
            if file.suffix == ".json":
                json.loads(file.read_bytes())

    try:
        harness.report(run, output=folder / "page.html", tables=folder / "tables")
    except harness.HarnessError as error:
        problems.append(str(error))
    check_one_line(*problems)

    written = {path.name for path in set(folder.iterdir()) - before}
    assert written <= {"out", "page.html", "tables", "current", OUTPUTS}, (
        f"a file beside those that were named: {sorted(written)}"
    )


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal; without colours (TERM=dumb), every escape
    sequence on it is one of a text.
    """

    def isatty(self) -> bool:
        """Return True."""
        return True


@target(SESSIONS, scores=True)
def terminals(data: bytes, folder: Path) -> None:
    """The output of run and compare in every form for terminals has no control
    characters but tabs and line feeds.
    """
    from harness.cli.main import main
    from harness.reporting.console import print_runs

    run = _run(data, folder)
    os.environ["TERM"] = "dumb"
    for name in ("results", *TABLES):
        output, errors = (
            Terminal(
                io.BytesIO(), encoding="utf-8", errors="strict", write_through=True
            )
            for _ in range(2)
        )

        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            if name == "results":
                print_runs([harness.Run.open(run)], all_results=False)
            else:
                main(
                    [
                        "compare",
                        str(run),
                        "--draws",
                        "10",
                        "--format",
                        name,
                        "--examples",
                        "1",
                    ]
                )

        for stream in (output, errors):
            text = stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
            found = UNPRINTED.search(text.replace("\r\n", "\n"))
            assert found is None, (
                f"{name}: {found[0]!r} in "
                f"{text[max(0, found.start() - 40) : found.end() + 40]!r}"
            )
            assert "Traceback" not in text and "this is a bug" not in text, text[-500:]
