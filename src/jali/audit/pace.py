"""The pace of a subject: how many samples of it fit into a time."""

from __future__ import annotations

import time
from itertools import count

import numpy as np

from jali.audit.subject import Subject

# A measurement takes at least this long, in seconds, or has so many samples; and what testers do with one sample.
_LONG_ENOUGH, _MANY = 0.005, 256
_OVERHEAD = 4e-6
_FEWEST = 100


def fitting(subject: Subject, seconds: float, most: int) -> int:
    """Return about how many samples of a subject can be drawn and tested in a time: at most `most`."""
    if not subject.pairs:
        return most
    # Outputs that come in batches take as long if they are fewer.
    fewest = max(_FEWEST, subject.batch)
    return max(min(fewest, most), min(most, int(seconds / (_one(subject) + _OVERHEAD))))


def _one(subject: Subject) -> float:
    """Return the seconds that one sample takes, over draws that grow.

    The first one alone tells little: there is something to set up. Unless many come at once: then it tells all.
    """
    value, random, began, drawn = subject.pairs[0][0], np.random.default_rng(), time.perf_counter(), 0
    if subject.batch > 1:
        subject.draw(value, 1, random)
        return (time.perf_counter() - began) / subject.batch
    for place in count():
        size, before = 4**place, time.perf_counter()
        subject.draw(value, size, random)
        drawn, now = drawn + size, time.perf_counter()
        if size >= _MANY or (place and now - before >= _LONG_ENOUGH):
            break
    return (now - began) / drawn
