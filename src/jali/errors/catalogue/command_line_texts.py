"""Texts about the command line."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text

_CATEGORIES_FORM = "Write --categories bus=0.5,car=0.3,foot=0.2, for example."
_ITEMS_HEADER = (
    "The first line of a CSV file names the columns: item, owner and, if the stream has them, key and value."
)

TEXTS: Mapping[str, Text] = {
    "attack-option-unknown": Text("{attack} has no option --{option}.", "It takes {options}."),
    "audit-option-meaningless": Text(
        "{target} is registered with its own claim, so --{option} has no effect.",
        "Run jali audit {target}. To audit your own function, name module:function.",
    ),
    "audit-stage-unknown": Text("--skip: there is no stage {stage!r}.", "The stages are {stages}."),
    "batch-file-empty": Text(
        "The file contains no question.", "Write SELECT statements, separated by semicolons."
    ),
    "batch-file-unreadable": Text("The file {file} cannot be read.", "Name a text file that contains SQL."),
    "batch-option-loss-missing": Text(
        "The privacy loss of the batch is missing.", "Give --epsilon 1, or --rho 0.05 for Gaussian noise."
    ),
    "cli-failed": Text(
        "An unexpected error occurred.",
        "If budget was reserved, the receipt is still open: see `jali ledger`. Please report this error.",
    ),
    "column-option-twice": Text("Column {column} is declared twice.", "Leave out {option} {given}."),
    "command-line-without-quotes": Text(
        "The SQL must be a single argument: enclose it in double quotes.", "See `jali {verb} --help`."
    ),
    "command-line-wrong": Text("{message}", "See `jali {verb:?{verb} |}--help`."),
    "compare-column-without-data": Text("--column must name the column of --data."),
    "compare-column-without-numbers": Text(
        "{path} has no numeric column {column}.", "Give a CSV or Parquet file, and the name of a numeric column."
    ),
    "confidence-option-out-of-range": Text(
        "--confidence must be between 0 and 1, not {confidence:g}.", "Write --confidence 0.95."
    ),
    "database-there-already": Text(
        "{database} already exists.", "Choose another name. A ledger is never overwritten."
    ),
    "demo-directory-not-empty": Text("{directory} is not empty.", "Name a new directory."),
    "items-column-missing": Text(
        "The file has no column {column}, which this stream requires. Nothing was appended.",
        "Write the header {columns:*,}",
    ),
    "items-column-twice": Text(
        "The file has duplicate columns.",
        _ITEMS_HEADER,
    ),
    "items-column-unknown": Text(
        "The column {column} is not supported.",
        _ITEMS_HEADER,
    ),
    "items-file-ending-wrong": Text(
        "Files ending in {ending} are not supported.",
        "Write the items as .csv or .jsonl, or pipe such text in with - as FILE.",
    ),
    "items-file-unreadable": Text("The file {file} cannot be read.", "Name a CSV or JSON Lines file."),
    "items-owner-unwanted": Text(
        "The file has a column owner, but each item of this stream is a person. Nothing was appended.",
        "Leave the column out, or create a stream with --unit.",
    ),
    "items-without-item": Text(
        "The file has no column item.",
        _ITEMS_HEADER,
    ),
    "key-option-wrong-kind": Text(
        "{key!r} is not a key of type {kind}.", "Write --keys ward:text=1,2 to set the type."
    ),
    "key-taken-for-integer": Text("{problem}", "Write --keys {column}:text=... to set the type."),
    "keys-file-unreadable": Text("The keys in {path} cannot be read.", "Give a text file with one key per line."),
    "ledger-not-a-ledger": Text("{path} is not a Jali ledger.", "Name the database, not a data file."),
    "option-file-not-written": Text(
        "{option}: {path} cannot be written.", "Give a file in a directory that exists."
    ),
    "option-not-a-count": Text(
        "{option} must be a whole number of at least 1, not {given}.", "Write {option} {example}, for example."
    ),
    "option-not-a-number": Text("{option} is not a number: {given}.", "Write {option} 0.5, for example."),
    "option-not-column-value": Text("{option} {given} is not of the form COLUMN=VALUE.", "Write {example}."),
    "option-too-small": Text("{option} must be at least {least}.", "See `jali {verb:?{verb} |}--help`."),
    "option-value-missing": Text("{option} needs a value: {given} follows it.", "See `{command} --help`."),
    "part-option-malformed": Text("--part {given} does not name a subpopulation.", "Write --part ward=A."),
    "plan-option-alone": Text(
        "{option} alone is not enough to plan with.",
        "Give two of --epsilon, --queries and --error, or --epsilon and --rows, or --each-epsilon and --queries.",
    ),
    "plan-option-misplaced": Text(
        "--{option} must follow the word {plan}.", "Write `jali plan {plan} --{option} ...`."
    ),
    "plan-options-clash": Text("{option} cannot be combined with {other}: {reason}."),
    "plan-options-exclusive": Text(
        "{options} and {last} cannot be combined.",
        "Give two of --epsilon, --queries and --error, or --epsilon and --rows, or --each-epsilon and --queries.",
    ),
    "plan-options-missing": Text(
        "There are no options to plan with.",
        "Give two of --epsilon, --queries and --error, or --epsilon and --rows, or --each-epsilon and --queries.",
    ),
    "plan-stream-epsilon-and-rho": Text(
        "--epsilon and --rho cannot be combined.", "Write --epsilon 1, --epsilon 1 --delta 1e-6, or --rho 0.02."
    ),
    "plan-stream-loss-missing": Text(
        "The privacy loss of the stream is missing.", "Write --epsilon 1, --epsilon 1 --delta 1e-6, or --rho 0.02."
    ),
    "plot-directory-impossible": Text(
        "--plot: {directory} is not a directory and cannot be created.", "Name another directory."
    ),
    "plot-format-not-written": Text(
        "--plot: {path} cannot be written.", "Give a file ending in .png, .svg or .pdf in a directory that exists."
    ),
    "plot-not-written": Text("--plot: {path} cannot be written.", "Give a file in a directory that exists."),
    "plot-path-is-directory": Text("--plot: {path} is a directory.", "Name a file in it: {example}."),
    "protect-unit-missing": Text(
        "The privacy unit is missing.",
        "Give --unit COLUMN for the column that identifies the person, or --no-unit if each row is a person.",
    ),
    "protect-via-incomplete": Text(
        "A unit column in another table needs --unit, --via and --on.",
        "Write --unit customer --via orders --on 'order_id = id'.",
    ),
    "question-option-empty": Text("The question is empty.", 'Write "SELECT COUNT(*) FROM ...".'),
    "range-option-ambiguous": Text(
        "--range {given} has more than one ':'.", "Write LOW..HIGH if the bounds are times."
    ),
    "range-option-without-colon": Text("--range {given} has no ':'.", "Write --range age=0:120."),
    "receipt-ambiguous": Text("{count} receipts start with {receipt}.", "Give more characters of the receipt."),
    "receipt-too-short": Text(
        "{receipt} is too short for a receipt.", "Give at least its first {least} characters."
    ),
    "seed-malformed": Text(
        "--seed must be a whole number of at least 0, not {seed}.", "Write --seed 1, for example."
    ),
    "serve-database-missing": Text("There is no database {database}.", "Create one: jali init {quoted}"),
    "serve-directory-missing": Text(
        "There is no directory {directory}.", "Name the directory with the files: --data DIRECTORY."
    ),
    "server-packages-missing": Text(
        "The server's packages are not installed.",
        "Install them from a checkout of Jali: pip install -e '.[server]'",
    ),
    "stream-keys-option-empty": Text("--keys contains an empty key.", "Write --keys A,B,C."),
    "stream-keys-option-with-column": Text(
        "--keys {given} names a column, but stream items have only one key.",
        "Write --keys A,B,C. If keys contain =, read them from a file: --keys @FILE.",
    ),
    "stream-nothing-to-plot": Text(
        "The stream {stream} has not published anything to plot.",
        "Publish a tick first: jali stream publish DATABASE {stream}.",
    ),
    "stream-option-delta-with-rho": Text(
        "--delta can be combined with --epsilon, not with --rho.", "Leave it out."
    ),
    "stream-option-horizon-missing": Text(
        "The horizon of the stream is missing.",
        "Write --horizon 365 for 365 ticks, or --horizon none if the number is unknown.",
    ),
    "stream-option-loss-missing": Text(
        "The privacy loss of the stream is missing.",
        "Write --epsilon 1, --epsilon 1 --delta 1e-6, or --rho 0.02.",
    ),
    "stream-option-with-query": Text(
        "{option} cannot be combined with --query.",
        "Leave it out: the query defines the measure, keys and ticks, and its table the privacy unit.",
    ),
    "stream-range-option-malformed": Text("--range {given} is not LOW:HIGH.", "Write --range 0:240."),
    "stream-unit-and-no-unit": Text(
        "--unit and --no-unit cannot be combined.",
        "Give --unit if items have owners, or --no-unit if each item is a person.",
    ),
    "stream-unit-of-table": Text(
        "The privacy unit comes from the table of the query.", "Leave --unit and --no-unit out."
    ),
    "stream-unnamed": Text("The name of the stream is missing.", "Write the name after the database."),
    "survey-categories-too-few": Text(
        "--categories needs two or more distinct names, each with a share.",
        _CATEGORIES_FORM,
    ),
    "survey-category-twice": Text(
        "--categories names {category} twice.",
        _CATEGORIES_FORM,
    ),
    "survey-category-unnamed": Text("--categories: a name is missing.", _CATEGORIES_FORM),
    "survey-epsilon-too-small": Text(
        "--epsilon must be at least 1e-12.", "Below this, no sample is large enough for a useful estimate."
    ),
    "survey-epsilon-with-coins": Text(
        "--epsilon cannot be combined with --method almost-random, whose epsilon is ln 3."
    ),
    "survey-method-for-two-answers": Text(
        "--method {method} only supports yes/no questions, but there are {answers} answers.",
        "Write --method kary, or leave it out.",
    ),
    "survey-method-unknown": Text("--method must be one of {methods}, not {given}."),
    "survey-option-out-of-range": Text(
        "{option} must be a whole number from 1 to {most:,}, not {given}.", "See `jali survey --help`."
    ),
    "survey-share-missing": Text(
        "--categories: the share of {category} is missing.",
        _CATEGORIES_FORM,
    ),
    "survey-shares-sum-wrong": Text(
        "--categories must have shares that sum to 1, not {total:g}.",
        _CATEGORIES_FORM,
    ),
    "survey-truth-and-categories": Text(
        "--truth and --categories cannot be combined: --truth is for yes/no questions."
    ),
    "sweep-kind-unknown": Text("--by must be one of {kinds}, not {given}.", "Write --by epsilon."),
    "sweep-option-meaningless": Text(
        "--{option} has no effect with --by {by}.", "See `jali attack sweep --help`."
    ),
    "tick-and-until": Text("--tick and --until cannot be combined.", "Give only one of them."),
    "token-days-out-of-range": Text("--days must be between 1 and {most}, not {days}.", "Write --days 90."),
    "token-id-unknown": Text("There is no token with this id.", "List the tokens with jali token list."),
    "within-option-ambiguous": Text(
        "--within takes one number for all outputs or one number per name, not {given:* --within }.",
        "Write --within 20, or --within n=20 --within age=0.5.",
    ),
}
