"""Cells of views have one result."""

from __future__ import annotations

import pytest

from harness import api
from harness.errors import InputError

VIEW_CHECKS_SPEC = """task: words
dataset: {reader: words}
models: [{echo: {n: 1}}, {echo: {n: 2, label: two}}]
metrics: [length]
decoding: {candidates: [1, 2]}
views:
"""


def check(project, *views):
    (project / "spec.yaml").write_text(
        VIEW_CHECKS_SPEC + "".join(f"  - {view}\n" for view in views)
    )
    api.plans("spec.yaml")


@pytest.mark.parametrize(
    ("views", "cell"),
    [
        (["{plot: heatmap, x: decoding.candidates, by: model}"], None),
        (
            ["{plot: heatmap, x: metric, by: model}"],
            "decoding.candidates (1, 2): make decoding.candidates its x or by",
        ),
        (
            ["{plot: bar, x: decoding.candidates, by: metric}"],
            "model (echo, two): make model its x or by",
        ),
        (["{plot: table, x: model, by: sizes.references}"], None),
        (["{plot: table, x: 'metric:length', by: model}"], None),
        (["{plot: scatter, x: metric, by: model}"], None),
    ],
)
def test_a_cell_of_a_view_has_one_result(project, views, cell):
    if cell is None:
        check(project, *views)
        return
    with pytest.raises(InputError) as caught:
        check(project, "{plot: line}", *views)
    assert (
        str(caught.value)
        == "spec.yaml:8: the view 'PLOT' has one cell for several results, "
        f"which differ in {cell}".replace(
            "PLOT", views[0].split(",")[0].removeprefix("{plot: ")
        )
    )
