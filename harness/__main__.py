"""``python -m harness``."""

import sys

from harness.start import main

sys.exit(main())
