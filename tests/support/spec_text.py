"""A spec that other texts change."""

from __future__ import annotations

BASE = """task: t
dataset: {reader: words}
models: [echo]
decoding:
  temperature: [0.5, 1.0]
  candidates: 1..3
metrics: [length]
"""
