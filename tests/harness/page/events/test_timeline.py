"""The HTML of a timeline."""

from __future__ import annotations

import re

from harness.page.events.scenes import scenes_of
from harness.page.events.timeline import timeline_html, words_table
from tests.support.event_runs import crowded_run, small_run


def test_lines_and_bars_name_the_same_events():
    drawn = scenes_of(small_run())
    page = timeline_html(drawn.scenes[0], drawn.largest)
    events = re.findall(r"data-event='(\d+\.\d+)'", page)
    ends = re.findall(r"data-(?:from|to)='(\d+\.\d+)'", page)
    assert len(events) == len(set(events)) == 5 and set(ends) <= set(events)
    assert page.count("<line ") == len(drawn.scenes[0].pairs)


def test_texts_are_escaped_and_one_event_is_the_stop_of_the_tab_key():
    drawn = scenes_of(small_run())
    page = timeline_html(drawn.scenes[0], drawn.largest)
    assert "a man &lt;runs&gt;" in page and "<runs>" not in page
    assert page.count("<button") - page.count("tabindex='-1'") == 1
    assert "no prediction" in page and "no score" not in page


def test_a_prediction_without_a_pair_is_alone():
    drawn = scenes_of(small_run())
    page = timeline_html(drawn.scenes[1], drawn.largest)
    (alone,) = re.findall(r"<button[^>]*class='event system alone'[^>]*>", page)
    assert "blue &amp; green" in alone and "--share:0.00" in alone


def test_what_is_left_out_is_said_in_the_lane():
    (scene,) = scenes_of(crowded_run(230)).scenes
    assert "the first 200 of 230 events" in timeline_html(scene, 1.0)


def test_the_table_has_every_event_with_its_partners():
    scene = scenes_of(small_run()).scenes[0]
    table = words_table(scene)
    assert table.count("<tr>") == 1 + 5 + 1
    assert "annotator 2, 0 to 9 s" in table and "overlap" in table
