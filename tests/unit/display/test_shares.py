from __future__ import annotations

import pytest

from jali.display.shares import exact_percent, share_strip


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0, "0 %"), (1, "100 %"), (0.5, "50.0 %"), (0.99951, ">99.9 %"), (0.9994, "99.9 %"), (0.0004, "<0.1 %")],
)
def test_all_and_nothing_are_written_only_where_they_are_meant(share: float, shown: str) -> None:
    assert exact_percent(share) == shown


def test_a_strip_is_as_full_as_the_share_and_has_signs_in_their_places() -> None:
    assert share_strip(0.4, {}, cells=10) == "████░░░░░░"
    assert share_strip(1, {"a": 0.0, "b": 1.0}, cells=10) == "┃████████╏  ┃ a  ╏ b"
