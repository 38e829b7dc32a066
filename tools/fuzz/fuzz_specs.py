"""Targets that read specs, overrides of specs, and registries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from harness import api
from harness.errors import HarnessError
from tools.fuzz.fuzz_inputs import TEXTS, altered, encoded, replaced
from tools.fuzz.fuzz_target import NotAnInput, check_one_line, read_list, target

SPEC: dict[str, Any] = {
    "task": "fuzz",
    "description": "d",
    "dataset": {"reader": "synthetic-texts", "length": 2, "vocabulary": 3},
    "models": ["human", {"shuffled": {"label": "s"}}],
    "decoding": {
        "strategy": "greedy",
        "temperature": 0.5,
        "top_k": 3,
        "candidates": 3,
        "options": {},
    },
    "references": "1..2",
    "metrics": [
        "rouge",
        {"trm": {"distance": ["bleu", "rouge"]}},
        {"distinct": {"n": 2}},
    ],
    "significance": {
        "method": "exact",
        "budget": 100,
        "draws": 100,
        "scorings": 10,
        "aggregate": "fisher-discrete",
        "fdr": 0.05,
    },
    "bootstrap": {"samples": 10},
    "views": [
        {
            "plot": "table",
            "x": "decoding.references",
            "by": "model",
            "y": "rouge",
            "title": "t",
            "reference": {"rouge": 0.5},
        }
    ],
    "seed": 1,
    "limit": 2,
    "sizes": "all",
    "variants": [{"name": "v", "when": {"exists": "x"}}, {"limit": 1}],
}
SPECS = [json.dumps(SPEC).encode(), __import__("yaml").safe_dump(SPEC).encode()]
MANIFEST = {
    "api": 1,
    "provider": "p",
    "requires_harness": ">=0.1,<1",
    "hooks": ["a.b"],
    "metrics": {
        "m": {
            "import": "mine:M",
            "summary": "s",
            "level": "set",
            "aliases": ["n"],
            "extra": ["x"],
            "needs": ["images"],
            "role": "default",
        }
    },
    "tasks": {"t": {"path": "t.yaml"}},
    "readers": [{"name": "r", "target": "mine:R"}],
}


@target(altered(SPECS) | encoded(replaced(SPEC)))
def specs(data: bytes, folder: Path) -> None:
    """Specs: loaded, validated and planned."""
    (folder / "s.yaml").write_bytes(data)
    api.plans(str(folder / "s.yaml"))


@target(
    encoded(
        st.tuples(
            st.sampled_from(
                [
                    ".".join(p)
                    for p in (
                        ("seed",),
                        ("metrics", "0"),
                        ("decoding", "top_k"),
                        ("views", "0", "y"),
                    )
                ]
            )
            | TEXTS,
            TEXTS,
        )
    )
)
def overrides(data: bytes, folder: Path) -> None:
    """Texts of --set and of -m."""
    from harness.run.metric_plan import metric_plans

    key, text = read_list(data, 2)
    if not isinstance(key, str) or not isinstance(text, str):
        raise NotAnInput
    problems: list[str] = []
    for read in (
        lambda: api.plans(SPEC, [f"{key}={text}"]),
        lambda: metric_plans([f"rouge:{text}"]),
    ):
        try:
            read()
        except HarnessError as error:
            problems.append(str(error))
    check_one_line(*problems)


@target(
    altered(
        [json.dumps(MANIFEST).encode(), __import__("yaml").safe_dump(MANIFEST).encode()]
    )
    | encoded(replaced(MANIFEST))
)
def registries(data: bytes, folder: Path) -> None:
    """A registry in the working directory: read, listed, described, loaded."""
    from harness.registry.catalogue import Registry
    from harness.registry.manifest_files import find_manifests
    from harness.verbs.cards import card

    (folder / "registry.yaml").write_bytes(data)
    (folder / "mine.py").write_text("class M:\n    def __init__(self, a=1): ...\n")
    manifests, failures = find_manifests([], folder, "")
    check_one_line(*(failure.reason for failure in failures))
    registry = Registry(tuple(manifests), tuple(failures))
    for entry in registry.entries():
        if entry.local:
            registry.bare_name(entry)
            try:
                _ = (
                    entry.file
                    if entry.path
                    else registry.load(entry.kind, entry.full_name)
                )
                if not entry.path:
                    card(entry)
            except HarnessError as error:
                check_one_line(str(error))
