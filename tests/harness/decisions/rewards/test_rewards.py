"""The reward object: scores, credits, combinations, baselines, scales,
captions as token ids, and mistakes.
"""

from __future__ import annotations

import logging
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harness
from caption_kernels.scorers import CiderD
from harness.decisions.rewards import reward_object
from harness.errors import HarnessError

REFERENCES = {
    "1": [
        "a dog runs",
        "the dog",
        "a brown dog runs in the park",
        "dog",
        "two dogs run",
    ],
    "2": ["a cat sat", "one cat", "a black cat sits", "cats"],
    "3": ["a bird", "a bird sings"],
}
IDS = ["1", "2", "3", "1"]
CAPTIONS = ["a dog runs", "a cat", "", "the dog in the park"]
GROUPS = [["a dog runs", "dogs", "a dog in the park"], ["a cat", "cats sit", "a"]]


@pytest.mark.parametrize("name", ["ciderd", "cider", "meteor", "bleu", "rouge"])
def test_scores_are_those_of_the_metric_under_the_references_of_all_examples(
    name: str,
) -> None:
    reward = harness.reward(name, REFERENCES)
    candidates = {"1": ["a dog runs"], "2": ["a cat"], "3": [""]}
    expected = harness.score(
        candidates, REFERENCES, name, bootstrap=0, allow_empty=True
    )[name if name != "bleu" else "bleu4"].per_example
    scores = reward(IDS[:3], CAPTIONS[:3])
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, expected, atol=1e-6)
    np.testing.assert_allclose(
        reward.group(["1", "1"], [["a dog runs"], ["dogs"]])[0], scores[:1]
    )


def test_metric_and_references_may_be_named() -> None:
    named = harness.reward(references=REFERENCES, metric="ciderd")
    np.testing.assert_array_equal(
        named(IDS, CAPTIONS), harness.reward("ciderd", REFERENCES)(IDS, CAPTIONS)
    )


def test_a_combination_adds_weighted_scores_and_credits() -> None:
    weights = {"ciderd": 0.5, "trm:distance=cider": -0.5}
    both = harness.reward(weights, REFERENCES).group(["1", "2"], GROUPS)
    cider = harness.reward("ciderd", REFERENCES)
    trm = harness.reward("trm:distance=cider", REFERENCES)
    expected = cider.group(["1", "2"], GROUPS) / 2 + 0.5 * trm.group(["1", "2"], GROUPS)
    np.testing.assert_allclose(both, expected, atol=1e-6)


def test_metrics_of_sets_without_own_credits_score_again() -> None:
    credits = harness.reward("frechet:embedding=bow", REFERENCES).group(
        ["1"], GROUPS[:1]
    )[0]
    values = [
        harness.score([texts], [REFERENCES["1"]], "frechet:embedding=bow", bootstrap=0)[
            "frechet(bow)"
        ].per_example[0]
        for texts in (GROUPS[0], GROUPS[0][1:])
    ]
    assert credits[0] == pytest.approx(values[1] - values[0], abs=1e-6)
    assert np.isfinite(credits).all()


def test_baselines() -> None:
    scores = harness.reward("ciderd", REFERENCES).group(["1", "2"], GROUPS)
    greedy = harness.reward("ciderd", REFERENCES)(["1", "2"], ["a dog", "a cat"])
    given = harness.reward("ciderd", REFERENCES, baseline="greedy").group(
        ["1", "2"], GROUPS, greedy=["a dog", "a cat"]
    )
    np.testing.assert_allclose(given, scores - greedy[:, None], atol=1e-6)
    others = harness.reward("ciderd", REFERENCES, baseline="leave-one-out").group(
        ["1", "2"], GROUPS
    )
    np.testing.assert_allclose(
        others[0, 0], scores[0, 0] - scores[0, 1:].mean(), atol=1e-6
    )
    mixed = harness.reward(
        {"ciderd": 1, "trm": -1}, REFERENCES, baseline="leave-one-out"
    ).group(["1", "2"], GROUPS)
    np.testing.assert_allclose(
        mixed,
        others + harness.reward("trm", REFERENCES).group(["1", "2"], GROUPS),
        atol=1e-5,
    )


def test_an_estimated_scale_makes_scores_of_references_vary_by_one() -> None:
    (term,) = harness.reward("ciderd", REFERENCES, scale="estimated").terms
    plain = harness.reward("ciderd", REFERENCES)
    values = [
        float(plain.terms[0].values(plain.features.batch([item]), plain.features)[0, 0])
        for item in (harness_set(key, texts) for key, texts in REFERENCES.items())
    ]
    assert term.weight == pytest.approx(1 / np.std(values))
    # A metric of sets has the first half of the references as captions: 3 of 5.
    many = {
        "1": (REFERENCES["1"] * 5)[:5],
        "2": [*REFERENCES["2"], "a mat", "the red cat", "two cats sit"][:5],
    }
    (term,) = harness.reward("trm", many, scale="estimated").terms
    plain = harness.reward("trm", many)
    credits = [
        plain.terms[0].values(
            plain.features.batch([harness_set(key, texts, 3)]), plain.features
        )
        for key, texts in many.items()
    ]
    assert (
        term.weight
        == pytest.approx(
            plain.terms[0].weight / np.std(credits / np.float64(plain.terms[0].weight))
        )
        and term.weight < 0
    )


def test_the_scale_is_that_of_the_values_without_their_weight() -> None:
    (plain,), (twice,) = (
        harness.reward({"ciderd": weight}, REFERENCES, scale="estimated").terms
        for weight in (1, 2)
    )
    assert twice.weight == pytest.approx(2 * plain.weight)


def test_half_of_an_even_number_of_references_are_the_captions_of_a_scale() -> None:
    six = {
        "1": [*REFERENCES["1"], "a red cat"],
        "2": [*REFERENCES["2"], "a mat", "the red cat"],
    }
    (term,) = harness.reward("trm", six, scale="estimated").terms
    plain = harness.reward("trm", six)
    credits = [
        plain.terms[0].values(
            plain.features.batch([harness_set(key, texts, 3)]), plain.features
        )
        for key, texts in six.items()
    ]
    assert term.weight == pytest.approx(-1 / np.std(credits))


def test_the_scale_is_estimated_from_the_first_500_examples(project: Path) -> None:
    lengths = [1 + k % 3 for k in range(500)]
    references = {str(k): ["a " * count, "a"] for k, count in enumerate([*lengths, 90])}
    (term,) = harness.reward("length", references, scale="estimated").terms
    assert term.weight == pytest.approx(1 / np.std(lengths))


def test_a_deviation_of_a_billionth_is_none(project: Path) -> None:
    def scaled(longer: str) -> float:
        references = {"1": ["a", "x"], "2": [longer, "x"]}
        return (
            harness.reward("length:scale=1.0e-9", references, scale="estimated")
            .terms[0]
            .weight
        )

    assert scaled("a b c d e") == pytest.approx(1 / 2e-9)
    with pytest.raises(HarnessError, match="is constant on the references"):
        scaled("a b c")


def harness_set(key: str, texts: list[str], count: int = 1) -> Any:
    from harness.contracts import CaptionSet

    return CaptionSet(key, tuple(texts[:count]), tuple(texts[count:]))


def test_token_ids_count_the_end_as_self_critical_training_does() -> None:
    references = {"1": [[3, 4, 5], [3, 4, 6]], "2": [[7, 8], [7, 9, 8]]}
    captions = np.array([[3, 4, 5, 0, 9], [7, 8, 8, 8, 8], [0, 0, 0, 0, 0]])
    reward = harness.reward("ciderd:tokenizer=none", references, end=0, eos=True)
    ended = [
        [np.array([*tokens, 0]) for tokens in texts] for texts in references.values()
    ]
    oracle = CiderD(references=ended, token_ids=True, end=0, keep_end=True)
    expected = oracle.score(captions, [ended[0], ended[1], ended[0]])
    np.testing.assert_allclose(reward(["1", "2", "1"], captions), expected, atol=1e-6)
    cut = harness.reward("ciderd:tokenizer=none", references, end=0)
    assert cut(["1", "2", "1"], captions)[2] == 0


def test_token_ids_are_words_of_a_vocabulary_or_decoded() -> None:
    words = ["<end>", "a", "dog", "cat", "runs"]
    by_word = harness.reward("ciderd", REFERENCES, decode=words, end=0)
    decoded = harness.reward(
        "ciderd",
        REFERENCES,
        decode=lambda tokens: " ".join(words[token] for token in tokens),
        end=0,
    )
    expected = harness.reward("ciderd", REFERENCES)(["1", "2"], ["a dog runs", "a cat"])
    for reward in (by_word, decoded):
        np.testing.assert_array_equal(
            reward(["1", "2"], np.array([[1, 2, 4, 0], [1, 3, 0, 0]])), expected
        )
        np.testing.assert_array_equal(
            reward(["1", "2"], [[1, 2, 4], np.array([1, 3])]), expected
        )


def test_threads_and_other_processes_get_the_same_digits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reward = harness.reward(
        {"ciderd": 1, "trm:distance=cider": -1, "self-cider": 0.5}, REFERENCES
    )
    expected = reward.group(["1", "2"], GROUPS)
    copy = pickle.loads(pickle.dumps(reward))
    np.testing.assert_array_equal(copy.group(["1", "2"], GROUPS), expected)
    # texts are dropped before nearly every call
    monkeypatch.setattr(reward_object, "MAX_TEXTS", 3)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: reward.group(["1", "2"], GROUPS), range(20)):
            np.testing.assert_array_equal(found, expected)


def test_references_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "references.json"
    path.write_text('{"1": ["a dog runs", "the dog"], "2": ["a cat sat", "one cat"]}')
    found = harness.reward("ciderd", path)(["1", 2], ["a dog runs", "a cat"])
    np.testing.assert_allclose(found, [4.366, 2.627], atol=1e-3)
    path.unlink()


def test_a_metric_that_reads_no_references_needs_none(project: Path) -> None:
    code = project / "mine_parts.py"
    code.write_text(
        code.read_text().replace(
            "higher_is_better=True)", "higher_is_better=True, needs=frozenset())"
        )
    )
    assert list(
        harness.reward("mine/length")(["1", "new"], ["a dog", "a dog runs"])
    ) == [2.0, 3.0]


def test_a_set_reward_alone_says_what_exploits_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        harness.reward({"trm:distance=cider": -1, "ciderd": 1}, REFERENCES)
        assert not caplog.messages
        harness.reward("trm:distance=cider", REFERENCES)
    assert "random strings get a higher value than true captions" in caplog.text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: harness.reward("vendi:embedding=bow", REFERENCES),
            "vendi:embedding=bow reads the captions alone",
        ),
        (
            lambda: harness.reward("self-cider", REFERENCES),
            "self-cider reads the captions alone",
        ),
        (lambda: harness.reward("cidre", REFERENCES), "did you mean 'cider'"),
        (
            lambda: harness.reward("corpus-vendi", REFERENCES),
            "is not one metric of captions or of sets",
        ),
        (
            lambda: harness.reward("trm", REFERENCES, distance=["cider", "bleu"]),
            "'trm' is not one metric of captions or of sets",
        ),
        (lambda: harness.reward("ciderd", {}), "there are no examples"),
        (lambda: harness.reward("ciderd", {"1": []}), "an example has none"),
        (lambda: harness.reward("ciderd"), "ciderd needs references"),
        (
            lambda: harness.reward("ciderd", [["a dog"]]),
            "expected a mapping from ids to texts, or a file",
        ),
        (
            lambda: harness.reward("ciderd", REFERENCES).group(["1"], ["a dog"]),
            "a text in the place of a group",
        ),
        (
            lambda: harness.reward("ciderd", REFERENCES)(["1"], "a dog"),
            "1 id but 5 groups",
        ),
        (lambda: harness.reward({}, REFERENCES), "no metric"),
        (
            lambda: harness.reward({"ciderd": float("nan")}, REFERENCES),
            "the weight of ciderd is nan; higher is better",
        ),
        (
            lambda: harness.reward({"ciderd": "1"}, REFERENCES),
            "the weight of ciderd is '1'; higher is better",
        ),
        (
            lambda: harness.reward({"ciderd": 0}, REFERENCES),
            "the weight of ciderd is 0; higher is better, so expected a number above 0",
        ),
        (
            lambda: harness.reward({"ciderd": float("inf")}, REFERENCES),
            "the weight of ciderd is inf; higher is better",
        ),
        (
            lambda: harness.reward({"trm": 0.5}, REFERENCES),
            "the weight of trm is 0.5; lower is better, so expected a number below 0",
        ),
        (
            lambda: harness.reward({"ciderd": 1}, REFERENCES, df="given"),
            "belongs to one metric; write it as NAME:PARAMETER=VALUE",
        ),
        (
            lambda: harness.reward("ciderd", REFERENCES, baseline="mean"),
            "baseline is 'mean'",
        ),
        (
            lambda: harness.reward("trm", REFERENCES, baseline="leave-one-out"),
            "would bias the gradient",
        ),
        (
            lambda: harness.reward("ciderd", REFERENCES, scale="mean"),
            "scale is 'mean'; expected 'none' or 'estimated'",
        ),
        (
            lambda: harness.reward(
                "ciderd", {"1": ["a dog"], "2": ["a cat"]}, scale="estimated"
            ),
            "needs examples of 2 references",
        ),
        (
            lambda: harness.reward("trm", {"2": REFERENCES["2"]}, scale="estimated"),
            "the estimate of trm needs examples of 5 references",
        ),
        (
            lambda: harness.reward(
                "ciderd", {"1": ["a", "b"], "2": ["c", "d"]}, scale="estimated"
            ),
            "is constant on the references",
        ),
        (
            lambda: harness.reward("meteor", REFERENCES, eos=True),
            "does not count the end of a sentence",
        ),
        (
            lambda: harness.reward("ciderd", REFERENCES, decode=["a", "b"])(
                ["1"], [[-1, 0]]
            ),
            "expected a text, or known token ids",
        ),
        (
            lambda: harness.reward("ciderd", REFERENCES, decode=len)(["1"], [[1]]),
            "decode: the caption is the number 1",
        ),
        (
            lambda: harness.reward("ciderd", REFERENCES)(["1x"], ["a"]),
            "no references of example '1x'",
        ),
        (
            lambda: harness.reward("ciderd", REFERENCES)(["1"], ["a", "b"]),
            "1 id but 2 groups",
        ),
        (
            lambda: harness.reward("ciderd", REFERENCES)(["1", "2"], ["a", [0.5]]),
            "captions: item 1",
        ),
        (
            lambda: harness.reward("ciderd", REFERENCES, decode=["a"])(["1"], [[7]]),
            "expected a text, or known token ids",
        ),
        (
            lambda: harness.reward("ciderd", REFERENCES)(["1"], ["a"], greedy=["a"]),
            "for baseline='greedy' and no other",
        ),
        (
            lambda: harness.reward("ciderd", REFERENCES, baseline="greedy")(
                ["1"], ["a"]
            ),
            "for baseline='greedy' and no other",
        ),
        (
            lambda: harness.reward("ciderd", REFERENCES, baseline="leave-one-out")(
                ["1"], ["a"]
            ),
            "expected at least 2",
        ),
        (
            lambda: harness.reward(
                "ciderd", REFERENCES, baseline="leave-one-out"
            ).group(["1"], [["a"]]),
            "expected at least 2",
        ),
        (
            lambda: harness.reward("trm", REFERENCES)(["1"], ["a"]),
            "trm has no value for 1 caption without one of them",
        ),
        (
            lambda: harness.reward("trm", REFERENCES).group(["1"], [["a"]]),
            "trm has no value for 1 caption without one of them",
        ),
        (
            lambda: harness.reward("trm", REFERENCES).group(
                ["1", "2"], [["a", "b"], ["a"]]
            ),
            "groups of 1 and of 2 captions",
        ),
        (
            lambda: harness.reward("trm", REFERENCES).group(
                ["1"], [["a", "b"], ["a", "b"]]
            ),
            "1 id but 2 groups",
        ),
    ],
)
def test_a_mistake_is_one_line(call: Any, message: str) -> None:
    with pytest.raises(HarnessError) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_documented_values_of_empty_captions_and_equal_groups() -> None:
    assert harness.reward("ciderd", REFERENCES)(["1"], [""]).tolist() == [0.0]
    equal = harness.reward("ciderd", REFERENCES, baseline="leave-one-out").group(
        ["1"], [["a dog"] * 3]
    )
    assert equal.tolist() == [[0.0, 0.0, 0.0]]
    # Self-CIDEr is undefined
    empty = harness.reward({"ciderd": 1, "self-cider": 1}, REFERENCES).group(
        ["1"], [["", "", ""]]
    )
    assert empty.tolist() == [[0.0, 0.0, 0.0]]
    assert harness.reward("ciderd", REFERENCES)([], []).shape == (0,)
    assert harness.reward("ciderd", REFERENCES).scores([], []).shape == (0, 1)
