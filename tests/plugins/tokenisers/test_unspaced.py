"""Tokens of scripts without blanks: equal to sacrebleu's,
and numbers of metrics that use them.
"""

from __future__ import annotations

import random

import pytest

import harness
from harness_metrics.tokenisers.tokens import tokenize
from harness_metrics.tokenisers.unspaced import (
    CHINESE,
    separate_characters,
    separate_chinese,
)

# The first line is a case of the kind in which every n-gram metric was 0; the others
# are of other scripts and mixed ones.
TEXTS = {
    "一只狗在草地上跑": ("一 只 狗 在 草 地 上 跑", "一 只 狗 在 草 地 上 跑"),
    "两辆BMW i3车,价:35,000元。": (
        "两 辆 BMW i3 车 , 价 : 35,000 元 。",
        "两 辆 B M W i 3 车 , 价 : 3 5 , 0 0 0 元 。",
    ),
    "犬がボールで遊んでいる": (
        "犬 がボールで 遊 んでいる",
        "犬 が ボ ー ル で 遊 ん で い る",
    ),
    "หมาวิ่ง บนหญ้า": ("หมาวิ่ง บนหญ้า", "ห ม า ว ิ ่ ง บ น ห ญ ้ า"),
    "ＡＢＣ　１２３": ("Ａ Ｂ Ｃ １ ２ ３", "Ａ Ｂ Ｃ １ ２ ３"),
    "3-1 wins... A.B": ("3 - 1 wins . . . A . B", "3 - 1 w i n s . . . A . B"),
    "\U00020000“狗”": ("\U00020000 “ 狗 ”", "\U00020000 “ 狗 ”"),
    "": ("", ""),
    " \u3000\n": ("", ""),
}
"""Text -> tokens of sacrebleu 2.6, ``zh`` and ``char``."""
CHARACTERS = (
    "ab1 9.,-!?'\"\n"
    "\t\x1f\x85\u00a0@/[`~{(:&犬猫草地上，。“”　Ａがボㄅㆠㇰ㐀"
    "\u2000\u2001\u2a6d\u2a6e\U00020000\ud800"
)
CHINESE_PAIRS = {
    "1": (["一只狗在草地上跑"], ["一只狗在草地上奔跑", "一只棕色的狗在户外跑"]),
    "2": (["一只猫坐在垫子上面"], ["一只猫坐在垫子上", "猫在垫子上"]),
    "3": (["两个人骑自行车"], ["两个人在骑自行车", "一对情侣骑着自行车"]),
    "4": (
        ["一辆红色的公交车停在路边"],
        ["一辆红色公交车停在路边", "路边停着红色的公交车"],
    ),
}
METRICS = (
    *(
        "bleu",
        "bleu1",
        "bleu2",
        "bleu3",
        "bleu4",
        "rouge",
        "cider",
        "ciderd",
        "cider-r",
        "meteor",
        "mbleu",
        "ms-jaccard",
        "self-cider",
    ),
    *(
        "reverse-perplexity",
        "corpus-bleu",
        "qdisc",
        "novelty",
        "vocabulary",
        "pairwise-bleu",
        "caption-length",
        "entropy",
        "distinct",
    ),
    *("self-bleu", "cnd", "nrr", "cr"),
)
CANDIDATES, REFERENCES = (
    {key: pair[side] for key, pair in CHINESE_PAIRS.items()} for side in (0, 1)
)


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_equal_those_that_sacrebleu_gave(text):
    assert (separate_chinese(text), separate_characters(text)) == TEXTS[text]
    assert [tokenize([text], name)[0] for name in ("zh", "characters")] == [
        *TEXTS[text]
    ]


def random_texts(number):
    draw = random.Random(3)
    return [
        "".join(draw.choice(CHARACTERS) for _ in range(draw.randrange(25)))
        for _ in range(number)
    ]


def assert_equal_tokens(texts):
    pytest.importorskip("sacrebleu")
    from sacrebleu.tokenizers.tokenizer_char import TokenizerChar
    from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

    chinese = TokenizerZh()
    characters = TokenizerChar()
    assert tokenize(texts, "zh") == [chinese(text) for text in texts]
    assert [
        text.split(" ") if text else [] for text in tokenize(texts, "characters")
    ] == [characters(text).split() for text in texts]


def test_tokens_of_random_mixed_texts_and_at_the_ends_of_all_ranges_equal_sacrebleus():
    ends = [code + step for bounds in CHINESE for code in bounds for step in (-1, 0, 1)]
    assert_equal_tokens(
        [f"a{chr(code)}b.{chr(code)}" for code in ends] + random_texts(2000)
    )


@pytest.mark.slow
def test_tokens_of_every_character_of_unicode_equal_sacrebleus():
    assert_equal_tokens([f"a{chr(code)}b" for code in range(0x110000)])


def value(metric, candidates=CANDIDATES, references=REFERENCES):
    ((_, score),) = harness.score(candidates, references, [metric]).items()
    return score.value


@pytest.mark.parametrize("tokenizer", ["zh", "characters"])
@pytest.mark.parametrize(
    ("metric", "expected"),
    # Numbers of pycocoevalcap 1.2 for the characters with blanks between them.
    [
        ("bleu1", 0.97222222216821),
        ("rouge", 0.9422228616315923),
        ("cider", 5.55096136055267),
        ("ciderd", 5.55096136055267),
    ],
)
def test_near_copies_in_chinese_have_the_numbers_of_spaced_characters(
    metric, expected, tokenizer
):
    spaced = [
        {key: [" ".join(text) for text in texts] for key, texts in side.items()}
        for side in (CANDIDATES, REFERENCES)
    ]
    found = value({metric: {"tokenizer": tokenizer}})
    assert found == value({metric: {"tokenizer": "none"}}, *spaced)
    assert found == pytest.approx(expected, rel=1e-12)


def test_the_tokeniser_is_in_the_signature_and_the_numbers_differ_from_those_of_ptb():
    ((_, score),) = harness.score(
        CANDIDATES, REFERENCES, [{"bleu1": {"tokenizer": "characters"}}]
    ).items()
    assert score.signature == "bleu|n:1|tok:characters"
    assert value("bleu1") < 1e-9


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_of_n_grams_takes_every_tokeniser(name):
    from harness.registry import current, parameters

    factory = current().load("metrics", name)
    assert parameters(factory)["tokenizer"].annotation == "TokenizerName"
    assert factory(tokenizer="zh").signature().endswith("tok:zh")
