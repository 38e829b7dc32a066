"""Each metric as one function of lists, with the signatures that :mod:`caption_kernels.certify` calls.

They are examples for other implementations, and the way to certify an installation::

    python -m caption_kernels.certify caption_kernels.certify.functions --tolerance 0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from caption_kernels import Lexicon, MeteorTexts, ParaphraseReader, TextIndex, Tokenizer, cider_idf
from caption_kernels import stem as _stem
from caption_kernels.batches import ngram
from caption_kernels.lexicon.file_format import finish_lexicon
from caption_kernels.lexicon.word_lists import read_lists

References = Sequence[Sequence[str]]


def ptb(texts: Sequence[str]) -> list[str]:
    """Return the tokens of raw texts, without punctuation, joined by one blank.

    >>> ptb(["A man's dog!"])
    ["a man 's dog"]
    """
    return Tokenizer().tokenize(texts)


def stem(words: Sequence[str]) -> list[str]:
    """Return the stems of words in lower case."""
    return _stem(words)


def bleu(candidates: Sequence[str], references: References) -> list[float]:
    """Return BLEU-1 to BLEU-4 of a corpus of tokenised texts.

    >>> [round(value, 4) for value in bleu(["a dog runs"], [["a dog ran", "the dog"]])]
    [0.6667, 0.5774, 0.0, 0.0]
    """
    index = TextIndex("none")
    sums = np.zeros(10, dtype=np.int64)
    for hyp, ref in _examples(index, candidates, references, grams=True):
        lengths = ngram.row_lengths(index, hyp)
        closest = ngram.closest_lengths(lengths, ngram.row_lengths(index, ref))
        matches = ngram.clip_at_all(index, hyp, ref)[0, 0]
        sums += np.concatenate([matches, ngram.count_guesses(lengths)[0, 0], lengths[0], closest[0]])
    return [float(ngram.bleu(sums[:4], sums[4:8], sums[8], sums[9], order)) for order in range(1, ngram.ORDERS + 1)]


def rouge(candidates: Sequence[str], references: References) -> list[float]:
    """Return ROUGE-L of each example of tokenised texts."""
    index = TextIndex("none")
    return [float(ngram.rouge_l(index, *rows)[0, 0]) for rows in _examples(index, candidates, references, grams=False)]


def cider(candidates: Sequence[str], references: References) -> list[float]:
    """Return CIDEr of each example of tokenised texts, with the document frequencies of the references."""
    return _cider(candidates, references, lambda *pairs: ngram.cider(*pairs, clip=False))


def ciderd(candidates: Sequence[str], references: References) -> list[float]:
    """Return CIDEr-D of each example of tokenised texts, with the document frequencies of the references."""
    return _cider(candidates, references, ngram.cider)


def ciderr(candidates: Sequence[str], references: References) -> list[float]:
    """Return CIDEr-R of each example of tokenised texts, with the document frequencies of the references."""
    return _cider(candidates, references, ngram.cider_r)


def meteor(candidates: Sequence[str], references: References, lexicon: Mapping[str, Any]) -> list[float]:
    """Return METEOR 1.5 of each raw candidate with its best reference.

    Parameters
    ----------
    candidates, references : sequence
        Raw texts.
    lexicon : mapping
        ``function_words``, ``prefixes``, ``exceptions`` and ``synsets``: the content of the files of that name in meteor-1.5.jar;
        ``paraphrases``: pairs of a phrase and a paraphrase, in the order of the table.
    """
    from caption_kernels.batches import meteor as engine

    texts = MeteorTexts(build_lexicon(lexicon))
    statistics = engine.best_statistics(texts, list(zip(candidates, references, strict=True)))
    return engine.scores_of(statistics).tolist()


def build_lexicon(contents: Mapping[str, Any]) -> Lexicon:
    """Return a lexicon of the parts that :func:`meteor` takes."""
    table = ParaphraseReader()
    table.feed("".join(f"1\n{phrase}\n{paraphrase}\n" for phrase, paraphrase in contents["paraphrases"]).encode())
    names = ("function_words", "prefixes", "exceptions", "synsets")
    return Lexicon(finish_lexicon(table, read_lists(*(contents[name].encode() for name in names))))


def _cider(candidates: Sequence[str], references: References, score: Callable[..., np.ndarray]) -> list[float]:
    index = TextIndex("none")
    rows = index.gram_rows(index.add([text for texts in references for text in texts]))
    starts = np.cumsum([0, *map(len, references)])
    idf = cider_idf(index.document_frequencies(rows, starts), float(len(references)))
    unseen = ngram.unseen_idf(len(references))
    pairs = [score(index, idf, unseen, *rows)[0, 0] for rows in _examples(index, candidates, references, grams=True)]
    return [float(np.cumsum(values)[-1] / len(values)) for values in pairs]  # added one by one


def _examples(
    index: TextIndex, candidates: Sequence[str], references: References, *, grams: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the rows of each example: its candidate (1, 1) and its references (1, m)."""
    out = []
    for candidate, texts in zip(candidates, references, strict=True):
        rows = index.add([candidate, *texts])
        rows = index.gram_rows(rows) if grams else rows
        out.append((rows[None, :1], rows[None, 1:]))
    return out
