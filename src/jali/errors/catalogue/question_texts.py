"""Texts about questions: their syntax, clauses, functions and aggregates, and limits on their size."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

_SQL_PAGE = "See docs/sql.md for what is supported."

TEXTS: Mapping[str, Text] = {
    "aggregate-argument": Text(
        "{name} takes {wanted}.", "Use CAST(column AS DOUBLE) where text should be read as a number."
    ),
    "aggregate-argument-count": Text("Wrong number of arguments for {function}.", "See docs/sql.md."),
    "aggregate-arguments-constant": Text(
        "{function} takes numeric constants here.", "Write numbers, not columns or texts."
    ),
    "aggregate-clause": Text("{function} does not support {clause} here.", _SQL_PAGE),
    "aggregate-distinct": Text(
        "{function} does not support DISTINCT.",
        "Use COUNT(DISTINCT ...), or leave DISTINCT out.",
    ),
    "aggregate-in-row": Text(
        "{function} is not allowed here, because this clause is evaluated for each row.",
        "Put conditions on aggregates in HAVING.",
    ),
    "aggregate-malformed": Text(
        "{given} is not an aggregate.", "Write {name}=jali.count(), or {name}='COUNT(*)'."
    ),
    "aggregate-takes-numbers": Text(
        "{shape} takes numbers.", "Use CAST(column AS DOUBLE) where text should be read as a number."
    ),
    "aggregate-unnamed": Text("This aggregate has no name.", "Give it one: .agg(total=jali.sum('a * b'))."),
    "approx-quantiles-parts": Text(
        "APPROX_QUANTILES takes the number of quantiles as a constant.",
        "Write APPROX_QUANTILES(x, 4) for quartiles.",
    ),
    "approx-top-k-count": Text(
        "APPROX_TOP_K takes the number of values, from 1 to 1,000.", "Write APPROX_TOP_K(ward, 3)."
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
        "AGGREGATION_THRESHOLD is not private, because it returns exact answers.",
        "Write WITH DIFFERENTIAL_PRIVACY OPTIONS(min_privacy_units_per_group=...).",
    ),
    "bins-malformed": Text(
        "{function} takes at most {most:,} numbers in ascending order.", "Write {function}(x, [10, 20, 30])."
    ),
    "bounds-argument-malformed": Text(
        "{argument} must be a named argument after the first one, with two bounds.",
        "Write SUM(x, {argument} => (0, 100)).",
    ),
    "bounds-argument-unknown": Text(
        "{function} does not take {argument}.", "Write contribution_bounds_per_{per} => (low, high)."
    ),
    "bounds-misplaced": Text(
        "Contribution bounds have no effect here.", "Give them to aggregates of the outer query."
    ),
    "bounds-not-two": Text("Contribution bounds must be two numbers.", "Write them as constants: (0, 100)."),
    "bounds-outside-aggregate": Text(
        "Contribution bounds must be an argument of an aggregate that supports them.",
        "These aggregates support them: {functions}.",
    ),
    "bounds-repeated": Text("This aggregate has more than one contribution bound.", "Give only one."),
    "bounds-reversed": Text("The lower bound is above the upper bound.", "Write the lower bound first."),
    "bounds-too-far": Text("These bounds are outside the range of all numeric types.", "Use smaller bounds."),
    "cast-unsupported": Text(
        "This cast is not supported.", "Cast to INTEGER, DOUBLE, TEXT, DATE, TIMESTAMP or BOOLEAN."
    ),
    "clause-distinct": Text("SELECT DISTINCT would return values of rows."),
    "clause-into": Text("SELECT INTO is not supported."),
    "clause-lateral": Text("Lateral joins are not supported."),
    "clause-limit-in-subquery": Text(
        "LIMIT in a subquery would make the rows of one person depend on those of others."
    ),
    "clause-locks": Text("Locking clauses are not supported."),
    "clause-offset-in-subquery": Text(
        "OFFSET in a subquery would make the rows of one person depend on those of others."
    ),
    "clause-other": Text("The clause {clause} is not supported."),
    "clause-other-here": Text("{clause} is not supported here."),
    "clause-pivot": Text("PIVOT is not supported: its columns would depend on the data."),
    "clause-qualify": Text("QUALIFY is not supported: window functions combine rows of different people."),
    "clause-sample": Text("Sampling is not supported: the privacy loss would not account for it."),
    "clause-unsupported": Text("{reason}", "Leave it out."),
    "clause-unsupported-here": Text("{reason}", _SQL_PAGE),
    "clause-window": Text("Window functions are not supported: they combine rows of different people."),
    "column-malformed": Text("A column is written as column or table.column.", _SQL_PAGE),
    "column-unknown-here": Text(
        "{table:?Table {table}|The question} has no column {column}.",
        "Its columns are {columns}. Text takes single quotes: '{column}'.",
    ),
    "columns-not-names": Text("Columns must be given by name.", 'Write .group_by("ward", "year").'),
    "construct-unsupported": Text("{construct} with {clause} is not supported.", _SQL_PAGE),
    "count-distinct-one-expression": Text("COUNT(DISTINCT ...) takes one expression.", _SQL_PAGE),
    "count-one-argument": Text("COUNT takes one argument.", _SQL_PAGE),
    "count-star-argument": Text("COUNT(*) takes no other argument.", _SQL_PAGE),
    "date-add-interval": Text("DATE_ADD needs an interval.", "Write d + INTERVAL 3 MONTH."),
    "date-literal-malformed": Text("'{given}' is not a {kind}.", "Write '2026-01-31', without a time zone."),
    "date-part-unknown": Text("'{given}' is not a supported date part.", "Use one of {parts}."),
    "date-written-malformed": Text("{given} is not a valid date or time.", "Write 2025-01-31."),
    "distinct-on": Text("DISTINCT ON is not supported: it selects rows by their order.", "Use GROUP BY."),
    "expression-not-one": Text(
        "{given!r} is not a single expression.", "Write one expression, such as 'price * quantity'."
    ),
    "expression-with-clauses": Text(
        "This must be one expression, without further clauses.", "For example 'age > 60'."
    ),
    "filter-misplaced": Text("FILTER is only allowed after an aggregate.", _SQL_PAGE),
    "from-malformed": Text(
        "FROM takes tables and subqueries.", "Use a protected or public table, or write (SELECT ...)."
    ),
    "from-missing": Text("The question has no FROM clause.", "Query a protected table: FROM visits."),
    "function-argument-count": Text("{function} takes {count} argument{count:?|s}.", "See docs/sql.md."),
    "function-argument-kind": Text(
        "{function} takes {takes} here; it got {constant:?a constant of another type|an expression}.",
        "Write the value as a constant; see docs/sql.md for what is allowed.",
    ),
    "function-arguments-wrong": Text("Wrong number of arguments for {function}.", "See docs/sql.md."),
    "function-unsupported": Text(
        "{function} is not supported{reason:?: {reason}|}.", "See docs/sql.md for the supported functions."
    ),
    "group-by-clause": Text("GROUP BY does not support {clause} here.", _SQL_PAGE),
    "grouping-in-row": Text(
        "GROUPING is not allowed here, because this clause is evaluated for each row.",
        "Use it in SELECT, HAVING or ORDER BY.",
    ),
    "in-malformed": Text("IN takes a list of values, or a subquery.", _SQL_PAGE),
    "interval-malformed": Text(
        "INTERVAL takes a constant integer of at most 6 digits and one unit.", "Write INTERVAL 3 MONTH."
    ),
    "join-kind-unknown": Text("{kind!r} is not a join type.", "Use one of {joins}."),
    "join-unsupported": Text(
        "This join type ({join:* }) is not supported.",
        "Use INNER, LEFT, RIGHT, FULL, SEMI, ANTI or CROSS JOIN.",
    ),
    "limit-malformed": Text("{name} must be a whole number of at least 0.", "Write .limit(10)."),
    "limit-not-constant": Text("{clause} takes a constant integer.", _SQL_PAGE),
    "limit-outside": Text(
        "The limit {limit} must be a whole number from 1 to {most:,}, not {given!r}.",
        "The default is {default:,}.",
    ),
    "limit-too-long": Text("{clause} takes a number of at most 18 digits.", _SQL_PAGE),
    "limit-unknown": Text(
        "{given!r} is not a limit.", "Write tokens=10000, for example; the limits are {limits}."
    ),
    "list-empty": Text("The list is empty; it needs at least one number.", _SQL_PAGE),
    "log-base": Text("LOG takes 2 or 10 as its base.", "Write LN(a) / LN(base)."),
    "make-date-constants": Text("MAKE_DATE takes constants that form a valid date.", "Write DATE '2026-01-31'."),
    "not-a-select": Text("A question must be one SELECT statement.", "Write SELECT ... FROM ..."),
    "number-malformed": Text("This is not a number.", "Write it with decimal digits."),
    "number-unusable": Text(
        "The number {given} cannot be used here.",
        "Use a number of up to 100 digits, with a magnitude between 1e-300 and 1e300.",
    ),
    "order-by-malformed": Text(
        "ORDER BY takes expressions with ASC, DESC and NULLS FIRST or LAST.",
        _SQL_PAGE,
    ),
    "output-names-repeated": Text(
        "Two columns of the answer have the same name.", "Give each a name of its own with AS."
    ),
    "output-number-unknown": Text("There is no output {output}.", "Outputs are numbered from 1 to {count}."),
    "output-unknown": Text("There is no output {output}.", "Use the name of an output."),
    "parenthesis-unclosed": Text("This parenthesis is not closed.", "Close it."),
    "part-after-clauses": Text(
        "A table must be partitioned before it is joined, filtered or grouped.",
        'Write s.table("visits").partition("ward"), and continue on one of its subpopulations.',
    ),
    "percentile-one-number": Text("PERCENTILE takes one number.", _SQL_PAGE),
    "privacy-clause-inner": Text(
        "WITH {clause} is only allowed in the first, outermost SELECT; it applies to the whole question.",
        "Move the clause there.",
    ),
    "privacy-clause-misplaced": Text("WITH {clause} must directly follow SELECT.", "Move the clause there."),
    "privacy-clause-without-options": Text(
        "WITH {clause} needs its OPTIONS(...).", "Write OPTIONS(epsilon=1, ...)."
    ),
    "privacy-option-delta": Text("delta takes a number from 0 to below 1.", "Write delta = 1e-9, for example."),
    "privacy-option-epsilon": Text("epsilon takes a number above 0.", "Write epsilon = 0.5, for example."),
    "privacy-option-malformed": Text("Write an option as name = value.", "The options are {options}."),
    "privacy-option-repeated": Text("{option} is given twice.", "Give each option once."),
    "privacy-option-strategy": Text(
        "This is not a group selection strategy.", "Write {strategies:* or }, without quotes."
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
        "max_groups_contributed and max_rows_contributed cannot be combined.", "Give one of them."
    ),
    "quantile-level": Text("{level!r} is not a number.", "Write jali.quantile('age', 0.5)."),
    "quantiles-outside": Text(
        "Quantiles must be 1 to {most} numbers from 0 to 1.",
        "Write QUANTILE_CONT(x, 0.5) or QUANTILE_CONT(x, [0.25, 0.5, 0.75]).",
    ),
    "question-empty": Text("The question has no output.", "Add .agg(n=jali.count())."),
    "question-is-union": Text(
        "A question must be one SELECT statement; here UNION, EXCEPT or INTERSECT combines two questions.",
        "Write SELECT ... FROM (SELECT ... UNION ALL SELECT ...), or ask two questions.",
    ),
    "question-nested-too-deeply": Text("The question is nested too deeply.", "Split it into several subqueries."),
    "question-not-unicode": Text(
        "A question must be Unicode text without NUL characters.", "Remove invisible characters."
    ),
    "question-too-deep": Text(
        "The question has more than {most:,} levels of nested parentheses and CASEs.",
        "Split it into several subqueries. The curator can raise the limit `depth`.",
    ),
    "question-too-large": Text(
        "The question has more than {most:,} columns, constants and calls.",
        "Split it into subqueries. The curator can raise the limit `size`.",
    ),
    "regexp-option": Text(
        "REGEXP_MATCHES takes only the options 'i' and 'c'.", "Write options in the pattern: (?s)."
    ),
    "select-hints": Text("SELECT AS and hints are not supported.", "Leave them out."),
    "select-misspelt": Text("A question must begin with SELECT.", "Check the spelling of this word."),
    "select-star": Text("SELECT * would return rows.", "Ask for aggregates such as COUNT(*)."),
    "set-operation-unsupported": Text(
        "{operation} is not supported.", "Use SELECT, UNION ALL, or a condition with NOT EXISTS."
    ),
    "several-statements": Text(
        "A question must be one SELECT statement, but this is several.",
        "Ask them one by one, or together in a batch.",
        command_line=Words(remedy="Ask them one by one, or together: jali batch {asked_database} FILE."),
    ),
    "star-exclude": Text("EXCLUDE and REPLACE are not supported here.", "List the columns."),
    "subquery-as-value": Text(
        "A scalar subquery is not allowed here, because one person could change its value for everybody.",
        "Use EXISTS or IN, or ask two questions.",
    ),
    "subquery-group-by": Text(
        "A subquery only supports a plain GROUP BY.", "Move ROLLUP or CUBE to the outer query."
    ),
    "subquery-in-expression": Text(
        "A subquery is not allowed here.", "Use it in WHERE, or in CASE WHEN EXISTS (...)."
    ),
    "syntax-brackets": Text("The question is not valid SQL.", "Check parentheses and quotes."),
    "syntax-error": Text("{problem}.", "Check the spelling near this place."),
    "syntax-invalid": Text("The question is not valid SQL.", "Check the spelling near this place."),
    "syntax-unclosed": Text("The question is not valid SQL.", "Close every string, quoted name and comment."),
    "syntax-unexpected": Text("Unexpected word or symbol.", "Check the spelling near this place."),
    "table-name-plain": Text("FROM takes a plain table name."),
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
        "List only those you need: GROUPING SETS ((a), (b)). The curator can raise the limit `sets`.",
    ),
    "too-many-items": Text(
        "The question has more than {most:,} items in a list.",
        "Declare a long list as keys, or a public table. The curator can raise the limit `items`.",
    ),
    "too-many-numbers": Text(
        "The answer has more than {most:,} noisy numbers.",
        "Ask for fewer groups, or fewer aggregates. The curator can raise the limit `numbers`.",
    ),
    "too-many-releases": Text(
        "The question has more than {most:,} noisy numbers per group, over all grouping sets.",
        "Ask several questions, or a batch. The curator can raise the limit `releases`.",
    ),
    "too-many-repetitions": Text(
        "The question has more than {most:,} repetitions in its regular expressions.",
        "Use + or * instead of {{1,100}}, or fewer patterns.",
    ),
    "too-many-selects": Text(
        "The question has more than {most:,} SELECTs.",
        "Split it into several questions. The curator can raise the limit `selects`.",
    ),
    "too-many-selects-with": Text(
        "The question has more than {most:,} SELECTs, counting a WITH table once per use.",
        "Split it into several questions. The curator can raise the limit `selects`.",
    ),
    "too-many-tables": Text(
        "The question has more than {most:,} tables after FROM and JOIN.",
        "Split it into several questions. The curator can raise the limit `tables`.",
    ),
    "too-many-terms": Text(
        "The question has more than {most:,} chained operators and functions.",
        "Split it into subqueries. The curator can raise the limit `terms`.",
    ),
    "too-many-texts": Text(
        "The question has more than {most:,} functions that return text.",
        "Compare the columns directly with LIKE, CONTAINS or =. The curator can raise the limit `texts`.",
    ),
    "too-many-tokens": Text(
        "The question has more than {most:,} tokens.",
        "Split it into several questions, or declare long lists as keys. The curator can raise the limit `tokens`.",
    ),
    "union-clause": Text("UNION does not support {clause} here.", "Leave it out."),
    "window-function": Text(
        "Window functions are not supported: they combine rows of different people.", _SQL_PAGE
    ),
    "with-recursive": Text("WITH RECURSIVE is not supported.", "Use a plain WITH."),
    "within-group-misplaced": Text(
        "WITHIN GROUP is only supported for PERCENTILE_CONT, PERCENTILE_DISC and MODE of one column.",
        _SQL_PAGE,
    ),
}
