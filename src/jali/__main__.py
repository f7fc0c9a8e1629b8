"""`python -m jali` is `jali`."""

import sys

from jali.cli import main

sys.exit(main())
