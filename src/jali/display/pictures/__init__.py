"""Pictures of privacy: composition, profiles, trade-offs and spending.

Each picture is a function that returns matplotlib's axes; the function of the same arguments whose name ends in
`_curves` returns what is drawn, as plain numbers, and needs no library.
"""

from __future__ import annotations

from jali.display.pictures.composition import composition, composition_curves
from jali.display.pictures.profiles import profile_curves, profiles
from jali.display.pictures.spending import Spending, spending, spending_curves
from jali.display.pictures.trade_offs import trade_off_curves, trade_offs

__all__ = [
    "Spending",
    "composition",
    "composition_curves",
    "profile_curves",
    "profiles",
    "spending",
    "spending_curves",
    "trade_off_curves",
    "trade_offs",
]
