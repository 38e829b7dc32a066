"""Each metric as one function of lists, with the signatures that
:mod:`caption_kernels_reference.certify` calls.

They are examples for other implementations, and the way to certify an installation::

    python -m caption_kernels_reference.certify \\
        caption_kernels_reference.certify.functions --tolerance 0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from caption_kernels import Lexicon, MeteorTexts, ParaphraseReader, Tokenizer
from caption_kernels import stem as _stem
from caption_kernels.batches import ngram
from caption_kernels.coco.toolkit import Bleu, Corpus, Rouge, cider_scores
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
    return Bleu().score_corpus(_corpus(candidates, references), verbose=0)[0]


def rouge(candidates: Sequence[str], references: References) -> list[float]:
    """Return ROUGE-L of each example of tokenised texts."""
    return Rouge().score_corpus(_corpus(candidates, references))[1].tolist()


def cider(candidates: Sequence[str], references: References) -> list[float]:
    """Return CIDEr of each example of tokenised texts,
    with the document frequencies of the references.
    """
    return cider_scores(
        _corpus(candidates, references), partial(ngram.cider, clip=False)
    ).tolist()


def ciderd(candidates: Sequence[str], references: References) -> list[float]:
    """Return CIDEr-D of each example of tokenised texts,
    with the document frequencies of the references.
    """
    return cider_scores(_corpus(candidates, references), ngram.cider).tolist()


def ciderr(candidates: Sequence[str], references: References) -> list[float]:
    """Return CIDEr-R of each example of tokenised texts,
    with the document frequencies of the references.
    """
    return cider_scores(_corpus(candidates, references), ngram.cider_r).tolist()


def meteor(
    candidates: Sequence[str], references: References, lexicon: Mapping[str, Any]
) -> list[float]:
    """Return METEOR 1.5 of each raw candidate with its best reference.

    Parameters
    ----------
    candidates, references : sequence
        Raw texts.
    lexicon : mapping
        ``function_words``, ``prefixes``, ``exceptions`` and ``synsets``: the content of
        the files of that name in meteor-1.5.jar; ``paraphrases``: pairs of a phrase and
        a paraphrase, in the order of the table.
    """
    from caption_kernels.batches import meteor as engine

    texts = MeteorTexts(build_lexicon(lexicon))
    statistics = engine.best_statistics(
        texts, list(zip(candidates, references, strict=True))
    )
    return engine.scores_of(statistics).tolist()


def build_lexicon(contents: Mapping[str, Any]) -> Lexicon:
    """Return a lexicon of the parts that :func:`meteor` takes."""
    table = ParaphraseReader()
    table.feed(
        "".join(
            f"1\n{phrase}\n{paraphrase}\n"
            for phrase, paraphrase in contents["paraphrases"]
        ).encode()
    )
    names = ("function_words", "prefixes", "exceptions", "synsets")
    return Lexicon(
        finish_lexicon(table, read_lists(*(contents[name].encode() for name in names)))
    )


def _corpus(candidates: Sequence[str], references: References) -> Corpus:
    """Return a corpus with the numbers of the examples as its images."""
    return Corpus(
        {k: list(texts) for k, texts in enumerate(references)},
        {k: [text] for k, text in enumerate(candidates)},
    )
