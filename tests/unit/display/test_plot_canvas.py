from __future__ import annotations

import sys
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import pytest

from jali.display.plots.plot_canvas import draw_bars
from jali.errors import JaliError

DATA = [("A", 10.0, (8.0, 12.0)), ("B", None, (0.0, 20.0)), ("C", 3.0, None), ("D", None, None)]


def test_without_matplotlib_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(JaliError, match=r"pip install 'jali\[plots\]'"):
        draw_bars(DATA)


def test_rows_become_bars_and_lines_and_null_keeps_its_label_without_a_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    axes, module = MagicMock(), ModuleType("matplotlib")
    pyplot: Any = MagicMock()
    pyplot.subplots.return_value = (MagicMock(), axes)
    monkeypatch.setattr(module, "pyplot", pyplot, raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", module)
    assert draw_bars(DATA, "mean_age") is axes
    assert axes.barh.call_args.args == ([0, 2], [10.0, 3.0])
    drawn = [call.args for call in axes.plot.call_args_list]
    assert drawn == [((8.0, 12.0), (0, 0)), ([10.0], [0]), ((0.0, 20.0), (1, 1))]
    assert axes.set_yticks.call_args.args == ([0, 1, 2, 3], ["A", "B", "C", "D"])
    assert axes.set_xlabel.call_args.args == ("mean_age",)
