"""Texts about planning a question."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

TEXTS: Mapping[str, Text] = {
    "aggregate-nested": Text(
        "Aggregates cannot be nested.", "Compute the inner aggregate per person in a subquery."
    ),
    "aggregate-number-expected": Text(
        "{function} takes a numeric argument.", "Use CAST(column AS DOUBLE) where text should be read as a number."
    ),
    "aggregate-per-person": Text(
        "{function} is not supported over the rows of one person.",
        "Use COUNT, COUNT(DISTINCT ...), SUM, AVG, MIN or MAX per person.",
    ),
    "aggregate-values-unknown": Text(
        "{function}({column}) needs a declared list of possible values (at most {most:,}).",
        "Ask the curator to declare the keys of {column}, Keys([...]), or a range of whole numbers; or ask SELECT ..., COUNT(*) ... GROUP BY it with a delta, ordered by the count.",
        command_line=Words(
            remedy="Ask the curator to declare {name:?its keys, jali protect ... --keys {name:bare}=A,B,...|the keys of {column}, Keys([...])}, or a range of whole numbers; or ask SELECT ..., COUNT(*) ... GROUP BY it with a delta, ordered by the count."
        ),
    ),
    "batch-question": Text("Question {question} of the batch: {problem}", "{problem:remedy}"),
    "batch-size": Text("A batch takes 1 to {most:,} questions, not {count:,}.", "Change the number of questions."),
    "bounds-per-group-impossible": Text(
        "Either all aggregates have contribution_bounds_per_group or none has: {function} has none.",
        "Ask for it in a separate question. To count people, use COUNT(DISTINCT unit).",
    ),
    "bounds-per-group-missing": Text(
        "Either all aggregates have contribution_bounds_per_group or none has: {function} has none.",
        "Add the bounds: {function}(..., contribution_bounds_per_group => (0, 100)).",
    ),
    "cells-of-another-norm": Text(
        "The cells have L1 sensitivity, but the rows are bounded in another norm.", "Please report this question."
    ),
    "cells-uncovered": Text("The strategy does not cover these cells.", "Please report this question."),
    "column-ambiguous": Text("Column {column} is ambiguous: it is in {tables:* and }.", "Write {table}.{column}."),
    "column-not-grouped": Text(
        "Column {column} must be grouped or aggregated.", "Add it to GROUP BY, or put it inside an aggregate."
    ),
    "column-unknown": Text(
        "{table:?Table {table}|The question} has no column {column}.",
        "{nearest:?Did you mean {nearest}? |}Its columns are {columns}. Text takes single quotes: '{column}'.",
    ),
    "column-unreadable": Text(
        "Column {column} has a type that questions cannot read.",
        "Store it as a number, text, boolean, date or time without time zone.",
    ),
    "condition-expected": Text("{clause} needs a condition.", "Compare the expression with a value."),
    "conditions-too-many": Text(
        "There are too many conditions to evaluate for each of {count:,} keys.",
        "Use fewer conditions on the grouping columns, or group by fewer columns.",
    ),
    "confidence-outside": Text(
        "confidence must be above 0 and below 1.",
        "Give confidence=0.95, for example.",
        command_line=Words(remedy="Give --confidence 0.95, for example."),
    ),
    "date-range-undeclared": Text(
        "{expression} has no declared range, so its sensitivity is unbounded.",
        "Ask the curator to declare one for its columns: Range(first_day, last_day).",
    ),
    "delta-outside": Text(
        "delta must be at least 0 and below 1.",
        "Give delta=1e-9, for example.",
        command_line=Words(remedy="Give --delta 1e-9, for example."),
        page=Words(remedy="Give delta 1e-9, for example."),
    ),
    "expression-unbounded": Text(
        "The range of this expression is unbounded.", "Clamp it: CLAMP({expression}, 0, 100)."
    ),
    "function-of-rows": Text(
        "{shape} applies to rows, not to aggregates or keys.", "Use it inside an aggregate or in GROUP BY."
    ),
    "group-by-real": Text(
        "GROUP BY {column} has too many possible groups, because the column holds real numbers.",
        "Group by bins, such as FLOOR({column} / 10), or by a column with declared keys.",
    ),
    "group-by-unit": Text(
        "GROUP BY {column} would return one row per person.",
        "Group by it in a subquery, and aggregate over the people in the outer query.",
    ),
    "group-rows-not-positive": Text(
        "group_rows must be a whole number of at least 1.",
        "Give group_rows=1000, for example.",
        command_line=Words(remedy="Give --group-rows 1000, for example."),
    ),
    "grouping-of-ungrouped": Text("GROUPING takes columns of GROUP BY.", "Use columns of GROUP BY."),
    "grouping-sets-undeclared": Text(
        "ROLLUP, CUBE and GROUPING SETS need declared keys and cannot be combined with min_people.",
        "Declare the keys, or ask for each grouping set in a separate question.",
    ),
    "in-kinds-differ": Text("IN compares values of different types.", "Cast one of them."),
    "in-subquery-columns": Text("The subquery of IN must return one column.", "Select one column."),
    "join-without-unit": Text(
        "A table without a unit column cannot be joined with a protected table, because each of its rows is a separate person.",
        "Ask the curator to declare the unit column of both tables.",
    ),
    "joins-too-large": Text(
        "The joins could produce more than {most:,} rows per person.",
        "Join fewer tables, join public tables on their keys, or aggregate one side per person first (GROUP BY the unit). The curator can declare a smaller max_rows.",
    ),
    "keys-to-declare": Text(
        "them, Keys([...]), for {column}",
        command_line=Words(
            "{name:?them: jali protect ... --keys {name:bare}=A,B,...|them, Keys([...]), for {column}.}"
        ),
        page=Words("{name:?them, {name:bare} = A, B|them, Keys([...]), for {column}}"),
    ),
    "keys-undeclared": Text(
        "The keys of {column} are not declared, and reading them from the data would leak them.",
        "Ask with delta=1e-9, so that partition selection releases groups of many people; or ask the curator to declare {declaration}.",
        command_line=Words(
            remedy="Ask with --delta 1e-9, so that partition selection releases groups of many people; or ask the curator to declare {declaration}"
        ),
        page=Words(
            remedy="Ask with delta 1e-9, so that partition selection releases groups of many people; or ask the curator to declare {declaration}."
        ),
    ),
    "loss-beyond-noise": Text(
        "The privacy loss of {event} is too {large:?large|small} for the available noise.",
        "Use a {large:?smaller|larger} privacy loss.",
    ),
    "loss-given-twice": Text(
        "epsilon and rho cannot be combined.",
        "Give epsilon for Laplace noise, or rho for Gaussian noise.",
    ),
    "loss-missing": Text(
        "The privacy loss is missing.",
        "Give epsilon=0.1, or rho=0.005 for Gaussian noise; or within=20 to let Jali find the loss for that margin of error.",
        command_line=Words(
            remedy="Give --epsilon 0.1, or --rho 0.005 for Gaussian noise; or --within 20 to let Jali find the loss for that margin of error."
        ),
        page=Words(
            remedy="Give epsilon 0.1, or rho 0.005 for Gaussian noise; or within 20 to let Jali find the loss for that margin of error."
        ),
    ),
    "max-rows-with-per-group": Text(
        "max_rows and contribution_bounds_per_group cannot be combined: one bounds rows per person, the other a person's contribution to a group.",
        "Use max_groups (max_groups_contributed) or contribution_bounds_per_row instead.",
    ),
    "min-people-needs-delta": Text(
        "The table hides groups of fewer than {min_people} people, and partition selection needs a delta.",
        "Ask with delta=1e-9.",
        command_line=Words(remedy="Ask with --delta 1e-9."),
        page=Words(remedy="Ask with delta 1e-9."),
    ),
    "no-aggregate": Text("The question has no aggregate and would return rows.", "Ask for COUNT, SUM or AVG."),
    "noise-malformed": Text(
        'noise must be "laplace" or "gaussian".',
        'Give noise="gaussian" to spend rho, or leave it out.',
        command_line=Words(remedy="Give --noise gaussian to spend rho, or leave it out."),
    ),
    "only-public-tables": Text(
        "The question reads only public tables.", "Query them directly: public tables need no noise."
    ),
    "order-by-list": Text("ORDER BY takes single values, not a list.", "Order by another column, or by COUNT(*)."),
    "part-columns": Text("A subpopulation is defined by columns of the table.", 'Write partition("ward").'),
    "part-keys-undeclared": Text(
        "The keys of {column} are not declared, and reading them from the data would leak them.",
        "Ask the curator to declare Keys([...]) for {column}, or partition by another column.",
        command_line=Words(
            remedy="Ask the curator to declare {name:?them: jali protect ... --keys {name:bare}=A,B,...|Keys([...]) for {column}}; or partition by another column."
        ),
        page=Words(
            remedy="Ask the curator to declare {name:?them, {name:bare} = A, B|Keys([...]) for {column}}; or partition by another column."
        ),
    ),
    "part-malformed": Text("A subpopulation is one value of one column.", 'Give part={{"ward": "A"}}.'),
    "part-of-other-table": Text(
        "Another table of the question derives its privacy unit from the whole of {table}, not from one subpopulation.",
        "Ask about the subpopulation of {table} alone, or ask the question without a subpopulation.",
    ),
    "part-of-unprotected": Text(
        "{table} is not a protected table, so it has no subpopulations.",
        "Protected tables: {tables:*, |none yet}.",
    ),
    "part-of-unread-table": Text(
        "The question names a subpopulation of {table}, which it does not read.", "Leave the subpopulation out."
    ),
    "per-group-with-grouping-sets": Text(
        "contribution_bounds_per_group cannot be combined with several grouping sets.",
        "Ask for each grouping set in a separate question, or bound rows with contribution_bounds_per_row.",
    ),
    "plan-loss-mismatch": Text(
        "The noise of the plan does not match its privacy loss. Nothing was spent.", "Please report this question."
    ),
    "plan-norm-mismatch": Text("Rows weighted by their L2 norm have no L1 bound.", "Please report this question."),
    "privacy-clause-and-argument": Text(
        "The privacy clause and the arguments give different values of {argument}.", "Give only one of them."
    ),
    "privacy-clause-and-rho": Text(
        "The privacy clause gives epsilon, and the arguments give rho.", "Give only one of them."
    ),
    "privacy-unit-other": Text(
        "privacy_unit_column is {unit}, but the declared privacy unit is {declared}.",
        "Use the declared privacy unit, or leave the option out.",
    ),
    "privacy-unit-undeclared": Text(
        "privacy_unit_column is {unit}, but in {table} each row is a person.",
        "Leave the option out, or ask the curator to declare a unit column.",
    ),
    "protected-table-unknown": Text(
        "There is no protected table {table}.",
        "{nearest:?Did you mean {nearest}? |}Tables: {tables:*, |none yet}.",
    ),
    "public-groups-of-few": Text(
        "group_selection_strategy is PUBLIC_GROUPS, but the table hides small groups.",
        "Leave the option out to use private partition selection.",
    ),
    "public-groups-undeclared": Text(
        "group_selection_strategy is PUBLIC_GROUPS, but not all group keys are declared.",
        "Leave the option out to use private partition selection, or ask the curator to declare the keys.",
    ),
    "public-table-filtered": Text(
        "A public table cannot be filtered by a protected one.",
        "Join them instead: each row of the join then belongs to a person.",
    ),
    "question-from-python": Text("This query cannot be built in Python.", "Write it in SQL."),
    "range-needs-rows": Text(
        "Estimating a range with this epsilon needs about {needed:,} rows; {rows:,} are declared.",
        "Declare the range, or spend more on it: Range(auto=True, epsilon=...).",
        page=Words(remedy="Declare the range, or spend more on it from Python or the command line."),
    ),
    "range-to-declare": Text(
        "one, Range(low, high), for {columns:* and }",
        command_line=Words(
            "one: jali protect ... --range {first:bare}=LOW:HIGH, or --range {first:bare}=auto{several:? and {others:* and }|}."
        ),
        page=Words("one, {columns:* and } = LOW:HIGH"),
    ),
    "range-too-wide": Text(
        "The range of a value exceeds the engine's number types.",
        "Declare a narrower range, or clamp the value with CLAMP.",
    ),
    "range-undeclared": Text(
        "Column {column} has no declared range, so the sensitivity of this answer is unbounded.",
        "Ask the curator to declare Range(low, high) or Range(auto=True) for {column}, or clamp the value: CLAMP({expression}, 0, 100).",
        command_line=Words(
            remedy="Ask the curator to declare one with jali protect ... --range {column:bare}=LOW:HIGH or --range {column:bare}=auto, or clamp the value: CLAMP({expression}, 0, 100)."
        ),
        page=Words(
            remedy="Ask the curator to declare {column:bare} = LOW:HIGH, or clamp the value: CLAMP({expression}, 0, 100)."
        ),
    ),
    "star-table-unknown": Text("There is no table {table} in this question.", "Use a table of the FROM clause."),
    "stream-aggregate-unsupported": Text(
        "Streams do not support {aggregate}.", "Use COUNT(*), COUNT(x), SUM(x), AVG(x) or CDF(x, [10, 20])."
    ),
    "stream-cdf-malformed": Text(
        "A CDF over time needs a numeric column and bin edges.", "Write CDF(x, [10, 20, 30])."
    ),
    "stream-clause": Text(
        "The query of a stream cannot have {clause}, because a stream publishes every key at every tick.",
        "Leave it out: SELECT date_trunc('day', admitted) AS day, COUNT(*) FROM visits GROUP BY day.",
    ),
    "stream-group-by-unit": Text("GROUP BY {column} would publish one row per person.", "Leave it out."),
    "stream-key-with-unit": Text(
        "The privacy unit of {table} is {unit}, not {column}.",
        "Leave key out.",
        command_line=Words(remedy="Leave --key out."),
    ),
    "stream-keys-undeclared": Text(
        "The keys of {column} are not declared, and reading them from the data would leak them.",
        "Declare Keys([...]) when you protect the table.",
    ),
    "stream-min-people": Text(
        "{table} hides groups of fewer than {min_people} people, but a stream publishes every key at every tick.",
        "Protect the table with min_people=1 to use it in a stream.",
        page=Words(remedy="Protect the table with min_people 1 to use it in a stream."),
    ),
    "stream-moment": Text("{column} is a timestamp, not a tick.", "Group by date_trunc('day', {column})."),
    "stream-name-column": Text(
        "{table} has no text or integer column {column}.",
        "Name a column that has a different value in every row.",
    ),
    "stream-of-joins": Text(
        "A stream reads one protected table, because joins and subqueries could change rows of earlier ticks.",
        "Write the joined rows to a table, protect it, and use it in the stream.",
    ),
    "stream-one-aggregate": Text(
        "A stream publishes one aggregate, without further computation.",
        "Use one of COUNT, SUM, AVG and CDF per stream: SELECT date_trunc('day', admitted) AS day, COUNT(*) FROM visits GROUP BY day.",
    ),
    "stream-rows-unnamed": Text(
        "Each row of {table} is a person, but no column identifies a row from tick to tick.",
        'Name a column that has a different value in every row: key="visit_id".',
        command_line=Words(remedy="Name a column that has a different value in every row: --key visit_id."),
    ),
    "stream-tick-length": Text(
        "A tick is an hour, a day, a week or a month, not a {every}.",
        "Write date_trunc('hour' or 'day' or 'week' or 'month', column).",
    ),
    "stream-time-key": Text(
        "The query of a stream needs exactly one time key{several:?; this one has several.|.}",
        "Group by date_trunc('day', column) or by a date column: SELECT date_trunc('day', admitted) AS day, COUNT(*) FROM visits GROUP BY day.",
    ),
    "stream-too-many-keys": Text(
        "The keys of this stream have more than {most:,} combinations.",
        "Group by fewer columns, or declare fewer keys.",
    ),
    "subquery-beside-aggregates": Text("A subquery cannot be combined with aggregates.", "Use it in WHERE."),
    "subquery-column-ambiguous": Text(
        "Two columns of the subquery are named {column}.", "Rename one of them with AS."
    ),
    "subquery-column-count": Text("The subquery has {count} columns, not {given}.", "Give one name per column."),
    "subquery-columns-repeated": Text("Two columns of the subquery have the same name.", "Rename one of them."),
    "subquery-from-python": Text("A query built in Python cannot have a subquery.", "Write it in SQL."),
    "subquery-in-join": Text("A join condition cannot contain a subquery.", "Move it to WHERE."),
    "subquery-merges-people": Text(
        "The subquery combines rows of different people.",
        "Add {unit} to its GROUP BY (or SELECT DISTINCT), so that each row belongs to one person.",
    ),
    "subquery-merges-rows": Text(
        "The subquery combines rows of different people, because each row of the table is a person.",
        "Aggregate in the outer query.",
    ),
    "subquery-outside-where": Text("A subquery is not allowed here.", "Use it in WHERE."),
    "table-named-twice": Text(
        "Two tables of the question are named {table}.", "Give each an alias: FROM visits AS v."
    ),
    "table-unknown": Text("There is no table {table} in this question.", "Its tables are {tables:*, |unnamed}."),
    "term-not-positive": Text(
        "{term} must be a whole number of at least 1.",
        "Give {term}=10, for example.",
        command_line=Words(
            message="{term:option} must be a whole number of at least 1.",
            remedy="Give {term:option} 10, for example.",
        ),
        page=Words(remedy="Give {term} 10, for example."),
    ),
    "term-without-within": Text(
        "{term}= applies only together with within=.",
        "Give within=20, for example; or leave it out: answer.interval(0.99) works without it.",
        command_line=Words(
            message="{term:option} applies only together with --within.",
            remedy="Give --within 20, for example.",
        ),
        page=Words(remedy="Give within 20, for example; or leave it out."),
    ),
    "too-few-values": Text("There are only {count} values to choose from.", "Ask for at most {count}."),
    "too-many-groups": Text(
        "The group keys have more than {most:,} combinations.",
        "Group by fewer columns. The curator can raise the limit `cells`.",
    ),
    "union-column-count": Text(
        "The branches of UNION have different numbers of columns.", "Select the same columns in each branch."
    ),
    "union-kinds": Text(
        "The branches of UNION have different types: {kinds:* and }.", "Cast the columns to one type."
    ),
    "union-of-public-and-protected": Text(
        "UNION cannot combine a public and a protected table, because public rows have no privacy unit.",
        "Query them separately.",
    ),
    "unit-types-differ": Text(
        "The privacy units of the two tables have different types: {one} is {one_type}, {other} is {other_type}.",
        "Ask the curator to store both units with the same type.",
    ),
    "units-not-equal": Text(
        "The join does not require that both rows belong to the same person.",
        "Add {one} = {other} to the join condition.",
    ),
    "within-and-loss": Text(
        "within= cannot be combined with epsilon= or rho=.",
        'Give either within= or epsilon=/rho=, not both. With noise="gaussian", within= finds a rho.',
        command_line=Words(
            message="--within cannot be combined with --epsilon or --rho.",
            remedy="Give either --within or --epsilon/--rho, not both. With --noise gaussian, --within finds a rho.",
        ),
    ),
    "within-computed-otherwise": Text(
        "within= supports aggregates, their sums and their differences; {output} is none of these.",
        "Name the other outputs only, within={{...}}, or give epsilon.",
        command_line=Words(
            message="--within supports aggregates, their sums and their differences; {output} is none of these.",
            remedy="Name the other outputs only, --within NAME=NUMBER, or give --epsilon.",
        ),
    ),
    "within-depends-on-data": Text(
        "The margin of error of {output} depends on the data.",
        "Name the other outputs only: within={{...}}.",
        command_line=Words(remedy="Name the other outputs only: --within NAME=NUMBER."),
    ),
    "within-names-nothing": Text(
        "within= must be a number, or name outputs of the question.",
        'Give within=20, or within={{"n": 20}} for single outputs.',
        command_line=Words(
            message="--within must be a number, or name outputs of the question.",
            remedy="Give --within 20, or --within n=20 for single outputs.",
        ),
        page=Words(remedy='Give within 20, or within={{"n": 20}} for single outputs.'),
    ),
    "within-needs-group-rows": Text(
        "The margin of error of {output} depends on the number of rows in a group, which is not public.",
        "Ask the curator to declare rows=, or give an estimate: group_rows=1000. A noisy count helps to estimate it. Or name the other outputs only: within={{...}}.",
        command_line=Words(
            remedy="Ask the curator to declare --rows, or give an estimate: --group-rows 1000. A noisy count helps to estimate it. Or name the other outputs only: --within NAME=NUMBER."
        ),
    ),
    "within-not-an-aggregate": Text(
        "within= names {output}, which is not an aggregate.",
        "The aggregates of the question: {aggregates:*, |none}.",
        command_line=Words("--within names {output}, which is not an aggregate."),
    ),
    "within-not-positive": Text(
        "within= must be above 0.",
        "Give within=20, for example.",
        command_line=Words(message="--within must be above 0.", remedy="Give --within 20, for example."),
        page=Words(remedy="Give within 20, for example."),
    ),
    "within-nothing": Text(
        "within= has no aggregate to apply to.",
        "The aggregates of the question: {aggregates:*, |none}.",
        command_line=Words("--within has no aggregate to apply to."),
    ),
    "within-out-of-reach": Text(
        "No {kind} up to {most:decimal} reaches the requested margin of error.",
        "Ask for a larger within=, or lower the contribution bound: max_rows=1.",
        command_line=Words(remedy="Ask for a larger --within, or lower the contribution bound: --max-rows 1."),
        page=Words(remedy="Ask for a larger within, or lower the contribution bound: max_rows 1."),
    ),
    "within-picked-value": Text(
        "{output} is a selected value, which has no margin of error.",
        "Name the other outputs only, within={{...}}, or give epsilon.",
        command_line=Words(remedy="Name the other outputs only, --within NAME=NUMBER, or give --epsilon."),
    ),
}
