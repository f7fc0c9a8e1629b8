"""Items in files: what is read, what is left out, and that no line changes how another is read."""

from __future__ import annotations

import csv
import datetime
import io
import sys
from pathlib import Path
from typing import Any

import pytest

from jali.cli.item_files import ItemLines, is_csv, open_items
from jali.errors import CatalogError


def read(
    text: str, keys: tuple[Any, ...] = (), *, csv_file: bool | None = None
) -> tuple[list[dict[str, Any]], int]:
    source = ItemLines(iter(io.StringIO(text, newline="\n")), keys, csv_file=csv_file)
    found = [item for batch in source.batches() for item in batch]
    return found, source.unreadable


def test_csv_has_a_header_and_empty_cells_say_nothing() -> None:
    found, unreadable = read("item,owner,key,value\r\ne1,p1,A,3.5\r\ne2,p2,,\r\n\r\n")
    assert found == [{"item": "e1", "owner": "p1", "key": "A", "value": 3.5}, {"item": "e2", "owner": "p2"}]
    assert unreadable == 0


def test_the_order_of_columns_is_free_and_a_byte_order_mark_is_none() -> None:
    found, _ = read('\ufeffOwner, Item\n"p, 1","e ""1"""\n')
    assert found == [{"owner": "p, 1", "item": 'e "1"'}]


def test_json_lines_are_recognised_and_numbers_name_items() -> None:
    found, unreadable = read('\n{"item": 1, "owner": "p1", "value": 2}\n{"item": "e2", "owner": null}\n')
    assert found == [{"item": "1", "owner": "p1", "value": 2}, {"item": "e2"}]
    assert unreadable == 0


@pytest.mark.parametrize(
    "line",
    [
        "e1",
        "e1,p1,A,3,4",
        "e1,p1,A,many",
        "e1,p1,A,nan",
        "e1,p1,A,inf",
        ",p1,A,3",
        "e\udcff1,p1,A,3",
    ],
)
def test_a_csv_line_that_is_no_item_is_counted_and_harms_no_other(line: str) -> None:
    found, unreadable = read(f"item,owner,key,value\na,p,A,1\n{line}\nb,p,A,2\n")
    assert [item["item"] for item in found] == ["a", "b"]
    assert unreadable == 1


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[1]",
        "e1,p1",
        "{}",
        '{"owner": "p"}',
        '{"item": null}',
        '{"item": true}',
        '{"item": 1.5}',
        '{"item": "a", "wert": 1}',
        '{"item": "a", "value": "many"}',
        '{"item": "a", "value": true}',
        '{"item": "a", "value": NaN}',
        '{"item": "a", "value": 1e999}',
        '{"item": "a", "key": [1]}',
        '{"item": "a", "owner": "\\ud800"}',
        "[" * 100_000,
        '{"item": "a", "value": ' + "9" * 5000 + "}",
        '{"item": "a", "value": ' + "9" * 400 + "}",
    ],
)
def test_a_json_line_that_is_no_item_is_counted_and_harms_no_other(line: str) -> None:
    found, unreadable = read(f'{{"item": "a"}}\n{line}\n{{"item": "b"}}\n')
    assert [item["item"] for item in found] == ["a", "b"]
    assert unreadable == 1


TEXTS = [
    "plain",
    "a\nb,ben,A,1\nc",
    "a\r\nb,ben,A,1\r\n",
    "a\rb",
    "a\rb,ben,A,1\rc",
    "\n",
    '"',
    '",\n"',
    'x"\n"y',
    "a\\",
    "a\x00b",
    "a\u2028b\x0bc\x85d",
    "x" * 200_000 + '\n"' + "y" * 200_000,
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_one_record_of_a_csv_writer_is_one_item_whatever_its_cells_hold(quoting: Any, end: str) -> None:
    """No text of one person makes an item of another, or takes one away."""
    for text in TEXTS:
        rows = [("a", "ana", "A", 1), (text, text, text, 2), ("z", "zoe", "B", 3)]
        written = io.StringIO(newline="")
        csv.writer(written, quoting=quoting, lineterminator=end).writerows(
            [("item", "owner", "key", "value"), *rows]
        )
        found, unreadable = read(written.getvalue())
        assert [tuple(item.values()) for item in found] == rows
        assert unreadable == 0


def test_a_record_that_is_no_item_is_one_however_many_lines_it_has() -> None:
    found, unreadable = read('item,owner\na,p\n"x\ny,q\nz,q",p,more\nb,p\n')
    assert [item["item"] for item in found] == ["a", "b"]
    assert unreadable == 1


@pytest.mark.parametrize("broken", ['b,"p', '"b"x,p', '"b\nc",p\nd,"p" '])
def test_behind_quotes_that_do_not_match_nothing_is_an_item(broken: str) -> None:
    """No CSV writer makes them, and where the next record begins would be a guess."""
    found, unreadable = read(f"item,owner\na,p\n{broken}\ny,q\n\nz,r\n", csv_file=True)
    assert {item["item"] for item in found} <= {"a", "b\nc"}
    assert found[0] == {"item": "a", "owner": "p"}
    assert unreadable in (3, 4)


def test_line_ends_that_were_doubled_end_records() -> None:
    assert read("item,owner\r\r\na,p\r\r\nb,q\r\r\n") == (
        [{"item": "a", "owner": "p"}, {"item": "b", "owner": "q"}],
        0,
    )


def test_a_byte_order_mark_is_no_part_of_the_first_json_line() -> None:
    assert read('\ufeff{"item": "a"}\n') == ([{"item": "a"}], 0)


def test_keys_are_the_declared_ones_whatever_their_kind() -> None:
    found, _ = read("item,key\na,1\nb,7\n", keys=(1, 2))
    assert [item["key"] for item in found] == [1, "7"]
    day = datetime.date(2026, 1, 1)
    found, _ = read('{"item": "a", "key": "2026-01-01"}\n{"item": "b", "key": 1}\n', keys=(day, 1))
    assert [item["key"] for item in found] == [day, 1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("owner,key\n", "no column item"),
        ("item,wert\n", "wert"),
        ("item,item\n", "duplicate columns"),
        ("{}\n", "no column"),
    ],
)
def test_a_wrong_header_of_a_csv_file_is_refused(text: str, said: str) -> None:
    with pytest.raises(CatalogError, match=said):
        read(text, csv_file=is_csv("a.CSV"))


@pytest.mark.parametrize("csv_file", [None, True, False])
def test_a_tick_without_items_has_an_empty_file(csv_file: bool | None) -> None:
    assert read("", csv_file=csv_file) == ([], 0)
    assert read("\n\n", csv_file=csv_file) == ([], 0)


def test_the_first_item_does_not_decide_how_others_are_read() -> None:
    assert is_csv("a.jsonl") is False
    assert is_csv("-") is None
    for csv_file in (None, False):
        found, unreadable = read('garbage,1\n{"item": "b"}\n', csv_file=csv_file)
        assert ([item["item"] for item in found], unreadable) == (["b"], 1)


def test_batches_have_at_most_their_size() -> None:
    lines = ["item\n", *(f"e{i}\n" for i in range(2500))]
    assert [len(batch) for batch in ItemLines(iter(lines)).batches()] == [1000, 1000, 500]


def test_a_file_with_bytes_that_are_no_text_is_read_up_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "items.csv"
    file.write_bytes(b"item,owner\na,p\nb,\xff\nc,q\n")
    with open_items(str(file)) as lines:
        source = ItemLines(iter(lines))
        assert [item["item"] for batch in source.batches() for item in batch] == ["a", "c"]
    assert source.unreadable == 1
    with pytest.raises(CatalogError, match="cannot be read"), open_items(str(tmp_path / "none")):
        pass


def test_stdin_is_read_as_a_file_is_whatever_the_locale_says(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b'{"item": "\xc3\xa9"}\n{"item": "\xff"}\n{"item": "b"}\n'
    for encoding in ("utf-8", "ascii", "latin-1"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text), encoding=encoding))
        with open_items("-") as lines:
            source = ItemLines(iter(lines))
            assert [item["item"] for batch in source.batches() for item in batch] == ["\u00e9", "b"]
        assert source.unreadable == 1
