"""The Walsh-Hadamard transform."""

from __future__ import annotations

from functools import cache

import numpy as np

from jali.attacks.arrays import Doubles

# Factors of at most 2**5: four passes for a million numbers. Products of 128 columns stay in the cache, and are
# too small for BLAS to wake its threads, which wait longer for one another than the products take.
_EXPONENT = 5
_COLUMNS = 128


def hadamard(x: Doubles) -> Doubles:
    """Return H x for the Hadamard matrix of order len(x), a power of two, in Sylvester's form.

    Sylvester's matrix of order a b is the Kronecker product of those of orders a and b, so H x is a pass over x
    for each factor of its order. Single precision stays single; everything else is computed in double.

    Example:
        >>> hadamard(np.array([1.0, 0.0, 0.0, 1.0])).tolist()
        [2.0, 0.0, 0.0, 2.0]
    """
    kind = np.float32 if x.dtype == np.float32 else np.float64
    source: Doubles = np.asarray(x, kind)
    spare: list[Doubles] = [np.empty(len(x), kind), np.empty(len(x), kind)]
    width = 1
    for order in _factors(len(x)):
        target = spare.pop()
        _pass(source, target, sylvester(order).astype(kind), width)
        if width > 1:
            spare.append(source)
        source, width = target, width * order
    return source.copy() if source is x else source


@cache
def sylvester(order: int) -> Doubles:
    """Return the matrix itself, for a small order: +1 where row and column share an even number of ones.

    Example:
        >>> sylvester(2).tolist()
        [[1.0, 1.0], [1.0, -1.0]]
    """
    numbers = np.arange(order)
    odd = np.bitwise_count(numbers[:, None] & numbers) & 1
    return np.asarray(1.0 - 2.0 * odd)


def _factors(order: int) -> list[int]:
    """Split an order into few factors of about the same size."""
    exponent = order.bit_length() - 1
    passes = -(-exponent // _EXPONENT)
    return [1 << ((exponent + index) // passes) for index in range(passes)]


def _pass(source: Doubles, target: Doubles, matrix: Doubles, width: int) -> None:
    """Multiply along one axis: that of numbers which are `width` apart."""
    order = len(matrix)
    if width == 1:
        shape = (-1, min(_COLUMNS, len(source) // order), order)
        np.matmul(source.reshape(shape), matrix, out=target.reshape(shape))
    else:
        columns = min(_COLUMNS, width)
        blocks = (-1, order, width // columns, columns)
        np.matmul(matrix, source.reshape(blocks).swapaxes(1, 2), out=target.reshape(blocks).swapaxes(1, 2))
