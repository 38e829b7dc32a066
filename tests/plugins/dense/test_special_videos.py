"""The special and hostile videos of the numbers of the field's evaluators, one by one:
what is special about each, and what each protocol makes of it.

Inputs and values lie in ``golden/dense`` of the shared folder; its README has their
origin. METEOR and CIDEr are the evaluators' own, the shares follow from the rules by
hand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import pytest

from tests.support.dense_goldens import (
    TIOUS,
    load,
    results_of,
    scores_by_video,
    values_by_video,
)

pytestmark = [
    pytest.mark.large_sets("../golden/dense/densevid_results.json"),
    pytest.mark.slow,
]
PROTOCOLS = {
    "activitynet-2017": "2017_5759c13",
    "activitynet-2018": "2018_deba7d7",
    "activitynet-2019": "2019_9d4045a",
    "vidchapters": "vidchapters_dvc_eval",
}
"""Protocol -> its evaluator; the order is that of :attr:`Special.meteor`."""
ALL = (1.0, 1.0, 1.0, 1.0)
NONE = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Special:
    """A video and what is expected of it."""

    video: str
    what: str
    """What is special, as the name of the test."""
    precision: tuple[float, ...]
    """Share of predictions that an event covers by more than .3, .5, .7, .9; of two
    annotators the larger one.
    """
    recall: tuple[float, ...]
    """Share of an annotator's events that a prediction covers."""
    meteor: tuple[float, ...]
    """METEOR at .5 by protocol, six digits; NaN where the video is left out."""

    @property
    def is_left_out(self) -> bool:
        """True where ``vidchapters`` leaves the video out of its means."""
        return math.isnan(self.meteor[-1])


VIDEOS = [
    # five predictions overlap one event by exactly .3, .5, .7, .9 and 1: 1e-8 in the
    # denominator puts each below its threshold, and one more is lost at each
    Special(
        "v_dense000",
        "overlaps of exactly a threshold are below it",
        (0.8, 0.6, 0.4, 0.2),
        ALL,
        (0.088200, 0.110715, 0.126733, 0.126733),
    ),
    # four predictions overlap by 1e-8 more than each threshold
    Special(
        "v_dense001",
        "overlaps a hair above a threshold reach it",
        (1.0, 0.75, 0.5, 0.25),
        ALL,
        (0.032358, 0.034948, 0.036676, 0.036676),
    ),
    # the same instant on both sides overlaps by 0; one of four predictions and one of
    # two events of the first annotator have a length
    Special(
        "v_dense002",
        "events without a length overlap nothing",
        (0.25, 0.25, 0.25, 0.25),
        (0.5, 0.5, 0.5, 0.5),
        (0.039694, 0.066370, 0.112739, 0.112739),
    ),
    # three of four captions have no word: they stay pairs with METEOR 0; the caption
    # over both events reaches each of them by .5, which is below .5
    Special(
        "v_dense003",
        "captions that are empty, blank or a full stop stay pairs",
        (1.0, 0.75, 0.75, 0.75),
        ALL,
        (0.062107, 0.083437, 0.083437, 0.083437),
    ),
    # a caption of Chinese characters is empty as a prediction and as a reference
    Special(
        "v_dense004",
        "characters beyond ASCII are blanks",
        (1.0, 1.0, 1.0, 2 / 3),
        ALL,
        (0.116395, 0.116395, 0.116395, 0.116395),
    ),
    Special(
        "v_dense005",
        "no prediction counts 0 or is left out",
        NONE,
        NONE,
        (0.0, 0.0, 0.0, math.nan),
    ),
    Special(
        "v_dense006",
        "described by the second annotator alone",
        (0.5, 0.5, 0.5, 0.5),
        (0.5, 0.5, 0.5, 0.5),
        (0.060982, 0.060982, 0.071574, 0.071574),
    ),
    # one prediction starts a second late: .9 is not above .9
    Special(
        "v_dense007",
        "described by the first annotator alone",
        (1.0, 1.0, 1.0, 0.5),
        (1.0, 1.0, 1.0, 0.5),
        (0.365771, 0.365771, 0.365771, 0.365771),
    ),
    Special(
        "v_dense008",
        "described by the second annotator alone without a prediction",
        NONE,
        NONE,
        (0.0, 0.0, 0.0, math.nan),
    ),
    Special(
        "v_dense009",
        "one prediction beside one event of each annotator",
        ALL,
        ALL,
        (0.111695, 0.111695, 0.111695, 0.111695),
    ),
    # of four predictions two match, each another annotator; 2017 adds a reference of
    # no meaning for the annotator who is passed before the match
    Special(
        "v_dense010",
        "predictions that match one annotator each",
        (0.25, 0.25, 0.25, 0.25),
        (0.5, 0.5, 0.5, 0.5),
        (0.316165, 0.534483, 0.725995, 0.725995),
    ),
    # five predictions in no order; bars in a caption are no separator
    Special(
        "v_dense011",
        "events out of order and bars in a caption",
        ALL,
        ALL,
        (0.123452, 0.123452, 0.123452, 0.123452),
    ),
]


def case_name(case):
    return f"{case.video}: {case.what}" if isinstance(case, Special) else case


@pytest.fixture(scope="module")
def scores():
    """Return a function from a protocol's parameters to scores by video; each run is
    made once for all videos.
    """

    @cache
    def scores_of(folder, prediction="main", **params):
        choice = {name: list(v) if name == "tious" else v for name, v in params.items()}
        return scores_by_video(
            results_of(folder, prediction, ["val_1", "val_2"], choice)
        )

    return scores_of


@pytest.fixture
def folder(shared):
    """The folder of the values."""
    return shared / "golden" / "dense"


def test_each_special_video_is_here(folder):
    assert [case.video for case in VIDEOS] == list(load(folder / "special_videos.json"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("case", VIDEOS, ids=case_name)
def test_texts_are_scored_as_the_evaluator_does(folder, scores, case, protocol):
    expected = load(folder / "densevid_results.json")[f"{PROTOCOLS[protocol]}/main"]
    for name in ("METEOR", "CIDEr"):
        for place, tiou in enumerate(TIOUS):
            values = values_by_video(expected, name, place)
            assert (case.video in values) is not (
                protocol == "vidchapters" and case.is_left_out
            )
            found = scores(folder, protocol=protocol, text=name.lower(), tious=(tiou,))[
                case.video
            ]
            value = values.get(case.video, math.nan)
            assert found == pytest.approx(value, abs=1e-9, nan_ok=True), (name, tiou)
            if (name, tiou) == ("METEOR", 0.5):
                stated = case.meteor[list(PROTOCOLS).index(protocol)]
                assert found == pytest.approx(stated, abs=5e-7, nan_ok=True)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("case", VIDEOS, ids=case_name)
def test_shares_of_covered_events(folder, scores, case, protocol):
    for measure in ("precision", "recall"):
        for tiou, share in zip(TIOUS, getattr(case, measure)):
            if protocol == "vidchapters" and case.is_left_out:
                share = math.nan
            found = scores(folder, protocol=protocol, measure=measure, tious=(tiou,))
            assert found[case.video] == pytest.approx(share, abs=1e-12, nan_ok=True), (
                measure,
                tiou,
            )


@pytest.mark.parametrize(
    ("protocol", "value"),
    [("matched", 0.0), ("soda-c", math.nan), ("soda-d", math.nan)],
)
@pytest.mark.parametrize("video", ["v_dense005", "v_dense008"])
def test_a_video_without_prediction_counts_or_is_left_out(
    folder, scores, video, protocol, value
):
    found = scores(folder, protocol=protocol)[video]
    assert found == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize("protocol", ["activitynet-2018", "vidchapters", "matched"])
@pytest.mark.parametrize("video", ["v_dense012", "v_dense020", "v_dense033"])
def test_an_empty_list_counts_zero_everywhere(folder, scores, video, protocol):
    assert scores(folder, protocol=protocol)[video] > 0
    assert scores(folder, "emptylists", protocol=protocol)[video] == 0


@pytest.mark.parametrize("video", ["v_dense_unknown1", "v_dense_unknown2"])
def test_a_video_that_nobody_described_is_ignored(folder, scores, video):
    assert video in load(folder / "pred_main.json.gz")["results"]
    found = scores(folder, protocol="activitynet-2018", tious=(0.5,), text="meteor")
    assert video not in found and len(found) == 40
