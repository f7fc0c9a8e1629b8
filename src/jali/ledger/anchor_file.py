"""An anchor in a file: one line for each head, appended, and rewritten as one line when it grows long."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from jali.errors import LedgerError
from jali.ledger.anchors import AnchoredHead, merge
from jali.ledger.chain import ChainHead

# What is read from the end to find the last head: far more than one line has.
_TAIL = 1 << 16
# When it grows beyond this, it is rewritten as one line.
_LONG = 1 << 20


class AnchorFile:
    """Heads in a file of their own, readable by its owner only.

    Guarantee:
        A head that `write` has returned for is read by every later `last`, also after a crash in the middle of
        another write: a torn last line is ignored, and a line that was changed is an error.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        # What was read before: of which file, up to where, and the latest head by then.
        self._known: tuple[int, int, AnchoredHead] | None = None

    @property
    def name(self) -> str:
        """The path of the file."""
        return str(self.path)

    def last(self) -> AnchoredHead | None:
        """Return the last head; None if there is no file."""
        with self._translate_errors():
            try:
                with self.path.open("rb") as stream:
                    return self._latest(stream)
            except FileNotFoundError:
                return None

    def _latest(self, stream: BinaryIO) -> AnchoredHead:
        """Return the latest head of a file, of which only what was appended since the last time is read."""
        inode, size = (status := os.fstat(stream.fileno())).st_ino, status.st_size
        known = self._known if self._known is not None and self._known[0] == inode else None
        if known is not None and known[1] <= size:
            start, heads = known[1], [known[2]]
        else:
            start, heads = max(0, size - _TAIL), []
        stream.seek(start)
        data = stream.read()
        whole = data[: data.rfind(b"\n") + 1]
        found = _heads(whole if heads or not start else whole.partition(b"\n")[2])
        if not found and not heads and start:  # one line may be longer than the tail
            stream.seek(0)
            whole = stream.read()
            start, found = 0, _heads(whole)
        if (found and found[-1] is None) or not (heads := [*heads, *(head for head in found if head is not None)]):
            raise _make_damage_error(self.name)
        latest = max(heads, key=lambda head: head.order)
        self._known = inode, start + len(whole), latest
        return latest

    def everything(self) -> AnchoredHead | None:
        """Return the last head with the sums of all accounts."""
        with self._translate_errors():
            lines = self._lines()
        return None if lines is None else merge(lines)

    def create(self) -> None:
        """Make the file of a ledger without entries, unless it is there."""
        if not self.path.exists():
            self.renew(AnchoredHead(0, ChainHead()))

    def write(self, anchored: AnchoredHead, *, durable: bool) -> None:
        """Append a head. No lock is needed: appended lines do not mix, and one that got lost comes again."""
        line = f"{anchored.to_text()}\n".encode()
        with self._translate_errors():
            while not self._append(line, durable=durable):
                pass

    def _append(self, line: bytes, *, durable: bool) -> bool:
        """Append a line; return False if the file was rewritten meanwhile, perhaps without it."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            size = os.lseek(descriptor, 0, os.SEEK_END)
            # After a torn line of a process that was killed, the next one begins on a line of its own.
            whole = size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"
            _write_all(descriptor, line if whole else b"\n" + line)
            if durable:
                os.fdatasync(descriptor)
            kept = _is_open_as(descriptor, self.path)
            if kept and size > _LONG:
                self._shorten(descriptor)
            return kept
        finally:
            os.close(descriptor)

    def _shorten(self, descriptor: int) -> None:
        """Rewrite a long file as one line. One process does it at a time; the others go on appending.

        What is appended to the old file before it is replaced is read after that, and appended to the new one.
        What comes later finds that the file is another, and is appended again by whoever wrote it.
        """
        draft = self.path.with_name(f"{self.path.name}.new")
        shortened = os.open(draft, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(shortened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            if not _is_open_as(descriptor, self.path) or not _is_open_as(shortened, draft):
                return  # another process has done it meanwhile
            size = os.lseek(descriptor, 0, os.SEEK_END)
            found = merge(self._lines() or ())
            assert found is not None
            os.ftruncate(shortened, 0)
            _write_all(shortened, f"{found.to_text()}\n".encode())
            os.fsync(shortened)
            draft.rename(self.path)
            _sync_directory(self.path.parent)
        finally:
            os.close(shortened)
        late = _read_from(descriptor, size)
        while late and not self._append(late if late.endswith(b"\n") else late + b"\n", durable=True):
            pass  # yet another process has shortened it

    def renew(self, anchored: AnchoredHead) -> None:
        """Write the file again, with one head."""
        with self._translate_errors():
            self._replace(anchored)

    def _lines(self) -> list[AnchoredHead] | None:
        """Return all heads in the file; None if there is no file."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        # What follows the last end of line is not written wholly.
        found = _heads(data[: data.rfind(b"\n") + 1])
        if not found or found[-1] is None:
            raise _make_damage_error(self.name)
        return [head for head in found if head is not None]

    def _replace(self, anchored: AnchoredHead) -> None:
        draft = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            _write_all(descriptor, f"{anchored.to_text()}\n".encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        draft.rename(self.path)
        _sync_directory(self.path.parent)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise LedgerError("anchor-away-file", anchor=self.name, problem=error.strerror) from None


def _is_open_as(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _heads(data: bytes) -> list[AnchoredHead | None]:
    """Read lines; None stands for one that was torn or changed."""
    return [_read(text) for text in data.splitlines() if text.strip()]


def _read(text: bytes) -> AnchoredHead | None:
    try:
        return AnchoredHead.of(text.decode())
    except UnicodeDecodeError:
        return None


def _read_from(descriptor: int, start: int) -> bytes:
    found = b""
    while more := os.pread(descriptor, 1 << 16, start + len(found)):
        found += more
    return found


def _write_all(descriptor: int, data: bytes) -> None:
    written = 0
    while written < len(data):
        written += os.write(descriptor, data[written:])


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make_damage_error(name: str) -> LedgerError:
    return LedgerError("anchor-damaged", anchor=name)
