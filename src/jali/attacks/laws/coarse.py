"""When rounding is no longer like noise."""

from __future__ import annotations

from jali.attacks.noises import Noise

_COARSE = 4 / 3


def coarse(noise: Noise, deviation: float) -> bool:
    """Return whether multiples are so far apart that rounding is not like independent noise.

    Where counts have a standard deviation of t, the error of rounding to multiples of b keeps a share of about
    2 exp(-2 pi^2 t^2 / b^2) of their order: 3e-5 at b = 4 t / 3, but more than half at b = 4 t, where the share of
    right bits swings about every law from one secret to the next.

    Args:
        noise: Any noise.
        deviation: The standard deviation of the counts, over people with fair bits.

    Example:
        >>> coarse(Noise("rounding", 8), 16.0), coarse(Noise("rounding", 64), 16.0)
        (False, True)
    """
    return noise.kind == "rounding" and noise.stddev != 0 and noise.size > _COARSE * deviation
