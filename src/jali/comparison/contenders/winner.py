"""Contenders for the mode of a column with few marks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from jali.comparison.contender import Contender, Setting
from jali.comparison.contenders.field import Field, proposed, smooth, true_value, with_global_sensitivity
from jali.mechanisms import statistics
from jali.mechanisms.ruler import Ruler
from jali.mechanisms.selection.exponential import Exponential
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.mechanisms.smooth.statistics.winner import Winner
from jali.mechanisms.stability.applications.stable_mode import most_frequent
from jali.mechanisms.stability.declined import DECLINED
from jali.mechanisms.stability.stable_value import StableValue

_MARKS = 20


def _contenders(setting: Setting) -> Iterator[Contender]:
    ruler, winner = _ruler(setting), _winner(setting)
    for name, kind in {"permute-and-flip": PermuteAndFlip, "exponential": Exponential}.items():
        chooser = kind(sensitivity=statistics.histogram(adjacency=setting.adjacency), epsilon=setting.epsilon)
        yield Contender(name, chooser, lambda mark: float(ruler.at(mark)), lambda data: _counts(ruler, data))
    stable = StableValue(epsilon=setting.epsilon, delta=setting.delta)

    def lead(data: Any) -> Any:
        return most_frequent(dict(enumerate(_counts(ruler, data).tolist())), setting.adjacency)

    def reading(mark: Any) -> float | None:
        return None if mark is DECLINED or mark is None else float(ruler.at(mark))

    yield Contender("stable value", stable, reading, lead)
    yield from smooth(winner, setting)
    yield from proposed(winner, setting)
    yield from with_global_sensitivity(winner, setting)


def _ruler(setting: Setting) -> Ruler:
    """Return the lattice as given, or twenty cells of equal width."""
    width = (setting.high - setting.low) / _MARKS
    return Ruler.of(setting.low, setting.high, width if setting.step is None else setting.step)


def _winner(setting: Setting) -> Winner:
    ruler = _ruler(setting)
    return Winner(low=setting.low, high=setting.high, step=ruler.step, adjacency=setting.adjacency)


def _counts(ruler: Ruler, data: Any) -> Any:
    return np.bincount(ruler.marks(data), minlength=ruler.top + 1)


def _truth(setting: Setting, data: Any) -> float:
    return true_value(_winner(setting), data)


MODE = Field(_truth, _contenders)
