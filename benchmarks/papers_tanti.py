"""Statements of Tanti et al. 2018, "Pre-gen Metrics", as functions of stored results,
specs and printed numbers.
"""

from __future__ import annotations

from benchmarks.papers_stored import (
    Clause,
    Finding,
    Stored,
    decide,
    printed,
    same,
    settings,
    statement,
)

PAPER = "tanti2018"


def bounds_of_r2(stored: Stored) -> list[Clause]:
    """Return the clauses about the lowest R2 of the best functions of each metric."""
    found = stored.file("tanti2018")["published_table"]
    four = found["lowest_r2_of_four"]
    five = found["lowest_r2_of_five"]
    return [
        Clause(f"lowest R2 of the four best {four:.3f}, at least 0.9", four >= 0.9),
        Clause(f"of the five best {five:.3f}, above 0.8", five > 0.8),
    ]


@statement(PAPER, "figure3")
def figure3(stored: Stored) -> Finding:
    """R2 of the four best is at least 0.9, of the five best above 0.8."""
    return decide(*bounds_of_r2(stored))


@statement(PAPER, "text-3")
def text_3(stored: Stored) -> Finding:
    """The search space has 3 x 4 x 7 x 6 functions."""
    from harness_metrics.pregen.functions import NAMES, TIER1, TIER2, TIER3, TIER4

    tiers = {
        "1 (word filter)": TIER1,
        "2 (sentence score)": TIER2,
        "3 (image score)": TIER3,
        "4 (data-set score)": TIER4,
    }
    return decide(
        *(
            same(
                f"tier {tier}",
                sorted(options),
                sorted(printed(PAPER, "text-3", "options", tier=tier)),
            )
            for tier, options in tiers.items()
        ),
        same(
            "functions",
            len(set(NAMES)),
            printed(PAPER, "text-3", "count", tier="all (unique combinations)"),
        ),
    )


@statement(PAPER, "text-3.1")
def text_3_1(stored: Stored) -> Finding:
    """Models, architectures and data sets of the experiment."""
    spec = settings("studies/pregen-captioner.yaml")
    models = [model["captioner"] for model in spec["models"]]
    architectures = {model["train"]["architecture"] for model in models}

    def theirs(quantity: str) -> object:
        return printed(PAPER, "text-3.1", quantity=quantity)

    return decide(
        same("trained models", len(models), theirs("trained models")),
        same("architectures", len(architectures), theirs("architectures")),
        same("data sets", 1, theirs("data sets")),
    )


@statement(PAPER, "text-4")
def text_4(stored: Stored) -> Finding:
    """The five best functions of each metric on the published table."""
    other = stored.file("tanti2018")["published_table"]["names_that_differ"]
    return decide(Clause(f"{other} of 20 names of the lists differ", other == 0))


@statement(PAPER, "text-4-significance")
def text_4_significance(stored: Stored) -> Finding:
    """All correlations of the lists have p below 0.001."""
    p = stored.file("tanti2018")["published_table"]["largest_p"]
    return decide(
        Clause(f"largest p {p:.1g}, below 0.001", p < 0.001), *bounds_of_r2(stored)
    )
