from __future__ import annotations

import copy
import os
import pickle
import threading

import numpy as np
import pytest

from jali.errors import MechanismError
from jali.sampling import BitSource, KeyedBits, OperatingSystemBits, system_bits
from jali.sampling import bits as bits_module


def _child_words(draw: KeyedBits | None) -> bytes:
    """Draw 32 bytes in a forked child, from the given stream or from its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, (draw or system_bits()).words(4).tobytes())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        return pipe.read()


@pytest.mark.parametrize("source", [OperatingSystemBits(), KeyedBits()], ids=["system", "keyed"])
class TestEverySource:
    @pytest.mark.parametrize("width", [0, 1, 4, 8, 13, 16, 17, 32, 40, 64])
    def test_integers_fill_their_width_and_nothing_more(self, source: BitSource, width: int) -> None:
        drawn = source.integers(400, width)
        assert drawn.shape == (400,)
        union = int(np.bitwise_or.reduce(drawn))
        assert union == (1 << width) - 1  # a bit that is never set: chance below 64 * 2**-400

    def test_words_are_64_bits(self, source: BitSource) -> None:
        assert source.words(7).dtype == np.uint64
        assert len(source.words(0)) == len(source.integers(0, 5)) == 0

    def test_two_draws_never_repeat(self, source: BitSource) -> None:
        assert not set(source.words(1000).tolist()) & set(source.words(1000).tolist())  # 2**-44 by chance

    def test_a_width_above_64_is_refused(self, source: BitSource) -> None:
        with pytest.raises(MechanismError, match="width"):
            source.integers(1, 65)


def test_ones_and_zeros_are_balanced() -> None:
    ones = int(np.bitwise_count(KeyedBits().words(1 << 16)).sum(dtype=np.int64))
    assert abs(ones - (1 << 21)) < 6 * 1024  # 6 standard deviations: 2e-9


def test_large_draws_cross_the_chunks_of_the_key_stream_without_repeating() -> None:
    words = KeyedBits().words(1 << 17)
    assert len(np.unique(words)) == len(words)  # 2**-31 by chance


def test_a_thread_has_its_own_stream_and_keeps_it() -> None:
    found: list[BitSource] = []
    threads = [threading.Thread(target=lambda: found.append(system_bits())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(stream) for stream in [*found, system_bits()]}) == 5
    assert system_bits() is system_bits()


def test_threads_draw_disjoint_words() -> None:
    drawn: list[list[int]] = []
    threads = [threading.Thread(target=lambda: drawn.append(system_bits().words(500).tolist())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({word for words in drawn for word in words}) == 2000


def test_a_keyed_stream_refuses_another_thread() -> None:
    stream = KeyedBits()
    refusals: list[str] = []

    def draw() -> None:
        try:
            stream.words(1)
        except MechanismError as error:
            refusals.append(str(error))

    thread = threading.Thread(target=draw)
    thread.start()
    thread.join()
    assert len(refusals) == 1
    assert "another thread" in refusals[0]


def test_forked_children_and_their_parent_draw_disjoint_words() -> None:
    system_bits().words(1)  # the stream exists before the fork
    drawn = [_child_words(None) for _ in range(3)] + [system_bits().words(4).tobytes()]
    assert all(len(words) == 32 for words in drawn)
    assert len({word for words in drawn for word in np.frombuffer(words, np.uint64).tolist()}) == 16


def test_a_stream_held_across_a_fork_is_keyed_anew_in_the_child() -> None:
    stream = KeyedBits()
    stream.words(3)
    drawn = [_child_words(stream), _child_words(stream), stream.words(4).tobytes()]
    assert len({word for words in drawn for word in np.frombuffer(words, np.uint64).tolist()}) == 12


def test_the_key_is_replaced_when_it_has_served_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits_module, "_BYTES_PER_KEY", 1 << 18)
    stream = KeyedBits()
    first = stream._stream
    stream.words(1 << 15)
    assert stream._stream is first
    stream.words(1)
    assert stream._stream is not first


def test_a_stream_cannot_be_copied() -> None:
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(MechanismError, match="bits"):
            attempt(KeyedBits())


def test_the_package_offers_no_seed() -> None:
    with pytest.raises(TypeError):
        KeyedBits(1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        OperatingSystemBits(1)  # type: ignore[call-arg]
