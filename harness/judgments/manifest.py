"""Manifest of a run of judgments: its content, its digest and its signature."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from harness import __version__
from harness.contracts import Judgments
from harness.judgments.judgment_models import PAIR_STATISTICS
from harness.judgments.plan import JudgmentPlan
from harness.judgments.rows import distinct_captions
from harness.judgments.source_files import source_fingerprint
from harness.registry.manifest_schema import PluginFailure
from harness.run.provenance import manifest_of
from harness.rundir.format import JsonObject


def manifest(
    plan: JudgmentPlan, judgments: Judgments, failures: Sequence[PluginFailure] = ()
) -> JsonObject:
    """Return the content of manifest.json.

    The digest covers the data and the scored reference lists, not metrics and
    statistics: a further metric, another statistic or another tie policy continues a
    run and reuses its scores.
    """
    spec = plan.spec
    data = {
        "reader": f"judgments ({spec.judgments.form})",
        "fingerprint": source_fingerprint(spec.judgments),
        "source": judgments.source,
        "examples": len(judgments.items),
        "captions": len(set(distinct_captions(judgments).tolist())),
        "ratings": sum(len(caption.ratings) for caption in judgments.captions),
        "pairs": len(judgments.pairs),
        "references": sorted({len(item.references) for item in judgments.items}),
    }
    content = manifest_of(
        spec, signature(plan), digest(plan), data, plan.metrics, failures
    )
    return {"kind": plan.kind, **content}


def digest(plan: JudgmentPlan) -> str:
    """Return a hash of the data, the reference policy, the limit, the seed and the
    version.
    """
    spec = plan.spec
    contents = [
        __version__,
        source_fingerprint(spec.judgments),
        spec.references.model_dump(mode="json"),
        spec.limit,
        spec.seed,
        spec.task,
    ]
    return hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()


def signature(plan: JudgmentPlan) -> str:
    """Return a short identity of the run:
    ``judgments/thumb|kendall_c|own:item|seed:0|harness:0.1.0``.
    """
    spec = plan.spec
    fields = [spec.task, "+".join(spec.statistics), spec.references.describe()]
    if any(name in PAIR_STATISTICS for name in spec.statistics):
        fields.append(f"ties:{spec.ties}")
    if spec.limit is not None:
        fields.append(f"limit:{spec.limit}")
    return "|".join([*fields, f"seed:{spec.seed}", f"harness:{__version__}"])
