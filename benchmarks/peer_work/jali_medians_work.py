"""Jali's side of the median benchmark: `private_median` at epsilon 1, in the adjacency and lattice asked for."""

from __future__ import annotations

import sys

from benchmarks.peer_work.errors import HIGH, LOW, Column, Release, print_errors

from jali.mechanisms import private_median

DRAWS = 4000


def main(source: str, adjacency: str, step: str) -> None:
    """Release medians of the columns in `source`."""

    def median(column: Column) -> Release:
        lattice = None if step == "fine" else step
        return lambda: float(
            private_median(column, low=int(LOW), high=int(HIGH), step=lattice, epsilon=1, adjacency=adjacency)
        )

    print_errors(source, DRAWS, median)


if __name__ == "__main__":
    main(*sys.argv[1:])
