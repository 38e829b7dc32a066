"""Metrics as rewards of training."""
