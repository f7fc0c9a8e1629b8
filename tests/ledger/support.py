"""What the tests of the ledger share."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import threading
import traceback
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from jali.ledger import Debit, Ledger, grant_account, table_account
from jali.ledger.chain import GENESIS, OLD_FORM, canonical, link
from jali.ledger.stores.sqlite.file import anchor_of
from jali.privacy import Budget, Event, Pure

VISITS = table_account("visits")
ANA = grant_account("ana", "visits")
BEN = grant_account("ben", "visits")
TENTH = Pure(0.1).event
L = TypeVar("L", bound=Ledger)


def debit(account: str = VISITS, epsilon: float | str | Fraction = 0.1) -> Debit:
    return Debit(account, Pure(epsilon).event)


def ask(ledger: Ledger, *debits: Debit, analyst: str = "ana", key: str = "key") -> str:
    return ledger.reserve(
        analyst=analyst, question="how many?", key=key, plan='{"plan": 1}', debits=debits or (debit(),)
    )


def times(count: int, event: Event = TENTH) -> Event:
    epsilon = None if event.epsilon is None else count * event.epsilon
    return Event(epsilon, count * event.rho, count * event.delta)


def clinic(ledger: L, epsilon: int = 3) -> L:
    """Open the accounts of the table visits and of two analysts."""
    for account, limit in ((VISITS, epsilon), (ANA, 1), (BEN, 1)):
        ledger.open_account(account, Budget(limit))
    return ledger


def copy_ledger(source: Path, target: Path) -> None:
    """Copy a ledger with its anchor: without it, a copy is refused."""
    shutil.copy(source, target)
    shutil.copy(anchor_of(source).path, anchor_of(target).path)


def read_entries(connection: Any) -> list[tuple[str, str]]:
    """Return kind and body of every entry, without the rows that it names: as entries of the old form are."""
    found = []
    for kind, text in connection.execute("SELECT kind, body FROM entries ORDER BY seq").fetchall():
        body = json.loads(text)
        body.pop("rows", None)
        found.append((kind, canonical(body)))
    return found


def rechain(connection: Any, entries: Iterable[tuple[str, str]], place: str = "?") -> None:
    """Write the chain anew, in the old form that names no rows, as a forger would who knows how."""
    connection.execute("DELETE FROM entries")
    previous = GENESIS
    for seq, (kind, body) in enumerate(entries, start=1):
        digest = link(previous, seq, kind, body)
        connection.execute(
            f"INSERT INTO entries (seq, kind, body, previous, digest, form) VALUES ({', '.join([place] * 6)})",
            (seq, kind, body, previous, digest, OLD_FORM),
        )
        previous = digest


def in_child(action: Callable[[], Any]) -> Callable[[], int]:
    """Run `action` in a forked process; the result waits for it and gives its exit code (-9: killed)."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            action()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return lambda: os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def behind_python(action: Callable[[], int]) -> int:
    """Fork behind Python's back, as some libraries do; return the exit code that `action` gives in the child.

    In a process of one thread: another one that waits for the interpreter is missed by the child for ever.
    """
    assert threading.active_count() == 1
    pid = ctypes.PyDLL(None).fork()
    if pid == 0:
        code = 1
        try:
            code = action()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
