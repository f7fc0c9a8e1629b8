"""Texts about declarations: tables, units, ranges, keys, budgets."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

TEXTS: Mapping[str, Text] = {
    "budget-type": Text("budget must be a jali.Budget.", "Write jali.Budget(epsilon=1, delta=1e-6)."),
    "column-declaration": Text(
        "Column {column} is declared as {given!r}.",
        "Declare a Range, Keys, or one of: {kinds}.",
        command_line=Words(remedy="Give --range, --keys, or --kind with one of: {kinds}."),
    ),
    "column-kind": Text("Column {column} is {kind}, not {declared}."),
    "column-without-range": Text(
        "Column {column} is {kind}, so its range cannot be estimated.",
        "Range(auto=True) supports numbers, dates and times.",
    ),
    "columns-differ-in-case": Text("Two columns differ only in upper and lower case.", "Rename one of them."),
    "date-malformed": Text("{given!r} is not a date or time.", "Write '2025-01-31', or '2025-01-31 12:30:00'."),
    "declared-column-unknown": Text(
        "There is no column {column}.", "{nearest:?Did you mean {nearest}? |}Its columns are {columns}."
    ),
    "file-missing": Text("There is no file {path}."),
    "format-unknown": Text(
        "The format of {source} is not known.",
        "Known endings: {endings}. Addresses begin with postgresql://, spark://, sc:// or local[.",
    ),
    "frame-protected": Text(
        "This frame is already protected as {table}.", "Each source has one budget: query that table."
    ),
    "key-kind": Text("A key cannot be a {kind}."),
    "key-not-int64": Text("A key must be a 64-bit integer, not {given}."),
    "key-not-unicode": Text("A key must be text that can be encoded in UTF-8."),
    "key-unreadable": Text("A key cannot be a {kind}.", "Use text, integers, booleans or dates."),
    "key-with-time-zone": Text(
        "A key cannot have a time zone.", "Write times as the column stores them, without a time zone."
    ),
    "keys-count": Text("Keys takes 1 to {most:,} values, not {count:,}."),
    "keys-kind": Text("Column {column} is {kind}, but its keys are {declared}."),
    "keys-mixed": Text("Keys must have one type: all text, all integers, all booleans or all dates."),
    "keys-not-a-list": Text("Keys must be a list.", "Write Keys([{given!r}])."),
    "keys-not-distinct": Text("Keys must be distinct."),
    "link-column-unreadable": Text(
        "{column} has a type that questions cannot read.",
        "Link the tables by integers, text, dates or times.",
    ),
    "link-malformed": Text(
        "{link!r} is not an equality between a column of this table and one of {table}.",
        "Write on='l_orderkey = o_orderkey'.",
        command_line=Words(remedy="Write --on 'l_orderkey = o_orderkey'."),
    ),
    "link-types": Text(
        "{here} is {here_type}, but {there} is {there_type}.", "Store both columns with the same type."
    ),
    "max-rows-missing": Text(
        "max_rows is missing.",
        "Set the contribution bound: for how many rows one person counts at most.",
        command_line=Words("--max-rows is missing."),
    ),
    "max-rows-outside": Text(
        "max_rows must be a whole number between 1 and {most:,}.",
        command_line=Words("--max-rows must be a whole number between 1 and {most:,}."),
    ),
    "memory-unknown": Text(
        'memory must be "own" or "common", not {given!r}.', 'Write memory="own" or memory="common".'
    ),
    "min-people-not-positive": Text(
        "min_people must be a whole number of at least 1.",
        "Write min_people=10.",
        command_line=Words(
            message="--min-people must be a whole number of at least 1.", remedy="Write --min-people 10."
        ),
        page=Words(remedy="Write 10."),
    ),
    "path-is-pattern": Text(
        "The path of {source} could match several files.",
        "Rename the file or its folder, without {signs:* }.",
    ),
    "public-table-exists": Text("A public table {table} already exists.", "Choose another name."),
    "range-empty": Text("The lower bound of a range must not exceed the upper bound: {low} > {high}."),
    "range-ends": Text(
        "A range needs two bounds.",
        "Write Range(0, 120), or Range(auto=True).",
        command_line=Words(remedy="Write --range age=0:120, or --range age=auto."),
    ),
    "range-ends-mixed": Text("Both bounds of a range must be numbers, or both dates, or both times."),
    "range-kind": Text(
        "Column {column} is {kind} and cannot have the range {range}.",
        "Give bounds of the column's type.",
    ),
    "range-with-epsilon": Text(
        "epsilon only applies to Range(auto=True).", "Write Range(auto=True, epsilon=0.1)."
    ),
    "rows-not-positive": Text(
        "rows must be a whole number of at least 1.",
        command_line=Words("--rows must be a whole number of at least 1."),
    ),
    "schema-named-twice": Text("The schema is given twice.", "Give it either in the address or in relation."),
    "source-protected": Text(
        "This source is already protected as {table}.", "Each source has one budget: query that table."
    ),
    "source-protected-publish": Text(
        "This source is protected as {table}.", "A protected source cannot be public."
    ),
    "spark-frame-computed": Text(
        "A computed Spark DataFrame may change between readings, so only tables and files can be sources.",
        "Write it to a table or to Parquet, and pass the session: db.protect(name, spark, relation=...).",
    ),
    "table-declared-otherwise": Text(
        "Table {table} is already protected with another {part}.",
        "Only ranges, keys, max_rows and rows may change. Protect other data under another name.",
        command_line=Words(
            remedy="Only --range, --keys, --max-rows and --rows may change. Protect other data under another name."
        ),
    ),
    "table-exists": Text("A table {table} already exists."),
    "table-exists-publish": Text("A table {table} already exists.", "Publish it under another name."),
    "table-name-malformed": Text(
        "A table name consists of letters, digits and underscores: {given!r} does not.", "Choose another name."
    ),
    "table-without-unit-column": Text(
        "There is no protected table {table} with a unit column.", "Protect that table first."
    ),
    "unique-max-rows": Text(
        "With a unique unit column, max_rows must be 1.",
        "Write max_rows=1, or leave it out.",
        command_line=Words(remedy="Write --max-rows 1, or leave it out."),
        page=Words(remedy="Write max_rows 1, or leave it out."),
    ),
    "unique-not-unit": Text(
        "unique must name the unit column of this table.",
        "Declare a unit column of this table, or leave unique out.",
    ),
    "unit-column-unknown": Text(
        "The unit column {unit} does not exist.",
        "{nearest:?Did you mean {nearest}? |}Its columns are {columns}.",
    ),
    "unit-kind": Text("Column {unit} cannot be the privacy unit, because it is {kind}."),
    "unit-missing-max-rows": Text(
        "Without a unit column each row is a person, so max_rows must be 1.",
        command_line=Words("Without a unit column each row is a person, so --max-rows must be 1."),
    ),
    "unit-of-other-table": Text(
        "The unit column of {table} is {unit}, not {given}.", "Use the declared unit column."
    ),
}
