"""The demo: a synthetic hospital, protected, asked, explained and refused."""

from jali.demo.report import run
from jali.demo.show import show

__all__ = ["run", "show"]
