"""Whether locks and renames hold where a ledger file is.

SQLite keeps the journal and its locks beside the file, by name. A file that is mounted by itself has another
directory around it in each place, so each would have a journal of its own and spend the whole budget. On a network
file system locks may hold on one machine only.
"""

from __future__ import annotations

import os
from pathlib import Path

from jali.errors import LedgerError

# Of Linux; elsewhere mounts cannot be told apart like this.
_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "coda", "ncpfs", "ceph", "lustre", "beegfs", "gpfs"}
)
_NETWORK_FUSE = frozenset(
    {"fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.gcsfuse", "fuse.blobfuse", "fuse.glusterfs", "fuse.davfs2"}
)


def check_place(path: Path) -> None:
    """Raise `LedgerError` for a file that is mounted by itself, or that lies on a network file system."""
    mounts = _mounts()
    if str(path) in mounts:
        raise LedgerError("ledger-locks-mount", path=path)
    kind = next((mounts[str(place)] for place in path.parents if str(place) in mounts), "")
    if kind in _NETWORK | _NETWORK_FUSE:
        raise LedgerError("ledger-locks-network", path=path, filesystem=kind)


def _mounts() -> dict[str, str]:
    """Return the kind of file system of each place where one is mounted, the last mounted one winning."""
    try:
        lines = _MOUNTS.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return {}
    found: dict[str, str] = {}
    for line in lines:
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")[0]
        found[_unescaped(fields[4])] = kind
    return found


def _unescaped(name: str) -> str:
    r"""Read the octal escapes of blanks and backslashes.

    Example:
        >>> _unescaped("/a\\040b")
        '/a b'
    """
    if "\\" not in name:
        return name
    octal = {f"\\{code:03o}": chr(code) for code in (32, 9, 10, 92)}
    for escape, letter in octal.items():
        name = name.replace(escape, letter)
    return os.fspath(name)
