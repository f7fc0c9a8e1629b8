"""How long the long tests are: 1 in `make test`, 10 in `make test-deep`."""

from __future__ import annotations

import os

DEPTH = int(os.environ.get("JALI_TEST_DEPTH", "1"))
