"""Texts about the lab: attacks, the auditor, comparisons of mechanisms."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

_WITNESS_FILE = "Give a file written by `jali audit TARGET --out FILE`."
_NOISE_FORM = "Write KIND:SIZE, such as uniform:16, 'gaussian:0.5*sqrt(n)', garbage:0.3, or none."
_DATA_FORM = "Write scalar, choice in a|b|c, answers:5, monotone:5, counts:5, values:10 in 0..1, stream:8, table:10 of age 0..120, ward a|b, or: either JSON or JSON."
_FUNCTION_FORM = "Write module:function, or path/to/file.py:function."
_AUDITED_ARGUMENTS = "An audited function takes the data first, then optionally size, rng, epsilon, delta or rho."

TEXTS: Mapping[str, Text] = {
    "attack-adjacency-wrong": Text("{problem}", "Leave it out for replace-one."),
    "attack-all-subsets-size-wrong": Text(
        "{name} must be from 1 to {most} for the questions about all subsets, not {people}.",
        "There are 2^n of them: use a smaller n.",
    ),
    "attack-block-size-wrong": Text(
        "{name} must be from 1 to {most} for a block, not {n}.", "Use a smaller block."
    ),
    "attack-bound-negative": Text(
        "{name} must be 0 or more, not {bound:g}.", "It bounds the error of every answer."
    ),
    "attack-database-too-large": Text(
        "{name} must be at most {most:,} for a database, not {people:,}.", "Use fewer people, or a simulator."
    ),
    "attack-delta-wrong": Text("{problem}", "Give a small number such as 1e-6, or leave it out."),
    "attack-hadamard-size-wrong": Text(
        "{name} must be a power of two for Hadamard's questions, not {people}.", "Use {below} or {above}."
    ),
    "attack-log-missing": Text(
        "There is no log at {log!r}{by_variable:?, the value of JALI_DIFFIX|}.",
        "Name a file answers_X.csv, or its folder.",
    ),
    "attack-log-not-found": Text("There is no log at {log!r}.", "Point it at {targets:* or }."),
    "attack-log-unnamed": Text(
        "The log is missing.", "Name a file answers_X.csv or its folder, or set JALI_DIFFIX to either."
    ),
    "attack-logs-several": Text("The folder has several logs.", "Name one of {logs}, or attack by replay."),
    "attack-loss-unbounded": Text(
        "{name} {loss!r} needs a bound on the error, but noise {noise} is unbounded.",
        "Use absolute or chebyshev.",
    ),
    "attack-loss-unknown": Text("There is no loss {loss!r}.", "Choose one of {losses}."),
    "attack-members-of-log": Text(
        "members has no effect on a log, whose questions are fixed.", "Leave members out."
    ),
    "attack-members-too-many": Text(
        "{name} must be at most half of n = {people}, not {members}.", "Leave members out."
    ),
    "attack-memory-exceeded": Text(
        "{name} must be at most {most:,}, not {people:,}.", "Larger values would take too much memory."
    ),
    "attack-noise-not-sticky": Text("Sticky noise must be layered; {noise} is not.", "Write --noise layers:1."),
    "attack-opponent-twice": Text(
        "The same opponent {opponent} is given more than once, but each trial needs its own secret.",
        "Create one opponent per trial, each with its own seed.",
    ),
    "attack-option-meaningless": Text(
        "{name} has no effect against {target}.",
        "Leave it out{has_others:?, or point the attack at {others:* or }|}.",
    ),
    "attack-parameter-unknown": Text(
        "{attack} has no parameter {parameter!r}.",
        "{has_parameters:?It takes {parameters}.|It takes no parameters of its own.}",
    ),
    "attack-people-not-whole": Text("{name} must be a whole number, not {n!r}.", "Write n=1024, for example."),
    "attack-prior-out-of-range": Text("prior must be between 0 and 1, not {prior:g}."),
    "attack-questions-malformed": Text(
        "Questions must be a matrix of zeros and ones, {reason}.",
        "Use one row per question and one column per person: Listed.of([[1, 0, 1]]).",
    ),
    "attack-questions-width-wrong": Text(
        "The questions are about {width:,} people, but there are {people:,}.", "Use one column per person."
    ),
    "attack-repeats-too-many": Text(
        "{name} must be at most {most:,} for {people:,} people, not {repeats}.",
        "Larger values would take too much memory.",
    ),
    "attack-shrink-out-of-range": Text("{name} must be from 0 to 1, not {shrink}.", "Leave it out for 0.8."),
    "attack-singletons-too-many": Text("{name} must be at most n = {n}, not {people}.", "Use fewer."),
    "attack-solver-unknown": Text("There is no solver {solver!r}.", "Use {solvers:* or }."),
    "attack-splits-too-many": Text(
        "{name} must be at most {most} for {people:,} people, not {splits}.", "The table would be too large."
    ),
    "attack-subsets-too-many": Text(
        "{name} must be at most {most} to ask about all 2^n subsets, not {people}.",
        "Use a smaller n, or another attack.",
    ),
    "attack-table-too-narrow": Text("A table must have at least 1 column, not {columns}."),
    "attack-tables-contradictory": Text(
        "tables: no population is consistent with these tables.",
        "Check that the tables were published without noise.",
    ),
    "attack-tables-with-delta": Text("tables: the loss must be a pure epsilon.", "Leave delta at 0."),
    "attack-tables-with-noise": Text(
        "tables: the agency publishes exact tables, so noise {noise} is not supported.",
        'Leave the noise at "none", or point the attack at "jali".',
    ),
    "attack-target-unknown": Text(
        "There is no target {target!r}.", "Use simulator, jali, unledgered or the path of a log."
    ),
    "attack-target-wrong": Text("{attack} cannot be pointed at {target!r}.", "Point it at {targets:* or }."),
    "attack-too-large": Text(
        "{name} is too large for {attack}: {questions:,} questions about {people:,} people have {entries:,} entries, but at most {most:,} are possible.",
        "Use fewer people or fewer questions.",
    ),
    "attack-too-many-people": Text(
        "{name} must be at most {most:,} for {attack}, not {people:,}.",
        "Larger values would take too much time or memory.",
    ),
    "attack-too-slow": Text(
        "A database would need about {duration} for {questions:,} questions in sequence.",
        "Use fewer people or questions, or a simulator, which answers all of them at once.",
    ),
    "attack-trials-of-log": Text(
        "{name} must be 1 against a log, not {trials}, because a log has one secret.", "Leave it out."
    ),
    "attack-unknown": Text("There is no attack {attack!r}.", "{near:?Did you mean {near}? |}There are {attacks}."),
    "attack-without-oracle": Text("The target is missing.", "Give at least one oracle."),
    "attack-wrong-opponent": Text(
        "{attack} attacks {opponents}, not {given}.", 'Let the lab create the opponent: stage("{attack}").run().'
    ),
    "audit-confidence-wrong": Text("{problem}", "Write 0.99 for 99 %."),
    "audit-did-you-mean": Text("Did you mean {near:* or }?"),
    "audit-function-place": Text("Name a function as {module}:NAME, such as {module}:{function}."),
    "audit-list": Text("Run `jali audit` without arguments to list what is registered."),
    "audit-unregistered": Text("Nothing is registered as {subject!r}.", "{advice}"),
    "audit-without-stage": Text(
        "No audit stage applies to {subject}.",
        "Provide pairs of neighbours and a function that samples its outputs.",
    ),
    "audit-without-subject": Text(
        "An audit needs a subject: the mechanism, its claim and neighbouring inputs.",
        "Create one from a function: subject_of(function, epsilon=0.7, adjacency='add-remove').",
    ),
    "audited-adjacency-missing": Text(
        "{name} is missing: a privacy claim depends on it.", "Give 'add-remove' or 'replace-one'."
    ),
    "audited-always-raises": Text(
        "{function} raises on every input ({reason}).",
        "Specify its input: data='scalar', 'values:10 in 0..1', ...",
        command_line=Words(remedy="Specify its input: --data scalar, 'values:10 in 0..1', ..."),
    ),
    "audited-choice-adjacency-wrong": Text(
        "Neighbouring choices differ by replacement, so the adjacency must be replace-one.",
        "Give adjacency='replace-one'.",
        command_line=Words(remedy="Give --adjacency replace-one."),
    ),
    "audited-claim-needs-delta": Text(
        "A claim in {measure} cannot be derived from the privacy map.", "Give the delta to test at."
    ),
    "audited-claim-unread": Text(
        "A claim in {measure} cannot be derived from the privacy map.", "Give loss= yourself."
    ),
    "audited-data-missing": Text("{name} is missing, and the call gives no bounds.", "Give data= or pairs=."),
    "audited-epsilon-missing": Text(
        "{name} is missing: the audited tool needs it.",
        "For example epsilon=0.7.",
        command_line=Words(remedy="For example --epsilon 0.7."),
    ),
    "audited-file-missing": Text("There is no file {path}.", _FUNCTION_FORM),
    "audited-function-missing": Text(
        "{place} has no {function!r}.",
        "{near:?Did you mean {place}:{near}?|Write module:function, or path/to/file.py:function.}",
    ),
    "audited-import-failed": Text("{module} could not be imported ({reason}).", _FUNCTION_FORM),
    "audited-input-without-steps": Text(
        "{value} has no repeatable step.",
        "Give numbers or vectors of equal length, or name the distant inputs yourself.",
    ),
    "audited-law-unknown": Text("{noise!r} is not a location-scale distribution of numpy.", "Use one of {laws}."),
    "audited-metric-without-adjacency": Text(
        "{name} is missing: {metric} is a distance between numbers, not between tables.",
        "Give 'add-remove' or 'replace-one'.",
    ),
    "audited-neighbours-unknown": Text(
        "No neighbours are known for {carrier} under {metric}.", "Give data= or pairs= yourself."
    ),
    "audited-not-callable": Text(
        "{target!r} cannot be called.",
        _AUDITED_ARGUMENTS,
    ),
    "audited-not-running": Text("{subject} is not a running system.", "Create one with `running(...)`."),
    "audited-outputs-wrong": Text(
        "{function} did not return the requested {count} output{count:?|s}.",
        "Return an array or list with one entry per output, or give vectorised=False.",
    ),
    "audited-pairs-malformed": Text(
        "pairs must hold pairs of neighbouring inputs.", "For example [(0, 1), (1, 0)]."
    ),
    "audited-parameter-unclaimed": Text(
        "{function} takes {parameter}, which the claim does not include.",
        "Claim {parameter} too, or give it a default.",
        command_line=Words(remedy="Give --{parameter}, or give the parameter a default."),
    ),
    "audited-parameter-unknown": Text(
        "{function} needs {parameter!r}, which an audit does not know.",
        _AUDITED_ARGUMENTS,
    ),
    "audited-pattern-unknown": Text(
        "No data pattern fits the function{pattern:? (on {pattern}: {problem})|}.",
        "Specify its input, such as data='table:10 of age 0..120'.",
        command_line=Words(remedy="Specify its input, such as --data 'table:10 of age 0..120'."),
    ),
    "audited-sensitivity-missing": Text("The mechanism has no sensitivity.", "Give data= or pairs= yourself."),
    "audited-shape-wrong": Text(
        "{subject} returned outputs of shape {shape!r} for {count} runs.",
        "Return one row of numbers per run.",
    ),
    "audited-takes-no-data": Text(
        "{function} takes no data.",
        _AUDITED_ARGUMENTS,
    ),
    "audited-target-malformed": Text("{target!r} does not name a function.", _FUNCTION_FORM),
    "audited-vectorised-without-size": Text(
        "A vectorised function needs a parameter for the number of outputs.", "Call it size."
    ),
    "audited-without-law": Text(
        "{subject} does not state the exact distribution of its outputs.",
        "Give the subject log_masses, or audit it by sampling.",
    ),
    "claim-malformed": Text(
        "A claim must be epsilon, epsilon and delta, rho, or loss.",
        "For example epsilon=0.7.",
        command_line=Words(
            message="A claim must be --epsilon, --epsilon and --delta, or --rho.",
            remedy="For example --epsilon 0.7.",
        ),
    ),
    "claim-unlike-distance": Text(
        "Inputs at distance {steps} cannot test a claim of the kind {claim}.",
        "Claim an epsilon or a rho alone, or compare neighbours.",
    ),
    "comparison-data-too-few": Text("data must have at least {least} people, not {count}."),
    "comparison-data-without-range": Text(
        "low and high must be given with data.", "Both are public: never derive them from the data."
    ),
    "comparison-data-wrong": Text("data must be {expected}."),
    "comparison-not-measured": Text("Nothing was measured for {mechanism!r} on {shape!r}."),
    "comparison-shape-unknown": Text("There is no shape {shape!r}.", "The shapes are {shapes}."),
    "comparison-unknown": Text("There is no comparison for {statistic!r}.", "Choose one of {statistics}."),
    "data-column-empty": Text(
        "Column {column!r} has no values.",
        _DATA_FORM,
    ),
    "data-not-json": Text("{text!r} is not valid JSON.", "For example: either [1, 2] or [1]."),
    "data-pattern-malformed": Text(
        "{name} {data!r}: {kind} {problem}.",
        _DATA_FORM,
    ),
    "data-pattern-unknown": Text(
        "{name} {data!r} is not a data pattern.",
        _DATA_FORM,
    ),
    "data-size-wrong": Text("{name} {data!r} has {size} entries.", "Give 1 to {most} entries."),
    "data-step-wrong": Text("{name} {data!r} moves by {step}.", "Give a step above 0."),
    "data-values-malformed": Text("{text!r} is neither a range nor a list.", "Write 0..1, or a|b|c."),
    "encoder-unknown": Text("{text!r} is not an output encoder."),
    "event-kind-unknown": Text("{kind!r} is not a kind of event.", "Use one of {kinds}."),
    "event-malformed": Text("A {kind} event cannot be created from {given}."),
    "file-not-written": Text("{path} cannot be written.", "Give a file in a directory that exists."),
    "log-attacked-twice": Text(
        "A log has one secret, so it can be attacked only once, not {count} times.", "Run it once."
    ),
    "log-beyond-precision": Text(
        "{path}: a question exceeds double precision.",
        "Client ids, multipliers and powers must be positive, and not huge.",
    ),
    "log-column-missing": Text("{path} has no column {column}.", "It needs {columns}."),
    "log-folder-empty": Text("{path} has no log.", "A log is answers_X.csv beside people_X.csv."),
    "log-not-answers": Text(
        "{path} is not a file of answers.", "Name answers_X.csv; the people are read from people_X.csv beside it."
    ),
    "log-number-wrong": Text("{path}, line {line}: {text!r} is not a number.", "Leave the row out."),
    "log-other-questions": Text(
        "{log} can only answer the questions it recorded.", "Attack it by replay, or by least-squares."
    ),
    "log-people-wrong": Text(
        "{path}: every client must occur once, some with status 0 and some with 1.",
        "Otherwise there is nothing to reconstruct.",
    ),
    "log-undetermined": Text(
        "{path}: {answers:,} usable answers do not determine {people:,} people.",
        "A log needs more answers than people, with powers that are not integers.",
    ),
    "log-unreadable": Text(
        "{path} cannot be read: {reason}.", "A log is a file answers_X.csv beside people_X.csv."
    ),
    "log-without-people": Text(
        "{path} has no file of people beside it: {people_file} is missing.",
        "A log is a file answers_X.csv beside people_X.csv.",
    ),
    "noise-none-with-size": Text(
        "{name} none takes no size.",
        _NOISE_FORM,
    ),
    "noise-not-a-text": Text(
        "{name} must be a text, not {noise!r}.",
        _NOISE_FORM,
    ),
    "noise-share-too-large": Text(
        "{name} garbage: a share is at most 1, not {size:g}.",
        _NOISE_FORM,
    ),
    "noise-size-out-of-range": Text(
        "{name} {noise}: its size must be 0, or from {least:g} to {most:g}, not {size:g}.",
        "Larger noise hides every count, and smaller noise changes none.",
    ),
    "noise-size-wrong": Text(
        "{name} {noise}: its size must be 0 or more{finite:?| and finite}, not {size:g}.",
        _NOISE_FORM,
    ),
    "noise-unknown": Text("There is no noise {noise!r}.", "Use one of {noises}."),
    "noise-unreadable": Text(
        "{name} {noise!r} cannot be read.",
        _NOISE_FORM,
    ),
    "running-system-without-neighbours": Text(
        "A running system has no neighbouring inputs.", "Audit it in one run."
    ),
    "scipy-missing": Text("This attack needs scipy.", 'Install it: pip install "jali[lab]"'),
    "sensitivity-norm-wrong": Text("norm must be 1, 2 or infinity, not {norm!r}."),
    "sensitivity-tables-none": Text(
        "No table has {rows} rows with values from {low} to {high}.",
        "Give a lower bound below the upper bound, and at least one row.",
    ),
    "sensitivity-without-neighbours": Text(
        "The search needs neighbouring inputs.", "Give pairs, or tables to search."
    ),
    "sweep-attack-wrong": Text(
        "{attack} cannot be swept, because it does not query a simulator for counts.", "Choose some of {attacks}."
    ),
    "sweep-each-too-large": Text(
        "{name} must be at most epsilon, which is {epsilon}, not {each}.",
        "Otherwise the ledger would refuse the first question.",
    ),
    "sweep-noise-wrong": Text("{name} {noise!r} cannot be swept.", "Choose some of {noises}."),
    "sweep-points-out-of-range": Text(
        "{name} must be from {least} to {most}, not {points}.", "Leave it out for 12."
    ),
    "sweep-range-wrong": Text(
        "{name} must be below the last point: {first:g} is not below {last:g}.",
        "Use a smaller first point or a larger last point.",
    ),
    "sweep-too-slow": Text("No attack is fast enough for {people:,} people.", "Name some of {attacks}."),
    "tracing-false-positives-out-of-range": Text(
        "{name} must be between 0 and 1, not {false_positives:g}.",
        "Give the share of outsiders that may be accused, such as 0.01.",
    ),
    "tracing-noise-wrong": Text(
        "Tracing does not support noise {noise}.", "Use none, laplace:100 or gaussian:20."
    ),
    "witness-claim-not-in-file": Text(
        "The claim {claim} cannot be read from a file.",
        "Replay the witness from Python, with the subject: read(path).replay(subject).",
    ),
    "witness-claim-too-short": Text(
        "The claim does not cover inputs at distance {steps}.",
        _WITNESS_FILE,
    ),
    "witness-event-unlike-outputs": Text(
        "The event refers to numbers that the outputs do not have.",
        _WITNESS_FILE,
    ),
    "witness-field-wrong": Text(
        "The {field} of the witness is not valid: {value}.",
        _WITNESS_FILE,
    ),
    "witness-file-malformed": Text("{path} is not a witness file.", _WITNESS_FILE),
    "witness-file-missing": Text("There is no file {path}.", _WITNESS_FILE),
    "witness-format-unknown": Text(
        "{path} is not a witness file in the format {format!r}.",
        _WITNESS_FILE,
    ),
    "witness-from-python": Text(
        "{subject} was audited from Python and cannot be rebuilt from a file.",
        "Replay it from Python, with the subject: read(path).replay(subject).",
    ),
    "witness-hits-too-many": Text("The witness has more hits than runs.", _WITNESS_FILE),
    "witness-inputs-not-neighbours": Text(
        "{inputs} are not {distance} {place}, so they cannot test the claim.",
        _WITNESS_FILE,
    ),
    "witness-pair-missing": Text("{subject} has no pair {pair}.", _WITNESS_FILE),
    "witness-stage-unknown": Text(
        "There is no stage {stage!r} to replay the witness.", "The stages are {stages}."
    ),
    "witness-value-impossible": Text(
        "A witness cannot hold a {kind}.", "Use numbers, strings, lists, dictionaries or arrays as inputs."
    ),
    "witness-value-malformed": Text("{value} is not a valid value in a witness."),
    "witness-without-claim": Text("The witness states no claim.", _WITNESS_FILE),
}
