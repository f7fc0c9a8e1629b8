from __future__ import annotations

import sys
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import pytest

from jali.display.plots import bars
from jali.errors import JaliError

DATA = [("A", 10.0, (8.0, 12.0)), ("B", None, None), ("C", 3.0, None)]


def test_without_matplotlib_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(JaliError, match=r"pip install 'jali\[plots\]'"):
        bars(DATA)


def test_rows_with_a_value_become_bars_and_intervals_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    axes, module = MagicMock(), ModuleType("matplotlib")
    pyplot: Any = MagicMock()
    pyplot.subplots.return_value = (MagicMock(), axes)
    monkeypatch.setattr(module, "pyplot", pyplot, raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", module)
    assert bars(DATA) is axes
    assert axes.barh.call_args.args == ([0, 1], [10.0, 3.0])
    assert axes.plot.call_args_list[0].args == ((8.0, 12.0), (0, 0))
    assert axes.set_yticks.call_args.args == ([0, 1], ["A", "C"])
