"""How long the long tests are: `--depth 1` in `make test`, `--depth 10` in `make test-deep`.

Three ways to be short in `make test` and thorough in `make test-deep`, the first that fits:

- A test with counts (samples, examples, kills) multiplies them by `DEPTH`, and derives its tolerance from them.
- A test over cases that are told apart by their parameters alone runs at most `CASES` of them, spread evenly, or
  fewer if it is `thinned`. In the folders of `WHOLE`, and where it is marked `whole`, it runs all of them.
- A test that confirms at length what cheaper tests of the same file check already is `deep`.

A test that is named, as `file.py::test_name` or by `-k`, runs whole at any depth. pytest prints how many cases it
left out. Which ones depends on the name of the test function alone: moving or renaming a file changes nothing.
"""

from __future__ import annotations

import os
import zlib
from collections import defaultdict
from collections.abc import Sequence

import pytest

# Test modules import it after `--depth` is read; conftest.py and what it imports ask `depth.DEPTH` as they run.
DEPTH = int(os.environ.get("JALI_TEST_DEPTH", "1"))

CASES = 4
# What is promised by name, question by question and mechanism by mechanism.
WHOLE = ("adversarial", "docs", "frozen", "golden", "laws")

deep = pytest.mark.deep
"""Mark a test that runs at depths above 1 only."""

whole = pytest.mark.whole
"""Mark a test function of which all cases run at depth 1, or as many as `thinned` leaves."""


def thinned(every: int) -> pytest.MarkDecorator:
    """Mark a test function of which every so many-th case at most runs at depth 1, and all run above.

    Which ones is settled by the name of the function, so that functions over the same cases keep different ones.
    At least one is kept.
    """
    return pytest.mark.thinned(every)


def shallow(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Return the tests that run at depth 1: the same in all processes, by their names and order alone."""
    cases: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("deep"):
            cases[function_of(item)].append(item)
    return {item for those in cases.values() for item in _kept(those)}


def function_of(item: pytest.Item) -> str:
    """Return the node id without the parameters."""
    return item.nodeid.partition("[")[0]


def describe_thinning(left_out: int, kept: int) -> str:
    """Say how many cases do not run, and how to run them."""
    return (
        f"depth 1: {left_out:,} of {left_out + kept:,} cases are left out, and counts are a tenth. "
        "Run all: pytest --depth 10, or make test-deep."
    )


def _kept(cases: list[pytest.Item]) -> list[pytest.Item]:
    mark = cases[0].get_closest_marker("thinned")
    every = 1 if mark is None else int(mark.args[0])
    if not _is_whole(cases[0]):
        every = max(every, -(-len(cases) // CASES))
    # The places i with (i + checksum) % every == 0.
    first = -zlib.crc32(function_of(cases[0]).rpartition("::")[2].encode()) % every
    return cases[first::every] or cases[:1]


def _is_whole(item: pytest.Item) -> bool:
    folder = item.nodeid.removeprefix("tests/").partition("/")[0]
    return folder in WHOLE or item.get_closest_marker("whole") is not None
