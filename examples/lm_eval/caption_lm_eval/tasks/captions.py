"""Functions of the task beside it: lm-eval imports them from this folder."""

from caption_lm_eval import process_results

__all__ = ["process_results"]
