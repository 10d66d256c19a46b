"""`python -m tools.golden [check]`."""

import sys

from tools.golden import main

sys.exit(main(sys.argv[1:]))
