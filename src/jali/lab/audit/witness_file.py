"""Write a witness into a file, and replay it.

The file holds everything that somebody else needs to see a violation with samples of their own.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from jali.errors import CatalogError, JaliError
from jali.lab.audit.audits import Audit
from jali.lab.audit.data_patterns import Pattern, count_neighbour_steps
from jali.lab.audit.encoder import Encoder
from jali.lab.audit.events.event_rates import RandomSources
from jali.lab.audit.events.output_event import Atom, Between, OutputEvent, Threshold
from jali.lab.audit.events.propose_events import Score
from jali.lab.audit.loss_bounds import EventCounts, grows, prove_bound
from jali.lab.audit.runner import STAGES
from jali.lab.audit.subject import Effort, Finding, Pair, Progress, Subject, Verdict, Witness, abbreviate, silent
from jali.lab.audit.testers.properties import Outcome, watch_runs
from jali.lab.audit.testers.reachability import LowBits, OutOfReach
from jali.privacy import Adjacency, Approximate, Concentrated, Loss, Pure
from jali.serialization.plain_values import of_plain, to_plain, upgrade_from_second

EVENTS: tuple[type[OutputEvent], ...] = (Threshold, Between, Atom, Score, LowBits, OutOfReach, Outcome)


def rebuild_event(made: dict[str, Any]) -> OutputEvent:
    """Make an event again of what its `to_dict` returned.

    Example:
        >>> str(rebuild_event(Threshold(0, 1.5).to_dict()))
        'number 1 of the output is at least 1.5'
    """
    for kind in EVENTS:
        if kind.kind == made.get("kind"):
            return _rebuild_event_of_kind(kind, made)
    raise CatalogError("event-kind-unknown", kind=made.get("kind"), kinds=tuple(kind.kind for kind in EVENTS))


def _rebuild_event_of_kind(kind: type[OutputEvent], made: dict[str, Any]) -> OutputEvent:
    try:
        return kind.of_dict(made)
    except (KeyError, TypeError, ValueError):
        raise CatalogError("event-malformed", kind=kind.kind, given=str(made)[:80]) from None


FORMAT = "jali witness 3"
# It has the same fields; its values have other tags.
_SECOND = "jali witness 2"
# Keeps the samples of a replay apart from those that an event was chosen on, also under the same seed.
_FRESH = 0x5EED
# How many outputs are held at once.
_BLOCK = 1 << 18
# The confidence for an exact stage, which does not use it.
_SURE = Fraction(99, 100)
_FIELDS = {
    "name": str,
    "source": str,
    "claim": dict,
    "adjacency": str,
    "tester": str,
    "verdict": str,
    "kind": str,
    "confidence": str,
    "samples": int,
    "inputs": list,
    "hits": list,
    "runs": list,
    "steps": int,
    "seed": int | None,
    "at": str | None,
    "event": dict | None,
    "encoder": str | None,
    "data": str,
}


def write(audit: Audit, path: str | Path) -> None:
    """Write the witness of an audit into a file."""
    text = json.dumps(to_document(audit), ensure_ascii=False, indent=2)
    try:
        Path(path).write_text(f"{text}\n", encoding="utf-8")
    except OSError:
        raise CatalogError("file-not-written", path=path) from None


def to_document(audit: Audit) -> dict[str, Any]:
    """Return the witness of an audit as JSON has it."""
    subject, found = audit.subject, audit.best
    witness, encoder = found.witness, subject.encoder
    return {
        "format": FORMAT,
        "name": subject.name,
        "source": subject.source,
        "claim": _claim_to_plain(subject.claim),
        "adjacency": subject.adjacency.value,
        "tester": found.tester,
        "verdict": found.verdict.value,
        "kind": found.kind,
        "claimed": to_plain(found.claimed),
        "found": to_plain(found.found),
        "confidence": str(audit.effort.confidence) if found.confidence < 1 else "1",
        "samples": found.samples,
        "seed": audit.effort.seed,
        "inputs": [_input_to_plain(value, subject) for value in witness.inputs],
        "shown": [abbreviate(value) for value in witness.inputs],
        "event": None if witness.event is None else witness.event.to_dict(),
        "at": None if witness.at is None else abbreviate(witness.at),
        "hits": list(witness.hits),
        "runs": list(witness.runs),
        "steps": witness.steps,
        "encoder": None if encoder is None else str(encoder),
        "data": subject.data,
        "versions": {
            "jali": version("jali"),
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
    }


def read(path: str | Path) -> WitnessFile:
    """Read the file of a witness."""
    if not Path(path).exists():
        raise CatalogError("witness-file-missing", path=path)
    try:
        held = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise CatalogError("witness-file-malformed", path=path) from None
    if isinstance(held, dict) and held.get("format") == _SECOND:
        held = _upgrade_second(held)
    known = isinstance(held, dict) and held.get("format") == FORMAT
    if not known or not held.keys() >= _FIELDS.keys():
        raise CatalogError("witness-format-unknown", path=path, format=FORMAT)
    return WitnessFile(held)


def _upgrade_second(held: dict[str, Any]) -> dict[str, Any]:
    """Return a document of version 2 as one of now; the place of an input among pairs is written as it was."""
    values: dict[str, Any] = {
        name: upgrade_from_second(held[name]) for name in ("claimed", "found") if name in held
    }
    inputs = held.get("inputs")
    if isinstance(inputs, list):
        values["inputs"] = [one if _is_place(one) else upgrade_from_second(one) for one in inputs]
    return held | values | {"format": FORMAT}


def _is_place(value: Any) -> bool:
    """Return whether an input is a place among the pairs of its subject."""
    return isinstance(value, dict) and value.keys() == {"pair"}


@dataclass(frozen=True)
class WitnessReplay:
    """What a witness says when it is tried again.

    Attributes:
        before: What the file says was found.
        finding: What was found now.
        encoder: How outputs became numbers, for the words of the event.
    """

    before: Finding
    finding: Finding
    encoder: Encoder | None = None

    @property
    def reproduces(self) -> bool | None:
        """Whether a violation was found again; None where there was none."""
        if self.before.verdict is Verdict.NOTHING_FOUND:
            return None
        return self.finding.verdict is Verdict.VIOLATION

    def __str__(self) -> str:
        from jali.lab.audit.audit_report import write_replay

        return write_replay(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts."""
        from jali.lab.audit.audits import finding_to_dict

        told = {"before": finding_to_dict(self.before), "now": finding_to_dict(self.finding)}
        return {"name": self.finding.name, "reproduces": self.reproduces} | told


@dataclass(frozen=True)
class WitnessFile:
    """A witness as a file holds it; one with a field that cannot be is refused.

    Attributes:
        held: The document; see `to_document`.
    """

    held: dict[str, Any]

    def __post_init__(self) -> None:
        for name, kind in _FIELDS.items():
            value = self.held.get(name)
            if (
                not isinstance(value, kind)
                or (isinstance(value, bool) and kind is int)
                or not _is_right(name, value)
            ):
                raise CatalogError("witness-field-wrong", field=name, value=abbreviate(value, 60))
        if any(hit > run for hit, run in zip(self.held["hits"], self.held["runs"], strict=True)):
            raise CatalogError("witness-hits-too-many")

    def subject(self) -> Subject:
        """Make the subject again: import its function, or find it among those that are registered."""
        source, held = self.held["source"], self.held
        if not source:
            raise CatalogError("witness-from-python", subject=held["name"])
        if ":" not in source:
            from jali.lab.audit.subjects.subject_registry import find_subjects

            named = find_subjects(source)
            return next((one for one in named if one.adjacency == held["adjacency"]), named[0])
        from jali.lab.audit.subject_loader import reload_subject

        first, second = map(of_plain, held["inputs"])
        claim = _claim_of_plain(held["claim"])
        return reload_subject(
            source, claim=claim, adjacency=held["adjacency"], pair=(first, second), encoder=held["encoder"]
        )

    def replay(
        self,
        subject: Subject | None = None,
        *,
        samples: int | None = None,
        seed: int | None = None,
        progress: Progress = silent,
    ) -> WitnessReplay:
        """Count the event on fresh outputs of both inputs; what has no event is tried again by its stage.

        Args:
            subject: What it is a witness of; made again from its source by default.
            samples: How many outputs are drawn in all; as many as the file counts by default.
            seed: Where they come from, if the subject takes a generator; the seed of the file by default.
            progress: Called with a line about the work in progress.

        Guarantee:
            No output is one that the event was chosen on, so that the bound needs no correction for the choice.
            Inputs of a pattern, and those of a subject that has its own pairs, are as many neighbours apart as the
            witness says; where neither is known, that is trusted.
        """
        made = self.subject() if subject is None else subject
        before = self.finding(made)
        self._check_inputs(made, before.witness, own=subject is None)
        effort = Effort(
            samples or sum(before.witness.runs) or self.held["samples"] or 1,
            Fraction(self.held["confidence"]) if before.confidence < 1 else _SURE,
            self.held["seed"] if seed is None else seed,
        )
        if before.witness.event is None:
            return WitnessReplay(before, _try_again(made, before, _change_seed(effort), progress), made.encoder)
        progress(f"drawing {effort.samples:,} outputs")
        return WitnessReplay(before, _count_again(made, before, effort), made.encoder)

    def _check_inputs(self, subject: Subject, witness: Witness, *, own: bool) -> None:
        """Refuse inputs that are not as near to each other as they are said to be."""
        pattern, (one, other) = subject.data or self.held["data"], witness.inputs
        if witness.steps != 1 and not grows(subject.claim):
            raise CatalogError("witness-claim-too-short", steps=witness.steps)
        if pattern:
            read_ = Pattern.read(pattern)
            # Who replays from Python may have tried extremes too, which the claim must cover then.
            kind = read_ if own else replace(read_, extremes=True)
            apart = count_neighbour_steps(kind, subject.adjacency, one, other)
            if apart is None or apart > witness.steps:
                raise _no_neighbours(witness, f"in the pattern {pattern}, {subject.adjacency.value}")
        elif own and subject.pairs:
            near = [(pair, 1) for pair in subject.pairs]
            written = {(_make_pair_key(pair), steps) for pair, steps in (*near, *subject.distant)}
            if (_make_pair_key((one, other)), witness.steps) not in written:
                raise _no_neighbours(witness, "among the pairs of its subject")

    def finding(self, subject: Subject) -> Finding:
        """Return what was found then, as the file has it."""
        held = self.held
        inputs = tuple(_input_of_plain(value, subject) for value in held["inputs"])
        event = None if held["event"] is None else rebuild_event(held["event"])
        hits, runs = ((int(one), int(other)) for one, other in (held["hits"], held["runs"]))
        return Finding(
            held["name"],
            held["adjacency"],
            held["kind"],
            of_plain(held["claimed"]),
            of_plain(held["found"]),
            Witness((inputs[0], inputs[1]), held["at"], event, hits, runs, held["steps"]),
            Verdict(held["verdict"]),
            held["tester"],
            float(Fraction(held["confidence"])),
            held["samples"],
        )


def _is_right(name: str, value: Any) -> bool:
    """Return whether a field of a witness, of the right type, has a value that it can have."""
    check = _CHECKS.get(name)
    try:
        return check is None or bool(check(value))
    except (ValueError, TypeError, ZeroDivisionError, JaliError):
        return False


def _is_count(value: Any) -> bool:
    return len(value) == 2 and all(type(one) is int and one >= 0 for one in value)


_CHECKS: dict[str, Callable[[Any], object]] = {
    "claim": lambda value: "words" in value or _claim_of_plain(value),
    "adjacency": Adjacency.of,
    "verdict": Verdict,
    "confidence": lambda value: 0 < Fraction(value) <= 1,
    "samples": lambda value: value >= 0,
    "inputs": lambda value: len(value) == 2,
    "hits": _is_count,
    "runs": _is_count,
    "steps": lambda value: value >= 1,
    "seed": lambda value: value is None or value >= 0,
    "event": lambda value: value is None or rebuild_event(value),
    "encoder": lambda value: value is None or Encoder.read(value),
    "data": lambda value: not value or Pattern.read(value),
}


def _no_neighbours(witness: Witness, where: str) -> CatalogError:
    inputs = " and ".join(abbreviate(one, 60) for one in witness.inputs)
    apart = "neighbours" if witness.steps == 1 else f"{witness.steps} neighbours apart"
    return CatalogError("witness-inputs-not-neighbours", inputs=inputs, distance=apart, place=where)


def _make_pair_key(pair: Pair) -> frozenset[str]:
    """Return two inputs as texts, whichever comes first."""
    return frozenset(map(repr, pair))


def _change_seed(effort: Effort) -> Effort:
    """Return an effort whose samples are not those of the seed that an audit had."""
    if effort.seed is None:
        return effort
    return replace(effort, seed=int(np.random.default_rng([effort.seed, _FRESH]).integers(1 << 62)))


def _count_again(subject: Subject, before: Finding, effort: Effort) -> Finding:
    """Count an event on fresh outputs, and say what that proves."""
    sources = RandomSources.of(effort.seed, _FRESH)
    witness = before.witness
    assert witness.event is not None
    counts = replace(
        _count_event(subject, witness.inputs, witness.event, effort.samples, sources), steps=witness.steps
    )
    bound = prove_bound(counts, subject.claim, effort.confidence)
    return replace(
        before,
        kind=bound.reading.kind,
        claimed=bound.reading.claimed,
        found=bound.found,
        witness=replace(witness, hits=counts.hits, runs=counts.runs),
        verdict=Verdict.VIOLATION if bound.is_violated else Verdict.NOTHING_FOUND,
        confidence=float(effort.confidence),
        samples=effort.samples,
    )


def _count_event(
    subject: Subject, pair: Pair, event: OutputEvent, samples: int, sources: RandomSources
) -> EventCounts:
    """Return how often an event occurs in fresh outputs, shared out between the inputs by fair coins."""
    first = int(sources.coins.binomial(samples, 0.5))
    runs = (first, samples - first)
    seen = watch_runs(subject)[0] if isinstance(event, Outcome) else subject
    try:
        hits = [
            sum(_count_hits(seen, value, event, run, sources.random))
            for value, run in zip(pair, runs, strict=True)
        ]
    except IndexError:
        raise CatalogError("witness-event-unlike-outputs") from None
    return EventCounts((hits[0], hits[1]), runs, shared=True)


def _count_hits(
    subject: Subject, value: Any, event: OutputEvent, runs: int, random: np.random.Generator
) -> Iterator[int]:
    for begin in range(0, runs, _BLOCK):
        yield int(event.contains(subject.draw(value, min(_BLOCK, runs - begin), random)).sum())


def _try_again(subject: Subject, before: Finding, effort: Effort, progress: Progress) -> Finding:
    """Let the stage that found something try again, on the same two inputs alone."""
    for tester in STAGES:
        if tester.name == before.tester:
            return tester.audit(replace(subject, pairs=(before.witness.inputs,)), effort, progress)
    raise CatalogError(
        "witness-stage-unknown", stage=before.tester, stages=tuple(tester.name for tester in STAGES)
    )


def _input_to_plain(value: Any, subject: Subject) -> Any:
    """Return an input as JSON has it, or else its place among the pairs of a registered subject."""
    try:
        return to_plain(value)
    except CatalogError:
        places = ((i, side) for i, pair in enumerate(subject.pairs) for side in (0, 1) if pair[side] is value)
        place = next(places, None)
        if place is None or ":" in subject.source:
            raise
        return {"pair": list(place)}


def _input_of_plain(value: Any, subject: Subject) -> Any:
    if _is_place(value):
        try:
            number, side = value["pair"]
            return subject.pairs[number][side]
        except (TypeError, ValueError, IndexError):
            raise CatalogError("witness-pair-missing", subject=subject.name, pair=value["pair"]) from None
    return of_plain(value)


def _claim_to_plain(claim: Loss) -> dict[str, str]:
    """Return a claim that can be stated in numbers; any other only in words."""
    if isinstance(claim, Pure):
        return {"epsilon": str(claim.bound)}
    if isinstance(claim, Approximate):
        return {"epsilon": str(claim.bound), "delta": str(claim.failure)}
    if isinstance(claim, Concentrated):
        return {"rho": str(claim.bound)}
    return {"words": repr(claim)}


def _claim_of_plain(claim: dict[str, str]) -> Loss:
    if "words" in claim:
        raise CatalogError("witness-claim-not-in-file", claim=claim["words"])
    if "rho" in claim:
        return Concentrated(claim["rho"])
    if "epsilon" not in claim:
        raise CatalogError("witness-without-claim")
    return Approximate(claim["epsilon"], claim["delta"]) if "delta" in claim else Pure(claim["epsilon"])
