"""The one table of functions: what each takes, gives, does to NULL and does to ranges.

Every function is total on rows: it gives a value or NULL for every input and never raises, and the size of its
result does not grow with a value. Arithmetic is done in double precision inside the engine (integers would
overflow, and raise); what leaves an expression is clamped and put on a lattice before it is summed, so rounding
inside a row cannot move a sum beyond its sensitivity.
"""

from __future__ import annotations

from jali.query.functions.arithmetic import ARITHMETIC
from jali.query.functions.casts import CASTS
from jali.query.functions.conditions import CONDITIONS
from jali.query.functions.dates import DATES
from jali.query.functions.function import Function, Type
from jali.query.functions.kinds import alike
from jali.query.functions.texts import TEXTS

__all__ = ["FUNCTIONS", "Function", "Type", "alike"]

FUNCTIONS: dict[str, Function] = {
    function.name: function for function in (*ARITHMETIC, *CONDITIONS, *TEXTS, *DATES, *CASTS)
}
