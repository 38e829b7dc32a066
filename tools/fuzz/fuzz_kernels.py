"""Target that calls the compiled kernels: every function and method, with arrays that
fit its signature or fail it in one place.

An input is the seed of :data:`CALLS` calls. They share a few indexes and tables of
texts, which also live through calls that were refused. A call may return, or raise one
of :data:`REFUSALS`; the death of the process, which the parent sees, and any other
exception are findings. Without the frame of the fuzzer, for an extension under
sanitizers::

    python -m tools.fuzz.fuzz_kernels --calls 100000
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

import caption_kernels as kernels
from caption_kernels.lexicon.file_format import finish_lexicon
from caption_kernels.lexicon.word_lists import read_lists
from tools.fuzz.fuzz_target import target

CALLS = 100
"""Calls of an input."""
LONGEST = 2**40
"""Length of axes of arrays that take no memory: those without numbers,
and those of one number for all.
"""
REFUSALS = (ValueError, TypeError, IndexError, OverflowError, BufferError, MemoryError)
LIMITS = (
    -(2**63),
    -(2**31) - 1,
    -1,
    0,
    1,
    2,
    3,
    2**31 - 1,
    2**31,
    2**32,
    2**40,
    2**62,
    2**63 - 1,
)
NUMBERS = (
    *map(float, LIMITS),
    0.5,
    -0.5,
    1e-308,
    1e308,
    float("inf"),
    float("-inf"),
    float("nan"),
)
DTYPES = (
    "i8",
    "i4",
    "u1",
    "u8",
    "f8",
    "f4",
    ">i8",
    ">f8",
    "?",
    "c16",
    "O",
    "M8[s]",
    "f2",
    "i2",
)
WORDS = (
    "a",
    "dog",
    "runs",
    "the dog",
    "",
    " ",
    "in front of",
    "Mr. Fox",
    "3\u00a01/2",
    "\ud800",
    "\U0001f436s",
    "x" * 300,
    "a " * 70,
    "\0",
)
ALIENS: tuple[Any, ...] = (
    None,
    3,
    -1.5,
    "text",
    b"bytes",
    [],
    [[1, 2], [3]],
    {},
    (1, 2),
    object(),
    2**70,
    True,
    np.float64(2),
)
TABLE = b"0.5\na dog\nthe dog\n0.5\ndog\nhound\n0.5\nin front of\nbeside\n"
LISTS = (
    b"a\nthe\n",
    b"Mr\nNo #NUMERIC_ONLY#\n",
    b"dog\ndogges\n",
    b"dog\n10 20\nhound\n10\n",
)


class Session:
    """Objects of the kernels that the calls of an input share."""

    def __init__(self, rng: random.Random, longest: int = LONGEST) -> None:
        self.rng = rng
        self.longest = longest
        self.tokenizer = kernels.Tokenizer()
        self.index = kernels.TextIndex(rng.choice(["ptb", "none"]))
        self.marks = [self.index.mark()]
        self.lexicon = kernels.Lexicon(lexicon_bytes())
        self.texts = kernels.MeteorTexts(self.lexicon)
        self.texts.intern(["a dog", "the hound in front of a dog"])
        self.rows(4)

    def words(self, most: int = 5) -> list[str]:
        """Return some texts."""
        return [
            " ".join(self.rng.choices(WORDS, k=self.rng.randrange(4)))
            for _ in range(self.rng.randrange(most + 1))
        ]

    def size(self) -> int:
        """Return a small number."""
        return self.rng.choice([0, 1, 1, 2, 3, 5])

    def rows(self, *shape: int) -> np.ndarray:
        """Return rows of the index whose n-grams are counted."""
        counted = self.index.gram_rows(
            self.index.add(["a dog runs", "the dog", *self.words(2)])
        )
        return counted[self.integers(0, len(counted), *shape)]

    def integers(self, low: int, high: int, *shape: int) -> np.ndarray:
        """Return whole numbers from ``low`` to ``high`` - 1."""
        size = int(np.prod(shape))
        return np.array(
            [self.rng.randrange(low, high) for _ in range(size)], dtype=np.int64
        ).reshape(shape)

    def numbers(self, *shape: int) -> np.ndarray:
        """Return numbers, most of them ordinary."""
        size = int(np.prod(shape))
        drawn = [
            self.rng.choice(NUMBERS) if self.rng.random() < 0.05 else self.rng.random()
            for _ in range(size)
        ]
        return np.array(drawn, dtype=np.float64).reshape(shape)

    def bounds(self, limit: int) -> np.ndarray:
        """Return bounds that rise from 0 to ``limit``."""
        inner = sorted(self.rng.randrange(limit + 1) for _ in range(self.size()))
        return np.array([0, *inner, limit], dtype=np.int64)

    def labels(self, texts: int) -> np.ndarray:
        """Return relabelings (P, texts), each with a candidate and a reference where
        there are two texts.
        """
        rows = [
            [k == 0 or (k > 1 and self.rng.random() < 0.5) for k in range(texts)]
            for _ in range(self.size())
        ]
        return np.array(rows, dtype=np.uint8).reshape(len(rows), texts)


@functools.cache
def lexicon_bytes() -> bytes:
    """Return a lexicon with a few invented entries."""
    reader = kernels.ParaphraseReader()
    reader.feed(TABLE)
    return bytes(finish_lexicon(reader, read_lists(*LISTS)))


def pairs_of(session: Session) -> list[Any]:
    """Return rows of hypotheses and of references."""
    examples = session.size()
    return [
        session.rows(examples, session.size()),
        session.rows(examples, session.size()),
    ]


def call_add_tokens(session: Session) -> tuple[Any, list[Any]]:
    tokens = session.integers(0, 9, session.rng.randrange(8))
    return session.index.add_tokens, [
        tokens,
        session.bounds(len(tokens)),
        session.rng.choice([-1, 3, 2**40]),
        session.rng.random() < 0.5,
    ]


def call_document_frequencies(session: Session) -> tuple[Any, list[Any]]:
    rows = session.rows(session.size() + 2)
    return session.index.document_frequencies, [rows, session.bounds(len(rows))]


def call_rollback(session: Session) -> tuple[Any, list[Any]]:
    mark = session.rng.choice(session.marks)
    if session.rng.random() < 0.5:
        mark = tuple(
            session.rng.choice([k, k, 0, max(k - 1, 0), session.rng.choice(LIMITS)])
            for k in session.index.mark()
        )
    return session.index.rollback, [mark, session.rng.random() < 0.5]


def call_mark(session: Session) -> tuple[Any, list[Any]]:
    session.marks.append(session.index.mark())
    return session.index.mark, []


def call_state(session: Session) -> tuple[Any, list[Any]]:
    tokenizer, words, keys = session.index.__getstate__()
    target = (
        kernels.TextIndex.__new__(kernels.TextIndex)
        if session.rng.random() < 0.9
        else session.index
    )
    return restore, [target, tokenizer, words, keys]


def restore(index: Any, tokenizer: Any, words: Any, keys: Any) -> Any:
    """Call ``__setstate__`` and use the index."""
    kernels.TextIndex.__setstate__(index, (tokenizer, words, keys))
    return kernels.TextIndex.gram_texts(index)


def call_bleu_scores(session: Session) -> tuple[Any, list[Any]]:
    size = session.size()
    arrays = [
        session.numbers(size, 4),
        session.numbers(size, 4),
        session.numbers(size),
        session.numbers(size),
    ]
    return kernels.bleu_scores, [*arrays, session.rng.randrange(1, 5)]


def call_bleu_relabel(session: Session) -> tuple[Any, list[Any]]:
    texts = session.size()
    return kernels.bleu_relabel, [
        session.index,
        session.rows(session.size(), texts),
        session.labels(texts),
        session.rng.randrange(1, 5),
    ]


def call_rouge_relabel(session: Session) -> tuple[Any, list[Any]]:
    examples = session.size()
    texts = session.size()
    arrays = [
        session.integers(0, 5, examples, texts, texts),
        session.integers(0, 9, examples, texts),
        session.labels(texts),
    ]
    return kernels.rouge_relabel, [*arrays, session.rng.choice(NUMBERS)]


def call_best_relabel(session: Session) -> tuple[Any, list[Any]]:
    texts = session.size()
    return kernels.best_relabel, [
        session.numbers(session.size(), texts, texts),
        session.labels(texts),
    ]


def call_cider_pairs(session: Session) -> tuple[Any, list[Any]]:
    pairs = pairs_of(session)
    idf = session.numbers(session.rng.choice([session.index.n_grams, session.size()]))
    return kernels.cider_pairs, [
        session.index,
        idf,
        session.rng.choice(NUMBERS),
        *pairs,
        session.rng.random() < 0.5,
        session.rng.choice((6.0, *NUMBERS)),
    ]


def call_sum_law(session: Session) -> tuple[Any, list[Any]]:
    designs = session.size()
    laws = session.numbers(designs, session.rng.choice([0, 1, 2, 3, 4, 16]))
    return kernels.sum_law, [laws, session.integers(0, 9, designs)]


def call_eigenvalues(session: Session) -> tuple[Any, list[Any]]:
    size = session.rng.choice([0, 1, 2, 5, 20])
    return kernels.eigenvalues, [session.numbers(session.size(), size, size)]


def call_lexicon(session: Session) -> tuple[Any, list[Any]]:
    changed = bytearray(lexicon_bytes())
    for _ in range(session.rng.choice([0, 1, 3, 50])):
        changed[
            session.rng.randrange(len(changed) if session.rng.random() < 0.7 else 300)
        ] = session.rng.choice([0, 1, 127, 128, 255])
    return read_with, [
        changed[
            : session.rng.choice(
                [len(changed), len(changed), session.rng.randrange(len(changed))]
            )
        ]
    ]


def read_with(data: Any) -> Any:
    """Align with a lexicon whose bytes may be damaged."""
    lexicon = kernels.Lexicon(data)
    texts = kernels.MeteorTexts(lexicon)
    texts.intern(["a dog in front of Mr. Fox", "the dogges beside the hound No. 5"])
    return align(texts, *alignment([0, 1], 2))


def call_paraphrases(session: Session) -> tuple[Any, list[Any]]:
    block = bytearray(
        TABLE[: session.rng.choice([len(TABLE), session.rng.randrange(len(TABLE))])]
    )
    if block and session.rng.random() < 0.3:
        block[session.rng.randrange(len(block))] = session.rng.randrange(256)
    return read_table, [block, session.words()]


def read_table(block: Any, words: Any) -> Any:
    """Read a table of paraphrases in two blocks and return its sections;
    the table itself is gone.
    """
    reader = kernels.ParaphraseReader()
    reader.feed(block)
    reader.feed(block)
    return [section.sum() for section in reader.finish(words)[1]]


def alignment(texts: Sequence[int], groups: int) -> list[Any]:
    """Return arguments of ``align``: all pairs of positions of ``texts``,
    as ``groups`` equal groups.
    """
    size = len(texts)
    hyps, refs = np.divmod(
        np.arange(size * size, dtype=np.int32), np.int32(max(size, 1))
    )
    pairs = groups * size * size
    steps = np.arange(groups + 1, dtype=np.int64)
    tiled = [np.tile(positions.astype(np.int32), groups) for positions in (hyps, refs)]
    outputs = [np.zeros(pairs), np.zeros((pairs, 23), dtype=np.int32)]
    members = np.tile(np.array(texts, dtype=np.int64), groups)
    return [
        steps * size,
        members,
        steps * size * size,
        *tiled,
        np.arange(pairs, dtype=np.int64),
        0,
        groups,
        *outputs,
    ]


def align(texts: Any, *arguments: Any) -> Any:
    """Call ``align`` of a table of texts."""
    return kernels.MeteorTexts.align(texts, *arguments)


def call_align(session: Session) -> tuple[Any, list[Any]]:
    known = session.texts.intern(["a dog", *session.words()]).tolist()
    return align, [session.texts, *alignment(known, session.rng.randrange(3))]


Maker = Callable[[Session], tuple[Any, list[Any]]]
MAKERS: tuple[Maker, ...] = (
    call_add_tokens,
    call_document_frequencies,
    call_rollback,
    call_rollback,
    call_mark,
    call_state,
    call_bleu_scores,
    call_bleu_relabel,
    call_rouge_relabel,
    call_best_relabel,
    call_cider_pairs,
    call_sum_law,
    call_eigenvalues,
    call_lexicon,
    call_paraphrases,
    call_align,
    call_align,
    lambda session: (session.index.add, [session.words()]),
    lambda session: (session.index.gram_rows, [session.rows(session.size())]),
    lambda session: (session.index.lengths, [session.rows(session.size())]),
    lambda session: (session.index.texts, [session.rows(session.size())]),
    lambda session: (
        session.index.entries,
        [session.rng.choice([*session.rows(1).tolist(), *LIMITS])],
    ),
    lambda session: (session.index.intern_grams, [session.words()]),
    lambda session: (session.index.gram_texts, []),
    lambda session: (kernels.TextIndex, [session.rng.choice(["ptb", "none", "", "x"])]),
    lambda session: (kernels.clip_pairs, [session.index, *pairs_of(session)]),
    lambda session: (kernels.clip_all, [session.index, *pairs_of(session)]),
    lambda session: (kernels.lcs_pairs, [session.index, *pairs_of(session)]),
    lambda session: (kernels.cider_repetition, [session.index, *pairs_of(session)]),
    lambda session: (
        kernels.cider_idf,
        [session.integers(0, 70000, session.size()), session.rng.choice(NUMBERS)],
    ),
    lambda session: (session.texts.intern, [session.words()]),
    lambda session: (
        session.texts.add_rows,
        [session.index, session.rows(session.size())],
    ),
    lambda session: (
        session.texts.same_words,
        [session.integers(0, 2, session.size(), session.size())],
    ),
    lambda session: (session.texts.n_words, [session.rng.choice(LIMITS)]),
    lambda session: (kernels.normalise, [session.words(), session.lexicon]),
    lambda session: (kernels.meteor_score, [session.numbers(session.size(), 23)]),
    lambda session: (kernels.stem, [session.words()]),
    lambda session: (session.tokenizer.tokenize, [session.words()]),
    lambda session: (session.tokenizer.tokens_raw, [session.words()]),
    lambda session: (
        session.rng.choice([kernels.log, kernels.exp, kernels.sin]),
        [session.numbers(session.size(), session.size())],
    ),
    lambda session: (
        kernels.power,
        [session.numbers(session.size()), session.rng.choice(NUMBERS)],
    ),
)


def spoil(session: Session, arguments: list[Any], place: int) -> None:
    """Replace an argument by one that is wrong in one way."""
    value = arguments[place]
    if isinstance(value, np.ndarray) and session.rng.random() < 0.95:
        arguments[place] = session.rng.choice(CHANGES)(session, value)
    elif isinstance(value, int | float) and session.rng.random() < 0.8:
        arguments[place] = session.rng.choice((*LIMITS, *NUMBERS))
    else:
        arguments[place] = session.rng.choice(ALIENS)


def put_limits(session: Session, array: np.ndarray) -> np.ndarray:
    """Return a copy with some numbers at the limits of their type,
    or beyond what an array may name.
    """
    changed = array.copy()
    limits = (
        NUMBERS
        if array.dtype.kind == "f"
        else [
            k
            for k in LIMITS
            if np.iinfo(array.dtype).min <= k <= np.iinfo(array.dtype).max
        ]
    )
    for _ in range(session.rng.choice([1, 1, 2, 5])):
        if changed.size:
            changed.flat[session.rng.randrange(changed.size)] = session.rng.choice(
                limits
            )
    return changed


def shuffle(session: Session, array: np.ndarray) -> np.ndarray:
    """Return the numbers of an array in another order."""
    order = list(range(array.size))
    session.rng.shuffle(order)
    return array.ravel()[order].reshape(array.shape)


def reshape(session: Session, array: np.ndarray) -> np.ndarray:
    """Return an array of another shape: an axis is longer, shorter, missing,
    added or swapped.
    """
    axis = session.rng.randrange(max(array.ndim, 1))
    match session.rng.randrange(6):
        case 0:
            return array.ravel()
        case 1:
            return array[None]
        case 2 if array.ndim:
            return np.ascontiguousarray(
                array.take(range(max(array.shape[axis] - 1, 0)), axis=axis)
            )
        case 3 if array.ndim and array.shape[axis]:
            return np.concatenate([array, array.take([-1], axis=axis)], axis=axis)
        case 4:
            return (
                np.ascontiguousarray(np.moveaxis(array, 0, -1)) if array.ndim else array
            )
    return array[..., 0].copy() if array.ndim and array.shape[-1] else array


def empty_of_any_size(session: Session, array: np.ndarray) -> np.ndarray:
    """Return an array without numbers whose other axes may be longer than the
    memory.
    """
    shape = [
        session.rng.choice([0, 1, 2**20, session.longest]) for _ in range(array.ndim)
    ]
    if shape:
        shape[session.rng.randrange(len(shape))] = 0
    try:
        return np.empty(shape, dtype=array.dtype)
    except ValueError:
        return np.empty([0] * array.ndim, dtype=array.dtype)


def stride(session: Session, array: np.ndarray) -> np.ndarray:
    """Return the same numbers without contiguity: every second place, backwards, by
    columns, or one number for all.
    """
    if not array.size:
        return array
    match session.rng.randrange(4):
        case 0:
            return np.repeat(array, 2, axis=-1)[..., ::2]
        case 1:
            return array[..., ::-1]
        case 2:
            return np.asfortranarray(array)
    return np.broadcast_to(
        array[..., :1], (*array.shape[:-1], session.rng.choice([3, session.longest]))
    )


def misalign(session: Session, array: np.ndarray) -> np.ndarray:
    """Return the same numbers one byte off."""
    buffer = bytearray(array.nbytes + 1)
    buffer[1:] = array.tobytes()
    return np.frombuffer(buffer, dtype=array.dtype, count=array.size, offset=1).reshape(
        array.shape
    )


def retype(session: Session, array: np.ndarray) -> np.ndarray:
    """Return an array of the same shape and another type."""
    return np.zeros(array.shape, dtype=session.rng.choice(DTYPES))


def protect(session: Session, array: np.ndarray) -> np.ndarray:
    """Return a copy that cannot be written."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy


CHANGES: tuple[Callable[[Session, np.ndarray], Any], ...] = (
    put_limits,
    put_limits,
    put_limits,
    shuffle,
    reshape,
    reshape,
    empty_of_any_size,
    stride,
    misalign,
    retype,
    protect,
)


def run_calls(seed: bytes, calls: int = CALLS, longest: int = LONGEST) -> int:
    """Make the calls of a seed and return how many were refused."""
    session = Session(
        random.Random(int.from_bytes(hashlib.sha256(seed).digest())), longest
    )
    refused = 0
    with np.errstate(all="ignore"):
        for _ in range(calls):
            function, arguments = session.rng.choice(MAKERS)(session)
            spoilt = min(session.rng.choice([0, 1, 1, 2]), len(arguments))
            for place in session.rng.sample(range(len(arguments)), spoilt):
                spoil(session, arguments, place)
            try:
                function(*arguments)
            except REFUSALS:
                refused += 1
    return refused


@target(st.binary(min_size=8, max_size=8))
def kernel_calls(data: bytes, folder: Path) -> None:
    """Calls of the compiled kernels with arrays of wrong order, range, type,
    contiguity and shape.
    """
    run_calls(data[:64])


def main() -> int:
    """Make calls in this process and print their number."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--longest",
        type=int,
        default=LONGEST,
        help="longest axis; AddressSanitizer ends at an allocation that fails",
    )
    args = parser.parse_args()
    if kernels.engine != "compiled":
        raise SystemExit(
            f"the engine is '{kernels.engine}': the compiled one is to be tested"
        )

    inputs = -(-args.calls // CALLS)
    refused = sum(
        run_calls(b"%d %d" % (args.seed, number), longest=args.longest)
        for number in range(inputs)
    )

    print(
        f"{inputs * CALLS:,} calls of the kernels, {refused:,} of them refused, "
        "no other end"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
