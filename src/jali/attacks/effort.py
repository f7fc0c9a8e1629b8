"""How much an attack can take on: what fits into memory, and into a minute or two."""

from __future__ import annotations

from jali.errors import CatalogError


def check_entries(name: str, questions: int, members: int, *, most: int) -> None:
    """Refuse questions which together name more people than that, each as often as it is named."""
    if questions * members > most:
        raise CatalogError(
            "attack-too-large",
            attack=name,
            questions=questions,
            people=members,
            entries=questions * members,
            most=most,
            name="n",
        )
