"""What makes Jali's broken twin: the same planner, engine and noise, and a ledger that forgets."""

from __future__ import annotations

import secrets

from jali.ledger import Reservation, SqliteLedger


class ForgetfulLedger(SqliteLedger):
    """A ledger that grants every debit and remembers none, nor any answer."""

    def recall(self, *_: object, **__: object) -> Reservation | None:
        """Know of no answer."""
        return None

    def answered(self, *_: object, **__: object) -> bool:
        """Know of no answer."""
        return False

    def reserve(self, **_: object) -> str:
        """Charge nothing."""
        return secrets.token_hex(16)

    def release(self, _: str, answer: str) -> str:
        """Keep nothing."""
        return answer
