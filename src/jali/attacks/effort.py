"""How much an attack can take on: what fits into memory, and into a minute or two."""

from __future__ import annotations

from jali.errors import CatalogError


def check_entries(name: str, questions: int, members: int, *, most: int) -> None:
    """Refuse questions which together name more people than that, each as often as it is named."""
    if questions * members > most:
        raise CatalogError(
            f"n is too large for {name}: {questions:,} questions about {members:,} people have "
            f"{questions * members:,} entries, and {most:,} are possible.",
            remedy="Take fewer people, or fewer questions.",
        )
