"""The command line ``python -m caption_kernels_reference.certify``."""

import sys

from caption_kernels_reference.certify.vectors import main

sys.exit(main())
