"""Tests of whether two sources write the same distribution of answers."""
