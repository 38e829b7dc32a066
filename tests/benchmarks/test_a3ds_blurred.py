"""The coarse encoder misreads two factors of a scene,
and the blur is chosen by the baseline alone.
"""

import numpy as np
import pytest

pytest.importorskip("torch")

from benchmarks.a3ds_blurred import Baseline, cell, choose, views
from benchmarks.a3ds_speaker import ORIENTATION, SCALE
from harness_tasks.a3ds import scene


def test_the_encoder_errs_in_orientation_and_scale_alone():
    scenes = np.random.default_rng(0).choice(scene.N_SCENES, 2000, replace=False)
    steps = scene.indices(views(scenes, 0.75, 0.35)) - scene.indices(scenes)
    wrong = (steps != 0).mean(axis=0)
    assert wrong[[ORIENTATION, SCALE]] == pytest.approx([0.75, 0.35], abs=0.04)
    assert wrong.sum() == wrong[[ORIENTATION, SCALE]].sum()
    assert np.abs(steps[:, ORIENTATION]).max() == 3
    assert np.abs(steps[:, SCALE]).max() == 1


def test_the_view_of_a_scene_does_not_depend_on_the_others():
    scenes = np.arange(0, scene.N_SCENES, 9973)
    assert (
        views(scenes, 0.65, 0.25)[3:7].tolist()
        == views(scenes[3:7], 0.65, 0.25).tolist()
    )
    assert views(scenes, 0.0, 0.0).tolist() == scenes.tolist()


def test_the_blur_nearest_to_the_published_baseline_is_chosen():
    unblurred = Baseline(0.0, 0.0, 5.876, 0.720)
    near = Baseline(0.75, 0.25, 5.90, 0.70)
    far = Baseline(0.85, 0.45, 5.88, 0.90)
    assert choose([unblurred, far, near]) == near


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("0.150", "0.065", "0.061", "0.140"), "0.150 / 0.065 / 0.061 / **0.140**"),
        (("0.150", "0.065", "0.145", "0.140"), "0.150 / 0.065 / 0.145 / 0.140"),
        (("", "0.065", "0.061", "0.140"), "– / 0.065 / 0.061 / 0.140"),
        (("", "", "", ""), ""),
    ],
)
def test_the_value_nearer_to_the_published_one_is_bold(values, expected):
    assert cell(*values) == expected
