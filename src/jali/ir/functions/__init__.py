"""The one table of functions: what each takes, gives, does to NULL and does to ranges.

Every function is total on rows: it gives a value or NULL for every input and never raises, and the size of its
result does not grow with a value. Arithmetic is done in double precision inside the engine (integers would
overflow, and raise); what leaves an expression is clamped and put on a lattice before it is summed, so rounding
inside a row cannot move a sum beyond its sensitivity.
"""

from __future__ import annotations

from jali.ir.functions.date_functions import DATES
from jali.ir.functions.function_types import Function, Type, find_common_kind
from jali.ir.functions.logic_and_casts import CASTS, CONDITIONS
from jali.ir.functions.number_functions import ARITHMETIC
from jali.ir.functions.text_functions import TEXTS

__all__ = ["FUNCTIONS", "Function", "Type", "find_common_kind"]

FUNCTIONS: dict[str, Function] = {
    function.name: function for function in (*ARITHMETIC, *CONDITIONS, *TEXTS, *DATES, *CASTS)
}
