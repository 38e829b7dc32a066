"""The arena: ranking, intervals, counts, unequal lists."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.stats.bradley_terry import strengths
from harness_metrics.judges.judge import Judge
from harness_metrics.judges.tournament import arena

RNG = np.random.default_rng(0)


def captions(low: int, high: int, number: int = 40) -> list[str]:
    """Return captions of random lengths; the judge prefers long ones."""
    return [
        " ".join(["word"] * int(n)) + f" {k}"
        for k, n in enumerate(RNG.integers(low, high, number))
    ]


def test_systems_are_ranked_with_intervals(overlap):
    systems = {
        "short": captions(1, 6),
        "long": captions(6, 12),
        "middle": captions(3, 9),
    }
    ranking = arena(Judge(overlap), systems, samples=300)
    assert [row.system for row in ranking.standings] == ["long", "middle", "short"]
    assert [row.rank for row in ranking.standings] == [1, 2, 3]
    assert all(
        row.interval[0] <= row.strength <= row.interval[1] for row in ranking.standings
    )
    assert ranking.standings[0].ranks == (1, 1)
    assert sum(row.strength for row in ranking.standings) == pytest.approx(0.0)
    assert (ranking.duels, ranking.unanswered) == (120, 0)
    assert ranking.first_place == 0.5 and ranking.contradictions == 0.0
    np.testing.assert_allclose(
        [row.strength for row in ranking.standings], strengths(ranking.wins), atol=1e-9
    )
    assert ranking.wins[0, 2] + ranking.wins[2, 0] == 40


def test_the_bootstrap_depends_on_the_seed_alone(overlap):
    systems = {"a": captions(1, 9, 12), "b": captions(1, 9, 12)}
    one, two = (
        arena(Judge(overlap), systems, samples=50, seed=3).standings for _ in range(2)
    )
    assert one == two


def test_equal_systems_share_a_rank(overlap):
    texts = captions(1, 9, 12)
    ranking = arena(
        Judge(overlap),
        {"a": texts, "b": list(texts), "c": captions(1, 3, 12)},
        samples=20,
    )
    assert [row.rank for row in ranking.standings][:2] == [1, 1]


def test_a_judge_without_answers_is_an_error(scripted):
    with pytest.raises(HarnessError, match="none of 1 duels has a valid answer"):
        arena(
            Judge(scripted(lambda talk: "I'm sorry, I can't")), {"a": ["x"], "b": ["y"]}
        )


def test_unanswered_duels_do_not_count(scripted):
    judge = Judge(
        scripted(
            lambda talk: (
                "I cannot" if '"y1"' in talk[0]["content"] else '{"better": "tie"}'
            )
        )
    )
    ranking = arena(judge, {"a": ["x0", "x1"], "b": ["y0", "y1"]}, samples=10)
    assert (ranking.duels, ranking.unanswered) == (1, 1)
    assert ranking.counts["answers"]["refused"] == 2  # type: ignore[index]


@pytest.mark.parametrize(
    ("systems", "references"),
    [
        ({"a": ["x"]}, None),
        ({"a": ["x"], "b": []}, None),
        ({"a": [], "b": []}, None),
        ({"a": ["x"], "b": ["y"]}, []),
    ],
)
def test_lists_have_one_caption_per_example(overlap, systems, references):
    with pytest.raises(HarnessError, match="arena: (found|expected)"):
        arena(Judge(overlap), systems, references)
