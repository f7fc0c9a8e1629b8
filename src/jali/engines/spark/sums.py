"""Sums that no number of rows can overflow: Spark's own wrap around at 64 bits, silently.

A number of 64 bits is cut into limbs of 23 bits, the lower ones without a sign. The sum of 2^40 limbs stays below
2^63, so that each limb is summed in 64 bits; together they make a decimal of 38 digits, once for each group. No
table has 2^40 rows in one group: that is eight terabytes of the group's key alone.
"""

from __future__ import annotations

# Bits of a limb without its sign, and so many rows are summed at most: 63 = LIMB + ROWS.
LIMB, ROWS = 23, 40
_WIDE = "DECIMAL(38, 0)"


def total(value: str, most: int) -> str:
    """Write the sum of whole numbers v with |v| <= most <= 2^63: BIGINT where one limb does, else DECIMAL(38, 0).

    Proof:
        v = sum of limb_i(v) * 2^(23 i), where the last limb is v shifted right with its sign, below 2^23 in size,
        and the others are 23 bits of v. Each limb is at most 2^23 in size, so that 2^39 of them sum to less than
        2^63 in size; the sums times 2^(23 i) add up to less than 2^102 < 10^38.
    """
    limbs = max(1, -(-most.bit_length() // LIMB))
    if limbs == 1:
        return f"sum({value})"
    written = [_limb(value, place, last=place == limbs - 1) for place in range(limbs)]
    parts = [
        f"CAST(sum({limb}) AS {_WIDE}) * {1 << LIMB * place}" if place else f"CAST(sum({limb}) AS {_WIDE})"
        for place, limb in enumerate(written)
    ]
    return f"({' + '.join(parts)})"


def _limb(value: str, place: int, *, last: bool) -> str:
    shifted = f"shiftright({value}, {LIMB * place})" if place else f"({value})"
    return shifted if last else f"({shifted} & {(1 << LIMB) - 1})"
