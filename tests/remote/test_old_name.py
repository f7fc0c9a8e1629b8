from __future__ import annotations

import importlib
import sys

import pytest

from jali.client.remote_database import open_session


def test_the_old_name_of_the_client_works_and_warns_where_it_is_used(recwarn: pytest.WarningsRecorder) -> None:
    sys.modules.pop("jali.remote", None)
    old = importlib.import_module("jali.remote")
    assert not recwarn.list
    with pytest.warns(DeprecationWarning, match=r"jali\.remote is now jali\.client"):
        assert old.open_session is open_session


def test_the_old_name_of_the_client_has_nothing_else() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = importlib.import_module("jali.remote").no_such_name
