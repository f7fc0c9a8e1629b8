"""In which sense a law says a share."""

from __future__ import annotations

from typing import Literal, TypeAlias

# The share is met within chance; it is close to that; or it is a bound from below.
Sense: TypeAlias = Literal["equal", "about", "at least"]

# From here on the shares of the lab's limits are met within a percent.
LARGE = 64


def limit_sense(*sizes: int) -> Sense:
    """Return the sense of a law that holds in the limit, by the sizes that grow."""
    return "equal" if min(sizes) >= LARGE else "about"
