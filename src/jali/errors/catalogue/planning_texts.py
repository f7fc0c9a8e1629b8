"""Texts about planning a question."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

TEXTS: Mapping[str, Text] = {
    "aggregate-nested": Text(
        "An aggregate stands inside another one.", "Aggregate per person in a subquery first."
    ),
    "aggregate-number-expected": Text(
        "{function} takes a number.", "Use CAST(column AS DOUBLE) where text should be read as a number."
    ),
    "aggregate-per-person": Text(
        "{function} of one person's rows is not supported.",
        "Per person use COUNT, COUNT(DISTINCT ...), SUM, AVG, MIN or MAX.",
    ),
    "aggregate-values-unknown": Text(
        "{function}({column}) needs to know which values there can be (at most {most:,}).",
        "Ask the curator to declare the keys of {column}, Keys([...]), or a range of whole numbers; or ask SELECT ..., COUNT(*) ... GROUP BY it with a delta, ordered by the count.",
        command_line=Words(
            remedy="Ask the curator to declare {name:?its keys, jali protect ... --keys {name:bare}=A,B,...|the keys of {column}, Keys([...])}, or a range of whole numbers; or ask SELECT ..., COUNT(*) ... GROUP BY it with a delta, ordered by the count."
        ),
    ),
    "batch-question": Text("Question {question} of the batch: {problem}", "{problem:remedy}"),
    "batch-size": Text(
        "A batch has from 1 to {most:,} questions, not {count:,}.", "Ask questions in it, and not too many."
    ),
    "bounds-per-group-impossible": Text(
        "Where one aggregate has contribution_bounds_per_group, so must all: {function} has none.",
        "Ask for it in a question of its own; people are counted with COUNT(DISTINCT unit).",
    ),
    "bounds-per-group-missing": Text(
        "Where one aggregate has contribution_bounds_per_group, so must all: {function} has none.",
        "Give it bounds too: {function}(..., contribution_bounds_per_group => (0, 100)).",
    ),
    "cells-of-another-norm": Text("Cells move by the L1 norm of a person's rows.", "Please report this question."),
    "cells-uncovered": Text("A strategy does not cover these cells.", "Please report this question."),
    "column-ambiguous": Text("Column {column} is in several tables: {tables:* and }.", "Write {table}.{column}."),
    "column-not-grouped": Text(
        "Column {column} is neither grouped nor aggregated.", "Add it to GROUP BY, or put it inside an aggregate."
    ),
    "column-unknown": Text(
        "{table:?Table {table}|The question} has no column {column}.",
        "{nearest:?Did you mean {nearest}? |}Its columns are {columns}. Text takes single quotes: '{column}'.",
    ),
    "column-unreadable": Text(
        "Column {column} has a type that questions cannot read.",
        "Questions read numbers, text, truth values, dates and times without a time zone: store it as one of these.",
    ),
    "condition-expected": Text("{clause} takes a condition.", "Compare it with a value."),
    "conditions-too-many": Text(
        "The conditions are too many to look at for each of {count:,} keys.",
        "Write fewer conditions on what is grouped by, or group by less.",
    ),
    "confidence-outside": Text(
        "confidence is above 0 and below 1.",
        "Give confidence=0.95, for example.",
        command_line=Words(remedy="Give --confidence 0.95, for example."),
    ),
    "date-range-undeclared": Text(
        "{expression} has no declared range, so the answer could be any day.",
        "Ask the curator to declare one for its columns: Range(first_day, last_day).",
    ),
    "delta-outside": Text(
        "delta is at least 0 and below 1.",
        "Give delta=1e-9, for example.",
        command_line=Words(remedy="Give --delta 1e-9, for example."),
        page=Words(remedy="Give delta 1e-9, for example."),
    ),
    "expression-unbounded": Text(
        "The range of this expression is unbounded.", "Clamp it in the question: CLAMP({expression}, 0, 100)."
    ),
    "function-of-rows": Text(
        "{shape} works on rows, not on aggregates or keys.", "Use it inside the aggregate, or in GROUP BY."
    ),
    "group-by-real": Text(
        "GROUP BY {column} has too many possible groups: it is a real number.",
        "Group by bins: FLOOR({column} / 10), or a column with declared keys.",
    ),
    "group-by-unit": Text(
        "GROUP BY {column} would print one row for each person.",
        "Group by it inside a subquery, and aggregate over the people outside.",
    ),
    "group-rows-not-positive": Text(
        "group_rows is a whole number, at least 1.",
        "Give group_rows=1000, for example.",
        command_line=Words(remedy="Give --group-rows 1000, for example."),
    ),
    "grouping-of-ungrouped": Text("GROUPING takes grouped columns.", "Name columns of GROUP BY."),
    "grouping-sets-undeclared": Text(
        "ROLLUP, CUBE and GROUPING SETS need declared keys, and no minimum number of people.",
        "Declare the keys, or ask for each grouping set by itself.",
    ),
    "in-kinds-differ": Text("IN compares values of different kinds.", "Cast one of them."),
    "in-subquery-columns": Text("The subquery of IN has one column.", "Select one column."),
    "join-without-unit": Text(
        "A table without a unit cannot be joined with a protected table: its rows are people of their own.",
        "Ask the curator to declare the unit column of both tables.",
    ),
    "joins-too-large": Text(
        "The joins of this question could make more than {most:,} rows of one person's.",
        "Join fewer tables, join public tables on their keys, or sum up one side per person first (GROUP BY the unit); the curator may declare a smaller max_rows.",
    ),
    "keys-to-declare": Text(
        "them, Keys([...]), for {column}",
        command_line=Words(
            "{name:?them: jali protect ... --keys {name:bare}=A,B,...|them, Keys([...]), for {column}.}"
        ),
        page=Words("{name:?them, {name:bare} = A, B|them, Keys([...]), for {column}}"),
    ),
    "keys-undeclared": Text(
        "The keys of {column} are not declared; reading them off the data would leak them.",
        "Ask with delta=1e-9, so that groups of many people are chosen privately; or ask the curator to declare {declaration}.",
        command_line=Words(
            remedy="Ask with --delta 1e-9, so that groups of many people are chosen privately; or ask the curator to declare {declaration}"
        ),
        page=Words(
            remedy="Ask with delta 1e-9, so that groups of many people are chosen privately; or ask the curator to declare {declaration}."
        ),
    ),
    "loss-beyond-noise": Text(
        "The loss of {event} is too {large:?large|small} for the noise there is.",
        "Ask with a {large:?smaller|larger} loss.",
    ),
    "loss-given-twice": Text(
        "A question has one loss, and epsilon and rho are two.",
        "Give epsilon alone for Laplace noise, or rho alone for Gaussian noise.",
    ),
    "loss-missing": Text(
        "A question needs one loss.",
        "Give epsilon=0.1, or rho=0.005 for Gaussian noise; or within=20, to have the loss found.",
        command_line=Words(
            remedy="Give --epsilon 0.1, or --rho 0.005 for Gaussian noise; or --within 20, to have the loss found."
        ),
        page=Words(
            remedy="Give epsilon 0.1, or rho 0.005 for Gaussian noise; or within 20, to have the loss found."
        ),
    ),
    "max-rows-with-per-group": Text(
        "max_rows bounds rows, but contribution_bounds_per_group bounds what a person adds to a group.",
        "Give max_groups instead (max_groups_contributed), or contribution_bounds_per_row.",
    ),
    "min-people-needs-delta": Text(
        "Groups of fewer than {min_people} people are not shown, and deciding which are needs a delta.",
        "Ask with delta=1e-9.",
        command_line=Words(remedy="Ask with --delta 1e-9."),
        page=Words(remedy="Ask with delta 1e-9."),
    ),
    "no-aggregate": Text(
        "The question asks for no aggregate, so it would print rows.", "Ask for COUNT, SUM or AVG."
    ),
    "noise-malformed": Text(
        "noise is laplace or gaussian.",
        'Give noise="gaussian" to pay in rho, or leave it out.',
        command_line=Words(remedy="Give --noise gaussian to pay in rho, or leave it out."),
    ),
    "only-public-tables": Text(
        "All tables of the question are public.", "Read them directly: public tables need no noise."
    ),
    "order-by-list": Text(
        "ORDER BY takes one value of each row, not a list of them.", "Order by another column, or by COUNT(*)."
    ),
    "part-columns": Text("A part is told by the columns of one row.", 'Write partition("ward").'),
    "part-keys-undeclared": Text(
        "The keys of {column} are not declared; reading them off the data would leak them.",
        "Ask the curator to declare them, Keys([...]), for {column}; or partition by another column.",
        command_line=Words(
            remedy="Ask the curator to declare {name:?them: jali protect ... --keys {name:bare}=A,B,...|them, Keys([...]), for {column}}; or partition by another column."
        ),
        page=Words(
            remedy="Ask the curator to declare {name:?them, {name:bare} = A, B|them, Keys([...]), for {column}}; or partition by another column."
        ),
    ),
    "part-malformed": Text("A part is one value of one column.", 'Give part={{"ward": "A"}}.'),
    "part-of-other-table": Text(
        "Another table of the question finds its people in {table}, of all parts and not of one.",
        "Ask about the part of {table} alone, or ask the whole question without a part.",
    ),
    "part-of-unprotected": Text(
        "{table} is no protected table, so it has no parts.", "Protected tables: {tables:*, |none yet}."
    ),
    "part-of-unread-table": Text(
        "The question does not read {table}, of which it names a part.", "Leave the part out."
    ),
    "per-group-with-grouping-sets": Text(
        "contribution_bounds_per_group needs one kind of group: there are several grouping sets.",
        "Ask for each grouping set by itself, or bound rows with contribution_bounds_per_row.",
    ),
    "plan-loss-mismatch": Text(
        "The plan's noise does not match its loss; nothing was asked.", "Please report this question."
    ),
    "plan-norm-mismatch": Text(
        "Rows that are weighed by their L2 norm have no L1 bound.", "Please report this question."
    ),
    "privacy-clause-and-argument": Text(
        "The clause and the arguments give different values of {argument}.", "Leave one of them out."
    ),
    "privacy-clause-and-rho": Text("The clause gives epsilon, the arguments give rho.", "Leave one of them out."),
    "privacy-unit-other": Text(
        "privacy_unit_column is {unit}, but the catalog says {declared}.",
        "Name the declared unit, or leave the option out.",
    ),
    "privacy-unit-undeclared": Text(
        "privacy_unit_column is {unit}, but in {table} each row is a person.",
        "Leave the option out, or ask the curator to declare a unit.",
    ),
    "protected-table-unknown": Text(
        "There is no protected table {table}.",
        "{nearest:?Did you mean {nearest}? |}Tables: {tables:*, |none yet}.",
    ),
    "public-groups-of-few": Text(
        "group_selection_strategy is PUBLIC_GROUPS, but groups of few people are left out.",
        "Leave the option out: groups are then chosen privately.",
    ),
    "public-groups-undeclared": Text(
        "group_selection_strategy is PUBLIC_GROUPS, but the groups are not all declared.",
        "Leave the option out: groups are then chosen privately. Or ask the curator to declare the keys.",
    ),
    "public-table-filtered": Text(
        "A public table would be filtered by a protected one.",
        "Join them instead: the rows of the join belong to people.",
    ),
    "question-from-python": Text("This question cannot be written in SQL from Python.", "Ask it in SQL."),
    "range-needs-rows": Text(
        "For this epsilon a range needs about {needed:,} rows; {rows:,} are declared.",
        "Give the range itself, or pay more: Range(auto=True, epsilon=...).",
        page=Words(remedy="Give the range itself, or pay more: by Python or the command line."),
    ),
    "range-to-declare": Text(
        "one, Range(low, high), for {columns:* and }",
        command_line=Words(
            "one: jali protect ... --range {first:bare}=LOW:HIGH, or --range {first:bare}=auto{several:? and {others:* and }|}."
        ),
        page=Words("one, {columns:* and } = LOW:HIGH"),
    ),
    "range-too-wide": Text(
        "The range of a value is wider than the engine's numbers reach.",
        "Declare a narrower range, or CLAMP the value.",
    ),
    "range-undeclared": Text(
        "Column {column} has no declared range, so one person could move this answer without limit.",
        "Ask the curator to declare one, Range(low, high) or Range(auto=True), for {column}; or clamp the value in the question: CLAMP({expression}, 0, 100).",
        command_line=Words(
            remedy="Ask the curator to declare one: jali protect ... --range {column:bare}=LOW:HIGH, or --range {column:bare}=auto; or clamp the value in the question: CLAMP({expression}, 0, 100)."
        ),
        page=Words(
            remedy="Ask the curator to declare one, {column:bare} = LOW:HIGH; or clamp the value in the question: CLAMP({expression}, 0, 100)."
        ),
    ),
    "star-table-unknown": Text("There is no table {table} in this question.", "Name one of FROM."),
    "stream-aggregate-unsupported": Text(
        "A stream cannot follow {aggregate}.", "Follow COUNT(*), COUNT(x), SUM(x), AVG(x) or CDF(x, [10, 20])."
    ),
    "stream-cdf-malformed": Text(
        "A CDF over time needs a number and the ends of its cells.", "Write CDF(x, [10, 20, 30])."
    ),
    "stream-clause": Text(
        "A stream cannot follow a question with {clause}: it publishes every key at every tick.",
        "Leave it out: SELECT date_trunc('day', admitted) AS day, COUNT(*) FROM visits GROUP BY day.",
    ),
    "stream-group-by-unit": Text("GROUP BY {column} would publish a line for each person.", "Leave it out."),
    "stream-key-with-unit": Text(
        "The people of {table} are told by {unit}, not by {column}.",
        "Leave key out.",
        command_line=Words(remedy="Leave --key out."),
    ),
    "stream-keys-undeclared": Text(
        "The keys of {column} are not declared, and are not read off the data.",
        "Declare them, Keys([...]), where the table is protected.",
    ),
    "stream-min-people": Text(
        "{table} hides groups of fewer than {min_people} people, and a stream publishes every key at every tick.",
        "Protect the table with min_people=1 to follow it.",
        page=Words(remedy="Protect the table with min_people 1 to follow it."),
    ),
    "stream-moment": Text("{column} is a moment, not a tick.", "Group by date_trunc('day', {column})."),
    "stream-name-column": Text(
        "{table} has no column {column} of texts or whole numbers.",
        "Name such a column of the table, whose value is another in every row.",
    ),
    "stream-of-joins": Text(
        "A stream follows the rows of one protected table; joins and subqueries change rows of earlier ticks.",
        "Write the joined rows into a table of their own, protect that, and follow it.",
    ),
    "stream-one-aggregate": Text(
        "A stream publishes one aggregate, as it is.",
        "Write one of COUNT, SUM, AVG and CDF, and a stream for each: SELECT date_trunc('day', admitted) AS day, COUNT(*) FROM visits GROUP BY day.",
    ),
    "stream-rows-unnamed": Text(
        "Each row of {table} is a person, and rows have no name that stays from tick to tick.",
        'Name a column whose value is another in every row: key="visit_id".',
        command_line=Words(remedy="Name a column whose value is another in every row: --key visit_id."),
    ),
    "stream-tick-length": Text(
        "Ticks are hours, days, weeks or months, not {every}s.",
        "Write date_trunc('hour' or 'day' or 'week' or 'month', column).",
    ),
    "stream-time-key": Text(
        "A stream follows a question with one key that is time{several:?, not several.|.}",
        "Group by date_trunc('day', column), or by a column of dates: SELECT date_trunc('day', admitted) AS day, COUNT(*) FROM visits GROUP BY day.",
    ),
    "stream-too-many-keys": Text(
        "The keys of this stream multiply to more than {most:,}.", "Group by fewer columns, or declare fewer keys."
    ),
    "subquery-beside-aggregates": Text("A subquery cannot stand beside aggregates.", "Use it in WHERE."),
    "subquery-column-ambiguous": Text(
        "Two columns of the subquery are called {column}.", "Name them apart with AS."
    ),
    "subquery-column-count": Text("The subquery has {count} columns, not {given}.", "Name each of its columns."),
    "subquery-columns-repeated": Text("Two columns of the subquery have the same name.", "Name them apart."),
    "subquery-from-python": Text("This question has a subquery.", "Ask it in SQL."),
    "subquery-in-join": Text("A subquery cannot stand in the condition of a join.", "Put it in WHERE."),
    "subquery-merges-people": Text(
        "The subquery merges rows of different people.",
        "Add {unit} to its GROUP BY (or to SELECT DISTINCT), so that each row keeps one owner.",
    ),
    "subquery-merges-rows": Text(
        "The subquery merges rows of different people: each row is a person here.",
        "Aggregate in the question itself.",
    ),
    "subquery-outside-where": Text("A subquery cannot stand here.", "Use it in WHERE."),
    "table-named-twice": Text(
        "Two tables of the question are called {table}.", "Give each an alias: FROM visits AS v."
    ),
    "table-unknown": Text(
        "There is no table {table} in this question.", "Its tables are {tables:*, |without a name}."
    ),
    "term-not-positive": Text(
        "{term} is a whole number, at least 1.",
        "Give {term}=10, for example.",
        command_line=Words(
            message="{term:option} is a whole number, at least 1.", remedy="Give {term:option} 10, for example."
        ),
        page=Words(remedy="Give {term} 10, for example."),
    ),
    "term-without-within": Text(
        "{term}= says how within= is meant, and there is no within=.",
        "Give within=20, for example; or leave it out: answer.interval(0.99) needs no term.",
        command_line=Words(
            message="{term:option} says how --within is meant, and there is no --within.",
            remedy="Give --within 20, for example.",
        ),
        page=Words(remedy="Give within 20, for example; or leave it out: answer.interval(0.99) needs no term."),
    ),
    "too-few-values": Text("There are only {count} values to pick from.", "Ask for at most {count}."),
    "too-many-groups": Text(
        "The keys of this grouping multiply to more than {most:,} groups.",
        "Group by fewer columns. The curator can raise the limit `cells`.",
    ),
    "union-column-count": Text(
        "The parts of UNION have different numbers of columns.", "Select the same columns in each part."
    ),
    "union-kinds": Text("The parts of UNION do not match: {kinds:* and }.", "Cast the columns to one type."),
    "union-of-public-and-protected": Text(
        "UNION mixes a public and a protected table: the public rows have no owner.", "Ask about them separately."
    ),
    "unit-types-differ": Text(
        "The units of the two tables differ in type: {one} is {one_type}, {other} is {other_type}.",
        "Ask the curator to store both units in one type.",
    ),
    "units-not-equal": Text(
        "The question does not say that both rows belong to the same person.",
        "Add the equality of the two units to the condition: {one} = {other}.",
    ),
    "within-and-loss": Text(
        "within= finds the least loss by itself; epsilon or rho beside it says another.",
        'Leave one of them out. noise="gaussian" looks for a rho.',
        command_line=Words(
            message="--within finds the least loss by itself; epsilon or rho beside it says another.",
            remedy="Leave one of them out. --noise gaussian looks for a rho.",
        ),
    ),
    "within-computed-otherwise": Text(
        "within= is for aggregates and their sums and differences; {output} is computed otherwise.",
        "Name the other outputs only: within={{...}}. Or ask with epsilon.",
        command_line=Words(
            message="--within is for aggregates and their sums and differences; {output} is computed otherwise.",
            remedy="Name the other outputs only: --within NAME=NUMBER. Or ask with epsilon.",
        ),
    ),
    "within-depends-on-data": Text(
        "How close {output} comes depends on the data.",
        "Name the other outputs only: within={{...}}.",
        command_line=Words(remedy="Name the other outputs only: --within NAME=NUMBER."),
    ),
    "within-names-nothing": Text(
        "within= names no output of the question.",
        'Give within=20, or within={{"n": 20}} for some outputs.',
        command_line=Words(
            message="--within names no output of the question.",
            remedy="Give --within 20, or --within n=20 for some outputs.",
        ),
        page=Words(remedy='Give within 20, or within={{"n": 20}} for some outputs.'),
    ),
    "within-needs-group-rows": Text(
        "How close {output} comes depends on the rows of a group, whose number is no public fact.",
        "Ask the curator to declare rows=, or state a guess of your own: group_rows=1000. A count, asked first, helps to guess. Or name the other outputs only: within={{...}}.",
        command_line=Words(
            remedy="Ask the curator to declare --rows, or state a guess of your own: --group-rows 1000. A count, asked first, helps to guess. Or name the other outputs only: --within NAME=NUMBER."
        ),
    ),
    "within-not-an-aggregate": Text(
        "within= names {output}, which is no aggregate.",
        "The aggregates of the question: {aggregates:*, |none}.",
        command_line=Words("--within names {output}, which is no aggregate."),
    ),
    "within-not-positive": Text(
        "within= is above 0.",
        "Give within=20, for example.",
        command_line=Words(message="--within is above 0.", remedy="Give --within 20, for example."),
        page=Words(remedy="Give within 20, for example."),
    ),
    "within-nothing": Text(
        "within= has nothing to be close to.",
        "The aggregates of the question: {aggregates:*, |none}.",
        command_line=Words("--within has nothing to be close to."),
    ),
    "within-out-of-reach": Text(
        "No {kind} up to {most:decimal} brings the answer within what was asked.",
        "Ask for a larger within=, or let each person count for fewer rows: max_rows=1.",
        command_line=Words(
            remedy="Ask for a larger --within, or let each person count for fewer rows: --max-rows 1."
        ),
        page=Words(remedy="Ask for a larger within=, or let each person count for fewer rows: max_rows 1."),
    ),
    "within-picked-value": Text(
        "{output} is a value that is picked, which has no width.",
        "Name the other outputs only: within={{...}}. Or ask with epsilon.",
        command_line=Words(remedy="Name the other outputs only: --within NAME=NUMBER. Or ask with epsilon."),
    ),
}
