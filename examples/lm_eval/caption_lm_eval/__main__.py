"""Print the folder for lm-eval's ``--include_path``: ``lm_eval --include_path $(python
-m caption_lm_eval) --tasks captions``.
"""

from pathlib import Path

print(Path(__file__).parent / "tasks")
