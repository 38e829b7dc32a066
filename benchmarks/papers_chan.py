"""Statements of Chan et al. 2022, "Distribution Aware Metrics for Conditional Natural
Language Generation", as functions of stored results, specs and printed numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np

from benchmarks.caption_detail import DETAILS
from benchmarks.papers_stored import (
    LEVEL,
    Clause,
    Finding,
    Stored,
    Test,
    cannot_tell,
    decide,
    less,
    monotone,
    near,
    printed,
    same,
    settings,
    shown,
    statement,
)

PAPER = "chan2022"
STUDIES = "studies"
RECIPE = f"{STUDIES}/recipes/tvt.yaml"
PUBLISHED_SETTINGS = {
    "epochs": "epochs",
    "batch size": "batch",
    "hidden dimension": "width",
    "encoder layers": "encoder_layers",
    "decoder layers": "decoder_layers",
    "attention heads per layer": "heads",
    "dropout": "dropout",
    "learning rate": "learning_rate",
}
"""Setting of TVT in the paper -> key of the recipe."""


def models_of(spec: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the models of a spec, as names of adapters with their parameters."""
    return [next(iter(model.items())) for model in spec["models"]]


def distances_of(points: np.ndarray) -> np.ndarray:
    """Return Euclidean distances (n, n) of points (n, d)."""
    return np.linalg.norm(points[:, None] - points[None], axis=-1)


def rank_of_enumerated_triangles(distances: np.ndarray, n: int) -> float:
    """Return Q by equations 2 to 4, from all directed triangles with two points in one
    set and one in the other.
    """
    size = len(distances)
    in_first = [k < n for k in range(size)]
    counts = np.zeros(3)
    for a, b, c in permutations(range(size), 3):
        # one triangle for each ordered same-set pair and third point
        if in_first[a] != in_first[b] or in_first[a] == in_first[c]:
            continue
        edge = distances[a, b]
        others = sorted((distances[a, c], distances[b, c]))
        counts[int(edge > others[0]) + int(edge > others[1])] += 1
    return float(np.abs(counts / counts.sum() - 1 / 3).sum())


@statement(PAPER, "figure1")
def figure1(stored: Stored) -> Finding:
    """Samples of VLP are near one centre of the references."""
    return cannot_tell(
        "the ten samples of the published VLP for the image, or the BLEU of them"
    )


@statement(PAPER, "figure2")
def figure2(stored: Stored) -> Finding:
    """With different distributions the same-set edge tends to be the shortest, with
    equal ones its rank is near to uniform.
    """
    from harness_metrics.trm.statistic import triangle_rank
    from harness_metrics.trm.triangles import observed_counts

    rng = np.random.default_rng(0)
    equal = np.stack([distances_of(rng.normal(size=(10, 8))) for _ in range(400)])
    counts = observed_counts(equal, 5).sum(axis=(0, 1))
    share = counts / counts.sum()
    apart = rng.normal(size=(10, 8))
    apart[5:] += 100.0
    return decide(
        near(
            "Q of two sets apart",
            float(triangle_rank(distances_of(apart), 5)),
            4 / 3,
            1e-9,
        ),
        Clause(
            "shares of the ranks of equal distributions "
            + ", ".join(f"{value:.3f}" for value in share),
            bool(np.abs(share - 1 / 3).max() < 0.02),
        ),
    )


@statement(PAPER, "figure3")
def figure3(stored: Stored) -> Finding:
    """TRM(METEOR) gains 162 % and TRM(CIDEr) 49.3 % in sensitivity."""
    table = stored.table("sensitivity/sensitivity")
    clauses: list[Clause] = []
    for metric, name in (
        ("meteor", "TRM-METEOR over METEOR"),
        ("cider", "TRM-CIDEr over CIDEr-D"),
    ):
        theirs = float(
            printed(PAPER, "figure3", "sensitivity_gain_pct", comparison=name)
        )
        found = [
            (numbers, row)
            for row in table.rows
            if row.endswith(f"gain of trm({metric}) %")
            for column in table.headers
            if table.text(row, column)
            for numbers in [table.numbers(row, column)]
        ]
        (gain, *ends), row = max(found)
        within = any(low <= theirs <= high for (_, low, high), _ in found)
        clauses.append(
            Clause(
                f"a set whose interval has the gain of {theirs:g} % for {name}: the "
                f"largest is {gain:+.0f} % ({ends[0]:.0f} … {ends[1]:.0f}; "
                f"{row.split(',')[0]})",
                within,
            )
        )
    return decide(*clauses)


@statement(PAPER, "figure4", "figureB8")
def figure4(stored: Stored) -> Finding:
    """As diversity grows from beams to nucleus samples, TRM(METEOR) and METEOR fall."""
    table = stored.table("beam-against-nucleus/beam-against-nucleus")

    def falls(metric: str) -> Clause:
        test = Test(
            table.number(metric, "difference"), table.number(metric, "paired p")
        )
        return shown(f"{metric} of nucleus samples less that of beams", test, -1)

    return decide(*map(falls, ("pairwise-bleu4", "trm(meteor)", "meteor")))


@statement(PAPER, "figure5")
def figure5(stored: Stored) -> Finding:
    """VLP is ahead of CLIPCap by TRM(METEOR) at low temperatures and behind at high
    ones; METEOR falls with the temperature.
    """
    order = stored.table("temperature-sweep/temperature-order")
    sweep = stored.table("temperature-sweep/temperature-sweep")
    return decide(
        shown(
            "TRM(METEOR) of VLP less CLIPCap at T = 0.3",
            order.test("T = 0.3", "trm(meteor)"),
            -1,
        ),
        shown("at T = 2", order.test("T = 2", "trm(meteor)"), 1),
        *(
            monotone(f"METEOR of {model}", sweep.row(f"{model}: meteor"), -1)
            for model in ("VLP", "CLIPCap")
        ),
    )


@statement(PAPER, "figure6")
def figure6(stored: Stored) -> Finding:
    """Greedy and beam search have the best METEOR and a high divergence; nucleus
    sampling tolerates higher temperatures.
    """
    tests = stored.table("search-techniques/search-order")
    values = stored.table("search-techniques/search-techniques")
    plain = "plain sampling"
    nucleus = "nucleus 0.9 and top-k 20"
    pairs = [
        f"{one} less {other}, T = 1"
        for one in ("greedy x 10", "best beam x 10")
        for other in (plain, nucleus)
    ]
    return decide(
        *(shown(f"METEOR of {pair}", tests.test(pair, "METEOR"), 1) for pair in pairs),
        *(
            shown(f"TRM(METEOR) of {pair}", tests.test(pair, "TRM(METEOR)"), 1)
            for pair in pairs
        ),
        shown(
            "TRM(METEOR) of nucleus less plain sampling at T = 1.6",
            tests.test(f"{nucleus}, T = 1.6 less {plain}, T = 1.6", "TRM(METEOR)"),
            -1,
        ),
        *(
            monotone(
                f"METEOR of {name}",
                [
                    values.number(row, "METEOR")
                    for row in values.rows
                    if row.startswith(name)
                ],
                -1,
            )
            for name in (plain, nucleus)
        ),
    )


@statement(PAPER, "text-1")
def text_1(stored: Stored) -> Finding:
    """Ten samples of VLP are ten times one caption."""
    table = stored.table("temperature-sweep/temperature-repeats")
    share = table.number("VLP", "1")
    return decide(
        Clause(
            f"scenes with ten equal samples of VLP at T = 1: {share:.2f}", share > 0.5
        )
    )


@statement(PAPER, "text-3")
def text_3(stored: Stored) -> Finding:
    """Equations 1 to 4: the statistic of enumerated triangles is that of the metric."""
    from harness_metrics.trm.statistic import triangle_rank

    rng = np.random.default_rng(0)
    largest = 0.0
    for n, m in ((1, 4), (3, 4), (5, 2)):
        distances = rng.random((n + m, n + m))
        distances = (distances + distances.T) / 2
        np.fill_diagonal(distances, 0.0)
        ours = float(triangle_rank(distances, n))
        largest = max(largest, abs(ours - rank_of_enumerated_triangles(distances, n)))
    return decide(
        Clause(
            f"largest difference from enumerated triangles {largest:.1g}",
            largest < 1e-12,
        )
    )


@statement(PAPER, "text-4")
def text_4(stored: Stored) -> Finding:
    """Harmonic means of p of people are above 0.05."""
    threshold = float(
        printed(
            PAPER,
            "text-4",
            quantity="significance threshold for calling two sets different",
        )
    )
    rows = {
        f"{cell['task']}, {cell['metric']}": cell["all"]["harmonic mean"]
        for cell in stored.cells("tableB1")
    }
    table = stored.table("other-pvalues/other-pvalues")
    for row in table.rows:
        task = row.split(",")[0]
        if "human" in task and row.endswith(": harmonic mean ± error"):
            for column in table.headers:
                if table.text(row, column):
                    rows.setdefault(f"{task}, {column}", table.number(row, column))
    name = min(rows, key=rows.__getitem__)
    return decide(
        Clause(
            f"harmonic means of {len(rows)} numbers of people, the smallest "
            f"{rows[name]:.3f} ({name}), above {threshold}",
            rows[name] > threshold,
        )
    )


@statement(PAPER, "text-A.2")
def text_a2(stored: Stored) -> Finding:
    """Sizes of the data sets."""
    videos = max(cell["n"] for cell in stored.cells("figureB1"))
    images = max(
        cell["n"] for cell in stored.cells("table1") if cell["task"].startswith("coco")
    )
    references = settings(f"{STUDIES}/parts/msrvtt-single.yaml")["references"] + 1
    row = {"dataset": "MSR-VTT"}
    return decide(
        same("videos", videos, printed(PAPER, "text-A.2", quantity="videos", **row)),
        same(
            "references of a video",
            references,
            printed(PAPER, "text-A.2", quantity="references per video", **row),
        ),
        same(
            "images",
            images,
            printed(PAPER, "text-A.2", quantity="images", dataset="MS-COCO"),
        ),
    )


@statement(PAPER, "text-A.3")
def text_a3(stored: Stored) -> Finding:
    """Training of TVT, which is on rendered scenes here."""
    recipe = settings(RECIPE)
    ours = {**recipe, **recipe["model"]}
    return decide(
        *(
            same(
                name, ours[key], printed(PAPER, "text-A.3", model="TVT", quantity=name)
            )
            for name, key in PUBLISHED_SETTINGS.items()
        )
    )


@statement(PAPER, "text-A.4")
def text_a4(stored: Stored) -> Finding:
    """Distances are 10 - CIDEr-D, 1 - METEOR and the cosine distance of MiniLM."""
    import harness
    from harness_metrics.embeddings.minilm import MiniLm

    texts = ("a dog runs on the grass", "a brown dog runs across a field of grass")

    def value(metric: Any, candidate: str, reference: str) -> float:
        (scored,) = harness.score([candidate], [[reference]], metrics=[metric]).values()
        return scored.value

    clauses: list[Clause] = []
    meteor = value("meteor", *texts)
    distance = value({"pairwise": {"distance": "meteor"}}, *texts)
    clauses.append(near("1 - METEOR", distance, 1 - meteor, 1e-9))
    vectors = MiniLm().encode(texts)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = value({"pairwise": {"distance": "bert"}}, *texts)
    clauses.append(
        near("cosine distance of MiniLM", cosine, 1 - float(unit[0] @ unit[1]), 1e-5)
    )
    for name, largest in (("meteor", 0.0), ("cider", 0.0), ("bert", 1e-6)):
        own = value({"pairwise": {"distance": name}}, texts[0], texts[0])
        clauses.append(
            near(f"distance of a text from itself by {name}", own, 0.0, largest)
        )
    far = value({"pairwise": {"distance": "cider"}}, texts[0], "two red buses")
    clauses.append(
        near("CIDEr-D distance of texts without a common word", far, 10.0, 1e-9)
    )
    return decide(*clauses)


@statement(PAPER, "text-A.5")
def text_a5(stored: Stored) -> Finding:
    """Numbers of candidates and references of Table 1, and its harmonic means."""
    cells = [
        cell for cell in stored.cells("table1") if cell["row"].startswith("people")
    ]

    def misfit(name: str) -> float:
        return float(
            np.mean([abs(cell["all"][name] - cell["published"]) for cell in cells])
        )

    def of_table1(quantity: str) -> Any:
        return printed(PAPER, "text-A.5", used_for="table1", quantity=quantity)

    coco = settings(f"{STUDIES}/parts/coco-single.yaml")["references"]
    msrvtt = settings(f"{STUDIES}/parts/msrvtt-single.yaml")["references"]
    harmonic = misfit("harmonic mean")
    arithmetic = misfit("arithmetic mean")
    return decide(
        same(
            "references on MS-COCO", coco, of_table1("references per input on MS-COCO")
        ),
        same(
            "references on MSR-VTT",
            msrvtt,
            of_table1("references per input on MSR-VTT"),
        ),
        less(
            "mean distance of harmonic means of people from the published numbers",
            harmonic,
            "that of arithmetic means",
            arithmetic,
        ),
    )


@statement(PAPER, "text-A.6")
def text_a6(stored: Stored) -> Finding:
    """The Fréchet distance as printed is that of the harness."""
    table = stored.table("equations/equations")
    row = "Fréchet, five others"
    return decide(
        near(
            "distance as printed",
            table.number(row, "as printed"),
            table.number(row, "harness"),
            5e-4,
        )
    )


@statement(PAPER, "text-A.7")
def text_a7(stored: Stored) -> Finding:
    """MMD as printed is that of the harness, and is 0 for equal sets."""
    table = stored.table("equations/equations")
    equal = table.number("MMD, the same five", "as printed")
    other = table.number("MMD, five others", "as printed")
    return decide(
        near(
            "MMD as printed of five others",
            other,
            table.number("MMD, five others", "harness"),
            5e-4,
        ),
        less("MMD as printed of equal sets", equal, "that of other sets", other),
    )


@statement(PAPER, "text-A.8")
def text_a8(stored: Stored) -> Finding:
    """Settings of Figure 6, and its remark on a wide beam."""
    spec = settings(f"{STUDIES}/search-techniques.yaml")
    decodings = {model["label"]: model["decoding"] for _, model in models_of(spec)}
    nucleus = decodings["nucleus 0.9 and top-k 20"]
    tests = stored.table("search-techniques/search-order")
    pair = "best beam x 10 less ten best beams"

    def theirs(method: str, quantity: str) -> Any:
        return printed(PAPER, "text-A.8", method=method, quantity=quantity)

    return decide(
        same(
            "descriptions of a scene",
            spec["decoding"]["candidates"],
            theirs("all", "descriptions per video"),
        ),
        same("top-p", nucleus["top_p"], theirs("nucleus", "top-p")),
        same("top-k", nucleus["top_k"], theirs("nucleus", "top-k")),
        same(
            "the best beam is repeated:",
            decodings["best beam x 10"]["options"]["repeat"],
            True,
        ),
        shown(f"METEOR of {pair}", tests.test(pair, "METEOR"), 1),
    )


@statement(PAPER, "text-B.1")
def text_b1(stored: Stored) -> Finding:
    """CLIP is almost four times as slow as MMD-BERT."""
    speed = {row["method"]: row["samples_per_sec"] for row in _rows("figureB1")}
    factor = speed["MMD-BERT"] / speed["MMD-CLIP"]
    slowdown = printed(
        PAPER, "text-B.1", quantity="slowdown of CLIP against MMD-BERT (almost)"
    )
    return cannot_tell(
        "items per second of MMD with CLIP, which needs a file of its weights "
        "(CLIP_WEIGHTS)",
        Clause(
            f"the paper's own Figure B.1 has a factor of {factor:.2f} (published "
            f"almost {slowdown})",
            abs(factor - slowdown) < 0.5,
        ),
    )


def _rows(item: str) -> Sequence[dict[str, Any]]:
    from benchmarks.papers_stored import printed_items

    return printed_items(PAPER)[item]["rows"]


def _reacts(stored: Stored, base: str) -> Finding:
    """TRM of a base metric reacts to correctness and to diversity, the base metric to
    correctness only.
    """
    tests = stored.table("unique-vs-correct/unique-vs-correct-tests")
    trm = f"TRM({base}) ↓"
    wider = "k = 10, m = 10 less k = 1, m = 10"
    diverse = tests.test(wider, f"{base} ↑")
    return decide(
        shown(
            f"{trm} with ten pools less one, all correct,", tests.test(wider, trm), -1
        ),
        *(
            shown(
                f"{trm} of correct less incorrect captions, k = {k},",
                tests.test(f"k = {k}, m = 10 less k = {k}, m = 0", trm),
                -1,
            )
            for k in (1, 10)
        ),
        *(
            shown(
                f"{base} of correct less incorrect captions, k = {k},",
                tests.test(f"k = {k}, m = 10 less k = {k}, m = 0", f"{base} ↑"),
                1,
            )
            for k in (1, 10)
        ),
        Clause(
            f"no effect of the pool on {base}: {diverse.difference:+.3f}, "
            f"p {diverse.p:.2g}",
            diverse.p >= LEVEL,
        ),
    )


@statement(PAPER, "figureB2")
def figure_b2(stored: Stored) -> Finding:
    """TRM(METEOR) reacts to both, METEOR to correctness only."""
    return _reacts(stored, "METEOR")


@statement(PAPER, "figureB3")
def figure_b3(stored: Stored) -> Finding:
    """The same of CIDEr."""
    return _reacts(stored, "CIDEr")


@statement(PAPER, "text-B.2")
def text_b2(stored: Stored) -> Finding:
    """Design of Figures B.2 and B.3."""
    spec = next(
        v
        for v in settings(f"{STUDIES}/unique-vs-correct.yaml")["variants"]
        if "when" in v
    )
    pools = [model for name, model in models_of(spec) if name == "pools"]

    def theirs(quantity: str) -> Any:
        return printed(PAPER, "text-B.2", quantity=quantity)

    (candidates,) = {pool["n"] for pool in pools}
    (held_out,) = {pool["held_out"] for pool in pools}
    return decide(
        same("candidates", candidates, theirs("candidates per trial")),
        same("references", spec["references"], theirs("references per trial")),
        same("captions of the other half", held_out, theirs("captions per half")),
        Clause("m from 0 to 10", {pool["correct"] for pool in pools} == set(range(11))),
    )


@statement(PAPER, "figureB4", "figureB5", "figureB6", "figureB7")
def figure_b4(stored: Stored) -> Finding:
    """The central caption is nearest to the others, and poor in detail."""
    tests = stored.table("central/central-tests")
    details = stored.table("central/central-detail")
    row = "coco: central by METEOR less human"
    return decide(
        shown(
            "METEOR of the central caption less that of a person",
            tests.test(row, "METEOR ↑"),
            1,
        ),
        *(
            shown(f"its number of {measure}", details.test(row, measure), -1)
            for measure in DETAILS
        ),
    )


@statement(PAPER, "text-B.4")
def text_b4(stored: Stored) -> Finding:
    """Sizes of Table B.1."""
    msrvtt = settings(f"{STUDIES}/parts/msrvtt-human.yaml")
    coco = settings(f"{STUDIES}/parts/coco-human.yaml")
    return decide(
        same(
            "captions of people on MSR-VTT",
            models_of(msrvtt)[0][1]["held_out"],
            printed(PAPER, "text-B.4", dataset="MSR-VTT", quantity="candidates"),
        ),
        same(
            "captions of people on COCO",
            models_of(coco)[0][1]["held_out"],
            printed(
                PAPER, "text-B.4", dataset="MS-COCO c40", quantity="captions per group"
            ),
        ),
    )


@statement(PAPER, "text-B.5")
def text_b5(stored: Stored) -> Finding:
    """Sizes of Table B.2."""
    part = settings(f"{STUDIES}/parts/mauve-msrvtt.yaml")
    reduced = printed(
        PAPER,
        "text-B.5",
        quantity="candidates and references of the reduced estimate (each)",
    )
    (n,) = {cell["n"] for cell in stored.cells("tableB2")}
    return decide(
        same(
            "examples",
            n,
            printed(PAPER, "text-B.5", quantity="samples used in the reduced estimate"),
        ),
        same("references", part["references"], reduced),
        same("candidates", models_of(part)[0][1]["held_out"], reduced),
    )
