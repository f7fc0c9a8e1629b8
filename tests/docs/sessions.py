"""Pages whose blocks are typed one after the other in a single session."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str) -> list[str]:
    """Return the Python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


def failures(page: str) -> int:
    """Run all blocks of a page in one session, and return how many examples print something else."""
    names: dict[str, object] = {}
    failed = 0
    for number, block in enumerate(blocks(page), 1):
        session = doctest.DocTestParser().get_doctest(block, names, f"block {number}", f"docs/{page}", 0)
        failed += doctest.DocTestRunner().run(session, clear_globs=False).failed
        names = session.globs
    return failed
