"""Texts about the command line."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text

TEXTS: Mapping[str, Text] = {
    "attack-option-unknown": Text("{attack} has no option --{option}.", "It takes {options}."),
    "audit-option-meaningless": Text(
        "{target} is registered with its own claim: --{option} has no meaning.",
        "Write: jali audit {target}. A function of your own is module:function.",
    ),
    "audit-stage-unknown": Text("--skip: there is no stage {stage!r}.", "The stages are {stages}."),
    "batch-file-empty": Text("There is no question.", "Write SELECT statements with semicolons between them."),
    "batch-file-unreadable": Text("The file {file} cannot be read.", "Name a text file with SQL."),
    "batch-option-loss-missing": Text(
        "A batch needs one loss.", "Give --epsilon 1, or --rho 0.05 for Gaussian noise."
    ),
    "cli-failed": Text(
        "Jali failed, unexpectedly.",
        "If a question was reserved, its receipt is open: see `jali ledger`. Please report this.",
    ),
    "column-option-twice": Text("Column {column} is declared twice.", "Leave out {option} {given}."),
    "command-line-without-quotes": Text(
        "The SQL must be one argument: put it in double quotes.", "See `jali {verb} --help`."
    ),
    "command-line-wrong": Text("{message}", "See `jali {verb:?{verb} |}--help`."),
    "compare-column-without-data": Text("--column must name the column of --data."),
    "compare-column-without-numbers": Text(
        "{path} has no numbers under {column}.", "Give a CSV or Parquet file, and the name of a numeric column."
    ),
    "confidence-option-out-of-range": Text(
        "--confidence must lie between 0 and 1, not {confidence:g}.", "Write --confidence 0.95."
    ),
    "database-there-already": Text(
        "{database} is there already.", "Choose another name; a ledger is never overwritten."
    ),
    "demo-directory-not-empty": Text("{directory} is not empty.", "Name a new directory."),
    "items-column-missing": Text(
        "The file has no column {column}, which every item of this stream needs. Nothing was appended.",
        "Write the header {columns:*,}",
    ),
    "items-column-twice": Text(
        "The file has a column twice.",
        "The first line of a CSV file names the columns: item, owner, and key and value where the stream has them.",
    ),
    "items-column-unknown": Text(
        "There is no place for a column {column}.",
        "The first line of a CSV file names the columns: item, owner, and key and value where the stream has them.",
    ),
    "items-file-ending-wrong": Text(
        "A file that ends in {ending} holds no lines of items.",
        "Write them as .csv or .jsonl; or, if it is such a text, pipe it in: FILE is then -.",
    ),
    "items-file-unreadable": Text("The file {file} cannot be read.", "Name a CSV file, or one of JSON."),
    "items-owner-unwanted": Text(
        "The file has a column owner, but each item of this stream is a person. Nothing was appended.",
        "Leave the column out, or make a stream with --unit.",
    ),
    "items-without-item": Text(
        "The file has no column item.",
        "The first line of a CSV file names the columns: item, owner, and key and value where the stream has them.",
    ),
    "key-option-wrong-kind": Text(
        "{key!r} is not a key of kind {kind}.", "Write --keys ward:text=1,2 to set the kind."
    ),
    "key-taken-for-integer": Text("{problem}", "Write --keys {column}:text=... to set the kind."),
    "keys-file-unreadable": Text(
        "The keys in {path} cannot be read.", "Give a text file with one key in each line."
    ),
    "ledger-not-a-ledger": Text("{path} is not a Jali ledger.", "Name the database, not the data."),
    "option-file-not-written": Text(
        "{option}: {path} cannot be written.", "Give a file in a directory that exists."
    ),
    "option-not-a-count": Text(
        "{option} must be a whole number of at least 1, not {given}.", "Write {option} {example}, for example."
    ),
    "option-not-a-number": Text("{option} is not a number: {given}.", "Write {option} 0.5, for example."),
    "option-not-column-value": Text("{option} {given} is not COLUMN=VALUE.", "Write {example}."),
    "option-too-small": Text("{option} must be at least {least}.", "See `jali {verb:?{verb} |}--help`."),
    "option-value-missing": Text("{option} needs a value: {given} follows it.", "See `{command} --help`."),
    "part-option-malformed": Text("--part {given} names no key.", "Write --part ward=A."),
    "plan-option-alone": Text(
        "{option} alone is not enough to plan from.",
        "Give two of --epsilon, --queries and --error, or --epsilon and --rows, or --each-epsilon and --queries.",
    ),
    "plan-option-misplaced": Text(
        "--{option} stands before the word {plan}.", "Write `jali plan {plan} --{option} ...`."
    ),
    "plan-options-clash": Text("{option} does not go with {other}: {reason}."),
    "plan-options-exclusive": Text(
        "{options} and {last} do not go together.",
        "Give two of --epsilon, --queries and --error, or --epsilon and --rows, or --each-epsilon and --queries.",
    ),
    "plan-options-missing": Text(
        "There is nothing to plan from.",
        "Give two of --epsilon, --queries and --error, or --epsilon and --rows, or --each-epsilon and --queries.",
    ),
    "plan-stream-epsilon-and-rho": Text(
        "--epsilon and --rho do not go together.", "Write --epsilon 1, --epsilon 1 --delta 1e-6, or --rho 0.02."
    ),
    "plan-stream-loss-missing": Text(
        "A stream needs a loss to plan with.", "Write --epsilon 1, --epsilon 1 --delta 1e-6, or --rho 0.02."
    ),
    "plot-directory-impossible": Text(
        "--plot: {directory} is no directory, and none can be made there.", "Name another directory."
    ),
    "plot-format-not-written": Text(
        "--plot: {path} cannot be written.", "Give a file ending in .png, .svg or .pdf in a directory that exists."
    ),
    "plot-not-written": Text("--plot: {path} cannot be written.", "Give a file in a directory that exists."),
    "plot-path-is-directory": Text("--plot: {path} is a directory.", "Name a file in it: {example}."),
    "protect-unit-missing": Text(
        "Whose privacy counts is not said.",
        "Give --unit COLUMN for the person behind a row, or --no-unit if each row is a person.",
    ),
    "protect-via-incomplete": Text(
        "A unit that another table has needs --unit, --via and --on.",
        "Write --unit customer --via orders --on 'order_id = id'.",
    ),
    "question-option-empty": Text("The question is empty.", 'Write "SELECT COUNT(*) FROM ...".'),
    "range-option-ambiguous": Text(
        "--range {given} has several ':'.", "Write LOW..HIGH where the ends are times."
    ),
    "range-option-without-colon": Text("--range {given} has no ':'.", "Write --range age=0:120."),
    "receipt-ambiguous": Text("{count} receipts begin with {receipt}.", "Give more of its characters."),
    "receipt-too-short": Text(
        "{receipt} is too short for a receipt.", "Give its first {least} characters, or more."
    ),
    "seed-malformed": Text(
        "--seed must be a whole number of at least 0, not {seed}.", "Write --seed 1, for example."
    ),
    "serve-database-missing": Text("There is no database {database}.", "Make one: jali init {quoted}"),
    "serve-directory-missing": Text(
        "There is no directory {directory}.", "Name the one with the files: --data DIRECTORY."
    ),
    "server-packages-missing": Text(
        "The server's packages are not installed.",
        "Install them from a checkout of Jali: pip install -e '.[server]'",
    ),
    "stream-keys-option-empty": Text("--keys has an empty key.", "Write --keys A,B,C."),
    "stream-keys-option-with-column": Text(
        "--keys {given} names a column, but the items of a stream have one key each.",
        "Write --keys A,B,C; keys with = in them are read from a file: --keys @FILE.",
    ),
    "stream-nothing-to-plot": Text(
        "The stream {stream} has published nothing yet: there is nothing to draw.",
        "Publish a tick first: jali stream publish DATABASE {stream}.",
    ),
    "stream-option-delta-with-rho": Text("--delta goes with --epsilon, not with --rho.", "Leave it out."),
    "stream-option-horizon-missing": Text(
        "A stream needs a horizon: for how many ticks it lives.",
        "Write --horizon 365, or --horizon none if nobody knows.",
    ),
    "stream-option-loss-missing": Text(
        "A stream needs one loss, for all of its ticks.",
        "Write --epsilon 1, --epsilon 1 --delta 1e-6, or --rho 0.02.",
    ),
    "stream-option-with-query": Text(
        "{option} does not go with --query.",
        "Leave it out: the question says what is measured, under which keys and in which steps of time, and its table whose privacy counts.",
    ),
    "stream-range-option-malformed": Text("--range {given} is not LOW:HIGH.", "Write --range 0:240."),
    "stream-unit-and-no-unit": Text(
        "--unit and --no-unit do not go together.",
        "Leave --no-unit out if items have owners; leave --unit out if each item is a person.",
    ),
    "stream-unit-of-table": Text("The table that is followed has its unit.", "Leave --unit and --no-unit out."),
    "stream-unnamed": Text("A stream is to be named.", "Write its name after the database."),
    "survey-categories-too-few": Text(
        "--categories needs two names or more, each once, with a share.",
        "Write --categories bus=0.5,car=0.3,foot=0.2, for example.",
    ),
    "survey-category-twice": Text(
        "--categories names {category} twice: give each once.",
        "Write --categories bus=0.5,car=0.3,foot=0.2, for example.",
    ),
    "survey-category-unnamed": Text(
        "--categories: a name is missing.", "Write --categories bus=0.5,car=0.3,foot=0.2, for example."
    ),
    "survey-epsilon-too-small": Text(
        "--epsilon must be at least 1e-12.", "No crowd is large enough to tell anything below it."
    ),
    "survey-epsilon-with-coins": Text(
        "--epsilon does not go with --method almost-random: two fair coins lose ln 3."
    ),
    "survey-method-for-two-answers": Text(
        "--method {method} is for yes/no questions: there are {answers} answers.",
        "Write --method kary, or leave it out.",
    ),
    "survey-method-unknown": Text("--method must be one of {methods}, not {given}."),
    "survey-option-out-of-range": Text(
        "{option} must be a whole number from 1 to {most:,}, not {given}.", "See `jali survey --help`."
    ),
    "survey-share-missing": Text(
        "--categories: the share of {category} is missing.",
        "Write --categories bus=0.5,car=0.3,foot=0.2, for example.",
    ),
    "survey-shares-sum-wrong": Text(
        "--categories must have shares that sum to 1, not {total:g}.",
        "Write --categories bus=0.5,car=0.3,foot=0.2, for example.",
    ),
    "survey-truth-and-categories": Text(
        "--truth and --categories do not go together: a yes/no question has two answers."
    ),
    "sweep-kind-unknown": Text("--by must be one of {kinds}, not {given}.", "Write --by epsilon."),
    "sweep-option-meaningless": Text(
        "--{option} has no meaning with --by {by}.", "See `jali attack sweep --help`."
    ),
    "tick-and-until": Text("--tick and --until do not go together.", "Leave one of them out."),
    "token-days-out-of-range": Text("--days must be between 1 and {most}, not {days}.", "Write --days 90."),
    "token-id-unknown": Text("There is no token of this id.", "See which there are: jali token list."),
    "within-option-ambiguous": Text(
        "--within {given:* --within } is one number for all outputs, or one for each name.",
        "Write --within 20, or --within n=20 --within age=0.5.",
    ),
}
