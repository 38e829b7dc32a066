"""Words by MeCab and jieba: equal to those of sacrebleu and of the package, and the
message where one is missing.
"""

from __future__ import annotations

import builtins
import importlib

import pytest

from harness.errors import MissingExtra
from harness_metrics.tokenisers import segmenters, tokens

JAPANESE = [
    "犬が草の上を走る。",
    "2人の男性がテニスをしている",
    "A dog、犬。",
    "",
    "　\n",
    "すもももももももものうち",
]
CHINESE = [
    "一只狗在草地上奔跑",
    "两个人在骑自行车 a Dog, 3.5",
    "",
    " \n",
    "红色的公交车停在路边。",
]


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("ja", "MeCab", "mecab"),
        ("ja", "ipadic", "mecab"),
        ("zh-words", "jieba", "jieba"),
    ],
)
def test_a_missing_package_is_named_with_its_extra_before_anything_runs(
    monkeypatch, name, module, extra
):
    def import_module(wanted, package=None):
        if wanted == module:
            raise ModuleNotFoundError(f"No module named '{wanted}'", name=wanted)
        return builtins

    monkeypatch.setattr(importlib, "import_module", import_module)
    message = (
        f"^the tokenizer '{name}' needs the package '{module}', "
        f"which is not installed: pip install 'caption-harness\\[{extra}\\]'$"
    )
    with pytest.raises(MissingExtra, match=message):
        tokens.check_tokenizer(name)


@pytest.mark.slow
def test_words_of_jieba_are_those_of_the_package_and_its_version_is_in_the_signature():
    jieba = pytest.importorskip("jieba")
    assert tokens.tokenize(CHINESE[:2], "zh-words") == [
        "一只 狗 在 草地 上 奔跑",
        "两个 人 在 骑 自行车 a Dog , 3.5",
    ]
    assert tokens.tokenize(CHINESE, "zh-words") == [
        " ".join(" ".join(jieba.cut(text)).split()) for text in CHINESE
    ]
    assert tokens.signed("zh-words") == f"zh-words-jieba-{jieba.__version__}"


@pytest.mark.slow
def test_words_added_to_the_packages_own_dictionary_change_nothing():
    jieba = pytest.importorskip("jieba")
    before = tokens.tokenize(["骑自行车"], "zh-words")
    jieba.add_word("骑自行车")
    try:
        assert jieba.lcut("骑自行车") == ["骑自行车"]
        assert tokens.tokenize(["骑自行车"], "zh-words") == before == ["骑 自行车"]
    finally:
        jieba.del_word("骑自行车")


def test_words_of_mecab_are_those_of_sacrebleu_and_its_version_is_in_the_signature():
    pytest.importorskip("MeCab")
    pytest.importorskip("ipadic")
    sacrebleu = pytest.importorskip("sacrebleu.tokenizers.tokenizer_ja_mecab")
    oracle = sacrebleu.TokenizerJaMecab()
    assert tokens.tokenize(JAPANESE[:1], "ja") == ["犬 が 草 の 上 を 走る 。"]
    assert [text.split() for text in tokens.tokenize(JAPANESE, "ja")] == [
        oracle(text).split() for text in JAPANESE
    ]
    assert tokens.signed("ja") == oracle.signature()


def test_zero_bytes_and_unpaired_surrogates_do_not_end_a_japanese_text():
    pytest.importorskip("MeCab")
    pytest.importorskip("ipadic")
    assert tokens.tokenize(["犬\0猫", "犬\ud800"], "ja") == ["犬 猫", "犬 ?"]


def test_a_text_that_mecab_cannot_read_is_an_error(monkeypatch):
    class Tagger:
        def parse(self, text):
            return None

    monkeypatch.setattr(segmenters, "_tagger", Tagger)
    with pytest.raises(
        segmenters.HarnessError,
        match="^the tokenizer 'ja': MeCab cannot read a text of 3 characters: "
        "'犬が犬'$",
    ):
        segmenters.segment(["犬が犬"], "ja")
