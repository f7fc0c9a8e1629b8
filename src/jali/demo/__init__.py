"""The demo: a synthetic hospital, protected, asked, explained and refused."""

from jali.demo.demo_steps import run
from jali.demo.show_demo import show

__all__ = ["run", "show"]
