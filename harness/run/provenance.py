"""The manifest of a run: what was run, on what, with which versions."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from collections.abc import Sequence
from typing import Any

from harness import __version__
from harness.contracts import Example
from harness.registry import current
from harness.registry.manifest_files import PluginFailure
from harness.run.plan import Plan

PACKAGES = (
    "numpy",
    "scipy",
    "pycocoevalcap",
    "numba",
    "torch",
    "transformers",
    "sentence-transformers",
    "open_clip_torch",
    "datasets",
)


def build_manifest(plan: Plan, examples: Sequence[Example], failures: Sequence[PluginFailure]) -> dict[str, Any]:
    """manifest.json as a mapping; the same for the same run on the same installation."""
    spec = plan.spec
    reference_counts = sorted({len(example.references) for example in examples})
    return {
        "schema": 1,
        "task": spec.task,
        "signature": signature(plan, reference_counts),
        "digest": plan.digest(),
        "notice": spec.notice,
        "variant": spec.variant,
        "spec": spec.model_dump(mode="json"),
        "data": {
            "reader": spec.dataset.reader,
            "fingerprint": plan.reader.fingerprint(),
            "source": getattr(plan.reader, "describe", lambda: "")(),
            "examples": len(examples),
            "references": reference_counts,
        },
        "models": [
            {
                "label": model.label,
                "adapter": model.name,
                "params": dict(model.params),
                "fingerprint": model.adapter.fingerprint(),
            }
            for model in plan.models
        ],
        "metrics": [
            {"label": m.label, "name": m.name, "params": dict(m.params), "signature": m.metric.signature()}
            for m in plan.metrics
        ],
        "seed": spec.seed,
        "versions": versions(),
        "plugins": plugins(plan, failures),
    }


def signature(plan: Plan, reference_counts: Sequence[int]) -> str:
    """Short and comparable at a glance: ``coco|n:10|m:5|limit:200|seed:0|harness:0.1.0``."""
    sizes = sorted({point.decoding.candidates for point in plan.points if point.decoding.candidates is not None})
    cut = [count for count in plan.reference_counts if count is not None] or list(reference_counts)
    parts = [plan.spec.task]
    if sizes:
        parts.append(f"n:{_span(sizes)}")
    parts.append(f"m:{_span(cut)}")
    if plan.spec.limit is not None:
        parts.append(f"limit:{plan.spec.limit}")
    return "|".join([*parts, f"seed:{plan.spec.seed}", f"harness:{__version__}"])


def _span(values: Sequence[int]) -> str:
    return str(values[0]) if min(values) == max(values) else f"{min(values)}-{max(values)}"


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that numbers depend on (installed ones)."""
    found = {"harness": __version__, "python": platform.python_version(), "platform": sys.platform}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def plugins(plan: Plan, failures: Sequence[PluginFailure]) -> list[dict[str, Any]]:
    """Who provided what was used, and what could not be loaded."""
    registry = current()
    names = [("readers", plan.spec.dataset.reader)]
    names += [("adapters", model.name) for model in plan.models] + [("metrics", metric.name) for metric in plan.metrics]
    used = []
    for kind, name in dict.fromkeys(names):
        entry = registry.get(kind, name)
        used.append({"kind": kind, "name": name, "provider": entry.provider, "target": entry.target, "used": True})
    broken = [*registry.failures, *failures]
    return used + [{"provider": f.provider, "phase": f.phase, "reason": f.reason, "used": False} for f in broken]
