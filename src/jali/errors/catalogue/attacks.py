"""Texts about the attack lab."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
    "attack-adjacency-wrong": Text("{problem}", "Leave it out for replace-one."),
    "attack-all-subsets-size-wrong": Text(
        "{name} must be from 1 to {most} for the questions about all subsets, not {people}.",
        "There are 2^n of them: take a smaller n.",
    ),
    "attack-block-size-wrong": Text(
        "{name} must be from 1 to {most} for a block, not {n}.", "A block is a few houses."
    ),
    "attack-bound-negative": Text(
        "{name} must be 0 or more, not {bound:g}.", "It is what no error of an answer exceeds."
    ),
    "attack-database-too-large": Text(
        "{name} must be at most {most:,} for a database, not {people:,}.", "A simulator may have more."
    ),
    "attack-delta-wrong": Text("{problem}", "Give a small number such as 1e-6, or leave it out."),
    "attack-hadamard-size-wrong": Text(
        "{name} must be a power of two for Hadamard's questions, not {people}.", "Take {below} or {above}."
    ),
    "attack-log-missing": Text(
        "There is no log at {log!r}{by_variable:?, where JALI_DIFFIX says it is|}.",
        "Name a file answers_X.csv, or its folder.",
    ),
    "attack-log-not-found": Text("There is no log at {log!r}.", "Point it at {targets:* or }."),
    "attack-log-unnamed": Text(
        "No log is named.", "Name a file answers_X.csv or its folder, or set JALI_DIFFIX to either."
    ),
    "attack-logs-several": Text("The folder holds several logs.", "Name one of {logs}, or attack by replay."),
    "attack-loss-unbounded": Text(
        "{name} {loss!r} needs errors within a bound; those of noise {noise} have none.",
        "Take absolute or chebyshev.",
    ),
    "attack-loss-unknown": Text("There is no loss {loss!r}.", "Take one of {losses}."),
    "attack-members-of-log": Text("members: a log's questions are what they are.", "Leave members out."),
    "attack-members-too-many": Text(
        "{name} must be at most half of n = {people}, not {members}.", "Leave members out."
    ),
    "attack-memory-exceeded": Text(
        "{name} must be at most {most:,}, not {people:,}.", "More would take too much memory."
    ),
    "attack-noise-not-sticky": Text(
        "Sticky noise comes in layers; {noise} is not sticky.", "Write --noise layers:1."
    ),
    "attack-opponent-twice": Text(
        "{opponent} is there more than once: one secret is not several.",
        "Make a new one for each trial, with a seed of its own.",
    ),
    "attack-option-meaningless": Text(
        "{name} has no meaning against {target}.",
        "Leave it out{has_others:?, or point the attack at {others:* or }|}.",
    ),
    "attack-parameter-unknown": Text(
        "{attack} has no parameter {parameter!r}.",
        "{has_parameters:?It takes {parameters}.|It takes no parameters of its own.}",
    ),
    "attack-people-not-whole": Text("{name} must be a whole number, not {n!r}.", "Write n=1024, for example."),
    "attack-prior-out-of-range": Text("prior must be between 0 and 1, not {prior:g}."),
    "attack-questions-malformed": Text(
        "Questions are a matrix of zeros and ones, {reason}.",
        "Take a row for each question and a column for each person: Listed.of([[1, 0, 1]]).",
    ),
    "attack-questions-width-wrong": Text(
        "The questions are about {width:,} people, and there are {people:,}.", "Take a column for each person."
    ),
    "attack-repeats-too-many": Text(
        "{name} must be at most {most:,} for {people:,} people, not {repeats}.", "More would take too much memory."
    ),
    "attack-shrink-out-of-range": Text("{name} must be from 0 to 1, not {shrink}.", "Leave it out for 0.8."),
    "attack-singletons-too-many": Text("{name} is at most n, which is {n}, not {people}.", "Take fewer."),
    "attack-solver-unknown": Text("There is no solver {solver!r}.", "Take {solvers:* or }."),
    "attack-splits-too-many": Text(
        "{name} must be at most {most} for {people:,} people, not {splits}.", "The table would be too large."
    ),
    "attack-subsets-too-many": Text(
        "{name} must be at most {most} to ask about all 2^n subsets, not {people}.",
        "Take a smaller n, or another attack.",
    ),
    "attack-table-too-narrow": Text("A table needs at least 1 column, not {columns}."),
    "attack-tables-contradictory": Text(
        "tables: no people agree with these tables.", "Were they published exactly?"
    ),
    "attack-tables-with-delta": Text("tables: what the agency spends is an epsilon.", "Leave delta at 0."),
    "attack-tables-with-noise": Text(
        "tables: the agency publishes exact tables, not with noise {noise}.",
        'Leave the noise at "none", or point the attack at "jali".',
    ),
    "attack-target-unknown": Text(
        "There is nothing to attack called {target!r}.", "Take simulator, jali, unledgered or the path of a log."
    ),
    "attack-target-wrong": Text("{attack} cannot be pointed at {target!r}.", "Point it at {targets:* or }."),
    "attack-too-large": Text(
        "{name} is too large for {attack}: {questions:,} questions about {people:,} people have {entries:,} entries, and {most:,} are possible.",
        "Take fewer people, or fewer questions.",
    ),
    "attack-too-many-people": Text(
        "{name} must be at most {most:,} for {attack}, not {people:,}.",
        "More would take too long, or too much memory.",
    ),
    "attack-too-slow": Text(
        "{questions:,} questions, one after the other, would take a database about {duration}.",
        "Take fewer people or questions, or a simulator, which answers all at once.",
    ),
    "attack-trials-of-log": Text(
        "{name} must be 1 against a log, not {trials}: it holds one secret.", "Leave it out."
    ),
    "attack-unknown": Text("There is no attack {attack!r}.", "{near:?Did you mean {near}? |}There are {attacks}."),
    "attack-without-oracle": Text("There is nothing to attack.", "Give one oracle at least."),
    "attack-wrong-opponent": Text(
        "{attack} attacks {opponents}, not {given}.", 'Let the lab make its opponent: stage("{attack}").run().'
    ),
    "log-attacked-twice": Text("A log holds one secret, and is attacked once, not {count} times.", "Run it once."),
    "log-beyond-precision": Text(
        "{path}: a question is beyond double precision.",
        "Client ids, multipliers and powers must be positive, and not huge.",
    ),
    "log-column-missing": Text("{path} has no column {column}.", "It needs {columns}."),
    "log-folder-empty": Text("{path} holds no log.", "A log is answers_X.csv beside people_X.csv."),
    "log-not-answers": Text(
        "{path} is not a file of answers.", "Name answers_X.csv; the people are read from people_X.csv beside it."
    ),
    "log-number-wrong": Text("{path}, line {line}: {text!r} is not a number.", "Leave the row out."),
    "log-other-questions": Text(
        "{log} answers the questions that were asked, and no others.", "Attack it by replay, or by least-squares."
    ),
    "log-people-wrong": Text(
        "{path}: every client must be there once, some with status 0 and some with 1.",
        "There is nothing to find otherwise.",
    ),
    "log-undetermined": Text(
        "{path}: {answers:,} usable answers about {people:,} people do not determine them.",
        "A log needs more answers than people, with powers that are not integers.",
    ),
    "log-unreadable": Text(
        "{path} cannot be read: {reason}.", "A log is a file answers_X.csv beside people_X.csv."
    ),
    "log-without-people": Text(
        "{path} has no file of its people beside it: there is no {people_file}.",
        "A log is a file answers_X.csv beside people_X.csv.",
    ),
    "noise-none-with-size": Text(
        "{name} none has no size.",
        "Write KIND:SIZE, such as uniform:16, 'gaussian:0.5*sqrt(n)', garbage:0.3, or none.",
    ),
    "noise-not-a-text": Text(
        "{name} must be a text, not {noise!r}.",
        "Write KIND:SIZE, such as uniform:16, 'gaussian:0.5*sqrt(n)', garbage:0.3, or none.",
    ),
    "noise-share-too-large": Text(
        "{name} garbage: a share is at most 1, not {size:g}.",
        "Write KIND:SIZE, such as uniform:16, 'gaussian:0.5*sqrt(n)', garbage:0.3, or none.",
    ),
    "noise-size-out-of-range": Text(
        "{name} {noise}: its size must be 0, or from {least:g} to {most:g}, not {size:g}.",
        "More leaves nothing of a count, and less changes none.",
    ),
    "noise-size-wrong": Text(
        "{name} {noise}: its size must be 0 or more{finite:?| and finite}, not {size:g}.",
        "Write KIND:SIZE, such as uniform:16, 'gaussian:0.5*sqrt(n)', garbage:0.3, or none.",
    ),
    "noise-unknown": Text("There is no noise {noise!r}.", "Take one of {noises}."),
    "noise-unreadable": Text(
        "{name} {noise!r} cannot be read.",
        "Write KIND:SIZE, such as uniform:16, 'gaussian:0.5*sqrt(n)', garbage:0.3, or none.",
    ),
    "scipy-missing": Text("This attack needs scipy.", 'Install it: pip install "jali[lab]"'),
    "sweep-attack-wrong": Text(
        "{attack} does not ask a simulator for counts, and cannot be swept.", "Take some of {attacks}."
    ),
    "sweep-each-too-large": Text(
        "{name} must be at most epsilon, which is {epsilon}, not {each}.",
        "A ledger would refuse the first question.",
    ),
    "sweep-noise-wrong": Text("{name} {noise!r} cannot be swept.", "Take some of {noises}."),
    "sweep-points-out-of-range": Text(
        "{name} must be from {least} to {most}, not {points}.", "Leave it out for 12."
    ),
    "sweep-range-wrong": Text(
        "{name} must be below the last place: {first:g} is not below {last:g}.",
        "Take a smaller first place, or a larger last one.",
    ),
    "sweep-too-slow": Text("No attack is quick on {people:,} people.", "Name some of {attacks}."),
    "tracing-false-positives-out-of-range": Text(
        "{name} must be between 0 and 1, not {false_positives:g}.", "It is a share of the outsiders, such as 0.01."
    ),
    "tracing-noise-wrong": Text(
        "Tracing says nothing about noise {noise}.", "Take none, laplace:100 or gaussian:20."
    ),
}
