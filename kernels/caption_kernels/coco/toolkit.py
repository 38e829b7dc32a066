"""The classes of the COCO caption toolkit (pycocoevalcap 1.2) without Java: the same
calls, return values and printed lines.

Replace ``from pycocoevalcap.eval import COCOEvalCap`` by
``from caption_kernels.coco import COCOEvalCap``; likewise for ``PTBTokenizer``,
``Bleu``, ``Meteor``, ``Rouge``, ``Cider`` and ``Spice``. Where the toolkit stops at a
bare assertion (an image without a candidate, or with two), the message says which
image; where a line break inside a caption shifts all later captions of the toolkit, it
is a blank here. METEOR needs the data of the package pycocoevalcap, SPICE needs its jar
and Java: :class:`COCOEvalCap` leaves out what is not there, with one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, Protocol

import numpy as np

from caption_kernels import MeteorTexts, TextIndex, Tokenizer, cider_idf
from caption_kernels.batches import meteor, ngram
from caption_kernels.coco.spice import Spice, Unavailable
from caption_kernels.lexicon.installed import MissingSources, installed_lexicon

Texts = Mapping[Any, list[str]]
"""Tokenised texts of each image id: the result of :meth:`PTBTokenizer.tokenize`."""


class Annotations(Protocol):
    """The members of ``pycocotools.coco.COCO`` that are used."""

    imgToAnns: Mapping[Any, list[dict[str, Any]]]

    def getImgIds(self) -> list[Any]:
        """Return the ids of all images."""
        ...


class PTBTokenizer:
    """The tokeniser of the toolkit: Penn Treebank tokens in lower case without
    punctuation.
    """

    def tokenize(
        self, captions_for_image: Mapping[Any, Sequence[Mapping[str, Any]]]
    ) -> dict[Any, list[str]]:
        """Return the tokens of each caption, joined by one blank.

        Parameters
        ----------
        captions_for_image : mapping
            Image id -> annotations, each a mapping with the key ``caption``.

        Returns
        -------
        dict
            Image id -> one string per caption, in the order given. As in the toolkit,
            an image without captions is left out.

        Examples
        --------
        >>> PTBTokenizer().tokenize({7: [{"caption": "A man's dog!"}]})
        {7: ["a man 's dog"]}
        """
        texts = [
            item["caption"].replace("\n", " ")
            for items in captions_for_image.values()
            for item in items
        ]

        tokenizer = Tokenizer()
        lines = tokenizer.tokenize(texts)

        # A full stop at the end of a line may belong to the next one, as in the
        # toolkit, which tokenises all captions as one text.
        for k, text in enumerate(texts[:-1]):
            if text.rstrip().endswith(".") and (
                lines[k].endswith(".") or texts[k + 1].lstrip()[:1].isdigit()
            ):
                lines[k] = _before_line(
                    tokenizer, text, lines[k], texts[k + 1] + " " * (k + 2 < len(texts))
                )

        remaining_lines = iter(lines)
        counted = (
            (image, len(items))
            for image, items in captions_for_image.items()
            if len(items)
        )
        return {
            image: [next(remaining_lines) for _ in range(count)]
            for image, count in counted
        }


def _before_line(tokenizer: Tokenizer, text: str, line: str, following: str) -> str:
    """Return the tokens of a text that ends in a full stop,
    as they are before another line.

    The toolkit's tokeniser reads all captions as one text: ``12th Ave S.`` ends with
    the token ``s.`` before ``a dog`` and with ``s`` before ``A dog``; ``room No.`` ends
    with ``no`` before ``a dog`` and with ``no.`` before ``12 dogs``.
    """
    alone, *after = tokenizer.tokens_raw([text, f"{text} {following[:80]}"])
    last = len(alone) - 1
    if alone[-1] != "." and after[0][: last + 2] == [*alone[:-1], alone[-1][:-1], "."]:
        return line[:-1]
    if (
        alone[-1] == "."
        and last
        and after[0][:last] == [*alone[: last - 1], alone[last - 1] + "."]
    ):
        return line + "."
    return line


class Group(NamedTuple):
    """Examples with the same number of references."""

    positions: np.ndarray
    """(B,) positions in the order of the images."""
    hyp: np.ndarray
    """(B, 1) rows of the candidates."""
    ref: np.ndarray
    """(B, m) rows of the references."""


class Corpus:
    """One candidate and the references of each image, indexed for all metrics.

    Parameters
    ----------
    gts, res : mapping
        Image id -> tokenised references; image id -> list of one tokenised candidate.
        The order of ``gts`` counts.

    Raises
    ------
    AssertionError
        As the toolkit: when the ids differ, an image has not exactly one candidate, or
        has no reference.
    """

    def __init__(self, gts: Texts, res: Texts) -> None:
        _check(gts, res)
        self.ids = list(gts)
        self.candidates = [res[image][0] for image in gts]
        self.references = list(gts.values())
        counts = np.array([len(texts) for texts in self.references], dtype=np.int64)
        self.starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.index = TextIndex("none")
        self.rows = self.index.add(self.candidates)
        self.reference_rows = self.index.add(list(chain.from_iterable(self.references)))

    def __len__(self) -> int:
        return len(self.ids)

    def groups(self, rows: np.ndarray, reference_rows: np.ndarray) -> Iterator[Group]:
        """Yield the examples by their number of references, rows from ``rows`` (N,) and
        ``reference_rows`` (all references,).
        """
        counts = np.diff(self.starts)
        for count in np.unique(counts).tolist():
            positions = np.flatnonzero(counts == count)
            columns = self.starts[positions, None] + np.arange(count)
            yield Group(positions, rows[positions, None], reference_rows[columns])


def _check(gts: Texts, res: Texts) -> None:
    if gts.keys() != res.keys():
        unmatched = [image for image in gts if image not in res] or [
            image for image in res if image not in gts
        ]
        kind = "candidate" if any(image not in res for image in gts) else "references"
        raise AssertionError(
            f"{len(unmatched)} images without {kind}, the first is {unmatched[0]!r}; "
            "score one set of images"
        )

    for image, texts in res.items():
        if not (isinstance(texts, list) and len(texts) == 1):
            raise AssertionError(
                f"image {image!r}: expected a list of one candidate, "
                f"found {_found(texts)}"
            )

    for image, texts in gts.items():
        if not (isinstance(texts, list) and texts):
            raise AssertionError(
                f"image {image!r}: expected a list of references, found {_found(texts)}"
            )


def _found(texts: object) -> str:
    return f"{len(texts)}" if isinstance(texts, list) else type(texts).__name__


class Bleu:
    """BLEU-1 to BLEU-n.

    Parameters
    ----------
    n : int
        Highest order of n-grams, 1 to 4.
    """

    def __init__(self, n: int = 4) -> None:
        if n not in (1, 2, 3, 4):
            raise ValueError(f"Bleu: n is {n!r}; expected 1, 2, 3 or 4")
        self._n = n

    def compute_score(
        self, gts: Texts, res: Texts, verbose: int = 1
    ) -> tuple[list[float], list[list[float]]]:
        """Return BLEU-1 to BLEU-n of the corpus and, for each order, of each image;
        ``verbose`` prints the counts of the corpus.
        """
        return self.score_corpus(Corpus(gts, res), verbose)

    def score_corpus(
        self, corpus: Corpus, verbose: int = 1
    ) -> tuple[list[float], list[list[float]]]:
        """Return the same of a corpus."""
        index = corpus.index
        size = len(corpus)
        gram_rows = index.gram_rows(corpus.rows)
        reference_rows = index.gram_rows(corpus.reference_rows)

        # Statistics of all images, those of equal numbers of references at once.
        matches = np.zeros((size, ngram.ORDERS), dtype=np.int64)
        closest = np.zeros(size, dtype=np.int64)
        lengths = ngram.row_lengths(index, gram_rows)
        for positions, hyp, ref in corpus.groups(gram_rows, reference_rows):
            matches[positions] = ngram.clip_at_all(index, hyp, ref)[:, 0]
            closest[positions] = ngram.closest_lengths(
                lengths[positions, None], ngram.row_lengths(index, ref)
            )[:, 0]

        guesses = ngram.count_guesses(lengths)
        if verbose > 1:
            references = np.split(
                ngram.row_lengths(index, reference_rows), corpus.starts[1:-1]
            )
            for k in range(size):
                words: dict[str, object] = {
                    "reflen": references[k].tolist(),
                    "testlen": int(lengths[k]),
                }
                print(words | self._grams(guesses[k], matches[k]), int(closest[k]))

        all_matches, all_guesses, n_words, n_reference = (
            v.sum(axis=0) for v in (matches, guesses, lengths, closest)
        )
        if verbose > 0:
            print(
                {"testlen": int(n_words), "reflen": int(n_reference)}
                | self._grams(all_guesses, all_matches)
            )
            print("ratio:", (int(n_words) + 1e-15) / (int(n_reference) + 1e-9))

        orders = range(1, self._n + 1)
        corpus_scores = [
            float(ngram.bleu(all_matches, all_guesses, n_words, n_reference, n))
            for n in orders
        ]
        return corpus_scores, [
            ngram.bleu(matches, guesses, lengths, closest, n).tolist() for n in orders
        ]

    def _grams(self, guesses: np.ndarray, matches: np.ndarray) -> dict[str, object]:
        return {
            "guess": guesses[: self._n].tolist(),
            "correct": matches[: self._n].tolist(),
        }

    def method(self) -> str:
        """Return the name that the toolkit prints."""
        return "Bleu"


class Rouge:
    """ROUGE-L with beta 1.2; precision and recall are each the largest over
    references.
    """

    def __init__(self) -> None:
        self.beta = ngram.BETA

    def calc_score(self, candidate: list[str], refs: list[str]) -> float:
        """Return ROUGE-L of a list of one tokenised candidate against tokenised
        references.
        """
        return float(self.compute_score({0: refs}, {0: candidate})[1][0])

    def compute_score(self, gts: Texts, res: Texts) -> tuple[np.float64, np.ndarray]:
        """Return the mean over images, and the score of each image, shape (N,)."""
        return self.score_corpus(Corpus(gts, res))

    def score_corpus(self, corpus: Corpus) -> tuple[np.float64, np.ndarray]:
        """Return the same of a corpus."""
        scores = np.zeros(len(corpus))
        for positions, hyp, ref in corpus.groups(corpus.rows, corpus.reference_rows):
            scores[positions] = ngram.rouge_l(corpus.index, hyp, ref)[:, 0]
        return np.float64(np.mean(scores)), scores

    def method(self) -> str:
        """Return the name that the toolkit prints."""
        return "Rouge"


class Cider:
    """CIDEr-D, with the document frequencies of the references that are scored.

    Parameters
    ----------
    test, refs : optional
        Without effect, as in the toolkit.
    n : int
        Highest order of n-grams: 4.
    sigma : float
        Width of the length penalty.
    """

    def __init__(
        self,
        test: object = None,
        refs: object = None,
        n: int = 4,
        sigma: float = ngram.SIGMA,
    ) -> None:
        if n != ngram.ORDERS:
            raise ValueError(f"Cider: n is {n!r}; expected 4")
        self._n = n
        self._sigma = sigma

    def compute_score(self, gts: Texts, res: Texts) -> tuple[np.float64, np.ndarray]:
        """Return the mean over images, and the score of each image, shape (N,),
        in [0, 10].
        """
        return self.score_corpus(Corpus(gts, res))

    def score_corpus(self, corpus: Corpus) -> tuple[np.float64, np.ndarray]:
        """Return the same of a corpus."""
        scores = cider_scores(corpus, partial(ngram.cider, sigma=self._sigma))
        return np.float64(np.mean(scores)), scores

    def method(self) -> str:
        """Return the name that the toolkit prints."""
        return "CIDEr"


def cider_scores(corpus: Corpus, pair_scores: Callable[..., np.ndarray]) -> np.ndarray:
    """Return the CIDEr of each image, shape (N,), by
    :func:`~caption_kernels.batches.ngram.cider` or another function of pairs.
    """
    index = corpus.index
    scores = np.zeros(len(corpus))
    gram_rows = index.gram_rows(corpus.rows)
    reference_rows = index.gram_rows(corpus.reference_rows)
    frequencies = index.document_frequencies(reference_rows, corpus.starts)
    idf = cider_idf(frequencies, float(len(corpus)))
    unseen = ngram.unseen_idf(len(corpus))
    for positions, hyp, ref in corpus.groups(gram_rows, reference_rows):
        pairs = pair_scores(index, idf, unseen, hyp, ref)[:, 0]
        # added one by one, as the toolkit does
        scores[positions] = np.cumsum(pairs, axis=1)[:, -1] / ref.shape[1]
    return scores


class Meteor:
    """METEOR 1.5 for English; raises :class:`MissingSources` without the data of the
    package pycocoevalcap.
    """

    def __init__(self) -> None:
        self._lexicon = installed_lexicon()

    def compute_score(self, gts: Texts, res: Texts) -> tuple[float, list[float]]:
        """Return the score of the summed statistics,
        and the score of each image with its best reference.
        """
        return self.score_corpus(Corpus(gts, res))

    def score_corpus(self, corpus: Corpus) -> tuple[float, list[float]]:
        """Return the same of a corpus."""
        texts = MeteorTexts(self._lexicon)
        refs = texts.add_rows(corpus.index, corpus.reference_rows)
        hyps = texts.add_rows(corpus.index, corpus.rows)
        for k, text in enumerate(corpus.candidates):
            if "|||" in text or "  " in text:  # as the toolkit sends it to its program
                hyps[k] = texts.intern([text.replace("|||", "").replace("  ", " ")])[0]
        best = meteor.best_aligned(
            texts, np.insert(refs, corpus.starts[:-1], hyps), corpus.starts
        )
        return meteor.corpus_score(best.statistics), best.scores.tolist()

    def method(self) -> str:
        """Return the name that the toolkit prints."""
        return "METEOR"


class COCOEvalCap:
    """Scores of captions of COCO images.

    Parameters
    ----------
    coco : pycocotools.coco.COCO
        The references.
    cocoRes : pycocotools.coco.COCO
        The candidates: ``coco.loadRes(file)``.

    Attributes
    ----------
    params : dict
        ``image_id``: the images that are scored; at first all of ``coco``.
    eval : dict
        Metric -> score of all images.
    imgToEval : dict
        Image id -> ``image_id`` and the score of each metric.
    evalImgs : list
        The values of ``imgToEval``.
    """

    def __init__(self, coco: Annotations, cocoRes: Annotations) -> None:
        self.evalImgs: list[dict[str, Any]] = []
        self.eval: dict[str, Any] = {}
        self.imgToEval: dict[Any, dict[str, Any]] = {}
        self.coco = coco
        self.cocoRes = cocoRes
        self.params: dict[str, Any] = {"image_id": coco.getImgIds()}

    def evaluate(self) -> None:
        """Score the images of ``params``, print each score, and set ``eval``,
        ``imgToEval`` and ``evalImgs``.
        """

        print("tokenization...")
        tokenizer = PTBTokenizer()
        sides = (self.coco.imgToAnns, self.cocoRes.imgToAnns)
        gts, res = (
            tokenizer.tokenize({i: side.get(i, []) for i in self.params["image_id"]})
            for side in sides
        )

        if not gts and not res:
            raise AssertionError("no image of params['image_id'] has captions")
        corpus = Corpus(gts, res)

        print("setting up scorers...")
        for make, names in (
            (Bleu, ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"]),
            (Meteor, "METEOR"),
            (Rouge, "ROUGE_L"),
            (Cider, "CIDEr"),
            (Spice, "SPICE"),
        ):
            self._add(make, names, corpus, gts, res)
        self.setEvalImgs()

    def _add(
        self,
        make: Callable[[], Any],
        names: str | list[str],
        corpus: Corpus,
        gts: Texts,
        res: Texts,
    ) -> None:
        """Compute one metric and print it; a metric that cannot run here is left out
        with one line.
        """
        try:
            scorer = make()
        except (MissingSources, Unavailable) as error:
            print(f"{names} is left out: {error}")
            return
        print(f"computing {scorer.method()} score...")
        score, scores = (
            scorer.compute_score(gts, res)
            if make is Spice
            else scorer.score_corpus(corpus)
        )

        several = isinstance(names, list)
        # the toolkit gives SPICE of unsorted ids to other images
        images = sorted(gts) if make is Spice else list(gts)
        columns = zip(score, scores, names) if several else [(score, scores, names)]
        for value, values, name in columns:
            self.setEval(value, name)
            self.setImgToEvalImgs(values, images, name)
            print(f"{name}: {value:0.3f}")

    def setEval(self, score: Any, method: str) -> None:
        """Set the score of a metric."""
        self.eval[method] = score

    def setImgToEvalImgs(self, scores: Any, imgIds: Any, method: str) -> None:
        """Set the score of a metric for each image."""
        for image, score in zip(imgIds, scores):
            self.imgToEval.setdefault(image, {"image_id": image})[method] = score

    def setEvalImgs(self) -> None:
        """Set ``evalImgs`` from ``imgToEval``."""
        self.evalImgs = list(self.imgToEval.values())
