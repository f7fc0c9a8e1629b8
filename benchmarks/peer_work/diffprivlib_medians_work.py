"""diffprivlib's side of the median benchmark: `tools.median` at epsilon 1."""

from __future__ import annotations

import sys
import warnings

from benchmarks.peer_work.errors import HIGH, LOW, Column, Release, print_errors
from diffprivlib.tools import median as private_median

DRAWS = 8000


def median(column: Column) -> Release:
    """Return what releases the median of a column."""
    return lambda: float(private_median(column, epsilon=1.0, bounds=(LOW, HIGH)))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print_errors(sys.argv[1], DRAWS, median)
