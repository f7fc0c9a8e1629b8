"""Texts about declarations: tables, units, ranges, keys, budgets."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

TEXTS: Mapping[str, Text] = {
    "budget-type": Text("budget must be a jali.Budget.", "Write jali.Budget(epsilon=1, delta=1e-6)."),
    "column-declaration": Text(
        "Column {column} is declared as {given!r}.",
        "Give a Range, Keys, or one of: {kinds}.",
        command_line=Words(remedy="Give --range, --keys, or --kind with one of: {kinds}."),
    ),
    "column-kind": Text("Column {column} is {kind}, not {declared}."),
    "column-without-range": Text(
        "Column {column} is {kind}: it has no range that could be bought.",
        "Ranges are bought for numbers, dates and times.",
    ),
    "columns-differ-in-case": Text("Two columns differ in upper and lower case only.", "Rename one of them."),
    "date-malformed": Text("{given!r} is no day and no time.", "Write '2025-01-31', or '2025-01-31 12:30:00'."),
    "declared-column-unknown": Text(
        "There is no column {column}.", "{nearest:?Did you mean {nearest}? |}Its columns are {columns}."
    ),
    "file-missing": Text("There is no file {path}."),
    "format-unknown": Text(
        "The format of {source} is not known.",
        "Known endings: {endings}. Addresses begin with postgresql://, spark://, sc:// or local[.",
    ),
    "frame-protected": Text(
        "This frame is protected already, as {table}.", "One source has one budget: ask that table."
    ),
    "key-kind": Text("A key cannot be a {kind}."),
    "key-not-int64": Text("A key must be a 64-bit integer, not {given}."),
    "key-not-unicode": Text("A key must be text that can be written in UTF-8."),
    "key-unreadable": Text("A key cannot be a {kind}.", "Use text, integers, booleans or dates."),
    "key-with-time-zone": Text("A key cannot have a time zone.", "Give times as the column stores them."),
    "keys-count": Text("Keys need between 1 and {most:,} values, not {count:,}."),
    "keys-kind": Text("Column {column} is {kind}, its keys are {declared}."),
    "keys-mixed": Text("Keys must be of one kind: all text, all integers, all booleans or all dates."),
    "keys-not-a-list": Text("Keys are a list.", "Write Keys([{given!r}])."),
    "keys-not-distinct": Text("Keys must differ from each other."),
    "link-column-unreadable": Text(
        "{column} has a type that questions cannot read.",
        "Reach the unit through whole numbers, text, dates or times.",
    ),
    "link-malformed": Text(
        "{link!r} is not an equality of a column here and one of {table}.",
        "Write on='l_orderkey = o_orderkey'.",
        command_line=Words(remedy="Write --on 'l_orderkey = o_orderkey'."),
    ),
    "link-types": Text("{here} is {here_type}, {there} is {there_type}.", "Store both columns in one type."),
    "max-rows-missing": Text(
        "max_rows is missing.",
        "Say for how many rows one person may count.",
        command_line=Words("--max-rows is missing."),
    ),
    "max-rows-outside": Text(
        "max_rows must be a whole number between 1 and {most:,}.",
        command_line=Words("--max-rows must be a whole number between 1 and {most:,}."),
    ),
    "memory-unknown": Text("memory cannot be {given!r}.", 'Write memory="own" or memory="common".'),
    "min-people-not-positive": Text(
        "min_people must be a whole number, at least 1.",
        "Write min_people=10.",
        command_line=Words(
            message="--min-people must be a whole number, at least 1.", remedy="Write --min-people 10."
        ),
        page=Words(remedy="Write 10."),
    ),
    "path-is-pattern": Text(
        "The path of {source} could be read as a pattern for several files.",
        "Rename the file or its folder, without {signs:* }.",
    ),
    "public-table-exists": Text("There is a public table {table} already.", "Choose another name."),
    "range-empty": Text("A range needs low <= high, not {low} > {high}."),
    "range-ends": Text(
        "A range has two ends.",
        "Write Range(0, 120), or Range(auto=True).",
        command_line=Words(remedy="Write --range age=0:120, or --range age=auto."),
    ),
    "range-ends-mixed": Text("Both ends of a range are numbers, or both are dates, or both are times."),
    "range-kind": Text(
        "Column {column} is {kind} and cannot have the range {range}.",
        "Give numbers for numbers, dates for dates, times for times.",
    ),
    "range-with-epsilon": Text("A given range has no epsilon.", "Write Range(auto=True, epsilon=0.1)."),
    "rows-not-positive": Text(
        "rows must be a whole number, at least 1.",
        command_line=Words("--rows must be a whole number, at least 1."),
    ),
    "schema-named-twice": Text("The schema is named twice.", "Name it in the address or in relation."),
    "source-protected": Text(
        "This source is protected already, as {table}.", "One source has one budget: ask that table."
    ),
    "source-protected-publish": Text(
        "This source is protected, as {table}.", "A protected source cannot be public."
    ),
    "spark-frame-computed": Text(
        "What Spark computes may be another at every reading: only its tables and files are sources.",
        "Write it to a table or Parquet, and give the session: db.protect(name, spark, relation=...).",
    ),
    "table-declared-otherwise": Text(
        "Table {table} is protected already with another {part}.",
        "Ranges, keys, max_rows and rows may change; protect other data under another name.",
        command_line=Words(
            remedy="--range, --keys, --max-rows and --rows may change; protect other data under another name."
        ),
    ),
    "table-exists": Text("There is a table {table} already."),
    "table-exists-publish": Text("There is a table {table} already.", "Publish it under another name."),
    "table-name-malformed": Text(
        "A table's name is letters, digits and underscores, not {given!r}.", "Choose such a name."
    ),
    "table-without-unit-column": Text(
        "There is no protected table {table} with a unit.", "Protect that table first."
    ),
    "unique-max-rows": Text(
        "Where the unit is unique, max_rows is 1.",
        "Write max_rows=1, or leave it out.",
        command_line=Words(remedy="Write --max-rows 1, or leave it out."),
        page=Words(remedy="Write max_rows 1, or leave it out."),
    ),
    "unique-not-unit": Text(
        "Only a column of this table can be unique in it.", "Name it as the unit, or leave unique out."
    ),
    "unit-column-unknown": Text(
        "There is no column {unit} to be the unit.",
        "{nearest:?Did you mean {nearest}? |}Its columns are {columns}.",
    ),
    "unit-kind": Text("Column {unit} cannot name people: it is {kind}."),
    "unit-missing-max-rows": Text(
        "Without a unit each row is a person, so max_rows is 1.",
        command_line=Words("Without a unit each row is a person, so --max-rows is 1."),
    ),
    "unit-of-other-table": Text("The unit of {table} is {unit}, not {given}.", "Name its unit."),
}
