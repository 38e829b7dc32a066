"""Runs of judgments in the terminal."""


def test_the_console(judged_runs):
    assert "League table" in judged_runs and "published: A paper" in judged_runs and "12.5" in judged_runs
    assert "7 items, 21 captions" in judged_runs and "a set of one" in judged_runs
