"""``python -m harness``, and the installed command: what is imported before a verb runs
may be interrupted too, and ends with one line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Import the command line and run it; return 130 where Ctrl-C comes before it can
    answer.
    """
    try:
        from harness.cli.main import main as run_verb  # takes long enough for a key

        return run_verb(argv)
    except KeyboardInterrupt:
        os.write(2, b"harness: interrupted; run the same command again to continue\n")
        # Modules that are half imported may fail once more while the interpreter ends.
        sys.stdout.flush()
        os._exit(130)


if __name__ == "__main__":
    sys.exit(main())
