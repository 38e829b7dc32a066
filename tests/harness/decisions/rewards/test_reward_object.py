"""Credits of metrics of sets: equal to scoring without each caption again,
and an unbiased gradient.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from harness import reward
from harness.contracts import Batch, CaptionSet, Features, MeanMetric, MetricSpec
from harness.decisions.rewards import reward_object
from harness.decisions.rewards.reward_term import Term
from harness.errors import HarnessError, InputError
from harness.registry import current
from harness.run.features import FeatureCache
from harness.run.score import fit_once

REFERENCES = [
    ["a dog runs", "the dog", "a brown dog runs in the park", "dog", "two dogs run"],
    ["a cat sat", "one cat", "a black cat sits", "cats", "a cat on a mat"],
]
METRICS: dict[str, tuple[str, dict[str, Any]]] = {
    "trm": ("trm", {"distance": "cider"}),
    "trm-per-direction": ("trm", {"distance": "bleu", "pooling": "per-direction"}),
    "mmd": ("mmd", {"embedding": "bow", "estimator": "unbiased"}),
    "vendi": ("vendi", {"embedding": "bow"}),
    "vendi-inf": ("vendi", {"embedding": "bow", "q": "inf"}),
    "self-cider": ("self-cider", {}),
    "coverage": ("coverage-example", {"distance": "cider"}),
    "coverage-k2": ("coverage-example", {"distance": "bleu", "k": 2}),
}
TEXTS = st.lists(
    st.sampled_from(["a", "the", "dog", "cat", "runs", "sits", "park"]), max_size=5
).map(" ".join)
BY_ID = dict(zip("ab", REFERENCES))
GROUPS = [["a dog runs", "dogs"], ["a cat", "the cat sits"]]


def scorer(name: str) -> tuple[Any, FeatureCache, Any]:
    metric = (
        current().create("metrics", *METRICS[name])
        if name in METRICS
        else current().create("metrics", name, {"embedding": "bow"})
    )
    features = FeatureCache(REFERENCES)
    return metric, features, fit_once(metric, features)


def policy_gradients(name: str, scale: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact gradient of E[S] for a categorical policy over six captions and
    k = 3, and the expected estimate by credits.
    """
    captions = [
        "a dog runs",
        "the dog in the park",
        "a cat",
        "dogs",
        "a brown dog runs",
        "the park",
    ]
    logits = np.array([0.3, -0.2, 0.5, 0.0, 1.0, -0.7])
    policy = np.exp(logits) / np.exp(logits).sum()
    sets = list(product(range(6), repeat=3))
    metric, features, state = scorer(name)
    batch = features.batch(
        [
            CaptionSet("0", tuple(captions[c] for c in chosen), tuple(REFERENCES[0]))
            for chosen in sets
        ]
    )
    values = metric.per_example(metric.stats(batch, features, state))
    credits = metric.credits(batch, features, state)
    if scale:  # as GRPO scales the rewards of a group
        credits = (credits - credits.mean(axis=1, keepdims=True)) / (
            credits.std(axis=1, ddof=1, keepdims=True) + 1e-4
        )
    probabilities = policy[np.array(sets)].prod(axis=1)
    scores = np.eye(6)[np.array(sets)] - policy  # grad log pi(c_i), shape (216, 3, 6)
    exact = probabilities @ (values[:, None] * scores.sum(axis=1))
    return exact, probabilities @ np.einsum("si,siv->sv", credits, scores)


@pytest.mark.parametrize(
    "name", ["trm", "trm-per-direction", "mmd", "vendi", "self-cider", "coverage"]
)
def test_the_expected_estimate_by_credits_is_the_gradient(name: str) -> None:
    exact, estimate = policy_gradients(name)
    assert np.abs(exact).max() > 1e-3
    np.testing.assert_allclose(estimate, exact, rtol=0, atol=1e-10)


def test_the_scaling_of_grpo_biases_the_gradient() -> None:
    exact, estimate = policy_gradients("mmd", scale=True)
    assert not np.allclose(
        estimate / np.linalg.norm(estimate), exact / np.linalg.norm(exact), atol=0.05
    )


def test_small_groups_and_drawn_triangles_are_refused() -> None:
    mmd = current().create("metrics", "mmd", {"embedding": "bow"})
    features = FeatureCache(REFERENCES)
    with pytest.raises(Exception, match="needs groups of 3 and 2 references"):
        mmd.credits(
            features.batch([CaptionSet("0", ("a", "b"), ("c", "d"))]), features, None
        )
    drawn = current().create("metrics", "trm", {"triangles": "sampled"})
    with pytest.raises(Exception, match="a reward needs triangles=all"):
        drawn.credits(
            features.batch([CaptionSet("0", ("a", "b"), ("c", "d"))]), features, None
        )


def test_a_reward_shows_its_terms_with_their_weights() -> None:
    assert repr(reward("rouge", BY_ID)) == "<reward +1 rouge>"
    both = reward({"ciderd": 1.23456, "trm:distance=cider": -0.5}, BY_ID)
    assert repr(both) == "<reward +1.23 ciderd -0.5 trm:distance=cider>"
    assert both.__name__ == both.for_trl(2).__name__ == "reward_ciderd_trm", (
        "as a trainer shows it, without parameters"
    )


def test_each_caption_has_its_own_score_in_any_form_of_ids_and_groups() -> None:
    ciderd = reward("ciderd", BY_ID)
    alone = [
        [float(ciderd([name], [text])[0]) for text in texts]
        for name, texts in zip("ab", GROUPS)
    ]
    assert len({value for row in alone for value in row}) == 4
    expected = np.array(alone, dtype=np.float32)
    for ids in (["a", "b"], np.array(["a", "b"])):
        np.testing.assert_allclose(ciderd.group(ids, GROUPS), expected, atol=1e-6)
        np.testing.assert_allclose(
            ciderd.group(ids, np.array(GROUPS)), expected, atol=1e-6
        )
    np.testing.assert_allclose(
        ciderd(["b", "a", "b"], ["a cat", "dogs", "the cat sits"]),
        [alone[1][0], alone[0][1], alone[1][1]],
        atol=1e-6,
    )
    rouge = reward("rouge", BY_ID)  # scored caption by caption
    alone = [
        [float(rouge([name], [text])[0]) for text in texts]
        for name, texts in zip("ab", GROUPS)
    ]
    np.testing.assert_allclose(
        rouge.group(["a", "b"], GROUPS), np.array(alone), atol=1e-6
    )


def test_token_ids_of_groups_are_those_of_their_captions() -> None:
    words = reward(
        "ciderd", {"a": [[1, 2, 3], [1, 2]], "b": [[4, 5], [4, 6, 5]]}, end=0
    )
    tokens = np.array([[[1, 2, 0], [2, 3, 0]], [[4, 5, 0], [6, 0, 9]]])
    flat = words(["a", "a", "b", "b"], tokens.reshape(4, 3))
    assert len(set(flat.tolist())) == 4
    np.testing.assert_array_equal(words.group(["a", "b"], tokens), flat.reshape(2, 2))
    np.testing.assert_array_equal(
        words.group(["a", "b"], tokens.tolist()), flat.reshape(2, 2)
    )


def test_scores_and_credits_are_the_parts_of_a_reward() -> None:
    both = reward({"ciderd": 1, "trm:distance=cider": -1}, BY_ID)
    scores = both.scores(["a", "b"], GROUPS)
    credits = both.credits(["a", "b"], GROUPS)
    assert scores.dtype == credits.dtype == np.float64
    np.testing.assert_allclose(
        scores, reward("ciderd", BY_ID).group(["a", "b"], GROUPS), atol=1e-6
    )
    np.testing.assert_allclose(
        credits,
        reward("trm:distance=cider", BY_ID).group(["a", "b"], GROUPS),
        atol=1e-6,
    )
    np.testing.assert_allclose(
        both.group(["a", "b"], GROUPS), scores + credits, atol=1e-6
    )
    assert np.abs(credits).min() > 0


def test_of_two_captions_each_is_the_baseline_of_the_other() -> None:
    scores = reward("ciderd", BY_ID).scores(["a", "b"], GROUPS)
    found = reward("ciderd", BY_ID, baseline="leave-one-out").group(["a", "b"], GROUPS)
    np.testing.assert_allclose(found, scores - scores[:, ::-1], atol=1e-6)


def test_ids_captions_and_greedy_captions_may_be_named() -> None:
    greedy = reward("ciderd", BY_ID, baseline="greedy")
    found = greedy(
        ids=["a", "b"], captions=["a dog runs", "a cat"], greedy=["the dog", "cats"]
    )
    np.testing.assert_array_equal(
        found, greedy(["a", "b"], ["a dog runs", "a cat"], greedy=["the dog", "cats"])
    )
    np.testing.assert_array_equal(
        greedy.group(
            ids=["a", "b"],
            groups=[["a dog runs"], ["a cat"]],
            greedy=["the dog", "cats"],
        )[:, 0],
        found,
    )


def test_a_greedy_caption_is_subtracted_from_scores_and_not_from_credits() -> None:
    weights = {"ciderd": 1.0, "trm:distance=cider": -1.0}
    plain = reward(weights, BY_ID)
    greedy = reward(weights, BY_ID, baseline="greedy")
    found = greedy.group(["a", "b"], GROUPS, greedy=["the dog", "cats"])
    base = reward("ciderd", BY_ID)(["a", "b"], ["the dog", "cats"])
    np.testing.assert_allclose(
        found, plain.group(["a", "b"], GROUPS) - base[:, None], atol=1e-6
    )


def test_groups_without_captions_have_no_rewards() -> None:
    for names in ("ciderd", "rouge", "trm:distance=cider"):
        assert reward(names, BY_ID).group(["a", "b"], [[], []]).shape == (2, 0)
        assert reward(names, BY_ID).group([], []).shape == (0, 1)


def test_texts_are_dropped_when_they_are_more_than_the_maximum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ciderd = reward("ciderd", BY_ID)
    held = len(ciderd.features.texts)
    monkeypatch.setattr(reward_object, "MAX_TEXTS", held)
    counts = []
    for text in ("first", "second", "third"):
        ciderd(["a"], [text])
        counts.append(len(ciderd.features.texts))
    assert counts == [held + 1, 6, 7], (
        "the references of the example and the captions since"
    )


@pytest.mark.parametrize(
    ("names", "groups", "message"),
    [
        (
            {"ciderd": 1, "self-cider": 1},
            ["x", "y"],
            "self-cider has no value for 2 captions without one of them, "
            "5 references; expected at least 3 and 1",
        ),
        (
            {"ciderd": 1, "self-cider": 1},
            ["x"],
            "self-cider has no value for 1 caption without one of them, "
            "5 references; expected at least 3 and 1",
        ),
        (
            "trm",
            ["x"],
            "trm has no value for 1 caption without one of them, 5 references; "
            "expected at least 2 and 1",
        ),
    ],
)
def test_groups_too_small_for_a_metric_say_how_many_captions_it_needs(
    names: Any, groups: list[str], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        reward(names, BY_ID).group(["a"], [groups])
    assert str(caught.value) == f"example 'a': {message}"


class Size(MeanMetric):
    """Number of candidates, also of none."""

    spec = MetricSpec("size", True, level="set", min_candidates=0)

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        return np.full(len(batch), float(batch.n))


def test_a_credit_needs_another_caption_even_where_empty_sets_are_scored() -> None:
    features = FeatureCache(REFERENCES)
    term = Term("size", Size(), 3.0)
    two, one = (
        features.batch([CaptionSet("0", ("a", "b")[:n], ("c", "d"))]) for n in (2, 1)
    )
    assert term.values(two, features).tolist() == [[3.0, 3.0]]
    with pytest.raises(
        InputError,
        match="example '0': size has no value for 1 caption without one of them, "
        "2 references",
    ):
        term.values(one, features)


@pytest.mark.parametrize(
    ("ids", "groups", "message"),
    [
        (
            ["a"],
            [["x", "y"], ["z", "w"]],
            "1 id but 2 groups; expected one caption, or one group of the same size, "
            "for each id",
        ),
        (
            ["a", "b"],
            [["x", "y"]],
            "2 ids but 1 group; expected one caption, or one group of the same size, "
            "for each id",
        ),
        (
            ["a", "b", "a"],
            [["x"], ["y", "z"], ["u", "v", "w"]],
            "3 ids but groups of 1 and of 2 and of 3 captions; expected",
        ),
        (
            ["a", "b"],
            [["x"], "y"],
            "groups: a text in the place of a group of captions; "
            "expected a list of captions for each id",
        ),
        (["a"], "x", "groups: a text in the place of a group of captions"),
        (["ab"], [["x"]], "ids: no references of example 'ab'"),
        (
            ["a"],
            [["x", 3]],
            "captions: item 1: 3; expected a text, or known token ids (TypeError: ",
        ),
        (
            ["a", "b"],
            [["x", "y"], ["z", ["w"]]],
            "captions: item 3: ['w']; expected a text, or known token ids (TypeError: ",
        ),
        (
            ["a"],
            [["x", ["w" * 90]]],
            f"captions: item 1: ['{'w' * 58}; expected a text",
        ),
    ],
)
def test_groups_that_do_not_fit_the_ids_are_described(
    ids: list[str], groups: Any, message: str
) -> None:
    with pytest.raises(HarnessError) as caught:
        reward("ciderd", BY_ID).group(ids, groups)
    assert str(caught.value).startswith(message)


def test_references_that_are_no_texts_are_named_by_their_id() -> None:
    with pytest.raises(
        InputError,
        match=r"^references: 'b': item 1: \[0.5\]; expected a text, or known token ids",
    ):
        reward("ciderd", {"a": ["x"], "b": ["y", [0.5]]}, decode=["u", "v"])


def completions(*texts: str) -> list[list[dict[str, str]]]:
    return [
        [
            {"role": "user", "content": "no caption"},
            {"role": "assistant", "content": text},
        ]
        for text in texts
    ]


def test_a_trainer_gets_the_rewards_of_groups_in_the_order_of_its_completions() -> None:
    both = reward({"ciderd": 1, "trm:distance=cider": -1}, BY_ID)
    expected = both.group(["a", "b", "a"], [*GROUPS, ["the dog", "a dog"]])
    score = both.for_trl(2)
    texts = ["a cat", "a dog runs", "dogs", "the cat sits", "the dog", "a dog"]
    found = score(texts, prompts=[""] * 6, id=["b", "a", "a", "b", "a", "a"])
    assert all(type(value) is float for value in found)
    assert found == pytest.approx(
        [expected[1, 0], *expected[0], expected[1, 1], *expected[2]]
    )
    assert score(completions(*texts), id=["b", "a", "a", "b", "a", "a"]) == found, (
        "the last message is the caption"
    )
    longer = [
        [
            {"role": "system", "content": "a"},
            {"role": "user", "content": "b"},
            {"role": "assistant", "content": text},
        ]
        for text in texts
    ]
    assert score(longer, id=["b", "a", "a", "b", "a", "a"]) == found
    assert (
        both.for_trl(2, "example")(texts, example=["b", "a", "a", "b", "a", "a"])
        == found
    )
    numbered = reward("ciderd", dict(zip((1, 2), REFERENCES)))
    assert numbered.for_trl(1)(["a cat", "a dog runs"], id=[2, 1]) == pytest.approx(
        numbered(["2", "1"], ["a cat", "a dog runs"])
    )


def test_a_trainer_is_told_of_a_missing_column_and_of_split_groups() -> None:
    with pytest.raises(InputError) as caught:
        reward("rouge", BY_ID).for_trl(2, "key")(["x", "y"], id=["a", "a"])
    assert (
        str(caught.value) == "for_trl: the trainer passes no column 'key'; "
        "the data set needs one with the ids"
    )
    for names, count in (
        (["a", "b", "b"], "1 completion of 'a'"),
        (["b", "b", "a", "a", "a"], "3 completions of 'a'"),
    ):
        with pytest.raises(InputError) as caught:
            reward("rouge", BY_ID).for_trl(2)(["x"] * len(names), id=names)
        assert str(caught.value) == (
            f"for_trl: incomplete group: {count}, expected a multiple of 2; "
            "choose a batch size per process that is a multiple of "
            "num_generations, so that no group is split between processes"
        )
