"""Ink: a few accents for a terminal, or none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ink:
    r"""Marks text with terminal codes where `colour` is true, and leaves it alone otherwise.

    Example:
        >>> Ink().strong("n"), Ink(colour=True).strong("n")
        ('n', '\x1b[1mn\x1b[0m')
    """

    colour: bool = False

    def strong(self, text: str) -> str:
        """Headings."""
        return self._mark("1", text)

    def faint(self, text: str) -> str:
        """Lines and remarks."""
        return self._mark("2", text)

    def accent(self, text: str) -> str:
        """What the eye should find first."""
        return self._mark("36", text)

    def alarm(self, text: str) -> str:
        """What went wrong."""
        return self._mark("1;31", text)

    def _mark(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text


PLAIN = Ink()
