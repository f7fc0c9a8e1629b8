"""What an opponent offers, seen before it is asked anything: whether an attack can be pointed at it."""

from __future__ import annotations

from inspect import getattr_static

from jali.errors import CatalogError

# By what is offered: what an opponent has then, and what it has not.
OFFERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "counts of people": ("ask", ("told_apart", "known")),
    "published tables": ("publish", ()),
    "the means of a group": ("told_apart", ()),
    "counts by conditions": ("known", ()),
    "logs": ("logs", ()),
}


def require(what: str, opponent: object, name: str) -> None:
    """Refuse an opponent that does not offer what an attack of this name attacks."""
    if not what or offers(opponent, what):
        return
    # Nothing is computed: a name is a property, and of a thing that is no opponent it may be anything.
    given = f"{opponent.name}" if _has(opponent, "name") and _has(opponent, "mark") else repr(opponent)  # type: ignore[attr-defined]
    raise CatalogError("attack-wrong-opponent", attack=name, opponents=what, given=given)


def offers(opponent: object, what: str) -> bool:
    """Say whether an opponent offers this."""
    has, lacks = OFFERS[what]
    return _has(opponent, has) and not any(_has(opponent, one) for one in lacks)


def _has(opponent: object, attribute: str) -> bool:
    """Say whether there is an attribute, without computing it."""
    missing = object()
    return getattr_static(opponent, attribute, missing) is not missing
