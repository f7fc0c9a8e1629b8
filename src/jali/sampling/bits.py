"""Sources of uniform random bits: the only randomness that a sampler may touch.

A source hands out independent uniform words. `system_bits()` is the calling thread's own keyed stream; a
forked child and another thread never continue a stream that is not theirs. There is no way to seed a
source here: a seeded one exists in the tests only.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms
from numpy.typing import NDArray

from jali.errors import MechanismError

Words = NDArray[np.unsignedinteger[Any]]

_ZEROS = memoryview(bytes(1 << 18))
_BYTES_PER_KEY = 1 << 30  # far below the 2^38 bytes after which the block counter of ChaCha20 wraps
_WIDTHS: tuple[tuple[int, type[np.unsignedinteger[Any]]], ...] = (
    (8, np.uint8),
    (16, np.uint16),
    (32, np.uint32),
    (64, np.uint64),
)


class BitSource(Protocol):
    """Where uniform random bits come from."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return `count` independent uniform 64-bit words."""

    def integers(self, count: int, width: int) -> Words:
        """Return `count` independent integers, uniform on 0 .. 2**width - 1, for width 0 .. 64."""


class _ByteSource:
    """Words cut from a stream of uniform bytes that a subclass writes into a buffer."""

    def _fill(self, buffer: memoryview) -> None:
        raise NotImplementedError

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return `count` independent uniform 64-bit words."""
        words = np.empty(count, np.uint64)
        if count:
            self._fill(words.data.cast("B"))
        return words

    def integers(self, count: int, width: int) -> Words:
        """Return `count` independent integers, uniform on 0 .. 2**width - 1.

        Args:
            count: How many.
            width: Bits of each, 0 to 64; the array has the narrowest unsigned type that holds them.
        """
        size, kind = _narrowest(width)
        if width == 0:
            return np.zeros(count, kind)
        words = np.empty(count, kind)
        if count:
            self._fill(words.data.cast("B"))
        if width < size:
            np.right_shift(words, kind(size - width), out=words)
        return words


class OperatingSystemBits(_ByteSource):
    """Bits straight from the operating system, `os.urandom`: simple, safe everywhere, slow in bulk.

    Example:
        >>> from jali.sampling import OperatingSystemBits
        >>> OperatingSystemBits().words(3).dtype
        dtype('uint64')
    """

    def _fill(self, buffer: memoryview) -> None:
        buffer[:] = os.urandom(len(buffer))


class KeyedBits(_ByteSource):
    """The ChaCha20 key stream under a key from `os.urandom`.

    Guarantee:
        As good as ChaCha20 is a pseudorandom generator and `os.urandom` is random. A stream serves the
        thread that made it and refuses others; a forked child draws a new key before its first bit; the key
        is replaced after every 2^30 bytes.
    Proof:
        docs/proofs/random_bits.md.

    Example:
        >>> from jali.sampling import KeyedBits
        >>> bool((KeyedBits().integers(100, 4) < 16).all())
        True
    """

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._rekey()

    def __reduce__(self) -> str:
        raise MechanismError("keyed-bits-copied")

    def _rekey(self) -> None:
        self._process = _process()
        self._left = _BYTES_PER_KEY
        cipher = Cipher(algorithms.ChaCha20(os.urandom(32), bytes(16)), mode=None)
        self._stream: CipherContext = cipher.encryptor()

    def _fill(self, buffer: memoryview) -> None:
        if self._thread != threading.get_ident():
            raise MechanismError("keyed-bits-other-thread")
        for start in range(0, len(buffer), len(_ZEROS)):
            chunk = buffer[start : start + len(_ZEROS)]
            if self._process != _process() or self._left < len(chunk):
                self._rekey()
            self._left -= len(chunk)
            self._stream.update_into(_ZEROS[: len(chunk)], chunk)


def system_bits() -> BitSource:
    """Return the calling thread's own keyed stream, made on first use.

    Example:
        >>> from jali.sampling import system_bits
        >>> len(system_bits().words(5))
        5
    """
    stream: KeyedBits | None = getattr(_own, "stream", None)
    if stream is None:
        stream = _own.stream = KeyedBits()
    return stream


def _narrowest(width: int) -> tuple[int, type[np.unsignedinteger[Any]]]:
    for size, kind in _WIDTHS:
        if width <= size:
            return size, kind
    raise MechanismError("bits-too-wide", width=width)


def _process() -> tuple[int, int]:
    """Name this process: its number, and how many Python forks lie behind it."""
    return os.getpid(), _forks[0]


def _count_fork() -> None:
    _forks[0] += 1


_own = threading.local()
_forks = [0]
os.register_at_fork(after_in_child=_count_fork)
