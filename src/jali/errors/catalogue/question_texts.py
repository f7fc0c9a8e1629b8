"""Texts about questions: their syntax, clauses, functions and aggregates, and limits on their size."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

TEXTS: Mapping[str, Text] = {
    "aggregate-argument": Text(
        "{name} takes {wanted}.", "Use CAST(column AS DOUBLE) where text should be read as a number."
    ),
    "aggregate-argument-count": Text("{function} has the wrong number of arguments.", "See docs/sql.md."),
    "aggregate-arguments-constant": Text(
        "{function} takes constant numbers here.", "Write numbers, not columns or texts."
    ),
    "aggregate-clause": Text("{function} takes no {clause} here.", "docs/sql.md shows what is supported."),
    "aggregate-distinct": Text(
        "{function} takes no DISTINCT: how often a value occurs would be another secret.",
        "COUNT(DISTINCT ...) is supported.",
    ),
    "aggregate-in-row": Text(
        "{function} cannot stand here: this part is computed row by row.",
        "Use HAVING for conditions on aggregates.",
    ),
    "aggregate-malformed": Text(
        "{given} is not an aggregate.", "Write {name}=jali.count(), or {name}='COUNT(*)'."
    ),
    "aggregate-takes-numbers": Text(
        "{shape} takes numbers.", "Use CAST(column AS DOUBLE) where text should be read as a number."
    ),
    "aggregate-unnamed": Text("This aggregate has no name of its own.", "Name it: .agg(total=jali.sum('a * b'))."),
    "approx-quantiles-parts": Text(
        "APPROX_QUANTILES takes the number of equal parts.", "Write APPROX_QUANTILES(x, 4) for quartiles."
    ),
    "approx-top-k-count": Text(
        "APPROX_TOP_K takes how many values are wanted, from 1 to 1,000.", "Write APPROX_TOP_K(ward, 3)."
    ),
    "argument-count-wrong": Text("Wrong number of arguments.", "Write {shape}."),
    "argument-kinds-wrong": Text(
        "{shape} {problem}; here it got {kinds}.",
        "{dates:?Write dates in quotes: '2026-01-31'.|Write numbers without quotes, and CAST(column AS DOUBLE) where text should be read as a number.}",
    ),
    "argument-unsupported": Text(
        "The argument {argument} is not supported.", "The named arguments are {arguments:* and }."
    ),
    "bigquery-aggregation-threshold": Text(
        "AGGREGATION_THRESHOLD is not private: the answers it shows are exact.",
        "Write WITH DIFFERENTIAL_PRIVACY OPTIONS(min_privacy_units_per_group=...).",
    ),
    "bins-malformed": Text(
        "{function} takes at most {most:,} rising numbers.", "Write {function}(x, [10, 20, 30])."
    ),
    "bounds-argument-malformed": Text(
        "{argument} is an argument after the first, with two bounds.", "Write SUM(x, {argument} => (0, 100))."
    ),
    "bounds-argument-unknown": Text(
        "{function} has no {argument}.", "Write contribution_bounds_per_{per} => (low, high)."
    ),
    "bounds-misplaced": Text(
        "Contribution bounds stand where they bound nothing.", "Give them to aggregates of the question itself."
    ),
    "bounds-not-two": Text("Contribution bounds are two numbers.", "Write them as constants: (0, 100)."),
    "bounds-outside-aggregate": Text(
        "Contribution bounds stand in the call of an aggregate that has them.", "Those are {functions}."
    ),
    "bounds-repeated": Text("This aggregate has two contribution bounds.", "Give it one."),
    "bounds-reversed": Text("The lower bound is above the upper one.", "Write the lower one first."),
    "bounds-too-far": Text("These bounds are beyond all numbers of a column.", "Write nearer ones."),
    "cast-unsupported": Text(
        "This cast is not supported.", "Cast to INTEGER, DOUBLE, TEXT, DATE, TIMESTAMP or BOOLEAN."
    ),
    "clause-distinct": Text("SELECT DISTINCT would print values of rows."),
    "clause-into": Text("SELECT INTO is not supported."),
    "clause-lateral": Text("Lateral joins are not supported."),
    "clause-limit-in-subquery": Text("LIMIT in a subquery picks some people's rows because of others' rows."),
    "clause-locks": Text("Locking clauses are not supported."),
    "clause-offset-in-subquery": Text("OFFSET in a subquery picks some people's rows because of others' rows."),
    "clause-other": Text("The clause {clause} is not supported."),
    "clause-other-here": Text("{clause} is not supported here."),
    "clause-pivot": Text("PIVOT is not supported: its columns would be read off the data."),
    "clause-qualify": Text("QUALIFY is not supported: it needs window functions, which mix people's rows."),
    "clause-sample": Text(
        "Sampling in the question is not supported: it would not be counted in the privacy loss."
    ),
    "clause-unsupported": Text("{reason}", "Leave it out."),
    "clause-unsupported-here": Text("{reason}", "docs/sql.md shows what is supported."),
    "clause-window": Text("Window functions are not supported: they would mix people's rows."),
    "column-malformed": Text(
        "Columns are written as column, or table.column.", "docs/sql.md shows what is supported."
    ),
    "column-unknown-here": Text(
        "{table:?Table {table}|The question} has no column {column}.",
        "Its columns are {columns}. Text takes single quotes: '{column}'.",
    ),
    "columns-not-names": Text("Columns are given by name.", 'Write .group_by("ward", "year").'),
    "construct-unsupported": Text(
        "{construct} with {clause} is not supported.", "docs/sql.md shows what is supported."
    ),
    "count-distinct-one-expression": Text(
        "COUNT(DISTINCT ...) takes one expression.", "docs/sql.md shows what is supported."
    ),
    "count-one-argument": Text("COUNT takes one argument.", "docs/sql.md shows what is supported."),
    "count-star-argument": Text("COUNT(*) takes nothing beside the star.", "docs/sql.md shows what is supported."),
    "date-add-interval": Text("DATE_ADD takes an interval.", "Write d + INTERVAL 3 MONTH."),
    "date-literal-malformed": Text("'{given}' is not a {kind}.", "Write '2026-01-31', without a time zone."),
    "date-part-unknown": Text("'{given}' is no part of a date here.", "Write one of {parts}."),
    "date-written-malformed": Text("There is no day or time {given}.", "Write 2025-01-31."),
    "distinct-on": Text("DISTINCT ON picks rows by their order.", "Use GROUP BY."),
    "expression-not-one": Text("{given!r} is not one value.", "Give one expression, such as 'price * quantity'."),
    "expression-with-clauses": Text("Give one expression, without further clauses.", "Such as 'age > 60'."),
    "filter-misplaced": Text("FILTER stands after an aggregate.", "docs/sql.md shows what is supported."),
    "from-malformed": Text(
        "FROM takes tables and subqueries.", "Name a protected or public table, or write (SELECT ...)."
    ),
    "from-missing": Text("The question has no FROM.", "Name a protected table: FROM visits."),
    "function-argument-count": Text("{function} takes {count} arguments.", "See docs/sql.md."),
    "function-argument-kind": Text(
        "{function} takes {takes} here; it got {constant:?a constant of another kind|an expression}.",
        "Write the value itself, and see docs/sql.md for what it may be.",
    ),
    "function-arguments-wrong": Text("{function} has the wrong number of arguments.", "See docs/sql.md."),
    "function-unsupported": Text(
        "{function} is not supported{reason:?: {reason}|}.", "The supported functions are listed in docs/sql.md."
    ),
    "group-by-clause": Text("GROUP BY takes no {clause} here.", "docs/sql.md shows what is supported."),
    "grouping-in-row": Text(
        "GROUPING cannot stand here: this part is computed row by row.", "Use it in SELECT, HAVING or ORDER BY."
    ),
    "in-malformed": Text("IN takes a list of values, or a subquery.", "docs/sql.md shows what is supported."),
    "interval-malformed": Text(
        "INTERVAL takes a constant whole number of at most 6 digits and one unit.", "Write INTERVAL 3 MONTH."
    ),
    "join-kind-unknown": Text("There is no {kind!r} join.", "Write one of {joins}."),
    "join-unsupported": Text(
        "This kind of join ({join:* }) is not supported.",
        "Use INNER, LEFT, RIGHT, FULL, SEMI, ANTI or CROSS JOIN.",
    ),
    "limit-malformed": Text("{name} is a whole number, at least 0.", "Write .limit(10)."),
    "limit-not-constant": Text("{clause} takes a constant whole number.", "docs/sql.md shows what is supported."),
    "limit-outside": Text(
        "The limit {limit} is a whole number from 1 to {most:,}, not {given!r}.", "The default is {default:,}."
    ),
    "limit-too-long": Text(
        "{clause} takes a number of at most 18 digits.", "docs/sql.md shows what is supported."
    ),
    "limit-unknown": Text("{given!r} sets no limit.", "Write tokens=10000; the limits are {limits}."),
    "list-empty": Text("The list is empty: write one number at least.", "docs/sql.md shows what is supported."),
    "log-base": Text("LOG takes 2 or 10 as its base.", "Write LN(a) / LN(base)."),
    "make-date-constants": Text("MAKE_DATE takes constants that make a date.", "Write DATE '2026-01-31'."),
    "not-a-select": Text("A question is one SELECT statement.", "Write SELECT ... FROM ..."),
    "number-malformed": Text("This is not a number.", "Write it in decimal digits."),
    "number-unusable": Text(
        "{given} is not a number that can be used here.",
        "Write one of up to 100 digits, between 1e-300 and 1e300 in size.",
    ),
    "order-by-malformed": Text(
        "ORDER BY takes expressions with ASC, DESC and NULLS FIRST or LAST.",
        "docs/sql.md shows what is supported.",
    ),
    "output-names-repeated": Text("Two columns of the answer have the same name.", "Name aggregates apart."),
    "output-number-unknown": Text("There is no output {output}.", "The outputs are numbered from 1 to {count}."),
    "output-unknown": Text("There is no output {output}.", "Name it."),
    "parenthesis-unclosed": Text("This parenthesis is not closed.", "Close it."),
    "part-after-clauses": Text(
        "A whole table is divided into parts, before it is joined, filtered or grouped.",
        'Write s.table("visits").partition("ward"), and the rest on one of its parts.',
    ),
    "percentile-one-number": Text("PERCENTILE takes one number.", "docs/sql.md shows what is supported."),
    "privacy-clause-inner": Text(
        "Only the first, outermost SELECT takes WITH {clause}: it holds for the whole question.",
        "Move the clause there.",
    ),
    "privacy-clause-misplaced": Text("WITH {clause} stands directly after SELECT.", "Move the clause there."),
    "privacy-clause-without-options": Text(
        "WITH {clause} needs its OPTIONS(...).", "Write OPTIONS(epsilon=1, ...)."
    ),
    "privacy-option-delta": Text("delta takes a number from 0 to below 1.", "Write delta = 1e-9, for example."),
    "privacy-option-epsilon": Text("epsilon takes a number above 0.", "Write epsilon = 0.5, for example."),
    "privacy-option-malformed": Text("An option is written name = value.", "The options are {options}."),
    "privacy-option-repeated": Text("{option} is given twice.", "Give each option once."),
    "privacy-option-strategy": Text(
        "This is no way to select groups.", "Write {strategies:* or }, without quotes."
    ),
    "privacy-option-unit": Text(
        "privacy_unit_column takes the name of a column.",
        "Write privacy_unit_column = id, or with its table, t.id.",
    ),
    "privacy-option-unknown": Text("There is no option {option}.", "The options are {options}."),
    "privacy-option-whole": Text(
        "{option} takes a whole number of at least 1.", "Write {option} = 3, for example."
    ),
    "privacy-options-exclusive": Text(
        "max_groups_contributed and max_rows_contributed exclude each other.", "Give one of them."
    ),
    "quantile-level": Text("{level!r} is not a number.", "Write jali.quantile('age', 0.5)."),
    "quantiles-outside": Text(
        "Quantiles are 1 to {most} numbers from 0 to 1.",
        "Write QUANTILE_CONT(x, 0.5) or QUANTILE_CONT(x, [0.25, 0.5, 0.75]).",
    ),
    "question-empty": Text("The question asks for nothing.", "Add .agg(n=jali.count())."),
    "question-is-union": Text(
        "A question is one SELECT statement; UNION, EXCEPT and INTERSECT stand around whole answers here.",
        "Write SELECT ... FROM (SELECT ... UNION ALL SELECT ...), or ask two questions.",
    ),
    "question-nested-too-deeply": Text(
        "The question is nested too deeply.", "Compute it in steps, in subqueries side by side."
    ),
    "question-not-unicode": Text(
        "A question is Unicode text without NUL.", "Remove the characters that no editor shows."
    ),
    "question-too-deep": Text(
        "The question has more than {most:,} brackets and CASEs inside each other.",
        "Compute it in steps, in subqueries side by side. The curator can raise the limit `depth`.",
    ),
    "question-too-large": Text(
        "The question has more than {most:,} columns, constants and calls.",
        "Compute it in steps, in subqueries. The curator can raise the limit `size`.",
    ),
    "regexp-option": Text(
        "REGEXP_MATCHES takes no option but 'i' and 'c'.", "Write options in the pattern: (?s)."
    ),
    "select-hints": Text("SELECT AS and hints are not supported.", "Leave them out."),
    "select-misspelt": Text("A question begins with SELECT.", "Check the spelling of this word."),
    "select-star": Text("SELECT * would print rows.", "Ask for aggregates such as COUNT(*)."),
    "set-operation-unsupported": Text(
        "{operation} is not supported.", "Use SELECT, UNION ALL, or a condition with NOT EXISTS."
    ),
    "several-statements": Text(
        "A question is one SELECT statement, and these are several.",
        "Ask them one by one, or together in a batch.",
        command_line=Words(remedy="Ask them one by one, or together: jali batch {asked_database} FILE."),
    ),
    "star-exclude": Text("* takes no EXCLUDE or REPLACE here.", "List the columns."),
    "subquery-as-value": Text(
        "A subquery cannot stand for a value here: one person could change the value for everybody.",
        "Use EXISTS or IN, or ask two questions.",
    ),
    "subquery-group-by": Text("A subquery takes a plain GROUP BY.", "Move ROLLUP or CUBE outside."),
    "subquery-in-expression": Text(
        "A subquery cannot stand here.", "Use it in WHERE, or in CASE WHEN EXISTS (...)."
    ),
    "syntax-brackets": Text("The question is not valid SQL.", "Check brackets and quotes."),
    "syntax-error": Text("{problem}.", "Check the spelling near this place."),
    "syntax-invalid": Text("The question is not valid SQL.", "Check the spelling near this place."),
    "syntax-unclosed": Text("The question is not valid SQL.", "Close every string, quoted name and comment."),
    "syntax-unexpected": Text("This is not expected here.", "Check the spelling near this place."),
    "table-name-plain": Text("FROM takes the plain name of a table."),
    "table-with-clauses": Text("{reason}", "Write FROM visits, or FROM visits AS v."),
    "too-many-aggregates": Text(
        "The question has more than {most:,} aggregates.",
        "Ask several questions, or a batch. The curator can raise the limit `aggregates`.",
    ),
    "too-many-characters": Text(
        "The question has more than {most:,} characters.",
        "Shorten it: declare long lists as keys. The curator can raise the limit `characters`.",
    ),
    "too-many-grouping-sets": Text(
        "The question has more than {most:,} grouping sets.",
        "List those that you need: GROUPING SETS ((a), (b)). The curator can raise the limit `sets`.",
    ),
    "too-many-items": Text(
        "The question has more than {most:,} items in a list.",
        "Declare a long list as keys, or a public table. The curator can raise the limit `items`.",
    ),
    "too-many-numbers": Text(
        "The question has more than {most:,} noisy numbers in its answer.",
        "Ask for fewer groups, or fewer aggregates. The curator can raise the limit `numbers`.",
    ),
    "too-many-releases": Text(
        "The question has more than {most:,} noisy numbers of each group, over all grouping sets.",
        "Ask several questions, or a batch. The curator can raise the limit `releases`.",
    ),
    "too-many-repetitions": Text(
        "The question has more than {most:,} repetitions in its regular expressions.",
        "Write + or * in place of {{1,100}}, or fewer patterns.",
    ),
    "too-many-selects": Text(
        "The question has more than {most:,} SELECTs.",
        "Ask in several steps. The curator can raise the limit `selects`.",
    ),
    "too-many-selects-with": Text(
        "The question has more than {most:,} SELECTs, those of a WITH table once for each use.",
        "Ask in several steps. The curator can raise the limit `selects`.",
    ),
    "too-many-tables": Text(
        "The question has more than {most:,} tables after FROM and JOIN.",
        "Ask in several steps. The curator can raise the limit `tables`.",
    ),
    "too-many-terms": Text(
        "The question has more than {most:,} operators and functions applied one after the other.",
        "Compute it in steps, in subqueries. The curator can raise the limit `terms`.",
    ),
    "too-many-texts": Text(
        "The question has more than {most:,} functions that make a text.",
        "Compare without making texts: LIKE, CONTAINS and = take them as they are. The curator can raise the limit `texts`.",
    ),
    "too-many-tokens": Text(
        "The question has more than {most:,} words, numbers, texts and signs.",
        "Ask in several steps, or declare long lists as keys. The curator can raise the limit `tokens`.",
    ),
    "union-clause": Text("UNION takes no {clause} here.", "Leave it out."),
    "window-function": Text(
        "Window functions are not supported: they would mix people's rows.", "docs/sql.md shows what is supported."
    ),
    "with-recursive": Text("WITH RECURSIVE is not supported.", "Use a plain WITH."),
    "within-group-misplaced": Text(
        "WITHIN GROUP takes PERCENTILE_CONT, PERCENTILE_DISC or MODE of one column.",
        "docs/sql.md shows what is supported.",
    ),
}
