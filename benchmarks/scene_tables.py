"""Studies of models of rendered scenes and the tables of docs/studies/sweeps.md and
same-model.md, for :mod:`benchmarks.study_tables`.

``trained-here``: every architecture. ``nacf-trained-here``: ARB, NAB and NACF.
``temperature-sweep``: Figure 5 of Chan et al. 2022.
``search-techniques``: Figure 6. ``beam-against-nucleus``: Figure 4. ``same-model``:
speakers of A3DS against themselves and changes of them. Models are trained on first use
and cached.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.papers_results import p_values
from benchmarks.papers_rule import AGGREGATIONS
from harness import api
from harness.analysis.compare import compare, compare_pairs
from harness.analysis.pairs import ComparedRun, pairs
from harness.contracts import Decoding
from harness.decisions.same.answer_kernels import KERNELS
from harness.decisions.same.run import sources_of_run
from harness.decisions.same.same import compare_sources
from harness.run.finished import Run
from harness.rundir.records import lookup
from harness.rundir.samples import System

Table = dict[str, Any]
TEMPERATURE = "decoding.temperature"
SWEPT = ("meteor", "trm(meteor)", "trm(cider)", "mmd(minilm)")
LEARNT = {
    "cider": "CIDEr",
    "meteor": "METEOR",
    "trm(cider)": "TRM(CIDEr)",
    "trm(meteor)": "TRM(METEOR)",
    "mmd(minilm)": "MMD",
    "false-features": "wrong features of six",
}
SETS = (
    "meteor",
    "best(meteor)",
    "cider",
    "best(cider)",
    "trm(meteor)",
    "trm(cider)",
    "mmd(minilm)",
    "pairwise-bleu4",
    "distinct2",
)
TESTED = ("meteor", "trm(meteor)", "trm(cider)", "mmd(minilm)")
"""Metrics of :data:`SETS` whose harmonic mean of p is in the table."""


PLAIN = "plain sampling"
NUCLEUS = "nucleus 0.9 and top-k 20"
SEARCHED = (
    (("greedy x 10", 0.3), (PLAIN, 1.0)),
    (("greedy x 10", 0.3), (NUCLEUS, 1.0)),
    (("best beam x 10", 0.3), (PLAIN, 1.0)),
    (("best beam x 10", 0.3), (NUCLEUS, 1.0)),
    (("best beam x 10", 0.3), ("ten best beams", 0.3)),
    ((NUCLEUS, 1.3), (PLAIN, 1.3)),
    ((NUCLEUS, 1.6), (PLAIN, 1.6)),
    ((PLAIN, 1.6), (PLAIN, 0.3)),
    ((NUCLEUS, 1.6), (NUCLEUS, 0.3)),
)
"""Pairs of systems (model, temperature) of ``search-techniques`` that the paper
compares.
"""


def learnt_tables(runs: Sequence[Run]) -> dict[str, Table]:
    """Return metrics of every architecture, and the largest p of its paired tests
    against captions of another scene.
    """
    (run,) = runs
    values = {(record.model, record.metric): record.value for record in run.records}
    tests = compare(run, baseline="shuffled", metrics=[*LEARNT])
    largest = {
        model: max(row.p_value or 0.0 for row in tests if row.system_a == model)
        for model in {row.system_a for row in tests}
    }
    rows = [
        [
            model,
            *(f"{values[model, metric]:.3f}" for metric in LEARNT),
            f"{largest[model]:.4f}" if model in largest else "",
        ]
        for model in dict.fromkeys(model for model, _ in values)
    ]
    return {
        run.provenance.task: {
            "headers": ["42 scenes", *LEARNT.values(), "largest p against shuffled"],
            "rows": rows,
        }
    }


def sweep_tables(runs: Sequence[Run]) -> dict[str, Table]:
    """Return metrics by temperature, the best in bold,
    and paired tests of the best TRM against both ends.
    """
    (run,) = runs
    values: dict[Any, Any] = {
        (r.model, r.metric, lookup(r, TEMPERATURE)): r.value for r in run.records
    }
    models, _, temperatures = (
        list(dict.fromkeys(key[k] for key in values)) for k in range(3)
    )

    rows: list[list[str]] = []
    valleys: list[list[str]] = []
    for model in models:
        for metric in SWEPT:
            row = [values[model, metric, t] for t in temperatures]
            best = temperatures[row.index(max(row) if metric == "meteor" else min(row))]
            cells = [
                f"**{value:.3f}**" if t == best else f"{value:.3f}"
                for t, value in zip(temperatures, row)
            ]
            rows.append([f"{model}: {metric}", *cells])

            if metric.startswith("trm"):
                ends = (temperatures[0], temperatures[-1])
                tests = (
                    paired_test(run, metric, (model, end), (model, best))
                    for end in ends
                )
                valleys.append([f"{model}: {metric}", f"{best:g}", *tests])

    identical = [
        [model, *(f"{share_of_repeats(run, model, t):.2f}" for t in temperatures)]
        for model in models
    ]

    orders = [
        [
            f"T = {t:g}",
            *(
                paired_test(run, metric, ("VLP", t), ("CLIPCap", t))
                for metric in SWEPT[:3]
            ),
        ]
        for t in temperatures
    ]

    ends = [
        f"at {end:g} less least, paired p"
        for end in (temperatures[0], temperatures[-1])
    ]

    return {
        "temperature-sweep": {
            "headers": ["T", *(f"{t:g}" for t in temperatures)],
            "rows": rows,
        },
        "temperature-repeats": {
            "headers": [
                "scenes with ten equal captions, T",
                *(f"{t:g}" for t in temperatures),
            ],
            "rows": identical,
        },
        "temperature-valley": {
            "headers": ["24 scenes", "least at T", *ends],
            "rows": valleys,
        },
        "temperature-order": {
            "headers": ["VLP less CLIPCap, paired p", *SWEPT[:3]],
            "rows": orders,
        },
    }


def share_of_repeats(run: Run, model: str, temperature: float) -> float:
    """Return the share of the examples for which all candidates of a system are one
    caption.
    """
    (system,) = (
        system
        for system in run.samples.systems
        if system.model == model and temperature_of(system) == temperature
    )
    sets = system.caption_sets()
    return sum(len(set(each.candidates)) == 1 for each in sets) / len(sets)


def paired_test(
    run: Run, metric: str, one: tuple[str, float], other: tuple[str, float]
) -> str:
    """Return the difference of a metric between two systems (model, temperature), with
    the p of a paired test; empty for one system.
    """
    if one == other:
        return ""
    for pair in pairs([ComparedRun.open(run)]):
        labels = [(system.model, temperature_of(system)) for system in (pair.a, pair.b)]
        if sorted(labels) == sorted([one, other]):
            (row,) = compare_pairs([pair], metrics=[metric])
            return (
                f"{(row.difference or 0.0) * (1 if labels[0] == one else -1):+.3f}, "
                f"{row.p_value:.2g}"
            )
    raise ValueError(f"the run has no systems {one} and {other}")


def temperature_of(system: System) -> float:
    """Return the temperature of a system, which names only the decoding fields that
    differ from the defaults.
    """
    return system.decoding.get("temperature", Decoding().temperature)


def search_tables(runs: Sequence[Run]) -> dict[str, Table]:
    """Return metrics of each search technique,
    by temperature where it has an effect.
    """
    (run,) = runs
    values = {(r.model, lookup(r, TEMPERATURE), r.metric): r.value for r in run.records}
    names = {
        "meteor": "METEOR",
        "trm(meteor)": "TRM(METEOR)",
        "trm(cider)": "TRM(CIDEr)",
        "mmd(minilm)": "MMD",
    }
    models, temperatures, _ = (
        list(dict.fromkeys(key[k] for key in values)) for k in range(3)
    )
    rows: list[list[str]] = []
    for model in models:
        sampled = {values[model, t, "meteor"] for t in temperatures}
        for t in temperatures if len(sampled) > 1 else temperatures[:1]:
            label = f"{model}, T = {t:g}" if len(sampled) > 1 else model
            rows.append(
                [label, *(f"{values[model, t, metric]:.3f}" for metric in names)]
            )
    return {
        "search-techniques": {
            "headers": ["ten candidates", *names.values()],
            "rows": rows,
        },
        "search-order": {
            "headers": ["24 scenes, paired p", *names.values()],
            "rows": [
                [
                    f"{title(one)} less {title(other)}",
                    *(paired_test(run, metric, one, other) for metric in names),
                ]
                for one, other in SEARCHED
            ],
        },
    }


def title(system: tuple[str, float]) -> str:
    """Return the name of a search technique, with its temperature where it samples."""
    model, temperature = system
    return f"{model}, T = {temperature:g}" if model in (PLAIN, NUCLEUS) else model


def beam_tables(runs: Sequence[Run]) -> dict[str, Table]:
    """Return metrics of both sets of eight, the difference with the p of a paired test,
    and the harmonic means of p of each set.
    """
    (run,) = runs
    records = {(record.model, record.metric): record for record in run.records}
    beams, samples = dict.fromkeys(model for model, _ in records)
    tests = {row.metric: row for row in compare(run, baseline=beams, metrics=[*SETS])}
    harmonic = AGGREGATIONS["harmonic mean"]

    rows: list[list[str]] = []
    for metric in SETS:
        row = tests[metric]
        means = [
            f"{harmonic(p_values(run, records[model, metric])):.3f}"
            if metric in TESTED and records[model, metric].p_value is not None
            else ""
            for model in (beams, samples)
        ]

        p = "" if row.p_value is None else f"{row.p_value:.2g}"
        rows.append(
            [
                metric,
                *(f"{records[model, metric].value:.3f}" for model in (beams, samples)),
                f"{row.difference:+.3f}",
                p,
                *means,
            ]
        )

    heads = [
        "36 scenes",
        beams,
        samples,
        "difference",
        "paired p",
        f"harmonic p of {beams}",
        f"of {samples}",
    ]
    return {"beam-against-nucleus": {"headers": heads, "rows": rows}}


def source_runs() -> list[Run]:
    """Run the speakers of A3DS, the same with another seed,
    and at another temperature.
    """
    changes = ([], ["seed=1"], ["seed=2", "decoding.temperature=0.8"])
    return [
        run
        for each in changes
        for run in api.evaluate_all(
            "studies/same-model", overrides=["bootstrap.samples=0", *each]
        )
    ]


def source_tables(runs: Sequence[Run]) -> dict[str, Table]:
    """Return the tests of the speakers against themselves and changes of them, with the
    least p of a kernel within prompts.
    """
    first, again, cooler = (sources_of_run(ComparedRun.open(run)) for run in runs)

    rows: list[list[str]] = []
    for k, source in enumerate(first):
        others = {"asked again": again[k], "at temperature 0.8": cooler[k]} | (
            {"trained further": first[1]} if k == 0 else {}
        )
        for name, other in others.items():
            found = compare_sources(source, other)
            within = min(found.kernels[kernel] for kernel in KERNELS)
            low, high = found.effect.interval or (math.nan, math.nan)
            power = "" if found.power is None else f"{found.power:.2f}"
            p = [
                f"{value:.2g}"
                for value in (found.p, within, found.kernels["similarity"])
            ]
            effect = f"{found.effect.value:.3f} ({low:.3f} … {high:.3f})"
            most = found.features[0]

            rows.append(
                [
                    f"{source.label}, {name}",
                    *p,
                    effect,
                    found.verdict,
                    power,
                    f"`{most.name}`: {most.a:.2f}, {most.b:.2f}",
                ]
            )

    heads = [
        "24 scenes",
        "p",
        "least p within prompts",
        "p of similarity",
        "MMD² of n-grams",
        "verdict",
        "power",
        "most telling feature",
    ]
    return {"same-model": {"headers": heads, "rows": rows}}


STUDIES: dict[
    str, tuple[Callable[[], list[Run]], Callable[[Sequence[Run]], dict[str, Table]]]
] = {
    "trained-here": (
        lambda: api.evaluate_all(
            "studies/trained-here", overrides=["bootstrap.samples=0"]
        ),
        learnt_tables,
    ),
    "nacf-trained-here": (
        lambda: api.evaluate_all(
            "studies/nacf-trained-here", overrides=["bootstrap.samples=0"]
        ),
        learnt_tables,
    ),
    "same-model": (source_runs, source_tables),
    "temperature-sweep": (
        lambda: api.evaluate_all(
            "studies/temperature-sweep", overrides=["bootstrap.samples=0"]
        ),
        sweep_tables,
    ),
    "search-techniques": (
        lambda: api.evaluate_all(
            "studies/search-techniques", overrides=["bootstrap.samples=0"]
        ),
        search_tables,
    ),
    "beam-against-nucleus": (
        lambda: api.evaluate_all(
            "studies/beam-against-nucleus", overrides=["bootstrap.samples=0"]
        ),
        beam_tables,
    ),
}
"""Study -> function that runs it, and its tables."""
