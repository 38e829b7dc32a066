"""Size and power of ``harness same`` beside other tests of two sources of answers.

    python -m benchmarks.same [--runs 400] [--null 4000] [--only size,power,until,speed]
    [--output FOLDER]

The sources are a small language model and copies of it with known changes
(:mod:`benchmarks.same_sources`). Each run draws prompts and answers without
replacement. Peers:

- *package, characters* and *package, tokens*: the rule of model-equality-testing 0.0.2
  (Gao, Liang & Guestrin, ICLR 2025), rebuilt with kernels that are computed once: MMD
  with the Hamming kernel over all prompts, labels permuted over all answers. The tests
  compare the statistic with that of the package (``tests/golden/same``).
- *lengths*: Welch's t-test of the numbers of words.
- *classifier*: logistic regression on n-grams of half of the prompts, accuracy on the
  other half against a binomial.

Goals: size at most .057 in the null runs, also with duplicates and unequal sizes; at 10
answers x 25 prompts not below the best peer by more than .05 in any row, and a median
ratio of at least 1.2 over the rows whose best peer has a power of .2 to .8, at equal
actual size; with ``--until``, where the full test has a power of at least .9, at most
60 % of the answers and a loss of at most .05; 10,000 prompts in at most 60 CPU seconds.
Exit status 1 when a goal is missed. Writes docs/studies/results/same.json, of which the
sections that are not named keep their tables; that of speed has none.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest, ttest_ind

from benchmarks.papers_results import write_results
from benchmarks.papers_rule import RESULTS
from harness.decisions.same.answer_kernels import TOKEN, Answers
from harness.decisions.same.sources import Prompt
from harness.decisions.same.statistics import Settings, evaluate
from harness.decisions.same.until import follow
from harness.stats.stratified_test import strata_of

PROMPTS = 25
ANSWERS = 10
ALPHA = 0.05
DRAWS = 299
Check = Sequence[Prompt]
Section = tuple[list[list[str]], bool]
"""Headers and rows of a table, and whether the goals are met."""


def check(
    pools: dict[str, list[list[str]]],
    name: str,
    rng: np.random.Generator,
    sizes: tuple[int, int] = (ANSWERS, ANSWERS),
    prompts: int = PROMPTS,
) -> list[Prompt]:
    """Return the prompts of one run: answers of the model, and of a source."""
    out: list[Prompt] = []
    for k in rng.choice(len(pools["model"]), prompts, replace=False):
        n, m = sizes if sizes[0] else rng.integers(1, 20, size=2)
        # no answer twice where both sources are one
        chosen = rng.choice(len(pools[name][k]), n + m, replace=False)
        out.append(
            Prompt(
                str(k),
                [pools["model"][k][j] for j in chosen[:n]],
                [pools[name][k][j] for j in chosen[n:]],
            )
        )
    return out


def package_values(prompts: Check, kernel: str, draws: np.ndarray) -> np.ndarray:
    """Return the statistic of model-equality-testing 0.0.2 for labels (P, T) of the
    answers of all prompts, shape (P,).
    """
    answers = Answers([text for p in prompts for text in (*p.a, *p.b)])
    lengths = np.array(
        [
            len(text if kernel == "characters" else tokens)
            for text, tokens in zip(answers.texts, answers.tokens)
        ]
    )
    sums = np.zeros((3, len(draws)))
    counts = np.zeros((3, len(draws)))
    for stratum in strata_of([(len(p.a), len(p.b)) for p in prompts]):
        for row in stratum.rows:
            matrix = answers.kernels([kernel], row[None])[0, 0]
            # the package pads all prompts to one length
            matrix = 1 - (1 - matrix) * lengths[row].max() / lengths.max()
            np.fill_diagonal(matrix, 0.0)
            s = draws[:, row]
            pairs = ((s, s), (1 - s, 1 - s), (s, 1 - s))
            n = s.sum(axis=1)
            m = (1 - s).sum(axis=1)
            sums += [np.einsum("pi,pi->p", x @ matrix, y) for x, y in pairs]
            counts += [n * (n - 1), m * (m - 1), n * m]
    return sums[0] / counts[0] + sums[1] / counts[1] - 2 * sums[2] / counts[2]


def package_p(prompts: Check, kernel: str, seed: int) -> float:
    """Return the p-value of the package's rule;
    labels are permuted over the answers of all prompts.
    """
    labels = np.concatenate([[1.0] * len(p.a) + [0.0] * len(p.b) for p in prompts])
    rng = np.random.default_rng(seed)
    values = package_values(
        prompts,
        kernel,
        np.stack([labels, *(rng.permutation(labels) for _ in range(DRAWS))]),
    )
    return float((values >= values[0] - 1e-12).mean())


def length_p(prompts: Check) -> float:
    """Return the p-value of Welch's t-test of the numbers of words."""
    a, b = (
        [len(TOKEN.findall(text)) for p in prompts for text in getattr(p, side)]
        for side in "ab"
    )
    result: Any = ttest_ind(a, b, equal_var=False)
    return float(result.pvalue)


def classifier_p(prompts: Check, seed: int) -> float:
    """Return the p-value of a classifier trained on half of the prompts."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    order = np.random.default_rng(seed).permutation(len(prompts))
    halves = [
        [prompts[k] for k in order[: len(order) // 2]],
        [prompts[k] for k in order[len(order) // 2 :]],
    ]
    texts = [[text for p in half for text in (*p.a, *p.b)] for half in halves]
    labels = [
        np.concatenate([[1] * len(p.a) + [0] * len(p.b) for p in half])
        for half in halves
    ]
    vectors = CountVectorizer(
        ngram_range=(1, 2), token_pattern=r"\w+|[^\w\s]", lowercase=False, min_df=2
    )
    model = LogisticRegression(max_iter=200).fit(
        vectors.fit_transform(texts[0]), labels[0]
    )
    right = int((model.predict(vectors.transform(texts[1])) == labels[1]).sum())
    return float(binomtest(right, len(labels[1]), 0.5, alternative="greater").pvalue)


def p_values(prompts: Check, seed: int) -> dict[str, float]:
    """Return the p-value of every test."""
    return {
        "harness same": evaluate(prompts, Settings(draws=DRAWS, seed=seed)).p,
        "package, characters": package_p(prompts, "characters", seed),
        "package, tokens": package_p(prompts, "tokens", seed),
        "lengths": length_p(prompts),
        "classifier": classifier_p(prompts, seed),
    }


def repeat_answers(prompts: Check, rng: np.random.Generator) -> list[Prompt]:
    """Return prompts whose second source repeats the answer before in one of four
    cases, as a cache does.
    """
    out: list[Prompt] = []
    for p in prompts:
        texts = list(p.b)
        for k in range(1, len(texts)):
            if rng.random() < 0.25:
                texts[k] = texts[k - 1]
        out.append(Prompt(p.id, p.a, texts))
    return out


def measure_size(pools: dict[str, list[list[str]]], runs: int) -> Section:
    """Print the share of null runs with p <= .05 and return the rows,
    and True where the goal is met.
    """
    short = {
        name: [[" ".join(text.split()[:2]) for text in texts] for texts in pools[name]]
        for name in pools
    }
    cases: dict[str, tuple[dict[str, list[list[str]]], tuple[int, int]]] = {
        "5 + 5": (pools, (5, 5)),
        "duplicates": (short, (5, 5)),
        "unequal sizes": (pools, (0, 0)),
        "3 + 8": (pools, (3, 8)),
    }
    fine = True
    rows = [[f"{runs:,} null runs", "share of p ≤ .05"]]
    for name, (source, sizes) in cases.items():
        found = sum(
            evaluate(
                check(source, "model", np.random.default_rng([run, 1]), sizes, 8),
                Settings(draws=99, seed=run),
            ).p
            <= ALPHA
            for run in range(runs)
        )
        low = 0.043 if name == "5 + 5" else 0.0
        fine &= low <= found / runs <= 0.057
        rows.append([name, f"{found / runs:.3f}"])
        print(
            f"size, {name}: {found / runs:.4f} of {runs} null runs (goal {low} to "
            ".057)",
            flush=True,
        )
    return rows, fine


def measure_power(pools: dict[str, list[list[str]]], runs: int) -> Section:
    """Print the power of all tests at equal actual size, and return the rows,
    and True where the goals are met.
    """
    table: list[list[str]] = []
    null: dict[str, np.ndarray] = {}
    gaps: list[float] = []
    ratios: list[float] = []
    # the model itself is the first, drawn again the second
    for name in [*list(pools)[1:], "cache repeats 1 of 4"]:
        source = name if name in pools else "the same model again"
        rows: list[dict[str, float]] = []

        for run in range(runs):
            prompts = check(pools, source, np.random.default_rng([run, 2]))
            rows.append(
                p_values(
                    prompts
                    if name in pools
                    else repeat_answers(prompts, np.random.default_rng(run)),
                    run,
                )
            )

        found = {test: np.array([row[test] for row in rows]) for test in rows[0]}
        null = null or found
        levels = {
            test: max(float(np.quantile(values, ALPHA)), 1e-9)
            for test, values in null.items()
        }

        powers = {
            test: float((values <= levels[test]).mean())
            for test, values in found.items()
        }
        table += [] if table else [[f"power, {runs} runs", *powers]]
        table.append([name, *(f"{share:.2f}" for share in powers.values())])
        print("  ".join(table[-1]), flush=True)

        best = max(share for test, share in powers.items() if test != "harness same")
        if null is not found:
            gaps.append(powers["harness same"] - best)
            ratios += [powers["harness same"] / best] if 0.2 <= best <= 0.8 else []

    median = float(np.median(ratios)) if ratios else float("nan")
    print(f"smallest difference to the best peer {min(gaps):+.3f} (goal -.05)")
    print(
        f"median ratio to the best peer {median:.2f} over {len(ratios)} rows (goal 1.2)"
    )
    return table, min(gaps) >= -0.05 and median >= 1.2


def measure_until(pools: dict[str, list[list[str]]], runs: int) -> Section:
    """Print answers and power of ``--until`` beside those of the full test, and return
    the rows, and True where the goals are met.
    """
    fine = True
    rows = [[f"{runs} runs", "found", "by the full test", "share of the answers"]]
    for name in (
        "the same model again",
        "temperature 0.8",
        "temperature 1.1",
        "at most 10 words",
        "10 % of words substituted",
    ):
        full = 0
        found = 0
        used = []
        for run in range(runs):
            prompts = check(pools, name, np.random.default_rng([run, 3]), (20, 20))
            full += evaluate(prompts, Settings(draws=DRAWS, seed=run)).p <= ALPHA
            batches = list(follow(prompts, 1, Settings(draws=DRAWS, seed=run)))
            found += batches[-1].e >= 1 / ALPHA
            used.append(batches[-1].answers / (40 * PROMPTS))
        rows.append(
            [name, f"{found / runs:.2f}", f"{full / runs:.2f}", f"{np.mean(used):.2f}"]
        )
        print(
            f"until, {name}: power {found / runs:.2f}, full {full / runs:.2f}; "
            f"answers {np.mean(used):.2f} of all",
            flush=True,
        )
        if full / runs >= 0.9:
            fine &= bool(np.mean(used) <= 0.6 and full / runs - found / runs <= 0.05)
    return rows, fine


def measure_speed(pools: dict[str, list[list[str]]]) -> Section:
    """Print the CPU time of 10,000 prompts of 10 + 10 answers with 1,000 relabelings,
    and return True where the goal is met.
    """
    texts = [text for answers in pools["model"] for text in answers]
    rng = np.random.default_rng(0)
    chosen = rng.integers(len(texts), size=(10_000, 20, 2))
    answers = [[f"{texts[i]} {texts[j]}" for i, j in row] for row in chosen]
    prompts = [Prompt(str(k), row[:10], row[10:]) for k, row in enumerate(answers)]
    start = time.process_time()
    evaluate(prompts, Settings(draws=1000))
    seconds = time.process_time() - start
    print(f"speed: {seconds:.1f} CPU s (goal 60)")
    return [], seconds <= 60


def main() -> int:
    """Print the sections and return the exit status."""
    from benchmarks.same_sources import pools as make_pools

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--null", type=int, default=4000)
    parser.add_argument("--only", default="size,power,until,speed")
    parser.add_argument(
        "--output", type=Path, default=RESULTS, help="folder of the file"
    )
    args = parser.parse_args()
    pools = make_pools()
    file = args.output / "same.json"
    tables: dict[str, Any] = (
        json.loads(file.read_text(encoding="utf-8"))["tables"] if file.is_file() else {}
    )
    sections: dict[str, Callable[[], Section]] = {
        "size": lambda: measure_size(pools, args.null),
        "power": lambda: measure_power(pools, args.runs),
        "until": lambda: measure_until(pools, max(args.runs // 4, 20)),
        "speed": lambda: measure_speed(pools),
    }
    missed = False
    for name in args.only.split(","):
        rows, met = sections[name]()
        missed |= not met
        if rows:
            tables[f"same-{name}"] = {"headers": rows[0], "rows": rows[1:]}
            write_results(
                file, {"command": "python -m benchmarks.same", "tables": tables}
            )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
