"""Every error has a code of the catalogue with exactly its fields, and every code of the catalogue is used."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from tests.errors.raising import SOURCE, Making, constants, makings

from jali.errors import Face
from jali.errors.catalogue import read_areas
from jali.errors.templates import ADVICE, ASKED, find_field_names, load_texts

# Those that the package of errors itself uses are in these modules.
_OWN = "".join((SOURCE / "errors" / name).read_text(encoding="utf-8") for name in ("exceptions.py",))


def test_every_error_names_a_code_with_the_fields_of_its_text() -> None:
    wrong = [
        f"{making.where}: {code} {sorted(making.fields)}"
        for making in makings()
        for code in making.codes
        if not _fits(making, code)
    ]
    assert wrong == []


def _fits(making: Making, code: str) -> bool:
    if code not in load_texts():
        return False
    fields = load_texts()[code].fields - {ADVICE}
    return making.fields <= fields if making.more else making.fields == fields


def test_every_code_is_used() -> None:
    used = constants() | set(re.findall(r'"([a-z0-9-]+)"', _OWN))
    assert [code for code in load_texts() if code not in used] == []


def test_no_code_is_in_two_areas() -> None:
    counts = Counter(code for area in read_areas().values() for code in area)
    assert [code for code, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("area", read_areas())
def test_codes_are_short_words_with_hyphens_in_order(area: str) -> None:
    codes = list(read_areas()[area])
    assert [code for code in codes if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code) or len(code) > 48] == []
    assert codes == sorted(codes)


@pytest.mark.parametrize("face", Face)
def test_messages_and_remedies_are_written_without_spaces_around_them(face: Face) -> None:
    written = [part for text in load_texts().values() for part in text.templates(face) if part is not None]
    assert [part for part in written if part != part.strip() or not part] == []


def test_what_the_command_line_named_is_in_its_own_texts_alone() -> None:
    other = [
        (code, face)
        for code, text in load_texts().items()
        for face in (Face.PYTHON, Face.HTTP, Face.PAGE)
        for part in text.templates(face)
        if part is not None and set(find_field_names(part)) & set(ASKED)
    ]
    assert other == []
