"""Numbers of the test vectors: from the inputs of a case to the whole case,
by either engine.

``engine`` is ``caption_kernels_reference`` or ``caption_kernels._compiled``. What no
engine gives (weights, norms, cosines of single orders) is computed here as
``specification.md`` says, and must lead to the engine's score, bit by bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from vector_raw_texts import LEXICONS, meteor_cases, ptb_cases, stem_cases
from vector_texts import Case, Draws, ngram_cases

from caption_kernels.lexicon.file_format import finish_lexicon
from caption_kernels.lexicon.word_lists import read_lists

Engine = Any
ORDERS = 4
BETA = 1.2
SIGMA = 6.0
REPETITION = 0.8
RELATIVE_LENGTH = 0.2


def ptb_numbers(engine: Engine, case: Case) -> Case:
    """Return all tokens of a text, and the text that the metrics see."""
    tokenizer = engine.Tokenizer()
    return {
        "tokens": tokenizer.tokens_raw([case["text"]])[0],
        "result": tokenizer.tokenize([case["text"]])[0],
    }


def stem_numbers(engine: Engine, case: Case) -> Case:
    """Return the stem of a word."""
    return {"result": engine.stem([case["word"]])[0]}


def math_numbers(engine: Engine, case: Case) -> Case:
    """Return a value of log, exp or pow."""
    x = np.array([float.fromhex(case["x"][1])])
    if case["function"] == "pow":
        return {
            "result": written(float(engine.power(x, float.fromhex(case["y"][1]))[0]))
        }
    return {"result": written(float(getattr(engine, case["function"])(x)[0]))}


def written(value: float) -> list[Any]:
    """Return a number as decimal (None if JSON has none) and as hexadecimal digits."""
    return [value if math.isfinite(value) else None, value.hex()]


def bleu_numbers(engine: Engine, case: Case) -> Case:
    """Return counts and BLEU-1 to BLEU-4 of each example, and of the sums."""
    index = engine.TextIndex("none")
    sums = [0] * 10
    examples = []

    for candidate, references in zip(*_rows_of_case(engine, index, case)):
        hyp = np.array([[candidate]])
        ref = np.array([references])
        matches = engine.clip_all(index, hyp, ref)[0, 0].tolist()
        length = index.lengths(hyp[0]).tolist()[0]
        lengths = index.lengths(ref[0]).tolist()

        guesses = [max(0, length - k) for k in range(ORDERS)]
        closest = min(lengths, key=lambda other: (abs(other - length), other))
        examples.append(
            {
                "length": length,
                "reference_lengths": lengths,
                "closest": closest,
                "counts": [counts.tolist() for _, counts in index.entries(candidate)],
                "guesses": guesses,
                "matches": matches,
                "pair_matches": engine.clip_pairs(index, hyp, ref)[0, 0].tolist(),
                "bleu": _bleu(engine, matches, guesses, length, closest),
            }
        )

        sums = [
            total + more
            for total, more in zip(sums, [*matches, *guesses, length, closest])
        ]

    whole = {
        "matches": sums[:4],
        "guesses": sums[4:8],
        "length": sums[8],
        "closest": sums[9],
    }
    return {
        "examples": examples,
        "sums": whole,
        "result": _bleu(engine, sums[:4], sums[4:8], sums[8], sums[9]),
    }


def _bleu(
    engine: Engine, matches: list[int], guesses: list[int], length: int, closest: int
) -> list[float]:
    rows = [np.array([values], dtype=np.float64) for values in (matches, guesses)]
    words = [np.array([value], dtype=np.float64) for value in (length, closest)]
    return [
        float(engine.bleu_scores(*rows, *words, order)[0])
        for order in range(1, ORDERS + 1)
    ]


def rouge_numbers(engine: Engine, case: Case) -> Case:
    """Return lengths, common subsequences and ROUGE-L of each example."""
    index = engine.TextIndex("none")
    examples = []

    for candidate, references in zip(*_rows_of_case(engine, index, case, grams=False)):
        hyp = np.array([[candidate]])
        ref = np.array([references])
        length = index.lengths(hyp[0]).tolist()[0]
        lengths = index.lengths(ref[0]).tolist()
        common = engine.lcs_pairs(index, hyp, ref)[0, 0].tolist()

        precision = max(value / length for value in common)
        recall = max(value / other for value, other in zip(common, lengths))
        weight = BETA * BETA
        score = (
            (1 + weight) * precision * recall / (recall + weight * precision)
            if precision and recall
            else 0.0
        )

        examples.append(
            {
                "length": length,
                "reference_lengths": lengths,
                "lcs": common,
                "precision": precision,
                "recall": recall,
                "rouge": score,
            }
        )
    return {"examples": examples, "result": [example["rouge"] for example in examples]}


def _rows_of_case(
    engine: Engine, index: Any, case: Case, *, grams: bool = True
) -> tuple[list[int], list[list[int]]]:
    """Return the rows of candidates and references;
    those of token ids must be those of their texts.
    """
    counts = [len(references) for references in case["references"]]
    references = index.add([text for texts in case["references"] for text in texts])
    candidates = index.add(case["candidates"])
    if "tokens" in case:
        tokens = case["tokens"]
        by_tokens = [
            _token_rows(index, part, tokens)
            for part in (sum(tokens["references"], []), tokens["candidates"])
        ]
        texts = [
            text.split(" ") if text else []
            for text in (*sum(case["references"], []), *case["candidates"])
        ]
        assert [row for rows in by_tokens for row in index.texts(rows)] == [
            " ".join(words) for words in texts
        ]
        if grams:
            references, candidates = by_tokens
    if grams:
        references = index.gram_rows(references)
        candidates = index.gram_rows(candidates)
    bounds = pairwise(np.cumsum([0, *counts]).tolist())
    return candidates.tolist(), [
        references[first:last].tolist() for first, last in bounds
    ]


def _token_rows(index: Any, sequences: list[list[int]], tokens: Case) -> np.ndarray:
    starts = np.cumsum([0, *map(len, sequences)])
    flat = np.array(
        [token for sequence in sequences for token in sequence], dtype=np.int64
    )
    return index.add_tokens(flat, starts, tokens["end"], tokens["keep_end"])


def cider_numbers(engine: Engine, case: Case) -> Case:
    """Return document frequencies, idf, weights, norms, cosines, penalties and the
    three scores of each pair and example.
    """
    index = engine.TextIndex("none")
    candidates, references = _rows_of_case(engine, index, case)
    documents = len(references)
    starts = np.cumsum([0, *map(len, references)])
    frequencies = index.document_frequencies(
        np.array(sum(references, []), dtype=np.int64), starts
    )
    idf = engine.cider_idf(frequencies, float(documents))
    unseen = float(engine.cider_idf(np.zeros(1, dtype=np.int64), float(documents))[0])

    # Equal texts have one number, references first.
    numbers = {
        row: k
        for k, row in enumerate(dict.fromkeys([*sum(references, []), *candidates]))
    }
    texts = [_weigh(index, row, idf.tolist()) for row in numbers]

    lists: dict[str, list[float]] = {"cider": [], "ciderd": [], "ciderr": []}
    examples = []
    for candidate, others in zip(candidates, references):
        pairs = [
            _cider_pair(
                engine,
                index,
                idf,
                unseen,
                (candidate, other),
                texts[numbers[candidate]],
                texts[numbers[other]],
            )
            for other in others
        ]

        means = {
            name: _sum([pair[name] for pair in pairs]) / len(pairs) for name in lists
        }
        for name, value in means.items():
            lists[name].append(value)
        examples.append(
            {
                "candidate": numbers[candidate],
                "references": [numbers[other] for other in others],
                "pairs": pairs,
            }
        )

    grams = [
        [gram, df, value]
        for gram, df, value in zip(
            index.gram_texts(), frequencies.tolist(), idf.tolist()
        )
    ]
    return {
        "documents": documents,
        "grams": grams,
        "texts": texts,
        "examples": examples,
        "result": lists,
    }


def _weigh(index: Any, row: int, idf: list[float]) -> Case:
    """Return the n-grams of a text by order and first occurrence: their numbers, counts
    and weights; and the norm of each order.
    """
    entries = [(ids.tolist(), counts.tolist()) for ids, counts in index.entries(row)]
    weights = [
        [count * idf[gram] for gram, count in zip(ids, counts)]
        for ids, counts in entries
    ]
    return {
        "length": int(index.lengths(np.array([row]))[0]),
        "grams": [ids for ids, _ in entries],
        "counts": [counts for _, counts in entries],
        "weights": weights,
        "norms": [
            math.sqrt(_sum([weight * weight for weight in values]))
            for values in weights
        ],
    }


def _sum(values: Sequence[float]) -> float:
    """Return the values added one by one; ``sum`` compensates errors from Python 3.12
    on.
    """
    total = 0.0
    for value in values:
        total += value
    return total


def _cider_pair(
    engine: Engine,
    index: Any,
    idf: np.ndarray,
    unseen: float,
    rows: tuple[int, int],
    hyp: Case,
    ref: Case,
) -> Case:
    h, r = (np.array([[row]]) for row in rows)

    gap = abs(max(0, hyp["length"] - 1) - max(0, ref["length"] - 1))
    penalty = float(
        engine.power(np.array([math.e]), -(float(gap) * gap) / (2 * (SIGMA * SIGMA)))[0]
    )

    lengths = [max(1, text["length"]) for text in (hyp, ref)]
    relative = (lengths[0] - lengths[1]) / lengths[1]
    relative_penalty = float(
        engine.power(engine.exp(np.array([-(relative * relative)])), RELATIVE_LENGTH)[0]
    )

    repetition = float(engine.cider_repetition(index, h, r)[0, 0, 0])
    cosines, clipped = (
        [_cosine(hyp, ref, order, clip) for order in range(ORDERS)]
        for clip in (False, True)
    )

    cider = float(engine.cider_pairs(index, idf, unseen, h, r, False, SIGMA)[0, 0, 0])
    ciderd = float(engine.cider_pairs(index, idf, unseen, h, r, True, SIGMA)[0, 0, 0])
    without_length = float(
        engine.cider_pairs(index, idf, unseen, h, r, True, math.inf)[0, 0, 0]
    )

    # The parts that are written must give the engine's own numbers, bit by bit.
    assert cider == _sum(cosines) / ORDERS * 10
    assert ciderd == _sum([value * penalty for value in clipped]) / ORDERS * 10
    assert without_length == _sum(clipped) / ORDERS * 10

    repetition_factor = float(engine.power(np.array([repetition]), REPETITION)[0])
    return {
        "cosines": cosines,
        "clipped": clipped,
        "length_penalty": penalty,
        "relative_length_penalty": relative_penalty,
        "repetition": repetition,
        "repetition_penalty": repetition_factor,
        "cider": cider,
        "ciderd": ciderd,
        "ciderr": without_length * relative_penalty * repetition_factor,
    }


def _cosine(hyp: Case, ref: Case, order: int, clip: bool) -> float:
    other = dict(zip(ref["grams"][order], ref["weights"][order]))
    product = 0.0
    for gram, weight in zip(hyp["grams"][order], hyp["weights"][order]):
        there = other.get(gram, 0.0)
        product += (min(weight, there) if clip else weight) * there
    scale = hyp["norms"][order] * ref["norms"][order]
    return product / scale if scale else product


def meteor_numbers(engine: Engine, case: Case) -> Case:
    """Return words, statistics and scores of each pair, the best reference of each
    example, and the score of the corpus.
    """
    lexicon = _lexicon(engine, case["lexicon"])
    texts = engine.MeteorTexts(lexicon)
    examples = []
    total = [0] * 23

    for candidate, references in zip(case["candidates"], case["references"]):
        words = engine.normalise([candidate, *references], lexicon)
        ids = texts.intern([candidate, *references])

        count = len(references)
        scores = np.zeros(count)
        statistics = np.zeros((count, 23), dtype=np.int32)
        bounds = np.array([0, count], dtype=np.int64)
        places = np.arange(1, count + 1, dtype=np.int32)
        rows = np.arange(count, dtype=np.int64)
        hyps = np.zeros(count, dtype=np.int32)
        group = np.array([0, count + 1], dtype=np.int64)

        # One group: the candidate with each of its references.
        assert (
            texts.align(
                group, ids, bounds, hyps, places, rows, 0, 1, scores, statistics
            )
            == -1
        )

        values = scores.tolist()
        assert engine.meteor_score(statistics.astype(np.float64)).tolist() == values
        best = values.index(max(values))
        addend = statistics[best].tolist()

        # A match of the whole text in one chunk has no fragmentation in the sums
        # either.
        if addend[21] == addend[0] and addend[22] == addend[1] and addend[20] == 1:
            addend[20] = 0
        total = [a + b for a, b in zip(total, addend)]

        examples.append(
            {
                "words": words[0],
                "reference_words": words[1:],
                "stems": engine.stem(words[0]),
                "statistics": statistics.tolist(),
                "scores": values,
                "best": best,
            }
        )

    corpus = float(engine.meteor_score(np.array([total], dtype=np.float64))[0])
    best_scores = [example["scores"][example["best"]] for example in examples]
    return {
        "examples": examples,
        "sums": total,
        "corpus": corpus,
        "result": best_scores,
    }


@lru_cache(maxsize=8)
def _lexicon(engine: Engine, name: str) -> Any:
    table = engine.ParaphraseReader()
    lists = LEXICONS[name]
    table.feed(
        "".join(
            f"0.5\n{phrase}\n{other}\n" for phrase, other in lists["paraphrases"]
        ).encode()
    )
    names = ("function_words", "prefixes", "exceptions", "synsets")
    return engine.Lexicon(
        finish_lexicon(table, read_lists(*(lists[part].encode() for part in names)))
    )


def math_cases() -> Iterator[Case]:
    """Yield the inputs of log, exp and pow."""
    draws = Draws(5)
    edges = (
        0.0,
        -0.0,
        5e-324,
        2.0**-1022,
        1.0,
        math.nextafter(1.0, 0),
        math.nextafter(1.0, 2),
        1.7976931348623157e308,
        math.inf,
        math.nan,
        -1.0,
    )

    for function in ("log", "exp"):
        for x in edges:
            yield _math_case("special values", function, x)
    for x in (
        -745.2,
        -745.1,
        -708.4,
        -708.3,
        709.78,
        709.79,
        -746.0,
        710.0,
        -math.inf,
        1e-17,
        -1e-17,
        math.log(2),
    ):
        yield _math_case("special values", "exp", x)

    for _ in range(40):
        yield _math_case(
            "plain", "log", math.ldexp(draws.number(0.5, 1), draws.below(200) - 100)
        )
        yield _math_case("plain", "exp", draws.number(-40, 40))
        yield _math_case("plain", "pow", draws.number(0, 3), draws.number(-5, 5))

    for _ in range(20):
        yield _math_case(
            "near one", "log", 1 + draws.number(-1, 1) * 2.0 ** -draws.below(50)
        )

    for size in (*range(2, 12), 99, 113287, 5000, 40504):
        yield _math_case("document frequencies", "log", float(size))
    for order in (2, 3, 4):
        for _ in range(12):
            yield _math_case(
                "roots of BLEU", "pow", draws.number(0, 1) ** order, 1.0 / order
            )

    for gap in range(0, 40, 2):
        yield _math_case("length penalties", "pow", math.e, -(float(gap) ** 2) / 72.0)
    for _ in range(20):
        yield _math_case(
            "fragmentation", "pow", (1 + draws.below(9)) / (1 + draws.below(20)), 0.2
        )

    for x, y in (
        (0.0, 0.2),
        (0.0, -1.0),
        (1.0, math.nan),
        (2.0, 0.0),
        (-2.0, 3.0),
        (-2.0, 0.5),
        (math.inf, -2.0),
        (2.0, 1024.0),
        (2.0, -1075.0),
        (-0.0, -3.0),
        (0.5, math.inf),
    ):
        yield _math_case("special values", "pow", x, y)


def _math_case(kind: str, function: str, x: float, y: float | None = None) -> Case:
    case: Case = {"kind": kind, "function": function, "x": written(x)}
    return case if y is None else {**case, "y": written(y)}


INPUTS: dict[
    str,
    tuple[
        Callable[[], Iterator[Case]], Callable[[Engine, Case], Case], tuple[str, ...]
    ],
] = {
    "ptb": (ptb_cases, ptb_numbers, ("text",)),
    "stem": (stem_cases, stem_numbers, ("word",)),
    "math": (math_cases, math_numbers, ("function", "x", "y")),
    "bleu": (
        lambda: ngram_cases(1, 30),
        bleu_numbers,
        ("tokens", "candidates", "references"),
    ),
    "rouge": (
        lambda: ngram_cases(2, 30),
        rouge_numbers,
        ("tokens", "candidates", "references"),
    ),
    "cider": (
        lambda: ngram_cases(3, 11),
        cider_numbers,
        ("tokens", "candidates", "references"),
    ),
    "meteor": (meteor_cases, meteor_numbers, ("lexicon", "candidates", "references")),
}
"""File -> what yields the inputs of its cases, what computes their numbers,
and the names of the inputs.
"""
