"""A ledger that was rolled back, cut or copied is noticed by its anchor, and goes on without a refund."""

from __future__ import annotations

import base64
import http.server
import json
import random
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from tests.depth import DEPTH
from tests.ledger.support import ANA, BEN, VISITS, ask, clinic, copy_ledger, debit, in_child, kill_self
from tests.ledger.test_streams import NAME, append, begin, counting
from tests.ledger.test_subpopulation_sums import of_part
from tests.servers.postgres import Postgres

from jali.cli import main
from jali.errors import CatalogError, LedgerError
from jali.ledger import MAX_ATTEMPTS, Debit, Ledger, PostgresLedger, Role, SqliteLedger
from jali.ledger.anchor_file import AnchorFile
from jali.ledger.anchors import AnchoredAccount, AnchoredHead
from jali.ledger.chain import ChainHead
from jali.ledger.recover import recover
from jali.ledger.signed_heads import read_head, read_public_key, sign_head
from jali.ledger.stores.sqlite.file import anchor_of, check_place
from jali.privacy import Budget, Event


def answer(ledger: Ledger, *, key: str = "key", epsilon: str = "1/10") -> str:
    receipt = ask(ledger, debit(VISITS, Fraction(epsilon)), key=key)
    ledger.release(receipt, "42")
    return receipt


def refused(path: Path, code: str) -> None:
    with pytest.raises(LedgerError) as refusal:
        SqliteLedger(path).close()
    assert refusal.value.code == code
    assert refusal.value.remedy


def test_after_a_kill_a_deleted_journal_is_noticed(path: Path) -> None:
    with SqliteLedger(path) as ledger:
        clinic(ledger)

    def spend() -> None:
        with SqliteLedger(path) as mine:
            answer(mine)
            kill_self()

    assert in_child(spend)() == -9
    wal = path.with_name(f"{path.name}-wal")
    assert wal.stat().st_size
    wal.unlink()
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    refused(path, "ledger-behind")
    with (
        SqliteLedger(path, checked=False) as ledger,
        pytest.raises(LedgerError, match="does not match its anchor"),
    ):
        ask(ledger, key="another")


def test_every_older_copy_that_is_put_in_its_place_is_refused(path: Path, tmp_path: Path) -> None:
    copies: list[Path] = []
    steps: list[Callable[[Ledger], object]] = [
        clinic,
        lambda ledger: answer(ledger, key="first"),
        lambda ledger: ledger.declare("visits", "{}"),
        lambda ledger: ledger.refresh("visits"),
        lambda ledger: ledger.recall("first", analyst="ben", grant=debit(BEN)),
        begin,
        lambda ledger: (append(ledger, "ana.1"), ledger.streams.publish(NAME, 1, counting)),
        lambda ledger: ledger.access.act("cara", "grant", "ana"),
        lambda ledger: answer(ledger, key="second"),
    ]
    for number, step in enumerate(steps):
        with SqliteLedger(path) as ledger:
            step(ledger)
        copies.append(tmp_path / f"copy{number}")
        shutil.copy(path, copies[-1])
    for copy in copies[:-1]:
        shutil.copy(copy, path)
        refused(path, "ledger-behind")
    shutil.copy(copies[-1], path)
    with SqliteLedger(path) as ledger:
        assert ledger.verify().problems == ()


def test_a_ledger_that_was_deleted_is_not_begun_anew(path: Path) -> None:
    with SqliteLedger(path) as ledger:
        answer(clinic(ledger))
    path.unlink()
    refused(path, "ledger-behind-missing")
    anchor_of(path).path.unlink()
    SqliteLedger(path).close()


def test_a_copy_without_an_anchor_is_refused_and_can_be_verified(path: Path, tmp_path: Path) -> None:
    with SqliteLedger(path) as ledger:
        answer(clinic(ledger))
    copy = tmp_path / "copy.jali"
    shutil.copy(path, copy)
    refused(copy, "anchor-missing")
    with SqliteLedger(copy, checked=False) as ledger:
        assert ledger.verify().problems == ()
        with pytest.raises(LedgerError, match="is missing"):
            ask(ledger)


def test_a_lost_anchor_can_be_renewed_for_a_sound_ledger(path: Path) -> None:
    with SqliteLedger(path) as ledger:
        answer(clinic(ledger))
    anchor_of(path).path.unlink()
    with SqliteLedger(path, checked=False) as ledger:
        ledger.renew_anchors()
    with SqliteLedger(path) as ledger:
        answer(ledger, key="another")


@pytest.mark.parametrize("place", [0, 20, -30])
def test_a_changed_anchor_is_noticed(path: Path, place: int) -> None:
    with SqliteLedger(path) as ledger:
        answer(clinic(ledger))
    file = anchor_of(path).path
    lines = file.read_bytes().splitlines(keepends=True)
    changed = bytearray(lines[-1])
    changed[place] ^= 1
    file.write_bytes(b"".join([*lines[:-1], bytes(changed)]))
    refused(path, "anchor-damaged")


def test_a_torn_line_of_the_anchor_is_as_if_it_had_not_been_written(path: Path) -> None:
    with SqliteLedger(path) as ledger:
        answer(clinic(ledger))
        file = anchor_of(path).path
        before = file.read_bytes()
        answer(ledger, key="another")
        line = file.read_bytes()[len(before) :]
    for size in range(len(line)):
        file.write_bytes(before + line[:size])
        with SqliteLedger(path) as ledger:
            last = anchor_of(path).last()
            assert last is not None
            assert last.head == ledger.now().head


def test_an_anchor_that_grows_long_is_shortened_and_forgets_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jali.ledger import anchor_file

    monkeypatch.setattr(anchor_file, "_LONG", 3000)
    with SqliteLedger(path) as ledger:
        clinic(ledger, epsilon=100)

        def work(name: int) -> None:
            for number in range(20):
                answer(ledger, key=f"{name} {number}", epsilon="1/1000")

        threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        known = anchor_of(path).everything()
        assert known is not None
        assert known.head == ledger.now().head
        assert known.accounts[VISITS].spent == ledger.spent(VISITS)
        assert set(known.accounts) == {VISITS, ANA, BEN}
    assert anchor_of(path).path.stat().st_size < 8000


def test_processes_that_append_while_others_shorten_lose_no_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jali.ledger import anchor_file

    monkeypatch.setattr(anchor_file, "_LONG", 2000)
    anchor = AnchorFile(tmp_path / "x.anchor")
    anchor.create()

    def work(name: int) -> None:
        for number in range(100):
            head = ChainHead(100 * number + name, "0" * 64)
            spent = debit(VISITS, Fraction(number + 1, 100)).event
            mine = {f"account {name}": AnchoredAccount(Budget(9), spent, head.seq)}
            anchor.write(AnchoredHead(0, head, mine), durable=False)

    children = [in_child(lambda name=name: work(name)) for name in range(4)]  # type: ignore[misc]
    assert [wait() for wait in children] == [0] * 4
    found = anchor.everything()
    assert found is not None
    assert found.head.seq == 9903
    assert {name: account.spent.epsilon for name, account in found.accounts.items()} == {
        f"account {name}": 1 for name in range(4)
    }


def test_an_answer_stays_while_the_anchor_cannot_be_written(path: Path) -> None:
    with SqliteLedger(path) as ledger:
        receipt = ask(clinic(ledger))
        file = anchor_of(path).path
        kept = file.read_bytes()
        file.unlink()
        file.mkdir()
        with pytest.raises(LedgerError) as refusal:
            ledger.release(receipt, "42")
        assert refusal.value.code == "anchor-away-file"
        file.rmdir()
        file.write_bytes(kept)
        assert ledger.release(receipt, "43") == "43"


# Anchors elsewhere.


@contextmanager
def service() -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Run a service that keeps lines, and return its URL and what it keeps."""
    kept: dict[str, list[str]] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            lines = kept.get(self._ledger())
            self.send_response(404 if lines is None else 200)
            self.end_headers()
            self.wfile.write("\n".join(lines or ()).encode())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            kept.setdefault(self._ledger(), []).append(body.strip())
            self.send_response(204)
            self.end_headers()

        def _ledger(self) -> str:
            return parse_qs(urlsplit(self.path).query)["ledger"][0]

        def log_message(self, *_: Any) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/heads", kept
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(params=["directory", "postgres", "url"])
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A place for a second anchor."""
    if request.param == "directory":
        (tmp_path / "second").mkdir()
        yield str(tmp_path / "second")
    elif request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        yield server.fresh()
    else:
        with service() as (url, _):
            yield url


def test_a_second_anchor_notices_what_was_restored_with_the_first(
    path: Path, tmp_path: Path, elsewhere: str
) -> None:
    with SqliteLedger(path) as ledger:
        clinic(ledger).anchor_at(elsewhere)
    with SqliteLedger(path) as ledger:
        answer(ledger)
    old = tmp_path / "old.jali"
    copy_ledger(path, old)
    with SqliteLedger(path) as ledger:
        answer(ledger, key="another")
    copy_ledger(old, path)
    refused(path, "ledger-behind")
    with SqliteLedger(path, checked=False) as ledger:
        assert recover(ledger).charged == {VISITS: debit().event}
    with SqliteLedger(path) as ledger:
        assert ledger.spent(VISITS).epsilon == Fraction(2, 10)
        ledger.anchor_at("")
    with SqliteLedger(path) as ledger:
        assert len(ledger.transactions.anchors.all) == 1


def test_a_second_anchor_may_be_named_by_the_environment(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JALI_ANCHOR", str(tmp_path))
    with SqliteLedger(path) as ledger:
        answer(clinic(ledger))
        assert (tmp_path / f"{ledger.store.identity()}.anchor").exists()
    monkeypatch.setenv("JALI_ANCHOR", str(tmp_path / "nowhere"))
    with pytest.raises(CatalogError, match="no directory"):
        SqliteLedger(path)


def test_no_answer_leaves_while_a_second_anchor_cannot_be_reached(path: Path) -> None:
    with service() as (url, kept):
        with SqliteLedger(path) as ledger:
            clinic(ledger).anchor_at(url)
        ledger = SqliteLedger(path)
        receipt = ask(ledger)
        assert kept
    with pytest.raises(LedgerError) as refusal:
        ledger.release(receipt, "42")
    assert refusal.value.code == "anchor-away"
    ledger.close()
    refused(path, "anchor-away")


def test_a_ledger_in_postgres_that_was_restored_is_noticed_by_the_machine_that_used_it(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    url = postgres.fresh()
    with PostgresLedger(url) as ledger:
        answer(clinic(ledger))
        lost = ledger.now().head
        with ledger.store.writing() as connection:
            for table in ("entries", "answers", "plans"):
                connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            connection.execute("DELETE FROM entries WHERE seq = ?", (lost.seq,))
            connection.execute("DELETE FROM answers")
            values = "released = NULL, entry = ?"
            connection.execute(f"UPDATE receipts SET {values}", (lost.seq - 1,))
    with pytest.raises(LedgerError) as refusal:
        PostgresLedger(url)
    assert refusal.value.code == "ledger-behind"


# Recovery.


def test_what_the_anchor_knows_is_charged_and_the_rest_is_closed(path: Path, tmp_path: Path) -> None:
    with SqliteLedger(path) as ledger:
        clinic(ledger, epsilon=9)
        answer(ledger, key="kept")
        owed = ask(ledger, key="owed")
        ask(ledger, of_part("A", "0.3"), key="part")
        begin(ledger)
        append(ledger, "ana.1")
        ledger.streams.publish(NAME, 1, counting)
        ledger.access.create(id_="a1", name="ana", role=Role.ANALYST, digest="d", expires="2100")
    old = tmp_path / "old.jali"
    shutil.copy(path, old)
    with SqliteLedger(path) as ledger:
        ledger.release(owed, "7")
        answer(ledger, key="lost", epsilon="1/5")
        ledger.open_account("table late", Budget(2))
        ledger.release(ask(ledger, debit("table late", "3/2"), key="late"), "1")
        ledger.streams.publish(NAME, 2, counting)
        spent = {name: ledger.spent(name) for name in ledger.accounts()}
    shutil.copy(old, path)
    with SqliteLedger(path, checked=False) as ledger:
        found = recover(ledger)
    assert (found.receipts, found.streams, found.tokens) == (2, 1, 1)
    with SqliteLedger(path) as ledger:
        assert ledger.verify().problems == ()
        assert {name: ledger.spent(name) for name in ledger.accounts()} == spent
        with pytest.raises(LedgerError, match=f"{MAX_ATTEMPTS} times"):
            ledger.begin(owed, analyst=None)
        kept = ledger.recall("kept", analyst="ana", grant=None)
        assert kept is not None
        assert kept.answer == "42"
        with pytest.raises(LedgerError, match="ended when the ledger was recovered"):
            ledger.streams.publish(NAME, 2, counting)
        with pytest.raises(LedgerError, match="ended when the ledger was recovered"):
            append(ledger, "ben.1")
        assert ledger.streams.values(NAME) == ("1",)
        assert [token.revoked for token in ledger.access.tokens()] == [True]
        with pytest.raises(LedgerError, match="is fixed at"):
            ledger.open_account("table late", Budget(3))
        answer(ledger, key="further")
        assert ledger.verify().problems == ()
    shutil.copy(old, path)
    refused(path, "ledger-behind")


def test_a_ledger_is_recovered_from_older_copies_again_and_again(path: Path, tmp_path: Path) -> None:
    with SqliteLedger(path) as ledger:
        clinic(ledger, epsilon=9)
    old = tmp_path / "old.jali"
    shutil.copy(path, old)
    for turn in range(1, 4):
        with SqliteLedger(path) as ledger:
            answer(ledger, key=str(turn))
        shutil.copy(old, path)
        refused(path, "ledger-behind")
        with SqliteLedger(path, checked=False) as ledger:
            recover(ledger)
        with SqliteLedger(path) as ledger:
            assert ledger.spent(VISITS).epsilon == Fraction(turn, 10)
            assert ledger.verify().problems == ()


def test_losses_in_rho_are_recovered_too(path: Path, tmp_path: Path) -> None:
    with SqliteLedger(path) as ledger:
        ledger.open_account(VISITS, Budget(3, 1e-6))
    old = tmp_path / "old.jali"
    shutil.copy(path, old)
    with SqliteLedger(path) as ledger:
        paid = Debit(VISITS, Event(None, Fraction(1, 50), Fraction(0)))
        ledger.release(ask(ledger, paid), "1")
        spent = ledger.spent(VISITS)
    shutil.copy(old, path)
    with SqliteLedger(path, checked=False) as ledger:
        recover(ledger)
        assert ledger.spent(VISITS) == spent


def test_what_lacks_nothing_or_is_not_sound_is_not_recovered(path: Path, tmp_path: Path) -> None:
    with SqliteLedger(path) as ledger:
        answer(clinic(ledger))
    with (
        SqliteLedger(path, checked=False) as ledger,
        pytest.raises(LedgerError, match="The ledger has every anchored entry: there is nothing to recover"),
    ):
        recover(ledger)


# Signed heads.


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, Path]:
    private, public = tmp_path / "key.pem", tmp_path / "public.pem"
    key = Ed25519PrivateKey.generate()
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


def test_a_rolled_back_ledger_is_noticed_by_a_signed_head_every_time(
    path: Path, tmp_path: Path, keys: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    draw = random.Random(7)
    with SqliteLedger(path) as ledger:
        clinic(ledger, epsilon=1000)
    for turn in range(200 if DEPTH > 1 else 10):
        old = tmp_path / "old.jali"
        copy_ledger(path, old)
        with SqliteLedger(path) as ledger:
            for number in range(draw.randint(1, 4)):
                answer(ledger, key=f"{turn} {number}", epsilon="1/100")
        head = tmp_path / "head.json"
        signed = ["ledger", "anchor", str(path), "--sign", str(keys[0]), "--out", str(head)]
        verified = ["verify", str(path), "--anchor", str(head), "--public-key", str(keys[1])]
        assert main(signed) == 0
        assert main(verified) == 0
        latest = tmp_path / "latest.jali"
        copy_ledger(path, latest)
        copy_ledger(old, path)  # with its own anchor: only the head elsewhere tells
        assert main(verified) == 5
        assert "not in the chain" in capsys.readouterr().out
        copy_ledger(latest, path)


def test_a_forged_head_is_noticed(path: Path, tmp_path: Path, keys: tuple[Path, Path]) -> None:
    with SqliteLedger(path) as ledger:
        answer(clinic(ledger))
        signed = sign_head(ledger.store.identity(), ledger.now(), keys[0])
    public = read_public_key(keys[1])
    assert signed.is_signed_by(public)
    head = tmp_path / "head.json"
    changes: tuple[dict[str, Any], ...] = (
        {"seq": 1},
        {"at": "1999"},
        {"head": "0" * 64},
        {"accounts": {}},
        {"ledger": "x"},
        {"signature": base64.b64encode(bytes(64)).decode()},
        {"signature": "?"},
    )
    for change in changes:
        head.write_text(json.dumps(signed.to_json() | change))
        assert not read_head(head).is_signed_by(public)
    head.write_text("{}")
    with pytest.raises(CatalogError, match="is not a ledger head written by `jali ledger anchor`"):
        read_head(head)
    with pytest.raises(CatalogError, match="has no unencrypted private Ed25519 key"):
        sign_head("x", signed.anchored, head)


# Where the file is.


def test_a_file_that_is_mounted_by_itself_or_over_a_network_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jali.ledger.stores.sqlite import file

    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "2 1 8:1 /x.jali /data/a\\040b/clinic.jali rw - ext4 /dev/sda1 rw\n"
        "3 1 0:9 / /net rw - nfs4 server:/ rw\n"
        "4 3 8:1 / /net/local rw - ext4 /dev/sdb rw\n"
    )
    monkeypatch.setattr(file, "_MOUNTS", mounts)
    for place in ("/data/a b/clinic.jali", "/net/clinic.jali", "/net/x/clinic.jali"):
        with pytest.raises(LedgerError) as refusal:
            check_place(Path(place))
        assert refusal.value.code in ("ledger-locks-mount", "ledger-locks-network")
    for place in ("/data/a b/other.jali", "/net/local/clinic.jali", "/clinic.jali"):
        check_place(Path(place))
    monkeypatch.setattr(file, "_MOUNTS", tmp_path / "none")
    check_place(Path("/net/clinic.jali"))
