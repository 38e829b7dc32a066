"""Statements of Li et al. 2020, "On the Relation between Quality-Diversity Evaluation
and Distribution-Fitting Goal in Text Generation", as functions of stored results,
specs and printed numbers.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from fractions import Fraction

import numpy as np

from benchmarks.papers_stored import (
    Clause,
    Finding,
    Stored,
    decide,
    less,
    monotone,
    near,
    printed,
    same,
    settings,
    statement,
)
from harness_tasks.text_spaces.frontier import (
    PAIRS,
    Compatibility,
    Diversity,
    Quality,
    compatibility,
    divergence,
)

PAPER = "li2020"
ROUNDED = 1e-4
"""Digits of the stored frontiers."""
NEAR = 0.05
"""Largest Self-Ratio of real text that is near a curve."""
CORPORA = ("coco", "news")


@statement(PAPER, "figure1")
def figure1(stored: Stored) -> Finding:
    """P lies on the frontier of LL-SE."""
    return decide(_on_frontier(stored, "LL-SE", on=True))


@statement(PAPER, "figure4")
def figure4(stored: Stored) -> Finding:
    """P lies below the frontiers of LL-NRR and CR-SE."""
    pairs = ("LL-NRR", "CR-SE")
    return decide(*(_on_frontier(stored, pair, on=False) for pair in pairs))


def _on_frontier(stored: Stored, pair: str, *, on: bool) -> Clause:
    """Return the clause that P is on the frontier of a pair, or below it."""
    table = stored.table("crnrr-frontiers/crnrr-frontiers")
    quality, frontier = table.numbers(pair, "toy: P, frontier")
    gap = frontier - quality
    text = f"quality of P {quality:.4f}, of the frontier of {pair} {frontier:.4f}"
    return Clause(text, abs(gap) < ROUNDED if on else gap > ROUNDED)


@statement(PAPER, "figure2")
def figure2(stored: Stored) -> Finding:
    """By trigrams real text is near the curve of CR-NRR and far from that of BLEU."""
    table = stored.table("crnrr-table2/crnrr-table2")
    clauses: list[Clause] = []
    for row in table.rows:
        corpus, _, pair = row.rpartition(": ")
        if pair == "CN-3":
            ratio = table.number(row, "Self-Ratio")
            other = table.number(f"{corpus}: BS-3", "Self-Ratio")
            name = corpus.removesuffix(": ")
            clauses += [
                Clause(
                    f"Self-Ratio of CN-3 {ratio:.3g} at most {NEAR} ({name})",
                    ratio <= NEAR,
                ),
                Clause(f"of BS-3 {other:.3g} above {NEAR}", other > NEAR),
            ]
    return decide(*clauses)


@statement(PAPER, "figure3")
def figure3(stored: Stored) -> Finding:
    """With the temperature quality falls and diversity rises; CND is least near 1."""
    clauses: list[Clause] = []
    for corpus in CORPORA:
        table = stored.table(f"trends/crnrr-temperature-{corpus}")
        # the last column is real text
        temperatures = [float(head) for head in table.headers[:-1]]
        clauses += [
            monotone(f"CR-2 ({corpus})", table.row("CR-2")[:-1], -1),
            monotone(f"NRR-2 ({corpus})", table.row("NRR-2")[:-1], 1),
        ]
        for n in (1, 2, 3):
            values = table.row(f"CND-{n}")[:-1]
            least = temperatures[int(np.argmin(values))]
            text = f"CND-{n} is least at t = {least:g} ({corpus})"
            clauses.append(Clause(text, abs(least - 1.0) <= 0.1))
    return decide(*clauses)


@statement(PAPER, "figure5")
def figure5(stored: Stored) -> Finding:
    """The ascent of BLEU-NSBLEU reaches the bounds of Table 1."""
    table = stored.table("crnrr-curves/crnrr-figure5")
    return decide(
        *(
            Clause(
                f"{row}: largest {table.number(row, 'largest'):.4f}, at least the "
                f"published {table.number(row, 'published bound'):.4f}",
                table.number(row, "largest") >= table.number(row, "published bound"),
            )
            for row in table.rows
        )
    )


@statement(PAPER, "figure6")
def figure6(stored: Stored) -> Finding:
    """Along P^beta quality rises, diversity falls, and CND is least at beta 1."""
    table = stored.table("crnrr-curves/crnrr-figure6")
    betas = [float(head) for head in table.headers]
    least = [betas[int(np.argmin(table.row(f"CND-{n}")))] for n in (1, 2, 3)]
    return decide(
        monotone("CR-2", table.row("CR-2"), 1),
        monotone("NRR-2", table.row("NRR-2"), -1),
        Clause(f"CND-1, 2, 3 are least at beta {least}", least == [1.0] * 3),
    )


@statement(PAPER, "figure7")
def figure7(stored: Stored) -> Finding:
    """Sigma 0.5 is the flattest distribution, 2 the sharpest."""
    table = stored.table("crnrr-curves/crnrr-figure7")
    spans = {
        s: table.row(f"sigma {s}")[0] - table.row(f"sigma {s}")[-1]
        for s in ("0.5", "1", "2")
    }
    return decide(
        less(
            "log-probability of the first less the last text at sigma 0.5",
            spans["0.5"],
            "at 1",
            spans["1"],
        ),
        less("at 1", spans["1"], "at 2", spans["2"]),
    )


def w0_of(found: Compatibility | None) -> float:
    """Return the weight of Theorem 3, NaN for an incompatible pair."""
    return math.nan if found is None else found.w0


@statement(PAPER, "text-4.3")
def text_4_3(stored: Stored) -> Finding:
    """Theorems 2 and 3: LL-SE and CR-NRR are compatible with a divergence, the crossed
    pairs are not.
    """
    found = {name: compatibility(p.quality, p.diversity) for name, p in PAIRS.items()}
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(20), 2)
    kl = float(np.sum(q * np.log(q / p)))
    weights = {"LL-SE": -1.0, "CR-NRR": -2.0}
    return decide(
        *(
            Clause(
                f"{name}: weight {w0_of(found[name]):g}, expected {w0:g}",
                abs(w0_of(found[name]) - w0) < 1e-6,
            )
            for name, w0 in weights.items()
        ),
        *(
            Clause(f"{name} has none", found[name] is None)
            for name in ("LL-NRR", "CR-SE")
        ),
        near("divergence of LL-SE", divergence(PAIRS["LL-SE"], q, p), kl / 2, 1e-9),
        near("of P from itself", divergence(PAIRS["CR-NRR"], p, p), 0.0, 1e-12),
    )


@statement(PAPER, "text-5.1")
def text_5_1(stored: Stored) -> Finding:
    """BLEU of texts of one word is compatible for one reference and two candidates
    only.
    """
    compatible: list[tuple[int, int]] = []
    for references in (1, 2, 3, 4):
        for candidates in (2, 3, 4):
            quality = Quality("BLEU", lambda x, r=references: 1 - (1 - x) ** r)
            diversity = Diversity(
                "NSBLEU",
                lambda x, c=candidates: -x + x * (1 - x) ** (c - 1),
                np.gradient,  # the slopes are not read by the condition
                np.gradient,
                0.0,
            )
            if compatibility(quality, diversity):
                compatible.append((references, candidates))
    expected = [
        (
            printed(
                PAPER,
                "text-5.1",
                quantity="reference-set size needed for compatibility",
            ),
            printed(
                PAPER,
                "text-5.1",
                quantity="candidate-set size needed for compatibility",
            ),
        )
    ]
    text = f"compatible sizes (references, candidates) of twelve: {compatible}"
    return decide(Clause(text, compatible == expected))


@statement(PAPER, "text-5.2")
def text_5_2(stored: Stored) -> Finding:
    """CR, NRR and CND by counting in fractions."""
    import harness

    candidates = ["a b a b c", "b a b"]
    references = ["a b c", "c a b a"]
    scored = harness.score(
        [[text] for text in candidates],
        [[text] for text in references],
        metrics=[{"cr": {"n": 2}}, {"nrr": {"n": 2}}, {"cnd": {"n": 2}}],
    )
    found = {name: result.value for name, result in scored.items()}
    q, p = (_bigram_frequencies(texts) for texts in (candidates, references))
    grams = {*q, *p}
    zero = Fraction(0)
    cr = sum(q.get(g, zero) * p.get(g, zero) for g in grams)
    nrr = -sum(value * value for value in q.values())
    cnd = sum((q.get(g, zero) - p.get(g, zero)) ** 2 for g in grams)
    psi_p = Fraction(2, 3) * sum(v * v for v in p.values()) - Fraction(1, 3) * sum(
        v * v for v in p.values()
    )
    psi_q = Fraction(2, 3) * cr + Fraction(1, 3) * nrr
    return decide(
        near("CR-2", found["cr2"], float(cr), 1e-12),
        near("NRR-2", found["nrr2"], float(nrr), 1e-12),
        near("CND-2", found["cnd2"], float(cnd), 1e-12),
        near("3 (Psi(P) - Psi(Q))", float(3 * (psi_p - psi_q)), float(cnd), 1e-12),
    )


def _bigram_frequencies(texts: list[str]) -> dict[tuple[str, str], Fraction]:
    counts = Counter(
        pair for text in texts for pair in zip(text.split(), text.split()[1:])
    )
    return {pair: Fraction(n, counts.total()) for pair, n in counts.items()}


@statement(PAPER, "text-6")
def text_6(stored: Stored) -> Finding:
    """QDisc, Self-Ratio and Ref-Ratio as defined; the span of BLEU is 1."""
    from harness_metrics.discrepancy.qdisc import curve_discrepancy

    found = curve_discrepancy([1.0, 0.7, 0.3], [-0.9, -0.5, -0.1], 0.6, -0.6)
    curve = 0.7 + (1.0 - 0.7) * 0.25
    table = stored.table("crnrr-table2/crnrr-table2")
    spans = [
        table.number(row, "QDisc") / table.number(row, "DRate")
        for row in table.rows
        if ": BS-" in row
    ]
    return decide(
        near("QDisc", found.qdisc, curve - 0.6, 1e-12),
        near("Self-Ratio", found.self_ratio, (curve - 0.6) / 0.6, 1e-12),
        near("Ref-Ratio", found.ref_ratio, (curve - 0.6) / 0.3, 1e-12),
        near("largest span of BLEU, QDisc / DRate,", max(spans), 1.0, 1e-9),
    )


@statement(PAPER, "text-6.1")
def text_6_1(stored: Stored) -> Finding:
    """Settings of the synthetic experiment."""
    from harness_tasks.text_spaces.qdisc import ascend

    spec = settings("studies/crnrr-synthetic.yaml")
    sigmas = sorted({model["lstm-oracle"]["sigma"] for model in spec["models"]})

    def theirs(quantity: str) -> object:
        return printed(PAPER, "text-6.1", quantity=quantity)

    return decide(
        same("standard deviations", sigmas, theirs("standard deviations sigma")),
        same("words", spec["dataset"]["vocabulary"], theirs("vocabulary size")),
        same("length", spec["dataset"]["length"], theirs("text length")),
        same(
            "penalty",
            inspect.signature(ascend).parameters["penalty"].default,
            theirs("penalty weight lambda"),
        ),
    )


@statement(PAPER, "text-6.2")
def text_6_2(stored: Stored) -> Finding:
    """Numbers of sentences of both corpora."""
    theirs = printed(PAPER, "text-6.2", quantity="candidate sentences per data set")
    parts = {"COCO": "coco", "the news": "news"}
    return decide(
        *(
            same(
                f"sentences of {name}",
                settings(f"studies/parts/crnrr-table2-{part}.yaml")["dataset"]["limit"],
                theirs,
            )
            for name, part in parts.items()
        )
    )


@statement(PAPER, "text-6.2-rnnlm")
def text_6_2_rnnlm(stored: Stored) -> Finding:
    """Training of the language model of Figure 3."""
    from harness_models.rnnlm.training import RnnLmRecipe

    train = settings("studies/parts/crnrr-temperature-coco.yaml")["models"][0]["rnnlm"][
        "train"
    ]
    fields = RnnLmRecipe.__dataclass_fields__

    def theirs(quantity: str) -> object:
        return printed(PAPER, "text-6.2-rnnlm", quantity=quantity)

    size = fields["size"].default
    return decide(
        same("embedding", size, theirs("embedding dimension")),
        same("hidden nodes", size, theirs("hidden nodes")),
        same("learning rate", fields["learning_rate"].default, theirs("learning rate")),
        same("epochs", train["epochs"], theirs("epochs")),
    )


@statement(PAPER, "text-G.2")
def text_g2(stored: Stored) -> Finding:
    """Filters of the corpora and numbers of sentences."""
    dataset = settings("studies/parts/crnrr-table2-coco.yaml")["dataset"]

    def theirs(quantity: str) -> object:
        return printed(PAPER, "text-G.2", dataset="MSCOCO", quantity=quantity)

    return decide(
        same(
            "least word frequency of COCO",
            dataset["min_count"],
            theirs("least word frequency kept"),
        ),
        same("greatest length", dataset["max_words"], theirs("greatest text length")),
        same("candidate sentences", dataset["limit"], theirs("candidate sentences")),
    )
