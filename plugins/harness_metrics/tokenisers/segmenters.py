"""Words of Japanese and Chinese by the segmenters MeCab and jieba, which are extras.

``ja`` equals sacrebleu's ``ja-mecab``: MeCab with the IPA dictionary. ``zh-words`` are
jieba's words in its accurate mode, with its own dictionary. Case and punctuation are
kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from harness.errors import HarnessError, require

PACKAGES = {"ja": ("MeCab", "ipadic"), "zh-words": ("jieba",)}
"""Tokeniser -> modules that it needs."""
EXTRAS = {"ja": "mecab", "zh-words": "jieba"}
"""Tokeniser -> extra of the harness with these modules."""


def check_installed(name: str) -> None:
    """Raise :class:`MissingExtra` where a module of a segmenter is missing;
    ``name`` is ``ja`` or ``zh-words``.
    """
    for module in PACKAGES[name]:
        _module(name, module)


def segment(texts: list[str], name: str) -> list[str]:
    """Return the words of each text, joined by one blank;
    ``name`` is ``ja`` or ``zh-words``.
    """
    cut = _mecab() if name == "ja" else _jieba()
    return [" ".join(cut(text).split()) for text in texts]


def segmenter_version(name: str) -> str:
    """Return a segmenter with the version that its words depend on:
    ``ja-mecab-0.996-IPA``, ``zh-words-jieba-0.42.1``.
    """
    if name == "ja":
        return f"ja-mecab-{_tagger().version()}-IPA"
    return f"zh-words-jieba-{_module('zh-words', 'jieba').__version__}"


def _module(name: str, module: str) -> Any:
    return require(module, extra=EXTRAS[name], needed_by=f"the tokenizer '{name}'")


@cache
def _tagger() -> Any:
    """Return MeCab with the IPA dictionary, which writes words with blanks between
    them.
    """
    return _module("ja", "MeCab").Tagger(
        _module("ja", "ipadic").MECAB_ARGS + " -Owakati"
    )


def _mecab() -> Callable[[str], str]:
    """Return the function that writes a Japanese text with blanks between its words."""
    tagger = _tagger()

    def cut(text: str) -> str:
        # MeCab's text ends at its first zero byte, and the binding takes no unpaired
        # surrogate.
        readable = text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
        words = tagger.parse(readable.strip())
        if words is None:
            raise HarnessError(
                f"the tokenizer 'ja': MeCab cannot read a text of {len(text)} "
                f"characters: {text[:40]!r}"
            )
        return words

    return cut


@cache
def _jieba() -> Callable[[str], str]:
    """Return the function that writes a Chinese text with blanks between its words."""
    tokenizer = _module("zh-words", "jieba").Tokenizer()
    # The package would load, from the folder of temporary files, a dictionary that any
    # user of the machine may have put there.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True

    def cut(text: str) -> str:
        return " ".join(tokenizer.cut(text))

    return cut
