"""Files of the field in the forms that readers know: objects by image, categories,
votes, rankings, errors, aspects.
"""

import pytest

from harness.errors import InputError
from harness.judgments.plan import make_judgment_plan
from harness.spec.loading import load_specs


def test_every_aspect_is_a_task(write):
    rows = [
        {
            "id": k,
            "caption": "a",
            "references": ["r"],
            "fluency": k,
            "votes": [{"c": k}, {"c": 3}],
        }
        for k in range(3)
    ]
    judgments = {
        "form": "captions",
        "path": write(rows),
        "columns": {"score": {"fluency": "fluency", "coherence": "votes.*.c"}},
    }
    content = {
        "task": "s",
        "judgments": judgments,
        "statistics": ["pearson"],
        "metrics": ["novelty"],
    }
    plans = [make_judgment_plan(part) for part in load_specs(content)]
    assert [plan.spec.task for plan in plans] == ["s-fluency", "s-coherence"]
    with pytest.raises(InputError, match="at least 1 item"):
        load_specs({**content, "judgments": {**judgments, "columns": {"score": {}}}})
    assert [[c.ratings for c in plan.read().captions][2] for plan in plans] == [
        (2.0,),
        (2.0, 3.0),
    ]


def test_metrics_of_references_need_them(write):
    rows = [{"id": k, "caption": "a", "score": k} for k in range(3)]
    content = {
        "task": "s",
        "judgments": {"form": "captions", "path": write(rows)},
        "statistics": ["pearson"],
        "metrics": ["bleu1"],
    }
    (loaded,) = load_specs(content)
    with pytest.raises(
        InputError,
        match=r"no column of references, which bleu1 needs \(name it with "
        r"judgments.columns.references\)",
    ):
        make_judgment_plan(loaded).prepare()
