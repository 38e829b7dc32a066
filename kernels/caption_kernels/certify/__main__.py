"""The command line ``python -m caption_kernels.certify``."""

import sys

from caption_kernels.certify.vectors import main

sys.exit(main())
