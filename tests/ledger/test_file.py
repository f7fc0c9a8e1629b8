"""The file: who may read it, what it must be, and when it is on disk."""

from __future__ import annotations

import fcntl
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.ledger.support import VISITS, ask, clinic, in_child

from jali.errors import LedgerError
from jali.ledger import Ledger, SqliteLedger
from jali.ledger.stores.sqlite.file import anchor_of
from jali.privacy import NOTHING


def test_the_ledger_and_all_files_beside_it_are_readable_by_their_owner_only(path: Path) -> None:
    with SqliteLedger(path) as ledger:
        ask(clinic(ledger))
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert modes == {f"clinic.jali{ending}": 0o600 for ending in ("", "-wal", "-shm", ".lock", ".anchor")}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666])
def test_a_ledger_that_others_may_read_is_refused(path: Path, mode: int) -> None:
    SqliteLedger(path).close()
    path.chmod(mode)
    with pytest.raises(LedgerError, match="is readable by other users") as refusal:
        SqliteLedger(path)
    assert f"chmod 600 {path}" in str(refusal.value)


def test_every_commit_waits_for_the_disk(path: Path) -> None:
    with SqliteLedger(path) as ledger, ledger.store.reading() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_a_ledger_in_memory_works_and_says_that_it_is_not_durable(path: Path) -> None:
    kept: Ledger = SqliteLedger(path)
    forgotten: Ledger = SqliteLedger(None)
    assert kept.durable
    assert not forgotten.durable
    assert forgotten.accounts() == ()


def test_an_unknown_schema_version_is_refused(path: Path) -> None:
    SqliteLedger(path).close()
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE meta SET value = '9' WHERE name = 'schema'")
    raw.close()
    with pytest.raises(LedgerError, match="schema 9") as refusal:
        SqliteLedger(path)
    assert refusal.value.code == "ledger-schema"


def _empty(path: Path) -> None:
    path.touch()


def _text(path: Path) -> None:
    path.write_text("patient,ward\n" * 1000)


def _other_database(path: Path) -> None:
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE entries (seq)")
    raw.close()


def _emptied(path: Path) -> None:
    SqliteLedger(path).close()
    path.write_bytes(b"")


def _damaged(path: Path) -> None:
    with SqliteLedger(path) as ledger:
        clinic(ledger)
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


def _cut(path: Path) -> None:
    with SqliteLedger(path) as ledger:
        clinic(ledger)
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize("make", [_empty, _text, _other_database, _emptied, _damaged, _cut])
def test_a_file_that_is_no_sound_ledger_is_refused_and_left_alone(
    path: Path, make: Callable[[Path], None]
) -> None:
    make(path)
    path.chmod(0o600)
    content = path.read_bytes()
    for _ in range(2):
        with pytest.raises(LedgerError), SqliteLedger(path) as ledger:
            ledger.spent(VISITS)
    assert path.read_bytes() == content


def test_a_sum_that_cannot_be_read_is_an_error_of_the_ledger(path: Path) -> None:
    with SqliteLedger(path) as ledger:
        clinic(ledger)
        with sqlite3.connect(path) as raw:
            raw.execute("UPDATE accounts SET spent = replace(spent, '\"0\"', '\"1/0\"')")
        raw.close()
        with pytest.raises(LedgerError, match="damaged") as refusal:
            ledger.spent(VISITS)
        assert refusal.value.code == "ledger-damaged"


def test_a_missing_directory_a_directory_and_a_second_name_are_refused(tmp_path: Path, path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be opened"):
        SqliteLedger(tmp_path / "nowhere" / "clinic.jali")
    with pytest.raises(LedgerError, match="not a regular file"):
        SqliteLedger(tmp_path)
    SqliteLedger(path).close()
    (tmp_path / "twin.jali").hardlink_to(path)
    with pytest.raises(LedgerError, match="second name"):
        SqliteLedger(path)


def test_a_symbolic_link_leads_to_the_same_lock_and_journal(tmp_path: Path, path: Path) -> None:
    with SqliteLedger(path) as ledger:
        clinic(ledger)
    (tmp_path / "link.jali").symlink_to(path)
    with SqliteLedger(tmp_path / "link.jali") as linked:
        ask(linked)
        assert not (tmp_path / "link.jali.lock").exists()


def test_a_journal_without_its_ledger_is_not_mixed_into_a_new_one(path: Path) -> None:
    path.with_name("clinic.jali-wal").write_bytes(b"debits")
    with pytest.raises(LedgerError, match="journal"):
        SqliteLedger(path)


def test_a_ledger_that_was_replaced_while_open_takes_no_debit(path: Path) -> None:
    with SqliteLedger(path) as ledger:
        clinic(ledger)
        path.rename(path.with_name("moved.jali"))
        with pytest.raises(LedgerError, match="moved or replaced"):
            ask(ledger)
        path.touch(mode=0o600)
        with pytest.raises(LedgerError, match="moved or replaced"):
            ask(ledger)


def test_a_deleted_ledger_is_not_made_anew_by_an_object_that_knew_it(path: Path) -> None:
    ledger = SqliteLedger(path)
    path.unlink()
    with pytest.raises(LedgerError):
        clinic(ledger)
    assert not path.exists()


def test_a_closed_ledger_is_closed(path: Path) -> None:
    for ledger in (SqliteLedger(path), SqliteLedger(None)):
        ledger.close()
        ledger.close()
        with pytest.raises(LedgerError, match="closed"):
            ledger.accounts()


def test_a_directory_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be opened"):
        SqliteLedger(Path("/proc/clinic.jali"))


def test_entries_plans_and_answers_refuse_to_be_changed_deleted_or_replaced(path: Path) -> None:
    with SqliteLedger(path) as ledger:
        clinic(ledger)
        ledger.release(ask(ledger), "42")
    raw = sqlite3.connect(path)
    for table in ("entries", "plans", "answers"):
        for statement in (
            f"UPDATE {table} SET body = ''",
            f"DELETE FROM {table}",
            f"INSERT OR REPLACE INTO {table} SELECT * FROM {table} LIMIT 1",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="only grow"):
                raw.execute(statement)
    raw.close()


def test_half_a_commit_in_the_journal_is_no_commit(path: Path, tmp_path: Path) -> None:
    """What a power failure may leave: the ledger file, and any first part of the journal."""
    with SqliteLedger(path) as ledger:
        clinic(ledger)
        wal = path.with_name("clinic.jali-wal")
        durable, anchor = wal.stat().st_size, anchor_of(path).path.read_bytes()
        receipt = ask(ledger)
        base, journal = path.read_bytes(), wal.read_bytes()
    for size in {*range(durable, len(journal), 1237), len(journal) - 1, len(journal)}:
        copy = tmp_path / f"copy{size}.jali"
        copy.touch(mode=0o600)
        copy.write_bytes(base)
        copy.with_name(f"{copy.name}-wal").write_bytes(journal[:size])
        anchor_of(copy).path.write_bytes(anchor)  # a head is anchored when its commit is on disk, never before
        with SqliteLedger(copy) as found:
            assert found.verify().problems == ()
            assert [kept.id for kept in found.receipts()] == ([receipt] if size == len(journal) else [])


def test_waiting_for_others_has_an_end(path: Path) -> None:
    with SqliteLedger(path) as holder, SqliteLedger(path, patience=0.01) as waiter:
        clinic(holder)
        with holder.store.writing(), pytest.raises(LedgerError, match="busy"):
            ask(waiter)
        raw = sqlite3.connect(path, isolation_level=None)
        raw.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="busy"):
            ask(waiter)
        raw.close()
        with waiter.store.reading(), pytest.raises(LedgerError, match="busy"):
            waiter.accounts()


def test_writers_queue_at_the_lock_file_and_readers_do_not(path: Path) -> None:
    with SqliteLedger(path, patience=0.01) as ledger:
        clinic(ledger)
        with path.with_name("clinic.jali.lock").open("rb+") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            assert ledger.spent(VISITS) == NOTHING
            with pytest.raises(LedgerError, match="busy"):
                ask(ledger)
        assert ask(ledger)


def test_many_processes_may_make_the_same_ledger_at_once(path: Path) -> None:
    def work() -> None:
        with SqliteLedger(path) as ledger:
            ask(clinic(ledger))

    children = [in_child(work) for _ in range(6)]
    assert [wait() for wait in children] == [0] * 6
    with SqliteLedger(path) as ledger:
        assert ledger.verify().problems == ()
        assert ledger.verify().receipts == 6


def test_sqlite_is_imported_only_when_a_ledger_is_opened() -> None:
    code = "import sys, jali.ledger; sys.exit('sqlite3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
