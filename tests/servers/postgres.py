"""A Postgres of the tests' own: made in a temporary directory, and gone with the block, or with the test run."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from tests.servers.ports import free_port

MISSING = "Postgres is not installed (Debian: apt-get install postgresql)"

# A commit reaches the disk, as in earnest; everything else is as small as can be.
_SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{directory}'
max_connections = 200
shared_buffers = '16MB'
max_wal_size = '256MB'
fsync = on
timezone = 'UTC'
log_min_messages = warning
"""
# The superuser comes through the socket, which lies in a directory of the owner; others on this machine can
# reach the port, but no superuser there. The role `guarded` needs its password.
_ADMITTED = """
local all postgres trust
host all guarded 127.0.0.1/32 scram-sha-256
host all jali 127.0.0.1/32 trust
"""
# Waits for the end of the test run, however it ends, and tidies up: the process of this very directory only.
_WATCH = """
read -r _
pid=$(head -n 1 "$1/data/postmaster.pid" 2> /dev/null) \
    && ps -o args= -p "$pid" | grep -q -F "$1/data" && kill -QUIT "$pid" && sleep 0.2
rm -rf "$1"
"""


@dataclass(frozen=True)
class Postgres:
    """A server that can be stopped, killed and started again on the same port.

    Attributes:
        binaries: Where its programs are.
        directory: Where its data, its socket and its log are.
        port: Its port on 127.0.0.1.
        secret: What the password of the role `guarded` ends in.
    """

    binaries: Path
    directory: Path
    port: int
    secret: str

    @property
    def url(self) -> str:
        """The database `jali`, for the role `jali` that owns it: no superuser, and no password."""
        return f"postgresql://jali@127.0.0.1:{self.port}/jali"

    @property
    def superuser(self) -> str:
        """The same database, for the superuser, through the socket."""
        return f"postgresql://postgres@/jali?host={self.directory}&port={self.port}"

    @property
    def guarded(self) -> str:
        """The same database, for a role that needs a password."""
        return f"postgresql://guarded@127.0.0.1:{self.port}/jali"

    @property
    def password(self) -> str:
        """The password of the role `guarded`."""
        return f"sesame-{self.secret}"

    def fresh(self) -> str:
        """Make an empty database and return its URL."""
        name = f"fresh_{secrets.token_hex(6)}"
        with closing(psycopg.connect(self.url, autocommit=True)) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return f"{self.url.rpartition('/')[0]}/{name}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._control("start", "-w", "-l", str(self.directory / "log"))

    def stop(self) -> None:
        """Stop it in order: sessions are ended, everything is written."""
        self._control("stop", "-m", "fast")

    def kill(self) -> None:
        """Stop it without order, as a crash: nothing more is written, and the next start recovers."""
        self._control("stop", "-m", "immediate")

    def restart(self, *, crash: bool = False) -> None:
        """Stop it, in order or by a crash, and start it again."""
        if crash:
            self.kill()
        else:
            self.stop()
        self.start()

    def log(self) -> str:
        """Return what it wrote to its log so far."""
        return (self.directory / "log").read_text()

    def _control(self, *arguments: str) -> None:
        _run(self.binaries / "pg_ctl", "-s", "-D", str(self.directory / "data"), *arguments)


@contextmanager
def running_postgres(*, on_disk: bool = False) -> Iterator[Postgres]:
    """Make and run a server until the block ends; in memory where there is room, unless its speed is measured.

    What is killed is a process, not the machine: what it wrote outlives it in memory as on a disk.

    Raises:
        FileNotFoundError: Postgres is not installed.
    """
    binaries = postgres_binaries()
    if binaries is None:
        raise FileNotFoundError(MISSING)
    # Not in pytest's directory: that is for its owner only, and the path of a socket must be short.
    directory = Path(tempfile.mkdtemp(prefix="jali_pg_", dir="/tmp" if on_disk else _room()))
    watch = ["sh", "-c", _WATCH, "sh", str(directory)]
    # In a session of its own: an interrupt of the test run must not reach it.
    with subprocess.Popen(watch, stdin=subprocess.PIPE, start_new_session=True):
        yield _made(binaries, directory)


def postgres_binaries() -> Path | None:
    """Return where the programs of the newest Postgres are, or None: Debian keeps them off the PATH."""
    newest = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("postgres")
    found = newest[-1] if newest else None if on_path is None else Path(on_path)
    return None if found is None else found.resolve().parent


def _made(binaries: Path, directory: Path) -> Postgres:
    owner = _owner()
    if owner is not None:
        os.chown(directory, owner.pw_uid, owner.pw_gid)
    made = Postgres(binaries, directory, free_port(), secrets.token_hex(8))
    data = directory / "data"
    _run(binaries / "initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
    with (data / "postgresql.conf").open("a") as file:
        file.write(_SETTINGS.format(port=made.port, directory=directory))
    (data / "pg_hba.conf").write_text(_ADMITTED)
    made.start()
    with closing(psycopg.connect(made.superuser.replace("/jali?", "/postgres?"), autocommit=True)) as connection:
        connection.execute("CREATE ROLE jali LOGIN CREATEDB")
        connection.execute(sql.SQL("CREATE ROLE guarded LOGIN PASSWORD {}").format(sql.Literal(made.password)))
        connection.execute("CREATE DATABASE jali OWNER jali")
        connection.execute("GRANT CREATE ON DATABASE jali TO guarded")
    return made


def _room() -> str:
    """Return a directory in memory, where that is large enough: a disk may take a second to make some tables."""
    memory = Path("/dev/shm")
    return str(memory) if memory.is_dir() and shutil.disk_usage(memory).free > 4 << 30 else "/tmp"


def _owner() -> pwd.struct_passwd | None:
    """Return who runs it where we are root, as whom Postgres refuses to run."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def _run(program: Path, *arguments: str) -> None:
    owner = _owner()
    # A server that stays must not hold a pipe that somebody reads: nothing is captured but its own log.
    done = subprocess.run(
        [program, *arguments],
        check=False,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        user=None if owner is None else owner.pw_uid,
        group=None if owner is None else owner.pw_gid,
        extra_groups=None if owner is None else (),
    )
    if done.returncode:
        raise RuntimeError(f"{program.name} {arguments[-1]} ended with {done.returncode}")
