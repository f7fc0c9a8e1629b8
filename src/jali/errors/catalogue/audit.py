"""Texts about the auditor."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text, Words

TEXTS: Mapping[str, Text] = {
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
    "running-system-without-neighbours": Text(
        "A running system has no neighbours to be run on.", "Audit it in one run."
    ),
    "sensitivity-norm-wrong": Text("norm must be 1, 2 or infinity, not {norm!r}."),
    "sensitivity-tables-none": Text(
        "No tables have {rows} rows between {low} and {high}.",
        "Give a low end below the high end, and at least one row.",
    ),
    "sensitivity-without-neighbours": Text("A search needs neighbours.", "Give pairs, or tables to search among."),
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
