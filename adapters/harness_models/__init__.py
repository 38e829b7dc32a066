"""Model adapters shipped with the harness, one folder per system."""
