"""A process whose files fail: started by test_faults.py with LD_PRELOAD, it asks a ledger while calls fail.

    python -m tests.ledger.faulty LIBRARY DIRECTORY FIRST LAST

It prints one line of JSON: what was acknowledged, which faults struck, and what was raised that is no LedgerError.
"""

from __future__ import annotations

import ctypes
import errno
import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.ledger.support import VISITS, ask, clinic, debit
from tests.ledger.test_streams import NAME, append, begin, counting

from jali.errors import LedgerError
from jali.ledger import Ledger, SqliteLedger

READ, WRITE, SYNC, LOCK, TRUNCATE, OPEN = range(1, 7)
ERRORS = {
    READ: (errno.EIO,),
    WRITE: (errno.EIO, errno.ENOSPC, errno.EDQUOT),
    SYNC: (errno.EIO, errno.ENOSPC),
    LOCK: (errno.EIO, errno.ENOLCK, errno.EACCES, errno.EDEADLK),
    TRUNCATE: (errno.EIO,),
    OPEN: (errno.EMFILE, errno.EACCES, errno.EIO),
}


class Worker:
    """Does what a database does with its ledger, and keeps what was acknowledged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reserved: list[str] = []
        self.released: dict[str, str] = {}
        self.published: list[str] = []
        self.wrong: list[str] = []
        self.codes: Counter[str] = Counter()

    def work(self, turn: int, *, anew: bool) -> None:
        """Ask, answer, publish, and open the ledger anew now and then."""
        ledger: Ledger | None = None
        try:
            ledger = SqliteLedger(self.path, patience=0.2) if anew else self.opened()
            receipt = ask(ledger, debit(VISITS, "1/1000"), key=f"{turn} {len(self.reserved)}")
            self.reserved.append(receipt)
            self.released[receipt] = ledger.release(receipt, f"answer {receipt}")
            append(ledger, f"p{turn}.1")
            if ledger.streams.publish(NAME, len(self.published) + 1, counting):
                self.published = list(ledger.streams.values(NAME))
        except LedgerError as error:
            self.codes[error.code] += 1
        except Exception as error:
            self.wrong.append(f"{type(error).__name__}: {error}")
        finally:
            if anew and ledger is not None:
                self.close(ledger)

    def opened(self) -> Ledger:
        if not hasattr(self, "_kept"):
            self._kept = SqliteLedger(self.path, patience=0.2)
        return self._kept

    def close(self, ledger: Ledger) -> None:
        try:
            ledger.close()
        except LedgerError as error:
            self.codes[error.code] += 1
        except Exception as error:
            self.wrong.append(f"closing: {type(error).__name__}: {error}")


def main(library: str, directory: str, first: int, last: int) -> dict[str, Any]:
    """Strike one fault after the other."""
    faults = ctypes.CDLL(library)
    path = Path(directory) / "clinic.jali"
    with SqliteLedger(path) as ledger:
        clinic(ledger, epsilon=1000)
        if ledger.streams.find(NAME) is None:
            begin(ledger)
    worker = Worker(path)
    struck = 0
    for turn in range(first, last):
        draw = random.Random(turn)
        kind = draw.choice(list(ERRORS))
        nth, error = draw.randint(1, 30), draw.choice(ERRORS[kind])
        # SQLite tries for ten seconds to get a lock that keeps failing.
        lasting = draw.random() < (0.3 if kind != LOCK else 0.01)
        faults.fault_set(directory.encode(), kind, nth, error, lasting)
        worker.work(turn, anew=draw.random() < 0.5)
        struck += faults.fault_clear() > 0
        worker.work(turn, anew=draw.random() < 0.3)
    return {
        "reserved": worker.reserved,
        "released": worker.released,
        "published": worker.published,
        "wrong": worker.wrong,
        "codes": worker.codes,
        "struck": struck,
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
