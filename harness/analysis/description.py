"""Description of a data set of captions: sizes, lengths,
vocabulary and repeated captions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

_WORD = re.compile(r"\w+(?:['’]\w+)*")


def describe_captions(references: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Return numbers that describe the references of a data set.

    Parameters
    ----------
    references : mapping
        Id of an example -> its captions; at least one caption in all.

    Returns
    -------
    dict
        Numbers of examples, captions and captions of an example; words of a caption
        (mean, quantiles 0.05, 0.5 and 0.95, largest); distinct words, without regard to
        case, and the shares of them that occur once and of all words that the thousand
        most frequent ones make; distinct captions, and the numbers of captions without
        a word, of those that repeat one of their own example, and of those that stand
        in several examples.

    Examples
    --------
    >>> numbers = describe_captions(
    ...     {"1": ["A dog runs.", "a dog runs."], "2": ["a cat", "A dog runs."]}
    ... )
    >>> (
    ...     numbers["distinct words"],
    ...     numbers["captions that repeat one of their example"],
    ...     numbers["captions of several examples"],
    ... )
    (4, 1, 3)
    """
    captions = [
        [" ".join(_WORD.findall(text.casefold())) for text in texts]
        for texts in references.values()
    ]
    everything = [text for texts in captions for text in texts]
    lengths = np.array([len(text.split()) for text in everything])
    sizes = np.array([len(texts) for texts in captions])
    words = Counter(word for text in everything for word in text.split())
    examples_with = Counter(text for texts in captions for text in set(texts))

    low, median, high = np.quantile(lengths, (0.05, 0.5, 0.95)).tolist()
    single = sum(count == 1 for count in words.values())
    frequent = sum(count for _, count in words.most_common(1000))
    repeated = sum(len(texts) - len(set(texts)) for texts in captions)
    shared = sum(examples_with[text] > 1 for text in everything)
    return {
        "examples": len(captions),
        "captions": len(everything),
        "captions of an example, mean": float(sizes.mean()),
        "captions of an example, fewest": int(sizes.min()),
        "captions of an example, most": int(sizes.max()),
        "words of a caption, mean": float(lengths.mean()),
        "words of a caption, 5 %": low,
        "words of a caption, median": median,
        "words of a caption, 95 %": high,
        "words of a caption, most": int(lengths.max()),
        "distinct words": len(words),
        "share of distinct words that occur once": single / max(len(words), 1),
        "share of the 1,000 most frequent words": frequent / max(words.total(), 1),
        "distinct captions": len(examples_with),
        "captions without a word": sum(not text for text in everything),
        "captions that repeat one of their example": repeated,
        "captions of several examples": shared,
    }
