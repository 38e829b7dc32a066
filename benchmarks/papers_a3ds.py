"""Statements of Tsvilodub & Franke 2023, "Evaluating Pragmatic Abilities of Image
Captioners on A3DS", as functions of stored results, specs and printed numbers.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from benchmarks.papers_stored import (
    Clause,
    Finding,
    Stored,
    decide,
    less,
    near,
    printed,
    same,
    settings,
    statement,
)
from harness_metrics.pragmatic.formulas import (
    contrastive_efficiency,
    discriminativity,
    optimal_discriminativity,
    relevance,
)
from harness_metrics.pragmatic.scores import evaluate
from harness_tasks.a3ds import grammar, scene, testsets

PAPER = "a3ds2023"
RED = 0
PURPLE = 8
BALL = 2
OBJECT_HUE = 2
SHAPE = 4
ROUND_UP = 0.05
"""Largest difference from a share that is printed as *around*."""


def example_pair() -> tuple[int, int]:
    """Return target and distractor of Figure 1: a red and a purple ball, and five
    features in common, of which no other one is red.
    """
    values = [3, 4, RED, 1, BALL, 3]
    target = scene.scene_id(values)
    values[OBJECT_HUE] = PURPLE
    return target, scene.scene_id(values)


def discriminativity_of(texts: list[str], mode: Any) -> np.ndarray:
    """Return d of captions of the example by the formulas or by the script."""
    target, distractor = example_pair()
    rows = [
        {"prediction": text, "target_id": target, "distractor_id": distractor}
        for text in texts
    ]
    column = (
        "binary_contrastiveness" if mode == "authors-script" else "discriminativity"
    )
    return np.asarray(evaluate(rows, mode).columns[column], float)


@statement(PAPER, "figure1")
def figure1(stored: Stored) -> Finding:
    """A caption that names the colour is contrastive, with its last word ten times
    too; one that leaves it out is not. Target and distractor differ in that colour.
    """
    repeats = int(
        printed(
            PAPER,
            "figure1",
            quantity="times the last token was repeated in the RP caption (footnote 2)",
        )
    )
    target, distractor = example_pair()
    shared = int((scene.indices([target]) == scene.indices([distractor])).sum())
    texts = [*grammar.captions(target), *grammar.captions(target, "short")]
    names = np.array(["red" in text.split() for text in texts])
    repeated = [f"{text} {' '.join([text.split()[-1]] * repeats)}" for text in texts]
    clauses = [
        same(
            "features in common",
            shared,
            printed(PAPER, "figure1", quantity="shared features of the pair"),
        )
    ]
    for mode in ("paper", "authors-script"):
        for form, captions in (
            ("as they are", texts),
            (f"last word {repeats} times more", repeated),
        ):
            d = discriminativity_of(captions, mode)
            clauses.append(
                Clause(
                    f"mode {mode}, captions {form}: d = 1 for {int(d[names].sum())} "
                    f"of the {int(names.sum())} that name the colour and for "
                    f"{int(d[~names].sum())} of {int((~names).sum())} others",
                    bool(d[names].all() and not d[~names].any()),
                )
            )
    return decide(*clauses)


@statement(PAPER, "figure2")
def figure2(stored: Stored) -> Finding:
    """RP and SP name the object redundantly rather than the background, SP more than
    RP; B names the scale in around 0.9, all else at ceiling.
    """
    table = stored.table("a3ds/a3ds-redundant")
    theirs = float(printed(PAPER, "figure2", "proportion", model="B", feature="scale"))
    object_ = ("shape", "scale", "object_hue")
    background = ("wall_hue", "floor_hue", "orientation")
    clauses: list[Clause] = []
    for model in ("RP", "SP"):
        least = min(table.number(model, name) for name in object_)
        most = max(table.number(model, name) for name in background)
        clauses.append(
            less(
                f"most named feature of the background by {model}",
                most,
                "least named one of the object",
                least,
            )
        )
    mean = {model: float(np.mean(table.row(model))) for model in ("RP", "SP")}
    others = min(
        table.number("B", name) for name in (*object_, *background) if name != "scale"
    )
    return decide(
        *clauses,
        less("mean of RP", mean["RP"], "mean of SP", mean["SP"]),
        near("scale by B", table.number("B", "scale"), theirs, ROUND_UP),
        Clause(f"other features by B at least {others:.3f}", others > 0.98),
    )


@statement(PAPER, "text-2.1")
def text_2_1(stored: Stored) -> Finding:
    """Images, feature values and captions."""
    exhaustive = len(grammar.captions(0))
    short = len(grammar.captions(0, "short"))
    millions = [scene.N_SCENES * count / 1e6 for count in (exhaustive, short)]

    def theirs(quantity: str) -> Any:
        return printed(PAPER, "text-2.1", quantity=quantity)

    bounds = [theirs(f"{kind} captions")["above"] for kind in ("exhaustive", "short")]
    return decide(
        same("images", scene.N_SCENES, theirs("images")),
        same("features", len(scene.SIZES), theirs("varied features")),
        *(
            Clause(
                f"{ours:g} million {kind} captions, above {bound / 1e6:g}",
                ours * 1e6 > bound,
            )
            for kind, ours, bound in zip(("exhaustive", "short"), millions, bounds)
        ),
    )


@statement(PAPER, "text-2.2")
def text_2_2(stored: Stored) -> Finding:
    """The four formulas, for all counts of six features."""
    wrong = 0
    cases = 0
    for z, c, common in product(range(1, 6), range(7), range(7)):
        if c > z or common > 6 - z:
            continue
        k = c + common
        cases += 1
        d = float(discriminativity(np.array(c)))
        od = float(optimal_discriminativity(np.array(c)))
        r = float(relevance(np.array(c), np.array(k), np.array(z)))
        wrong += d != float(c > 0) or od != float(c == 1)
        wrong += abs(r - (1 - (k - c) / (6 - z))) > 1e-12
        if c:
            e = float(contrastive_efficiency(np.array(c), np.array(k)))
            expected = 1.0 if k == c == 1 else 1 - (c - 1) / (k - 1)
            wrong += abs(e - expected) > 1e-12
    return decide(Clause(f"{wrong} of the scores of {cases} counts differ", wrong == 0))


@statement(PAPER, "text-2.3")
def text_2_3(stored: Stored) -> Finding:
    """Training of the shipped agents."""
    from harness_models.a3ds.training import TrainingPlan

    plan = TrainingPlan.__dataclass_fields__

    def theirs(quantity: str) -> Any:
        return printed(PAPER, "text-2.3", quantity=quantity)

    return decide(
        same("images", plan["images"].default, theirs("images behind these pairs")),
        same("hidden size", plan["hidden"].default, theirs("LSTM hidden size")),
        same(
            "projected image",
            plan["visual"].default,
            theirs("projected image features"),
        ),
    )


@statement(PAPER, "text-3-testsets")
def text_3_testsets(stored: Stored) -> Finding:
    """Test sets of three categories, and their pairs."""
    names = list(testsets.SETS)
    counts = {
        group: sum(name.startswith(f"{group}/") for name in names)
        for group in testsets.GROUPS
    }

    def theirs(quantity: str) -> Any:
        return printed(PAPER, "text-3-testsets", quantity=quantity)

    return decide(
        same(
            "sets of one feature",
            counts["one"],
            theirs("sets in the one-feature category"),
        ),
        same(
            "sets of three features",
            counts["three"],
            theirs("three-feature sets (object / background / random)"),
        ),
        same("categories", len(counts), theirs("categories")),
        same(
            "pairs of a set as shipped",
            settings("a3ds.yaml")["dataset"]["pairs"],
            theirs("image pairs per test set"),
        ),
    )


@statement(PAPER, "text-limitations")
def text_limitations(stored: Stored) -> Finding:
    """Share of exhaustive captions that end with the scale or the object colour."""
    from benchmarks.papers_checks import DISTINCT_HUES

    named = scene.phrases(DISTINCT_HUES)
    texts = grammar.captions(DISTINCT_HUES)
    ends = (named["scale"], named["object_hue"])
    share = 100 * sum(text.endswith(ends) for text in texts) / len(texts)
    theirs = printed(
        PAPER,
        "text-limitations",
        quantity="exhaustive captions whose last word is the scale or the object "
        "colour",
    )
    return decide(near("per cent", share, float(theirs), 0.5))
