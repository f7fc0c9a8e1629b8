"""Moving a ledger between stores: everything moves, once, and never can two be charged, wherever it is cut off."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.depth import DEPTH, thinned
from tests.ledger.earlier import downgrade
from tests.ledger.support import ANA, BEN, VISITS, ask, clinic, copy_ledger, debit, in_child, kill_self
from tests.ledger.test_streams import NAME, ONE, append, begin, counting, rechained
from tests.ledger.test_subpopulation_sums import of_part
from tests.servers.postgres import Postgres

from jali.errors import CatalogError, LedgerError
from jali.ledger import (
    AppendOutcome,
    Arrival,
    AttendanceBounds,
    Ledger,
    PostgresLedger,
    Role,
    SqliteLedger,
    open_ledger,
)
from jali.ledger.migrate import COLUMNS, move_ledger
from jali.ledger.stores.postgres.connection import LedgerAddress

Place = str | Path


def lived(place: Place) -> None:
    """Make a ledger with rows in every table, and texts of every kind."""
    with open_ledger(place) as ledger:
        clinic(ledger).declare("visits", "{}")
        ledger.refresh("visits")
        ledger.release(ask(ledger, debit(), debit(ANA)), "42\x00\uffff")
        ledger.recall("key", analyst="ben", grant=debit(BEN))
        ledger.reserve(analyst="ana", question="how\x00many?", key="o", plan="{}", debits=(of_part("A"),))
        begin(ledger)
        append(ledger, "ana.1", "ben.1")
        ledger.streams.append(NAME, [Arrival("x" * 4000 + "\x00", "1", ONE)], AttendanceBounds(), None)
        ledger.streams.publish(NAME, 3, counting)
        append(ledger, "cai.1", "ana.2")
        ledger.access.create(id_="a1", name="ana", role=Role.ANALYST, digest="d", expires="2999-01-01")
        ledger.access.key("cookies")


def content(place: Place) -> dict[str, list[Any]]:
    """Return all rows of a ledger; of entries those before it left."""
    with open_ledger(place, create=False) as ledger, ledger.store.reading() as connection:
        found = {
            table: sorted(connection.scan(f"SELECT {columns} FROM {table}"), key=repr)
            for table, columns in COLUMNS.items()
            if table in connection.tables()
        }
        found["keys"] = list(connection.execute("SELECT name, value FROM meta WHERE name LIKE 'key %'"))
    found["entries"] = [entry for entry in found["entries"] if entry[1] not in ("move", "arrive")]
    return found


def takes_debits(place: Place) -> bool:
    """Say whether a ledger is there and can be charged; nothing of the debit remains."""
    try:
        with open_ledger(place, create=False) as ledger, ledger.store.writing() as connection:
            from jali.ledger.ledger_tables import LedgerTables
            from jali.ledger.operations import ReceiptOrder, reserve_receipt

            name = secrets.token_hex(8)
            reserve_receipt(
                LedgerTables(connection), ReceiptOrder(name, "ana", "?", name, "{}", (debit(epsilon="1/1000"),))
            )
            raise _Undone
    except _Undone:
        return True
    except (LedgerError, CatalogError):
        return False


class _Undone(Exception):  # noqa: N818 - it undoes a transaction
    pass


@pytest.fixture(params=["file to postgres", "postgres to file", "file to file", "postgres to postgres"])
def places(request: pytest.FixtureRequest, address: str, tmp_path: Path) -> tuple[Place, Place]:
    source, target = request.param.split(" to ")
    start: Place = tmp_path / "clinic.jali" if source == "file" else f"{address}_source"
    end: Place = tmp_path / "moved.jali" if target == "file" else f"{address}_target"
    return start, end


def name_of(place: Place) -> str:
    return LedgerAddress.of(place).name if isinstance(place, str) else str(place)


def test_everything_moves_and_the_old_one_says_where_to(places: tuple[Place, Place]) -> None:
    source, target = places
    lived(source)
    before = content(source)
    with open_ledger(source) as ledger:
        head, receipts = ledger.verify().head, ledger.receipts()
    moved = move_ledger(source, target)
    assert (moved.source, moved.target) == (str(source), name_of(target))
    assert content(target) == before == content(source)
    with open_ledger(target, create=False) as ledger:
        found = ledger.verify(noted=head)
        assert (found.problems, found.entries, found.head) == ((), moved.entries, moved.head)
        assert ledger.receipts() == receipts
        assert [deed.act for deed in ledger.access.acts(2)] == ["ledger arrived", "ledger moved"]
        # It goes on: an open receipt is redeemed, items that are known stay known, what was published stays.
        ask(ledger, key="new")
        assert ledger.release(receipts[1].id, "43") == "43"
        late = Arrival("x" * 4000 + "\x00", "1", ONE)
        assert ledger.streams.append(NAME, [late], AttendanceBounds(), None) == AppendOutcome(known=1)
        assert ledger.streams.publish(NAME, 4, counting)
        assert ledger.verify().problems == ()
    with open_ledger(source, create=False) as old:
        assert old.verify().problems == ()
        for action in writes(old, receipts[1].id):
            with pytest.raises(LedgerError, match="has moved to") as refusal:
                action()
            assert name_of(target) in str(refusal.value)
        # What was answered is there to be seen.
        recalled = old.recall("key", analyst="ana", grant=None)
        assert recalled is not None
        assert recalled.answer == "42\x00\uffff"


def writes(ledger: Ledger, receipt: str) -> list[Callable[[], Any]]:
    token = {"id_": "b2", "name": "b", "role": Role.ANALYST, "digest": "d", "expires": "e"}
    return [
        lambda: ask(ledger),
        lambda: ledger.begin(receipt, analyst="ana"),
        lambda: ledger.release(receipt, "43"),
        lambda: ledger.declare("visits", "[]"),
        lambda: ledger.refresh("visits"),
        lambda: ledger.recall("key", analyst="cai", grant=None),
        lambda: append(ledger, "dan.1"),
        lambda: ledger.streams.publish(NAME, 4, counting),
        lambda: begin(ledger, "visitors"),
        lambda: ledger.access.create(**token),  # type: ignore[arg-type]
        lambda: ledger.access.act("cara", "grant", "ana"),
    ]


def test_a_move_that_is_done_is_done_and_another_target_is_refused(places: tuple[Place, Place]) -> None:
    source, target = places
    lived(source)
    move_ledger(source, target)
    with open_ledger(target) as ledger:
        ask(ledger, key="after")
        found = ledger.verify()
    again = move_ledger(source, target)
    assert (again.entries, again.head) == (found.entries, found.head)
    elsewhere = f"{target}_2" if isinstance(target, str) else target.with_name("other.jali")
    with pytest.raises(LedgerError, match="has moved to"):
        move_ledger(source, elsewhere)
    assert not takes_debits(source)


def test_a_ledger_may_move_back_and_forth(address: str, tmp_path: Path) -> None:
    places: list[Place] = [tmp_path / "1.jali", address, tmp_path / "2.jali", f"{address}_2"]
    lived(places[0])
    before = content(places[0])
    for source, target in pairwise(places):
        move_ledger(source, target)
    assert content(places[-1]) == before
    assert [takes_debits(place) for place in places] == [False, False, False, True]
    with open_ledger(places[-1]) as ledger:
        assert ledger.verify().problems == ()


def test_a_target_that_is_not_empty_is_refused_and_nothing_has_changed(places: tuple[Place, Place]) -> None:
    source, target = places
    lived(source)
    with open_ledger(target) as ledger:
        clinic(ledger)
    with pytest.raises(LedgerError, match="already"):
        move_ledger(source, target)
    assert takes_debits(source)
    assert takes_debits(target)


def test_an_empty_ledger_in_postgres_is_taken(address: str, path: Path) -> None:
    lived(path)
    with PostgresLedger(address) as ledger:
        ledger.access.key("cookies")
    move_ledger(path, address)
    assert content(address) == content(path)
    with PostgresLedger(address) as ledger, pytest.raises(LedgerError), ledger.store.writing() as connection:
        connection.execute("UPDATE entries SET body = ''")  # the guards are back


def test_what_cannot_be_reached_or_written_is_refused_before_anything_changes(
    tmp_path: Path, path: Path, postgres: Postgres
) -> None:
    lived(path)
    nobody = postgres.url.replace("jali@", "nobody@")
    for target in (tmp_path / "nowhere" / "x.jali", nobody, "postgresql://jali@127.0.0.1:1/jali"):
        with pytest.raises(LedgerError):
            move_ledger(path, target)
        assert takes_debits(path)
    with pytest.raises(CatalogError, match="There is no"):
        move_ledger(tmp_path / "none.jali", tmp_path / "x.jali")
    with pytest.raises(CatalogError, match="password"):
        move_ledger(path, "postgresql://ana:sesame@localhost/x")
    assert takes_debits(path)


def test_a_ledger_that_is_empty_or_not_sound_stays(path: Path, address: str) -> None:
    SqliteLedger(path).close()
    with pytest.raises(LedgerError, match="empty"):
        move_ledger(path, address)
    lived(path)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE accounts SET spent = replace(spent, '1/10', '1/20')")
        raw.commit()
    with pytest.raises(LedgerError, match="damaged"):
        move_ledger(path, address)
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT count(*) FROM entries WHERE kind = 'move'").fetchone() == (0,)


def test_names_that_postgres_cannot_look_up_are_found_before_anything_changes(path: Path, address: str) -> None:
    with SqliteLedger(path) as ledger:
        ask(clinic(ledger), key="k" * 5000)
    with pytest.raises(LedgerError, match="600 characters"):
        move_ledger(path, address)
    assert takes_debits(path)


@pytest.mark.parametrize("older", [True, False])
def test_a_file_of_an_earlier_schema_moves(path: Path, address: str, older: bool) -> None:
    with SqliteLedger(path) as ledger:
        ledger.release(ask(clinic(ledger)), "42")
    if older:
        downgrade(path, 1)
    move_ledger(path, address)
    with PostgresLedger(address) as ledger:
        ask(ledger, of_part("A"))
        assert ledger.verify().problems == ()


def test_a_process_of_an_earlier_version_cannot_charge_what_has_moved(path: Path, address: str) -> None:
    """One that had the file open, and knows of no moves: the file itself refuses its entries."""
    lived(path)
    move_ledger(path, address)
    with closing(sqlite3.connect(path)) as raw:
        (schema,) = raw.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
        assert schema == "6"  # one that opens it now refuses it
        with pytest.raises(sqlite3.IntegrityError, match="has moved"):
            raw.execute("INSERT INTO entries SELECT max(seq) + 1, 'reserve', '{}', '', '', 1 FROM entries")
        with pytest.raises(sqlite3.OperationalError, match="6 columns"):
            raw.execute("INSERT INTO entries VALUES (999, 'reserve', '{}', '', '')")


def test_what_runs_while_it_moves_is_finished_at_the_target(path: Path, address: str) -> None:
    with SqliteLedger(path) as server:
        receipt = ask(clinic(server))
        move_ledger(path, address)
        with pytest.raises(LedgerError, match="has moved to"):
            server.release(receipt, "42")
        with PostgresLedger(address) as there:
            assert there.begin(receipt, analyst="ana").answer is None
            assert there.release(receipt, "43") == "43"


def test_the_columns_are_all_that_there_are(path: Path, address: str, postgres: Postgres) -> None:
    lived(path)
    move_ledger(path, address)
    with closing(sqlite3.connect(path)) as raw:
        tables = {name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert tables - {"meta"} == set(COLUMNS)
        for table, columns in COLUMNS.items():
            found = [row[1] for row in raw.execute(f"PRAGMA table_info({table})")]
            assert ", ".join(found) == columns
    with closing(psycopg.connect(postgres.url)) as there:
        columns_of = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = %s"
        query = f"{columns_of} ORDER BY ordinal_position"
        rows = there.execute(query, (LedgerAddress.of(address).schema,)).fetchall()
    found_there = {table: ", ".join(c for t, c in rows if t == table) for table in COLUMNS}
    assert found_there == COLUMNS | {"entries": f"{COLUMNS['entries']}, write"}


# The chain.

Entries = list[tuple[str, dict[str, Any]]]


def _after_the_move(entries: Entries) -> None:
    entries.append(("act", {"actor": "a", "act": "b", "about": "c", "at": "now"}))


def _arrives_from_elsewhere(entries: Entries) -> None:
    entries.append(("arrive", {"from": "x", "move": "another", "at": "now"}))


def _arrives_twice(entries: Entries) -> None:
    entries.append(("arrive", {"from": "x", "move": entries[-1][1]["move"], "at": "now"}))
    entries.append(entries[-1])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_after_the_move, "after the ledger had moved"),
        (_arrives_from_elsewhere, "a move that was not made"),
        (_arrives_twice, "a move that was not made"),
    ],
)
def test_entries_that_no_move_could_have_made_are_found(
    path: Path, tmp_path: Path, change: Callable[[Entries], None], said: str
) -> None:
    lived(path)
    move_ledger(path, tmp_path / "moved.jali")
    rechained(path, change)
    with SqliteLedger(path, checked=False) as ledger:
        assert any(said in problem for problem in ledger.verify().problems)


# Killed.


class Mortal(sqlite3.Connection):
    """A connection to SQLite whose statements count."""

    def execute(self, *values: Any) -> sqlite3.Cursor:
        found = super().execute(*values)
        count(str(values[0]))
        return found


STATEMENTS: list[str] = []
LAST = [0]


def count(statement: str) -> None:
    """Kill this process after its last statement, to whichever database."""
    STATEMENTS.append(statement)
    if len(STATEMENTS) == LAST[0]:
        kill_self()


def counted(last: int, action: Callable[[], Any]) -> None:
    """Run `action` with its statements counted; of both databases, files that are put in place among them."""
    STATEMENTS.clear()
    LAST[0] = last
    real, rename = psycopg.Connection.execute, Path.rename

    def execute(connection: psycopg.Connection[Any], query: Any, *values: Any, **options: Any) -> Any:
        found = real(connection, query, *values, **options)
        count(str(query))
        return found

    def renamed(path: Path, target: Any) -> Path:
        count("before renaming")
        found = rename(path, target)
        count("renamed")
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Mortal))
        patch.setattr(psycopg.Connection, "execute", execute)
        patch.setattr(Path, "rename", renamed)
        action()


def copied(source: Path, place: Place) -> None:
    """Make a ledger as that of a file, in a place."""
    if isinstance(place, Path):
        copy_ledger(source, place)
    else:
        draft = source.with_name("draft.jali")
        draft.unlink(missing_ok=True)
        copy_ledger(source, draft)
        move_ledger(draft, place)


@thinned(4)
@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("direction", ["file to postgres", "postgres to file"])
def test_a_killed_move_leaves_one_that_can_be_charged_at_most_and_is_finished_by_another(
    direction: str, turn: int, address: str, path: Path, tmp_path: Path
) -> None:
    lived(path)

    def places(number: int) -> tuple[Place, Place]:
        file, schema = tmp_path / f"{number}.jali", f"{address}_{number}"
        return (file, schema) if direction == "file to postgres" else (schema, file)

    source, target = places(0)
    copied(path, source)
    counted(0, lambda: move_ledger(source, target))
    script = list(STATEMENTS)
    left = next(i for i, text in enumerate(script, 1) if "INSERT INTO entries" in text)
    # Some moments, all of them in deep runs: around the first step in any case.
    moments = [i for i in range(1, len(script) + 1) if abs(i - left) < 4 or i % (16 if DEPTH == 1 else 2) == 0]
    for number in moments[turn::4]:
        source, target = places(number)
        copied(path, source)
        assert in_child(partial(counted, number, lambda s=source, t=target: move_ledger(s, t)))() == -9  # type: ignore[misc]
        alive = [takes_debits(source), takes_debits(target)]
        assert alive != [True, True], script[number - 1]
        assert alive[0] or number >= left, script[number - 1]
        before = content(source)
        move_ledger(source, target)
        assert [takes_debits(source), takes_debits(target)] == [False, True]
        assert content(target) == before
        with open_ledger(target) as ledger:
            assert ledger.verify().problems == ()
            assert ledger.spent(VISITS).epsilon == debit().event.epsilon * 2  # type: ignore[operator]


def test_two_moves_at_once_are_one_move(path: Path, address: str) -> None:
    lived(path)
    before = content(path)

    def move() -> None:
        try:
            move_ledger(path, address)
        except LedgerError:
            move_ledger(path, address)

    assert [wait() for wait in [in_child(move) for _ in range(4)]] == [0] * 4
    assert content(address) == before
    with PostgresLedger(address) as ledger:
        kinds = [deed.act for deed in ledger.access.acts()]
        assert kinds.count("ledger arrived") == kinds.count("ledger moved") == 1
