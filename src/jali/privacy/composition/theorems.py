"""All theorems, the simplest first: of two equal bounds the simpler one is named."""

from __future__ import annotations

from jali.privacy.composition.advanced import ADVANCED, ADVANCED_TANH
from jali.privacy.composition.basic import BASIC, SHARED
from jali.privacy.composition.concentrated import CONCENTRATED, CONCENTRATED_SIMPLE
from jali.privacy.composition.gaussian import GAUSSIAN
from jali.privacy.composition.numerical import NUMERICAL
from jali.privacy.composition.optimal import OPTIMAL
from jali.privacy.composition.renyi import RENYI
from jali.privacy.composition.single import SINGLE
from jali.privacy.composition.theorem import Theorem

THEOREMS: tuple[Theorem, ...] = (
    SINGLE,
    BASIC,
    SHARED,
    ADVANCED,
    ADVANCED_TANH,
    CONCENTRATED_SIMPLE,
    CONCENTRATED,
    RENYI,
    GAUSSIAN,
    OPTIMAL,
    NUMERICAL,
)
