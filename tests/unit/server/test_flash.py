"""Notices are shown once, to whom they concern, and not for long."""

from __future__ import annotations

from jali.server.flash import FlashMessage, FlashMessages


def test_a_notice_is_given_once_and_to_its_session_alone() -> None:
    notices = FlashMessages()
    name = notices.keep("ana's", FlashMessage("Done.", "jali_token"))
    assert notices.take("eve's", name) is None
    assert notices.take("ana's", "other") is None
    assert notices.take("ana's", name) == FlashMessage("Done.", "jali_token")
    assert notices.take("ana's", name) is None


def test_a_notice_is_forgotten_after_minutes_and_where_there_are_many() -> None:
    now = 0.0
    notices = FlashMessages(lambda: now)
    old = notices.keep("a", FlashMessage("Old."))
    now = 301.0
    assert notices.take("a", old) is None
    names = [notices.keep("a", FlashMessage(str(place))) for place in range(1001)]
    assert notices.take("a", names[0]) is None
    assert notices.take("a", names[-1]) == FlashMessage("1000")
