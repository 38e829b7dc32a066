"""The examples of a run in the terminal."""
