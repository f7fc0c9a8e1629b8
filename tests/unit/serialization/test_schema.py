"""Schemas: tags and versions, names that differ from attributes, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, field, fields
from enum import Enum
from typing import Any

import pytest

from jali.errors import LedgerError
from jali.execution.streams.stream_declaration import build_stream_schema
from jali.planner import PLANS
from jali.planner.batch import BATCHES
from jali.serialization.schema import VALUES, Parts, Schema, StoredType, define_type


class Colour(Enum):
    """An enumeration, stored by its values."""

    RED = "r"
    BLUE = "b"


@dataclass(frozen=True)
class Box:
    """Something to store."""

    width: int
    held: Any = None
    colour: Colour = Colour.RED
    made_at: str | None = field(default=None, compare=False)


SHAPES = Schema((define_type("Box", Box, "width held colour"), define_type("Colour", Colour)))
BOX = '{"@":"Box","colour":{"@":"Colour","value":"b"},"held":[1,{"@":"Fraction","value":"1/3"}],"width":2}'


def in_use() -> Iterable[StoredType]:
    """Return every type that is stored anywhere."""
    return {one.tag: one for one in (*BATCHES.types, *build_stream_schema().types)}.values()


def test_a_type_is_written_under_its_tag() -> None:
    box = SHAPES.decode(BOX)
    assert (box.width, box.colour, str(box.held[1])) == (2, Colour.BLUE, "1/3")
    assert SHAPES.encode(box) == BOX


def test_what_is_not_stored_is_as_if_it_had_never_been_given() -> None:
    assert SHAPES.encode(Box(1, made_at="here")) == SHAPES.encode(Box(1))
    assert SHAPES.decode(SHAPES.encode(Box(1, made_at="here"))).made_at is None


def test_classes_and_attributes_are_renamed_without_changing_a_text() -> None:
    @dataclass(frozen=True)
    class Crate:
        breadth: int
        inside: Any
        paint: Colour

    renamed = Schema(
        (define_type("Box", Crate, "width:breadth held:inside colour:paint"), define_type("Colour", Colour))
    )
    crate = renamed.decode(BOX)
    assert crate == Crate(2, SHAPES.decode(BOX).held, Colour.BLUE)
    assert renamed.encode(crate) == BOX


def test_another_tag_is_read_and_never_written() -> None:
    both = Schema(
        (define_type("Crate", Box, "width held colour", aliases=("Box",)), define_type("Colour", Colour))
    )
    assert both.decode(BOX) == SHAPES.decode(BOX)
    assert both.encode(both.decode(BOX)) == BOX.replace('"Box"', '"Crate"')


def test_a_part_that_came_later_has_its_default() -> None:
    assert SHAPES.decode('{"@":"Box","width":3}') == Box(3)


def test_a_part_that_came_later_is_written_where_it_is_not_its_default() -> None:
    later = Schema((define_type("Box", Box, "width stuff:held?"),))
    assert later.encode(Box(1)) == '{"@":"Box","width":1}'
    assert later.encode(Box(1, 2)) == '{"@":"Box","stuff":2,"width":1}'
    assert [later.decode(later.encode(box)) for box in (Box(1), Box(1, 2))] == [Box(1), Box(1, 2)]


def wider(parts: Parts) -> Parts:
    """Version 2 measures in tenths."""
    return parts | {"width": 10 * parts["width"]}


def without_held(parts: Parts) -> Parts:
    """Version 3 holds nothing."""
    return {name: part for name, part in parts.items() if name != "held"}


def test_earlier_versions_are_upgraded_one_after_the_other() -> None:
    second = Schema((define_type("Box", Box, "width held", upgrades=(wider,)),))
    third = Schema((define_type("Box", Box, "width", upgrades=(wider, without_held)),))
    old = '{"@":"Box","held":5,"width":2}'
    assert second.decode(old) == Box(20, 5)
    assert second.encode(Box(20, 5)) == '{"@":"Box","@version":2,"held":5,"width":20}'
    assert third.decode(old) == third.decode(second.encode(Box(20, 5))) == Box(20)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"@":"Crate","width":1}', "the unknown tag 'Crate'"),
        ('{"width":1}', "the unknown tag 'None'"),
        ('{"@":["Box"],"width":1}', "cannot be read"),
        ('{"@":"Box","held":1}', "Box has no field width"),
        ('{"@":"Box","width":1,"depth":2,"weight":3}', "Box has an unknown field depth"),
        ('{"@":"Box","@version":2,"width":1}', "Box has version 2, but this version of Jali only reads versions"),
        ('{"@":"Box","@version":0,"width":1}', "Box has version 0"),
        ('{"@":"Box","@version":true,"width":1}', "Box has version True"),
        ('{"@":"Colour","value":"green"}', "cannot be read"),
        ('{"@":"Fraction","value":"1/0"}', "cannot be read"),
        ('{"@":"date","value":7}', "cannot be read"),
        ('{"@":"int"}', "cannot be read"),
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_what_another_version_wrote_is_refused_with_a_remedy(text: str, told: str) -> None:
    with pytest.raises(LedgerError, match=told) as refused:
        SHAPES.decode(text)
    assert refused.value.remedy == "Use the version of Jali that wrote it."


@pytest.mark.parametrize("value", [object(), {1: 2}, {1}, b"x", Box, Box(1), Colour.RED, Box(1, held=object())])
def test_what_has_no_tag_is_not_stored(value: Any) -> None:
    with pytest.raises(TypeError, match="cannot store"):
        VALUES.encode(value)


@pytest.mark.parametrize(
    "twice", [define_type("Box", Colour), define_type("Crate", Box, "width"), define_type("date", Colour)]
)
def test_a_tag_and_a_class_stand_once_in_a_schema(twice: StoredType) -> None:
    with pytest.raises(AssertionError):
        Schema((define_type("Box", Box, "width"), twice))


@pytest.mark.parametrize("one", in_use(), ids=lambda one: one.tag)
def test_every_attribute_of_a_stored_type_is_stored_or_left_out_on_purpose(one: StoredType) -> None:
    """What counts in comparisons is stored; a class that gains a field must be stored with it."""
    if issubclass(one.kind, Enum):
        assert not one.names
        return
    kept = {attribute for _, attribute in one.names}
    if one.write is None:
        assert kept == {f.name for f in fields(one.kind) if f.compare}  # type: ignore[arg-type]
    assert len(dict(one.names)) == len(one.names)


@pytest.mark.parametrize("one", in_use(), ids=lambda one: one.tag)
def test_every_stored_type_refuses_a_text_that_lacks_a_part(one: StoredType) -> None:
    several = () if issubclass(one.kind, Enum) else fields(one.kind)  # type: ignore[arg-type]
    optional = {f.name for f in several if f.default is not MISSING}
    schema = build_stream_schema() if one in build_stream_schema().types else BATCHES
    if not one.names or {attribute for _, attribute in one.names} - optional:
        with pytest.raises(LedgerError):
            schema.decode(json.dumps({"@": one.tag}))


def test_plans_are_among_batches_and_streams() -> None:
    assert {*PLANS.types} < {*BATCHES.types}
    assert {*PLANS.types} < {*build_stream_schema().types}
