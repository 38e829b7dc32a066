"""Studies of Li et al. 2020 and the tables of docs/studies/crnrr.md, for
:mod:`benchmarks.study_tables`.

``crnrr-table2``: Table 2 and its dependence on the size of the corpus.
``crnrr-sizes``: the same to the published 50,000. ``crnrr-ranking``: models of text by
CND. ``crnrr-table1``: the known distribution.
``crnrr-frontiers``: Figures 1 and 4. ``crnrr-curves``: Figures 5 to 7.
:mod:`benchmarks.trends` has Figure 3 beside its dependence on the size of the corpus.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from benchmarks.papers_results import INDEX, task_runs
from harness import api
from harness.run.finished import Run
from harness.rundir.records import lookup
from harness.spec.published import cell_value

Table = dict[str, Any]
ORDERS = (2, 3, 4)
PAIRS = {"BS": "BLEU-NSBLEU", "CN": "CR-NRR"}
MEASURES = {
    "qdisc": "QDisc",
    "drate": "DRate_pct",
    "self-ratio": "SelfRatio",
    "ref-ratio": "RefRatio",
}
"""Measure of the metric ``qdisc`` -> its column in the published table,
after the name of the corpus.
"""
CORPORA = {
    "crnrr-table2-coco": (
        "COCO captions filtered as in the paper, 17,500 + 17,500",
        "MSCOCO",
    ),
    "crnrr-table2-textgan": (
        "COCO captions of the text-GAN papers, 4,980 + 4,980",
        "MSCOCO",
    ),
    "crnrr-table2-news": ("EMNLP 2017 news, 5,000 + 5,000", "WMT"),
}
"""Task of studies/crnrr-table2 -> name of its corpus, and the published one."""
SIZES = {
    "crnrr-table2-coco-quarter": 4375,
    "crnrr-table2-coco-half": 8750,
    "crnrr-table2-coco": 17_500,
}
PUBLISHED_SIZE = 50_000
RANKED = {"corpus-bleu2": "BLEU-2", "cr2": "CR-2"} | {
    f"cnd{n}{form}": f"{kind}CND-{n}"
    for form, kind in (("", ""), (" unbiased", "unbiased "))
    for n in (2, 3)
}
TEXYGEN = {"nsbleu2": "NSBLEU-2", "nrr2": "NRR-2"} | RANKED
"""Metric of studies/crnrr-texygen -> column."""
TEXT_MODELS = {
    "crnrr-mixture-coco": ("MLE", "SeqGAN", "LeakGAN"),
    "crnrr-mixture-emnlp": ("text GAN 2", "text GAN 3"),
}
BETAS = (0.0, 0.5, 0.75, 0.9, 1.0, 1.1, 1.5, 2.0, 3.0, 5.0)
RANKS = (1, 2, 4, 8, 16, 32, 48, 64)
OUTSIDE = "outside the curve"
"""Text of a discrepancy of real text that is more diverse than every noisy copy."""
ROUNDING = 1e-12
"""Discrepancies below it are rounding errors of 0."""
STEPS = (25, 50, 100, 200, 400, 800, 1600, 2000)
SAMPLED = {
    "cnd1": "CND-1",
    "cnd2": "CND-2",
    "cnd3": "CND-3",
    "cr2": "CR-2",
    "nrr2": "NRR-2",
    "corpus-bleu2": "BLEU-2",
}


def digits(value: float | None, count: int = 3) -> str:
    """Return a number with some significant digits, an undefined one as a dash.

    >>> digits(0.00012345), digits(float("nan"))
    ('0.000123', '–')
    """
    return "–" if value is None or math.isnan(value) else f"{value:.{count}g}"


def continue_power_law(
    values: Sequence[float], sizes: Sequence[int], size: int
) -> float:
    """Return the value at a size of the power law through the last two values;
    NaN where one is undefined.

    >>> continue_power_law([4.0, 2.0, 1.0], [100, 200, 400], 1600)
    0.25
    """
    exponent = math.log(values[-1] / values[-2]) / math.log(sizes[-1] / sizes[-2])
    return values[-1] * (size / sizes[-1]) ** exponent


def published_rows(item: str) -> dict[str, Mapping[str, Any]]:
    """Return the rows of a published table of Li et al. 2020 by metric."""
    items = yaml.safe_load((INDEX.parent / "li2020.yaml").read_text(encoding="utf-8"))[
        "items"
    ]
    return {
        row["metrics"]: row
        for row in next(entry for entry in items if entry["id"] == item)["rows"]
    }


def published_number(row: Mapping[str, Any], column: str) -> float:
    """Return a published number, NaN for a bound; rates in per cent as a share."""
    value = cell_value(row[column], 0.01 if "_pct" in column else 1.0)
    return value if isinstance(value, float) else math.nan


def published_text(row: Mapping[str, Any], column: str) -> str:
    """Return a published number with three significant digits,
    or a bound as it is printed.
    """
    value = cell_value(row[column], 0.01 if "_pct" in column else 1.0)
    return digits(value) if isinstance(value, float) else str(value or "–")


def by_task(runs: Sequence[Run]) -> dict[str, dict[tuple[str, str], Any]]:
    """Return task -> (model, metric) -> value."""
    return {
        run.provenance.task: {
            (record.model, record.metric): record.value for record in run.records
        }
        for run in runs
    }


def trend_rows(
    found: Sequence[Mapping[str, Any]], sizes: Sequence[int], corpus: str, measure: str
) -> Iterator[list[str]]:
    """Yield a measure of every pair by size, continued to the published size,
    and the published number.

    ``found`` has the values of the metric ``qdisc`` at each size.
    """
    published = published_rows("table2")
    for short, pair in PAIRS.items():
        for n in ORDERS:
            values = [each[f"{measure}({pair} {n})"] for each in found]
            there = published_number(
                published[f"{short}-{n}"], f"{corpus}_{MEASURES[measure]}"
            )
            continued = continue_power_law(values, sizes, PUBLISHED_SIZE)
            yield [
                f"{short}-{n}, {measure}",
                *map(digits, values),
                digits(continued, 2),
                digits(there),
            ]


def trend_headers(sizes: Sequence[int]) -> list[str]:
    """Return the headers above :func:`trend_rows`."""
    return [
        "",
        *(f"{size:,}" for size in sizes),
        f"continued to {PUBLISHED_SIZE:,}",
        f"published, {PUBLISHED_SIZE:,}",
    ]


def real_text_tables(runs: Sequence[Run]) -> dict[str, Table]:
    """Return Table 2 beside the published one,
    and the values by the number of captions.
    """
    values = by_task(runs)
    published = published_rows("table2")
    rows: list[list[str]] = []

    for task, (title, corpus) in CORPORA.items():
        rows.append([f"**{title}**", *[""] * len(MEASURES)])
        for (short, pair), n in itertools.product(PAIRS.items(), ORDERS):
            ours = [
                values[task]["real text", f"{measure}({pair} {n})"]
                for measure in MEASURES
            ]
            theirs = [
                published_number(published[f"{short}-{n}"], f"{corpus}_{column}")
                for column in MEASURES.values()
            ]
            rows.append(
                [
                    f"{short}-{n}",
                    *(f"{digits(a)} / {digits(b)}" for a, b in zip(ours, theirs)),
                ]
            )
    found = [
        {metric: value for (_, metric), value in values[task].items()} for task in SIZES
    ]
    sizes = list(SIZES.values())
    return {
        "crnrr-table2": {
            "headers": [
                "ours / published, 50,000 + 50,000",
                "QDisc",
                "DRate",
                "Self-Ratio",
                "Ref-Ratio",
            ],
            "rows": rows,
        },
        "crnrr-table2-sizes": {
            "headers": trend_headers(sizes),
            "rows": list(trend_rows(found, sizes, "MSCOCO", "qdisc")),
        },
    }


def size_runs() -> list[Run]:
    """Run Table 2 by the number of sentences."""
    return list(api.evaluate_all("studies/crnrr-sizes"))


def size_tables(runs: Sequence[Run]) -> dict[str, Table]:
    """Return QDisc and Self-Ratio of real text by the number of captions, and CR, NRR
    and CND, with the exponents of the last two doublings, a table for each corpus.
    """
    tables: dict[str, Table] = {}
    by_corpus: dict[str, dict[int, Mapping[str, float]]] = {}
    for task, values in by_task(runs).items():
        corpus, size = task.removeprefix("crnrr-sizes-").rsplit("-", 1)
        by_corpus.setdefault(corpus, {})[int(size)] = {
            metric: value for (_, metric), value in values.items()
        }
    for corpus, found in by_corpus.items():
        sizes = sorted(found)
        rows = [
            size_row(f"{short}-{n}, {measure}", f"{measure}({pair} {n})", found)
            for measure in ("qdisc", "self-ratio")
            for (short, pair), n in itertools.product(PAIRS.items(), ORDERS)
        ]
        rows += [
            size_row(f"{name}-{n}", f"{name.lower()}{n}", found)
            for name, n in itertools.product(("CR", "NRR", "CND"), ORDERS)
        ]
        tables[f"crnrr-sizes-{corpus}"] = {
            "headers": [
                "sentences on each side",
                *(f"{size:,}" for size in sizes),
                "exponents of the last doublings",
            ],
            "rows": rows,
        }
    return tables


def size_row(
    name: str, metric: str, found: Mapping[int, Mapping[str, float]]
) -> list[str]:
    """Return a metric by size; where it is undefined real text is outside the curve."""
    sizes = sorted(found)
    values = [found[size][metric] for size in sizes]
    texts = [OUTSIDE if math.isnan(value) else digits(value) for value in values]
    steps = [
        math.log(after / before) / math.log(larger / smaller)
        for before, after, smaller, larger in zip(values, values[1:], sizes, sizes[1:])
        if before * after > 0
    ]
    return [name, *texts, ", ".join(f"{step:.2f}" for step in steps[-2:])]


def ranking_runs() -> list[Run]:
    """Run the models of both small corpora of studies/crnrr-mixture by the metrics of
    the ranking.
    """
    metrics = [
        "{corpus-bleu: {n: 2}}",
        "{cr: {n: 2}}",
        "{cnd: {n: [2, 3]}}",
        "{cnd: {n: [2, 3], form: unbiased}}",
    ]
    return list(
        task_runs(
            "studies/crnrr-mixture",
            ["crnrr-mixture-pool"],
            [f"metrics=[{', '.join(metrics)}]"],
            5000,
        )
    )


def ranking_tables(runs: Sequence[Run]) -> dict[str, Table]:
    """Return quality and CND of real text, of models and of a copy of the references,
    for both corpora.
    """
    values = by_task(runs)
    rows: list[list[str]] = []
    for task, models in TEXT_MODELS.items():
        rows.append([f"**{task.removeprefix('crnrr-mixture-')}**", *[""] * len(RANKED)])
        rows += [
            [model, *(digits(values[task][model, metric]) for metric in RANKED)]
            for model in ("real text", *models, "by heart, no noise")
        ]
    return {"crnrr-ranking": {"headers": ["", *RANKED.values()], "rows": rows}}


def texygen_tables(runs: Sequence[Run]) -> dict[str, Table]:
    """Return quality, diversity and CND of the six models of Texygen."""
    (run,) = runs
    values = {(record.model, record.metric): record.value for record in run.records}
    rows = [
        [model, *(digits(values[model, metric]) for metric in TEXYGEN)]
        for model in dict.fromkeys(model for model, _ in values)
    ]
    return {
        "crnrr-texygen": {"headers": ["4,980 + 4,980", *TEXYGEN.values()], "rows": rows}
    }


def known_distribution_tables(runs: Sequence[Run]) -> dict[str, Table]:
    """Return Table 1: the range over draws of the weights beside the published
    bounds.
    """
    values = by_task(runs)["crnrr-synthetic"]
    published = published_rows("table1")
    rows: list[list[str]] = []
    metrics = [
        *(f"BS-{n}" for n in (1, 2, 3)),
        *(f"BS-{n} rate" for n in (1, 2, 3)),
        *(f"CN-{n}" for n in (1, 2, 3)),
    ]
    for metric in [*metrics, "LL-SE", "CR-NRR", "LL-NRR", "CR-SE"]:
        ranges: list[str] = []
        for sigma in ("0.5", "1", "2"):
            found = [
                values[f"sigma {sigma}, weights {k}", f"text-space-qdisc({metric})"]
                for k in range(3)
            ]
            ends = (
                0.0 if abs(end) < ROUNDING else end for end in (min(found), max(found))
            )
            ranges.append(" … ".join(dict.fromkeys(map(digits, ends))))
        rows.append([f"{metric}, ours", *ranges])
        if metric.startswith("BS"):
            name = metric.removesuffix(" rate")
            measure = "DRate_pct" if metric.endswith("rate") else "QDisc"
            columns = [f"{measure}_s{sigma}" for sigma in ("0.5", "1.0", "2.0")]
            rows.append(
                [
                    "published",
                    *(published_text(published[name], column) for column in columns),
                ]
            )
    return {"crnrr-table1": {"headers": ["", "sigma 0.5", "1", "2"], "rows": rows}}


def frontier_runs() -> list[Run]:
    """Run the real distributions of both frontier studies, with the exact gain of
    quality at their diversity.
    """
    runs: list[Run] = []
    for study, oracle in (
        ("toy", {"sigma": "uniform", "vocabulary": 20, "length": 1}),
        ("frontiers", {"sigma": 1.0}),
    ):
        metrics = [
            {"text-space": {"sigma": oracle["sigma"], "seed": 0}},
            {"text-space-qdisc": {"orders": []}},
        ]
        models = [{"lstm-oracle": {"label": "P", "seed": 0, **oracle}}]
        runs.append(
            api.evaluate(f"studies/crnrr-{study}", models=models, metrics=metrics)
        )
    return runs


def frontier_tables(runs: Sequence[Run]) -> dict[str, Table]:
    """Return the quality of P and that of the frontier at its diversity,
    for four pairs.
    """
    rows: list[list[str]] = []
    for pair in ("LL-SE", "CR-NRR", "LL-NRR", "CR-SE"):
        cells = [pair]
        for values in by_task(runs).values():
            quality = values["P", f"text-space({pair.partition('-')[0]})"]
            cells.append(
                f"{quality:.4f}, "
                f"{quality + values['P', f'text-space-qdisc({pair})']:.4f}"
            )
        rows.append(cells)
    return {
        "crnrr-frontiers": {
            "headers": ["", "toy: P, frontier", "oracle: P, frontier"],
            "rows": rows,
        }
    }


def curve_tables(runs: Sequence[Run]) -> dict[str, Table]:
    """Return the gain by step of the ascent, measures along Q ~ P^beta, and
    log-probabilities by rank.
    """
    values = by_task(runs)
    published = published_rows("table1")
    oracles = values["crnrr-oracles"]
    powers = values["crnrr-powers"]
    gains: list[list[str]] = []
    for sigma, n in itertools.product(("0.5", "1", "2"), (1, 2)):
        metrics = [
            *(f"text-space-qdisc(BS-{n} step {step})" for step in STEPS),
            f"text-space-qdisc(BS-{n})",
        ]
        bound = published_number(published[f"BS-{n}"], f"QDisc_s{float(sigma)}")
        gains.append(
            [
                f"BS-{n}, sigma {sigma}",
                *(f"{oracles[f'sigma {sigma}', metric]:.4f}" for metric in metrics),
                f"{bound:.4f}",
            ]
        )

    along = [
        [
            name,
            *(
                f"{powers[f'beta {beta:g}', f'text-space({name})']:.4f}"
                for beta in BETAS
            ),
        ]
        for name in ("BLEU-2", "NSBLEU-2", "CR-2", "NRR-2", "CND-1", "CND-2", "CND-3")
    ]

    ranks = [
        [
            f"sigma {sigma}",
            *(
                f"{oracles[f'sigma {sigma}', f'text-space(log Q {r})']:.2f}"
                for r in RANKS
            ),
        ]
        for sigma in ("0.5", "1", "2")
    ]

    return {
        "crnrr-figure5": {
            "headers": ["step", *map(str, STEPS), "largest", "published bound"],
            "rows": gains,
        },
        "crnrr-figure6": {
            "headers": ["beta", *(f"{beta:g}" for beta in BETAS)],
            "rows": along,
        },
        "crnrr-figure7": {"headers": ["rank", *map(str, RANKS)], "rows": ranks},
    }


def temperature_tables(runs: Sequence[Run]) -> dict[str, Table]:
    """Return metrics of both corpora by temperature, and of real text."""
    tables: dict[str, Table] = {}
    for run in runs:
        values = {
            (record.metric, lookup(record, "decoding.temperature")): record.value
            for record in run.records
            if record.model == "RNNLM"
        }
        real = {
            record.metric: record.value
            for record in run.records
            if record.model == "real text"
        }
        temperatures = sorted({temperature for _, temperature in values})
        rows = [
            [
                name,
                *(digits(values[metric, t]) for t in temperatures),
                digits(real[metric]),
            ]
            for metric, name in SAMPLED.items()
        ]
        tables[run.provenance.task] = {
            "headers": ["t", *map(str, temperatures), "real text"],
            "rows": rows,
        }
    return tables


STUDIES: dict[
    str, tuple[Callable[[], list[Run]], Callable[[Sequence[Run]], dict[str, Table]]]
] = {
    "crnrr-table2": (
        lambda: api.evaluate_all("studies/crnrr-table2"),
        real_text_tables,
    ),
    "crnrr-sizes": (size_runs, size_tables),
    "crnrr-texygen": (
        lambda: api.evaluate_all("studies/crnrr-texygen"),
        texygen_tables,
    ),
    "crnrr-ranking": (ranking_runs, ranking_tables),
    "crnrr-table1": (
        lambda: api.evaluate_all("studies/crnrr-synthetic"),
        known_distribution_tables,
    ),
    "crnrr-frontiers": (frontier_runs, frontier_tables),
    "crnrr-curves": (lambda: api.evaluate_all("studies/crnrr-curves"), curve_tables),
}
"""Study -> function that runs it, and its tables."""
