"""Write the test vectors of all metrics, vectors/*.json, with the reference engine.

    python kernels/generators/make_vectors.py           writes the files
    python kernels/generators/make_vectors.py --check   exit code 1 when a file differs

``specification.md`` explains the numbers.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from vector_numbers import INPUTS, Engine
from vector_raw_texts import LEXICONS

import caption_kernels_reference as reference

FOLDER = Path(__file__).resolve().parents[1] / "vectors"
FORMAT = "caption-kernels-vectors"
VERSION = 1


def content(name: str, engine: Engine = reference) -> str:
    """Return the content of the file of a metric:
    a JSON object with one line per case, in ASCII.
    """
    cases, numbers, inputs = INPUTS[name]
    head = {
        "format": FORMAT,
        "version": VERSION,
        "metric": name,
        "inputs": ["kind", *inputs],
    }
    if "lexicon" in inputs:
        head["lexicons"] = LEXICONS
    lines = (
        json.dumps({**case, **numbers(engine, case)}, allow_nan=False)
        for case in cases()
    )
    return f'{json.dumps(head)[:-1]}, "cases": [\n' + ",\n".join(lines) + "\n]}\n"


def main(arguments: list[str]) -> int:
    """Write or check all files; return the exit code."""
    differing = 0
    for name in INPUTS:
        path = FOLDER / f"{name}.json"
        text = content(name)
        if "--check" in arguments:
            differs = not path.is_file() or path.read_text(encoding="ascii") != text
            differing += differs
            print(f"{path.name}: {'DIFFERS' if differs else 'as generated'}")
        else:
            path.write_text(text, encoding="ascii")
            print(f"{path.name}: {text.count(chr(10)) - 2} cases, {len(text):,} bytes")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
