"""Flash messages: what was done, shown once, in its session, on the page that a form leads to."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

# How many are kept, and for how many seconds.
_MOST, _SECONDS = 1000, 300.0


@dataclass(frozen=True)
class FlashMessage:
    """What was done, in a sentence, and a new token, which is shown once."""

    text: str
    token: str = ""


class FlashMessages:
    """Keeps messages in memory until they are shown.

    Guarantee:
        A message is shown once, to the session for which it was kept, within minutes: reloading the page, going
        back, or knowing the address shows no token.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, tuple[str, float, FlashMessage]] = OrderedDict()

    def keep(self, session: str, done: FlashMessage) -> str:
        """Keep a message for a session, and return the name that fetches it."""
        name = secrets.token_urlsafe(12)
        self._kept[name] = (session, self._clock() + _SECONDS, done)
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return name

    def take(self, session: str, name: str) -> FlashMessage | None:
        """Return a message of a session, the first time."""
        for old in [one for one, (_, until, _) in self._kept.items() if until < self._clock()]:
            del self._kept[old]
        if name not in self._kept or self._kept[name][0] != session:
            return None
        return self._kept.pop(name)[2]
