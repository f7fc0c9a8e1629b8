"""Rule: every row has exactly one owner, and nothing in the question can change who that is."""

from __future__ import annotations

from dataclasses import replace

from jali.planner.draft import Draft


def own_rows(draft: Draft) -> Draft:
    """Take the owner from the catalog: the declared unit, or the row itself where there is none.

    The engine reads the owner from the table under a name of its own, so no alias or expression of the
    question can redefine it. Rows whose unit is NULL have no owner and are dropped.
    """
    return replace(draft, owner=draft.table.unit)
