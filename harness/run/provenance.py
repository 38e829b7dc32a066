"""Provenance of a run: the content of manifest.json."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from harness import __version__
from harness.contracts import Describes, Parameters, Values
from harness.files.secrets import redact_values
from harness.files.yaml_source import Key
from harness.registry import current
from harness.registry.local_code import is_below
from harness.registry.manifest_schema import PluginFailure
from harness.rundir.format import MANIFEST_SCHEMA, JsonObject
from harness.rundir.stored_paths import PATHS, StoredPath
from harness.spec.path_contents import content_of, get_value, list_paths, with_contents
from harness.spec.path_parameters import SECTIONS

if TYPE_CHECKING:
    from harness.run.example_store import ExampleStore
    from harness.run.metric_plan import AnyMetricPlan, Plan
    from harness.spec.task_kinds import TaskSpec

PACKAGES = (
    "numpy",
    "scipy",
    "pycocoevalcap",
    "torch",
    "transformers",
    "sentence-transformers",
    "open_clip_torch",
    "datasets",
)
"""Packages whose versions can change a number."""

Component = tuple[str, str, object]
"""Kind, registered name, object."""


def build_manifest(
    plan: Plan,
    examples: ExampleStore,
    failures: Sequence[PluginFailure],
    identity: str | None = None,
) -> JsonObject:
    """Return the content of manifest.json;
    the same for the same run on the same installation.

    ``identity`` is :func:`digest` of the plan before its components were used; None: it
    is computed here.
    """
    spec = plan.spec
    reader = plan.reader
    reference_counts = sorted(examples.reference_counts)
    data = {
        "reader": spec.dataset.reader,
        "fingerprint": reader.fingerprint(),
        "source": reader.describe() if isinstance(reader, Describes) else "",
        "examples": len(examples),
        "references": reference_counts,
    }
    models: list[Values] = []
    for model in plan.models:
        entry: Values = {
            "label": model.label,
            "adapter": model.name,
            "params": dict(model.params),
            "fingerprint": model.adapter.fingerprint(),
        }
        if isinstance(model.adapter, Describes):
            entry["source"] = model.adapter.describe()
        models.append(entry)

    return manifest_of(
        spec,
        signature(plan, reference_counts),
        identity or digest(plan),
        data,
        plan.metrics,
        failures,
        models,
        _components(plan),
    )


def manifest_of(
    spec: TaskSpec,
    signature: str,
    identity: str,
    data: Parameters,
    metrics: Sequence[AnyMetricPlan],
    failures: Sequence[PluginFailure],
    models: Sequence[Parameters] = (),
    components: Sequence[Component] = (),
) -> JsonObject:
    """Return the content of manifest.json of a run of any kind, without secrets.

    Parameters
    ----------
    spec : TaskSpec
        The resolved spec.
    signature, identity : str
        Readable identity of the run, and its digest.
    data, models : mapping, sequence of mappings
        The data set, and the models.
    metrics : sequence of MetricPlan
        The metrics.
    failures : sequence of PluginFailure
        Plugins that could not be loaded.
    components : sequence of (str, str, object)
        Kind, name and object of the components that the run uses; default: the metrics.
    """
    components = components or metric_components(metrics)
    content: Values = {
        "schema": MANIFEST_SCHEMA,
        "task": spec.task,
        "signature": signature,
        "digest": identity,
        "notice": spec.notice,
        "variant": spec.variant,
        "spec": spec.model_dump(mode="json"),
        "data": data,
        "models": models,
        "metrics": [
            {
                "label": m.label,
                "name": m.name,
                "params": dict(m.params),
                "signature": m.metric.signature(),
            }
            for m in metrics
        ],
        "seed": spec.seed,
        "versions": versions(),
        "plugins": plugins([(kind, name) for kind, name, _ in components], failures),
    }
    local = local_code([component for *_, component in components])
    if local:
        content["local_code"] = local

    stored_paths: list[JsonObject] = []
    for key in _paths_of_manifest(content):
        path = str(get_value(content, key))
        stored_paths.append(StoredPath(key, content_of(path), path).to_dict())
    content[PATHS] = stored_paths
    return cast(JsonObject, redact_values(content))


def _paths_of_manifest(content: Parameters) -> list[Key]:
    """Return the keys of the paths in a manifest: in the spec,
    and in the parameters of its models and metrics.
    """
    keys: list[Key] = [("spec", *key) for key in list_paths(content["spec"])]
    for kind, section in SECTIONS.items():
        for index, entry in enumerate(content[section]):
            name = entry["adapter" if kind == "adapters" else "name"]
            below = list_paths({section: [{name: entry["params"]}]})
            keys += [(section, index, "params", *key[3:]) for key in below]
    return keys


def digest(plan: Plan, *, as_given: bool = False) -> str:
    """Return a hash that changes when anything that could change a number changes:
    spec, data, models, metrics, code, version.

    A path counts by what it names (:mod:`harness.spec.path_contents`), or with
    ``as_given`` by its text, as in manifests without
    :data:`~harness.rundir.stored_paths.PATHS`. Called before the components are used:
    some hold further objects afterwards.
    """
    # A field without a value is left out, so that a new field changes no digest.
    optional = ("until", "same", "slices")
    unused = [name for name in optional if not getattr(plan.spec, name)]
    spec = plan.spec.model_dump(
        mode="json", exclude={"views", "description", "notice", *unused}
    )

    contents: Values = {
        "version": __version__,
        "kernels": kernels_build(),
        "spec": spec if as_given else with_contents(spec),
        "data": plan.reader.fingerprint(),
        "models": {model.label: model.adapter.fingerprint() for model in plan.models},
        "metrics": {metric.label: metric.metric.signature() for metric in plan.metrics},
        "code": code_of([component for *_, component in _components(plan)]),
    }
    if plan.spec.reference_subset:
        contents["references"] = plan.spec.reference_subset
    text = json.dumps(redact_values(contents), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _components(plan: Plan) -> list[Component]:
    adapters: list[Component] = [
        ("adapters", model.name, model.adapter) for model in plan.models
    ]
    return [
        ("readers", plan.spec.dataset.reader, plan.reader),
        *adapters,
        *metric_components(plan.metrics),
    ]


def metric_components(metrics: Sequence[AnyMetricPlan]) -> list[Component]:
    """Return kind, name and object of metrics."""
    return [("metrics", metric.name, metric.metric) for metric in metrics]


def local_code(components: Sequence[object]) -> list[Mapping[str, object]]:
    """Return the local registries whose code the run uses: file, provider, modules with
    a hash of their source, hooks.
    """
    hashes = code_of(components)
    entries: list[Mapping[str, object]] = []
    for manifest in current().manifests:
        if not manifest.local:
            continue
        modules: dict[str, str] = {}
        for name, code_hash in hashes.items():
            file = getattr(sys.modules[name], "__file__", None)
            if file and is_below(Path(file), manifest.folder):
                modules[name] = code_hash
        if not modules and not manifest.hooks:
            continue

        entry: dict[str, object] = {
            "registry": manifest.source,
            "provider": manifest.provider,
            "modules": modules,
        }
        if manifest.hooks:
            entry["hooks"] = list(manifest.hooks)
        entries.append(entry)
    return entries


def code_of(components: Sequence[object]) -> dict[str, str]:
    """Return module -> hash of its source, for the components and the objects they hold
    (a metric's distance).
    """
    values = list(components)
    for component in components:
        if hasattr(component, "__dict__"):
            values += vars(component).values()

    hashes: dict[str, str] = {}
    for value in values:
        # numbers and texts have no code that could change
        if not hasattr(value, "__dict__"):
            continue
        name = type(value).__module__
        file = getattr(sys.modules.get(name), "__file__", None)
        if name not in hashes and file and file.endswith(".py"):
            hashes[name] = hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]
    return hashes


def signature(plan: Plan, reference_counts: Sequence[int]) -> str:
    """Return a short identity of the run:
    ``coco|n:10|m:5|refs:random(0)|limit:200|seed:0|harness:0.1.0``.
    """
    sizes = sorted({d.candidates for d in plan.decodings if d.candidates is not None})
    cuts = [count for count in plan.reference_counts if count is not None]

    fields = [plan.spec.task]
    if sizes:
        fields.append(f"n:{_span(sizes)}")
    fields.append(f"m:{_span(cuts or reference_counts)}")
    if plan.spec.reference_subset:
        fields.append(f"refs:{plan.spec.reference_subset}")
    if plan.spec.limit is not None:
        fields.append(f"limit:{plan.spec.limit}")
    return "|".join([*fields, f"seed:{plan.spec.seed}", f"harness:{__version__}"])


def _span(values: Sequence[int]) -> str:
    smallest, largest = min(values), max(values)
    return str(smallest) if smallest == largest else f"{smallest}-{largest}"


@cache
def kernels_build() -> str:
    """Return the version of caption-kernels and the hash of the sources of its engine;
    empty where it is not installed.

    Statistics are stored under it: a kernel that changes is used at once.
    """
    try:
        import caption_kernels
    except ModuleNotFoundError:
        return ""
    return f"{caption_kernels.__version__}+{caption_kernels.build_hash}"


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of Python and of the installed packages that numbers depend
    on.
    """
    by_package = {
        "harness": __version__,
        "python": platform.python_version(),
        "platform": sys.platform,
    }
    for package in PACKAGES:
        try:
            by_package[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    if kernels_build():
        by_package["caption-kernels"] = kernels_build()
    return by_package


def plugins(
    names: Sequence[tuple[str, str]], failures: Sequence[PluginFailure]
) -> list[Mapping[str, object]]:
    """Return the components that the run uses with provider and version, and the
    plugins that could not be loaded.
    """
    registry = current()
    used: list[Mapping[str, object]] = []
    for kind, name in dict.fromkeys(names):
        if not registry.match_entries(kind, name):
            continue  # captions in memory come from no plugin
        entry = registry.get(kind, name)
        used.append(
            {
                "kind": kind,
                "name": name,
                "provider": entry.provider,
                "target": entry.target or entry.command_line,
                **({"version": entry.version} if entry.version else {}),
                "used": True,
            }
        )

    broken = [*registry.failures, *failures]
    return used + [
        {"provider": f.provider, "phase": f.phase, "reason": f.reason, "used": False}
        for f in broken
    ]
