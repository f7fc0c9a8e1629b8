"""Texts about the lab: attacks, the auditor, comparisons of mechanisms."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

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
    "audit-confidence-wrong": Text("{problem}", "Write 0.99 for 99 %."),
    "audit-did-you-mean": Text("Did you mean {near:* or }?"),
    "audit-function-place": Text("A function is written {module}:NAME, such as {module}:{function}."),
    "audit-list": Text("`jali audit` alone lists what there is."),
    "audit-unregistered": Text("Nothing is registered as {subject!r}.", "{advice}"),
    "audit-without-stage": Text(
        "No stage of an audit applies to {subject}.",
        "Give it pairs of neighbours, and a function that draws its outputs.",
    ),
    "audit-without-subject": Text(
        "An audit needs a subject: what is run, what it claims, and neighbours.",
        "Make one of a function: subject_of(function, epsilon=0.7, adjacency='add-remove').",
    ),
    "audited-adjacency-missing": Text(
        "{name} is missing: a claim means nothing without it.", "Give 'add-remove' or 'replace-one'."
    ),
    "audited-always-raises": Text(
        "{function} raises on every input ({reason}).",
        "Say what it takes: data='scalar', 'values:10 in 0..1', ...",
        command_line=Words(remedy="Say what it takes: --data scalar, 'values:10 in 0..1', ..."),
    ),
    "audited-choice-adjacency-wrong": Text(
        "A choice is replaced: its adjacency is replace-one.",
        "Give adjacency='replace-one'.",
        command_line=Words(remedy="Give --adjacency replace-one."),
    ),
    "audited-claim-needs-delta": Text(
        "A claim in {measure} is not read off the map.", "Give the delta to test it at."
    ),
    "audited-claim-unread": Text("A claim in {measure} is not read off the map.", "Give loss= yourself."),
    "audited-data-missing": Text("{name} is missing, and the call has no bounds.", "Give data= or pairs=."),
    "audited-epsilon-missing": Text(
        "{name} is missing: a tool is called with it.",
        "For example epsilon=0.7.",
        command_line=Words(remedy="For example --epsilon 0.7."),
    ),
    "audited-file-missing": Text(
        "There is no file {path}.", "Write module:function, or path/to/file.py:function."
    ),
    "audited-function-missing": Text(
        "{place} has no {function!r}.",
        "{near:?Did you mean {place}:{near}?|Write module:function, or path/to/file.py:function.}",
    ),
    "audited-import-failed": Text(
        "{module} could not be imported ({reason}).", "Write module:function, or path/to/file.py:function."
    ),
    "audited-input-without-steps": Text(
        "{value} has no steps that can be repeated.",
        "Give numbers or vectors of one length, or name the distant inputs yourself.",
    ),
    "audited-law-unknown": Text("{noise!r} is no law of numpy's with a place.", "Give one of {laws}."),
    "audited-metric-without-adjacency": Text(
        "{name} is missing: {metric} is a distance of numbers, not of tables.",
        "Give 'add-remove' or 'replace-one'.",
    ),
    "audited-neighbours-unknown": Text(
        "No neighbours are known for {carrier} under {metric}.", "Give data= or pairs= yourself."
    ),
    "audited-not-callable": Text(
        "{target!r} cannot be called.",
        "An audited function takes the data first; then size, rng, and epsilon, delta or rho if it likes.",
    ),
    "audited-not-running": Text("{subject} is no running system.", "Make one with `running(...)`."),
    "audited-outputs-wrong": Text(
        "{function} was asked for {count} output{count:?|s} and returned something else.",
        "Return an array or a list with one entry for each, or say vectorised=False.",
    ),
    "audited-pairs-malformed": Text(
        "pairs must hold pairs of neighbouring inputs.", "For example [(0, 1), (1, 0)]."
    ),
    "audited-parameter-unclaimed": Text(
        "{function} takes {parameter}, and that is not what is claimed.",
        "Claim {parameter} too, or give it a default.",
        command_line=Words(remedy="Give --{parameter}, or give the parameter a default."),
    ),
    "audited-parameter-unknown": Text(
        "{function} needs {parameter!r}, which an audit does not know.",
        "An audited function takes the data first; then size, rng, and epsilon, delta or rho if it likes.",
    ),
    "audited-pattern-unknown": Text(
        "No pattern of data fits the function{pattern:? (on {pattern}: {problem})|}.",
        "Say what it takes, such as data='table:10 of age 0..120'.",
        command_line=Words(remedy="Say what it takes, such as --data 'table:10 of age 0..120'."),
    ),
    "audited-sensitivity-missing": Text("The mechanism has no sensitivity.", "Give data= or pairs= yourself."),
    "audited-shape-wrong": Text(
        "{subject} returned outputs of the shape {shape!r} for {count} runs.",
        "Return a row of numbers for each run.",
    ),
    "audited-takes-no-data": Text(
        "{function} takes no data.",
        "An audited function takes the data first; then size, rng, and epsilon, delta or rho if it likes.",
    ),
    "audited-target-malformed": Text(
        "{target!r} names no function.", "Write module:function, or path/to/file.py:function."
    ),
    "audited-vectorised-without-size": Text(
        "A vectorised function needs a parameter for how many outputs.", "Call it size."
    ),
    "audited-without-law": Text(
        "{subject} states no exact law of its outputs.", "Give the subject log_masses, or audit it by samples."
    ),
    "claim-malformed": Text(
        "A claim is one of epsilon, epsilon and delta, rho, or loss.",
        "For example epsilon=0.7.",
        command_line=Words(
            message="A claim is one of --epsilon, --epsilon and --delta, or --rho.",
            remedy="For example --epsilon 0.7.",
        ),
    ),
    "claim-unlike-distance": Text(
        "Inputs that are {steps} neighbours apart do not show a loss of the kind {claim}.",
        "Claim an epsilon or a rho alone, or compare neighbours.",
    ),
    "comparison-data-too-few": Text("data must have at least {least} people, not {count}."),
    "comparison-data-without-range": Text(
        "low and high must be given with data.", "They are public: never read them off the data."
    ),
    "comparison-data-wrong": Text("data must be {expected}."),
    "comparison-not-measured": Text("Nothing was measured for {mechanism!r} on {shape!r}."),
    "comparison-shape-unknown": Text("There is no shape {shape!r}.", "The shapes are {shapes}."),
    "comparison-unknown": Text("There is nothing to compare for {statistic!r}.", "Choose one of {statistics}."),
    "data-column-empty": Text(
        "Column {column!r} has no values.",
        "Write scalar, choice in a|b|c, answers:5, monotone:5, counts:5, values:10 in 0..1, stream:8, table:10 of age 0..120, ward a|b, or: either JSON or JSON.",
    ),
    "data-not-json": Text("{text!r} is no JSON.", "For example: either [1, 2] or [1]."),
    "data-pattern-malformed": Text(
        "{name} {data!r}: {kind} {problem}.",
        "Write scalar, choice in a|b|c, answers:5, monotone:5, counts:5, values:10 in 0..1, stream:8, table:10 of age 0..120, ward a|b, or: either JSON or JSON.",
    ),
    "data-pattern-unknown": Text(
        "{name} {data!r} is no pattern.",
        "Write scalar, choice in a|b|c, answers:5, monotone:5, counts:5, values:10 in 0..1, stream:8, table:10 of age 0..120, ward a|b, or: either JSON or JSON.",
    ),
    "data-size-wrong": Text("{name} {data!r} has {size} entries.", "Give from 1 to {most}."),
    "data-step-wrong": Text("{name} {data!r} moves by {step}.", "Give a step above 0."),
    "data-values-malformed": Text("{text!r} is no range and no list.", "Write 0..1, or a|b|c."),
    "encoder-unknown": Text("{text!r} is no encoder of outputs."),
    "event-kind-unknown": Text("{kind!r} is no kind of event.", "Known are {kinds}."),
    "event-malformed": Text("A {kind} event cannot be made of {given}."),
    "file-not-written": Text("{path} cannot be written.", "Give a file in a directory that exists."),
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
    "running-system-without-neighbours": Text(
        "A running system has no neighbours to be run on.", "Audit it in one run."
    ),
    "scipy-missing": Text("This attack needs scipy.", 'Install it: pip install "jali[lab]"'),
    "sensitivity-norm-wrong": Text("norm must be 1, 2 or infinity, not {norm!r}."),
    "sensitivity-tables-none": Text(
        "No tables have {rows} rows between {low} and {high}.",
        "Give a low end below the high end, and at least one row.",
    ),
    "sensitivity-without-neighbours": Text("A search needs neighbours.", "Give pairs, or tables to search among."),
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
    "witness-claim-not-in-file": Text(
        "The claim {claim} cannot be read from a file.",
        "Replay the witness from Python, with the subject: read(path).replay(subject).",
    ),
    "witness-claim-too-short": Text(
        "The claim says nothing of inputs {steps} steps apart.",
        "Give a file that `jali audit TARGET --out FILE` wrote.",
    ),
    "witness-event-unlike-outputs": Text(
        "The event is about numbers that the outputs do not have.",
        "Give a file that `jali audit TARGET --out FILE` wrote.",
    ),
    "witness-field-wrong": Text(
        "The witness has no {field} that can be: {value}.",
        "Give a file that `jali audit TARGET --out FILE` wrote.",
    ),
    "witness-file-malformed": Text(
        "{path} holds no witness.", "Give a file that `jali audit TARGET --out FILE` wrote."
    ),
    "witness-file-missing": Text(
        "There is no file {path}.", "Give a file that `jali audit TARGET --out FILE` wrote."
    ),
    "witness-format-unknown": Text(
        "{path} holds no witness of the format {format!r}.",
        "Give a file that `jali audit TARGET --out FILE` wrote.",
    ),
    "witness-from-python": Text(
        "{subject} was audited from Python: a file cannot make it again.",
        "Replay it from Python, with the subject: read(path).replay(subject).",
    ),
    "witness-hits-too-many": Text(
        "The witness has more hits than runs.", "Give a file that `jali audit TARGET --out FILE` wrote."
    ),
    "witness-inputs-not-neighbours": Text(
        "{inputs} are not {distance} {place}: what they show says nothing about the claim.",
        "Give a file that `jali audit TARGET --out FILE` wrote.",
    ),
    "witness-pair-missing": Text(
        "{subject} has no pair {pair}.", "Give a file that `jali audit TARGET --out FILE` wrote."
    ),
    "witness-stage-unknown": Text(
        "There is no stage {stage!r} to try the witness again.", "The stages are {stages}."
    ),
    "witness-value-impossible": Text(
        "A witness cannot hold a {kind}.", "Let the function take numbers, texts, lists, dictionaries or arrays."
    ),
    "witness-value-malformed": Text("{value} is no value of a witness."),
    "witness-without-claim": Text(
        "The witness states no claim.", "Give a file that `jali audit TARGET --out FILE` wrote."
    ),
}
