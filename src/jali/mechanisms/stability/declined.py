"""What a mechanism says instead of an answer: one public word, the same for every reason."""

from __future__ import annotations

from enum import Enum


class Declined(Enum):
    """The type of `DECLINED`: there is no other member, and so no reason that could tell of the data."""

    DECLINED = "declined"

    def __repr__(self) -> str:
        return self.value

    def __str__(self) -> str:
        return self.value

    def __bool__(self) -> bool:
        """It is false, as 0 and "" are: ask `answer is DECLINED`."""
        return False


DECLINED = Declined.DECLINED
