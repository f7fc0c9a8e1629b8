"""The trail has one line for each act, also where acts overlap or nothing says how one ended."""

from __future__ import annotations

from jali.execution.audit_log import OUTCOME, join_entries
from jali.ledger.access import AdminAct


def trail(*entries: tuple[str, str, str]) -> list[tuple[str, str, str]]:
    """Join entries that are told oldest first; of each line return who, what and how it ended."""
    deeds = [AdminAct(place, "", *entry) for place, entry in enumerate(entries, 1)]
    return [(deed.actor, deed.act, deed.outcome) for deed in join_entries(deeds[::-1], 100)]


def test_acts_that_overlap_keep_their_own_changes() -> None:
    assert trail(
        ("cara", "grant", "ana on visits: epsilon=1"),
        ("dora", "make token", "analyst bo"),
        ("", "budget opened", "grant ana on visits: epsilon=1"),
        ("dora", OUTCOME, "2 refused"),
        ("cara", OUTCOME, "1 done"),
    ) == [("dora", "make token", "refused"), ("cara", "grant", "done")]


def test_a_change_on_the_file_is_a_line_of_its_own() -> None:
    assert trail(
        ("cara", "grant", "ana on visits: epsilon=1"),
        ("", "stream begun", "visits"),
        ("cara", OUTCOME, "1 failed"),
        ("", "budget opened", "grant ana on visits: epsilon=1"),
    ) == [("", "budget opened", "done"), ("", "stream begun", "done"), ("cara", "grant", "failed")]


def test_where_nothing_says_how_an_act_ended_its_changes_do() -> None:
    assert trail(
        ("cara", "refresh", "visits"),
        ("", "data refreshed", "visits, version 2"),
        ("cara", "grant", "ana on visits: epsilon=1"),
    ) == [("cara", "grant", "not finished"), ("cara", "refresh", "done")]
