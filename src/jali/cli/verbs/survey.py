"""`jali survey`: simulate a survey by randomized response. Nobody is asked: the people are made up."""

from __future__ import annotations

import math
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jali.cli.options import AsJson, number_option, read_confidence, rename_in_error
from jali.cli.output import choose_ink, measure_width, save_figure, write_json
from jali.display.numbers import show_percent
from jali.display.text import TextColumn, align_points, clean, write_facts, write_table
from jali.errors import CatalogError, MechanismError

if TYPE_CHECKING:
    from jali.local import Randomizer, ShuffledLoss
    from jali.local.local_survey import SimulatedSurvey

METHODS = ("auto", "warner", "almost-random", "kary", "unary", "subset", "hadamard")
# The word of the option for each randomizer, and its title.
_NAMES = {
    "Warner": ("warner", "Warner's coin"),
    "AlmostRandom": ("almost-random", "two coins"),
    "KaryResponse": ("kary", "k-ary response"),
    "UnaryEncoding": ("unary", "unary encoding"),
    "SubsetSelection": ("subset", "subset selection"),
    "HadamardResponse": ("hadamard", "Hadamard response"),
}
_OPTIONS = {"people": "--people", "epsilon": "--epsilon", "delta": "--delta"}
# Percentages from here on are written with an exponent.
_WIDE = 1e7
_LEAST_EPSILON = Fraction(1, 10**12)
_MOST_PEOPLE, _MOST_REPEATS = 10**7, 10_000


def survey(
    people: Annotated[str, number_option("The number of respondents.")] = "1000",
    truth: Annotated[str | None, number_option("The true share of yes; 0.3 by default.")] = None,
    categories: Annotated[
        str | None, typer.Option(metavar="NAME=SHARE,...", help="Several categories instead, with their shares.")
    ] = None,
    method: Annotated[
        str, typer.Option(metavar="METHOD", help=f"How answers are randomized: {', '.join(METHODS)}.")
    ] = "auto",
    epsilon: Annotated[str | None, number_option("The epsilon of each answer; 1 by default.")] = None,
    confidence: Annotated[str, number_option("The confidence of the intervals.")] = "0.95",
    delta: Annotated[str, number_option("The delta for amplification by shuffling.")] = "1e-6",
    repeat: Annotated[
        str, number_option("The number of surveys to run, to measure the coverage of the intervals.")
    ] = "1",
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Plot the survey into this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Simulate a survey in which each person randomizes their own answer. Synthetic people, nothing is spent.

    Shows estimate, interval, true share and privacy loss per answer, and compares the error with that of plain
    answers.

    Example: [bold]jali survey --people 10000 --categories bus=0.5,car=0.3,foot=0.2 --epsilon 1[/bold]
    """
    answers = _read_answers(truth, categories)
    asked = _SurveyRequest(
        answers,
        _build_randomizer(method, len(answers), epsilon),
        _read_count(people, "--people", _MOST_PEOPLE),
        read_confidence(confidence),
        _read_count(repeat, "--repeat", _MOST_REPEATS),
    )
    with _rename_parameters(shares="--truth" if categories is None else "--categories"):
        hidden = _compute_shuffled_loss(asked, delta)
        made = asked.run()
    if plot is not None:
        save_figure(Path(plot), lambda: _draw_figure(made))
    if as_json:
        write_json(_encode_survey(made, hidden))
    else:
        _write_survey(made, hidden)


@dataclass(frozen=True)
class _SurveyRequest:
    """What the command line gave."""

    answers: dict[str, Fraction]
    mechanism: Randomizer
    people: int
    confidence: float
    repeats: int

    def run(self) -> _SurveyRuns:
        """Run all surveys; the first is shown."""
        from jali.local.local_survey import simulate_survey

        shares = tuple(self.answers.values())
        runs = [simulate_survey(self.mechanism, shares, self.people) for _ in range(self.repeats)]
        return _SurveyRuns(self, tuple(runs))


@dataclass(frozen=True)
class _SurveyRuns:
    """The surveys that were run."""

    asked: _SurveyRequest
    runs: tuple[SimulatedSurvey, ...]

    @property
    def first(self) -> SimulatedSurvey:
        """The one that is shown."""
        return self.runs[0]

    @property
    def hit_count(self) -> int:
        """How many intervals, over all surveys and categories, hold the share among those asked."""
        from jali.local import Estimate

        supports = tuple(count for run in self.runs for count in run.estimate.supports)
        spans = Estimate(self.asked.people, supports, self.asked.mechanism.chances).interval(self.asked.confidence)
        truths = [share for run in self.runs for share in run.true_shares]
        return sum(low <= true <= high for (low, high), true in zip(spans, truths, strict=True))

    @property
    def root_mean_square(self) -> tuple[float, ...]:
        """The error of each estimate, over all surveys."""
        errors = [
            [made - true for made, true in zip(run.estimate.frequencies, run.true_shares, strict=True)]
            for run in self.runs
        ]
        return tuple(
            math.sqrt(math.fsum(e * e for e in column) / len(errors)) for column in zip(*errors, strict=True)
        )

    @property
    def forecast(self) -> tuple[float, ...]:
        """The standard deviation that the theory gives each estimate, at the shares of the population."""
        mechanism, people = self.asked.mechanism, self.asked.people
        return tuple(math.sqrt(mechanism.variance(share, people=people)) for share in self.asked.answers.values())

    @property
    def plain(self) -> tuple[float, ...]:
        """Half the width of the interval of each share, if the same people had answered plainly."""
        from jali.local.binomial import clopper_pearson

        low, high = clopper_pearson(self.first.truth, self.asked.people, self.asked.confidence)
        return tuple(((high - low) / 2).tolist())


def _read_answers(truth: str | None, categories: str | None) -> dict[str, Fraction]:
    """Return the answers and their shares."""
    if truth is not None and categories is not None:
        raise CatalogError("survey-truth-and-categories")
    if categories is None:
        yes = _read_share("0.3" if truth is None else truth, "--truth")
        return {"no": 1 - yes, "yes": yes}
    found = _read_categories(categories)
    if sum(found.values()) != 1:
        raise CatalogError("survey-shares-sum-wrong", total=float(sum(found.values())))
    return found


def _read_categories(categories: str) -> dict[str, Fraction]:
    """Read NAME=SHARE,..."""
    found: dict[str, Fraction] = {}
    for part in categories.split(","):
        name, share = (piece.strip() for piece in (part if "=" in part else f"{part}=").rsplit("=", 1))
        if not name:
            raise CatalogError("survey-category-unnamed")
        if not share:
            raise CatalogError("survey-share-missing", category=name)
        if name in found:
            raise CatalogError("survey-category-twice", category=name)
        found[name] = _read_share(share, f"--categories: the share of {name}")
    if len(found) < 2:
        raise CatalogError("survey-categories-too-few")
    return found


def _read_share(text: str, name: str) -> Fraction:
    """Return a share that is written as 0.3, 3/10 or 30%."""
    from jali.privacy.rationals import rational, share

    number = text.strip().removesuffix("%")
    return share(rational(number, name) / 100, name) if number != text.strip() else share(text, name)


def _build_randomizer(method: str, answers: int, epsilon: str | None) -> Randomizer:
    """Return the randomizer that the options name."""
    from jali.local import (
        AlmostRandom,
        HadamardResponse,
        KaryResponse,
        SubsetSelection,
        UnaryEncoding,
        Warner,
        best_local,
    )
    from jali.mechanisms.base import read_parameter

    if method not in METHODS:
        raise CatalogError("survey-method-unknown", methods=tuple(METHODS), given=method)
    if method in ("warner", "almost-random") and answers != 2:
        raise CatalogError("survey-method-for-two-answers", method=method, answers=answers)
    if method == "almost-random" and epsilon is not None:
        raise CatalogError("survey-epsilon-with-coins")
    spent = "1" if epsilon is None else epsilon
    with _rename_parameters():
        if read_parameter(spent, "epsilon") < _LEAST_EPSILON:
            raise CatalogError("survey-epsilon-too-small")
        if method == "almost-random":
            return AlmostRandom()
        if method == "warner":
            return Warner(epsilon=spent)
        if method == "auto":
            return best_local(answers, spent)
        several: dict[str, Callable[..., Randomizer]] = {
            "kary": KaryResponse,
            "unary": UnaryEncoding,
            "subset": SubsetSelection,
            "hadamard": HadamardResponse,
        }
        return several[method](categories=answers, epsilon=spent)


def _read_count(text: str, option: str, most: int) -> int:
    """Return the whole number that an option gives, also one written as 1e3."""
    from jali.privacy.rationals import rational

    with suppress(CatalogError):
        number = rational(text, option)
        if 1 <= number <= most and number.denominator == 1:
            return int(number)
    raise CatalogError("survey-option-out-of-range", option=option, most=most, given=text)


@contextmanager
def _rename_parameters(**options: str) -> Iterator[None]:
    """Let an error that begins with the name of a parameter begin with that of its option."""
    try:
        yield
    except (CatalogError, MechanismError) as error:
        raise rename_in_error(error, _OPTIONS | options) from None


def _compute_shuffled_loss(asked: _SurveyRequest, delta: str) -> ShuffledLoss:
    from jali.local import shuffled

    return shuffled(asked.mechanism, people=asked.people, delta=delta)


def _format_title(made: _SurveyRuns) -> str:
    _, how = _NAMES[type(made.asked.mechanism).__name__]
    who = "1 person answers" if made.asked.people == 1 else f"{made.asked.people:,} people answer"
    return f"{who} by {how}, epsilon {_format_loss(made)} each"


def _format_loss(made: _SurveyRuns) -> str:
    from jali.numbers.exact import decimal_above

    return decimal_above(made.asked.mechanism.loss.event.epsilon or Fraction(0))


def _write_survey(made: _SurveyRuns, hidden: ShuffledLoss) -> None:
    ink = choose_ink(sys.stdout)
    print(f"{_wrap_text(_format_title(made), ink.strong)}\n\n{write_table(_build_columns(made), ink=ink)}\n")
    legend = (
        "truth: the share among the people asked, which only this simulation knows. interval: holds it with "
        f"{show_percent(made.asked.confidence)} confidence. plain: half the interval if all had answered plainly."
    )
    print(_wrap_text(legend, ink.faint))
    print()
    print(write_facts(_list_facts(made, hidden), indent=0, width=measure_width(sys.stdout), ink=ink))


def _build_columns(made: _SurveyRuns) -> list[TextColumn]:
    estimate, confidence = made.first.estimate, made.asked.confidence
    spans = estimate.interval(confidence)
    digits = _choose_digits(min((high - low) / 2 for low, high in spans))

    def hundredths(value: float) -> str:
        return f"{100 * value:.{digits}f}" if abs(100 * value) < _WIDE else f"{100 * value:.2g}"

    def percent(values: Sequence[float]) -> tuple[str, ...]:
        return tuple(align_points([f"{hundredths(value)} %" for value in values]))

    ends = tuple(f"{hundredths(low)} … {hundredths(high)} %" for low, high in spans)
    plain = tuple(f"± {hundredths(width)} %" for width in made.plain)
    return [
        TextColumn("answer", tuple(clean(name) for name in made.asked.answers)),
        TextColumn("truth", percent(made.first.true_shares), right=True),
        TextColumn("estimate", percent(estimate.frequencies), right=True),
        TextColumn("interval", ends, right=True),
        TextColumn("plain", plain, right=True),
    ]


def _choose_digits(width: float) -> int:
    """Return the decimals of a percentage that an error bar of this share carries: two significant ones."""
    return max(0, min(6, 1 - math.floor(math.log10(100 * width))))


def _list_facts(made: _SurveyRuns, hidden: ShuffledLoss) -> list[tuple[str, str]]:
    from jali.numbers.exact import decimal_above

    asked, forecast = made.asked, max(made.forecast)
    worst = show_percent(asked.mechanism.error(asked.confidence, people=asked.people))
    rare = max(share * (1 - share) for share in asked.answers.values())
    told = [
        ("loss", f"epsilon {_format_loss(made)} for each person, whoever asks, without trust in anybody"),
        ("error", f"at most {worst} for any answer, at {show_percent(asked.confidence)} confidence"),
    ]
    if rare:
        equal = max(1, round(float(rare) / (float(rare) / asked.people + forecast**2)))
        told += [
            ("worth", f"as much as about {equal:,} plain answer{'s'[: equal != 1]} of people drawn at random")
        ]
    spent = f"epsilon {decimal_above(hidden.bound)} at delta {decimal_above(hidden.failure)}"
    kind = {"count": "exactly", "alone": "no less than alone"}.get(hidden.method, "at most")
    told += [("shuffled", f"{spent} for each person ({kind}), if only the shuffled answers are seen")]
    if asked.repeats > 1:
        total = asked.repeats * len(asked.answers)
        share = show_percent(made.hit_count / total)
        told += [
            (
                "repeated",
                f"{asked.repeats:,} surveys: {made.hit_count:,} of {total:,} intervals hold the truth, {share}",
            )
        ]
        error = ", ".join(show_percent(value) for value in made.root_mean_square)
        theory = ", ".join(show_percent(value) for value in made.forecast)
        told += [("", f"root mean square error {error}; in theory {theory}")]
    return told


def _wrap_text(text: str, mark: Callable[[str], str] = str) -> str:
    return "\n".join(mark(line) for line in textwrap.wrap(text, measure_width(sys.stdout), break_on_hyphens=False))


def _encode_survey(made: _SurveyRuns, hidden: ShuffledLoss) -> dict[str, Any]:
    from jali.numbers.rounding import float_above

    asked, first = made.asked, made.first
    method, title = _NAMES[type(asked.mechanism).__name__]
    spans = first.estimate.interval(asked.confidence)
    rows = zip(
        asked.answers.items(),
        first.truth,
        first.estimate.frequencies,
        first.estimate.stddevs,
        spans,
        made.plain,
        made.root_mean_square,
        made.forecast,
        strict=True,
    )
    return {
        "people": asked.people,
        "method": method,
        "title": title,
        "epsilon": str(asked.mechanism.loss.event.epsilon),
        "confidence": asked.confidence,
        "error": asked.mechanism.error(asked.confidence, people=asked.people),
        "answers": [
            {
                "answer": name,
                "share": str(share),
                "truth": true / asked.people,
                "estimate": made_,
                "stddev": stddev,
                "interval": list(span),
                "plain": plain,
                "root_mean_square": error,
                "forecast": forecast,
            }
            for (name, share), true, made_, stddev, span, plain, error, forecast in rows
        ],
        "surveys": asked.repeats,
        "covered": made.hit_count,
        "shuffled": {
            "epsilon": float_above(hidden.bound),
            "delta": str(hidden.failure),
            "method": hidden.method,
            "adjacency": hidden.adjacency.value,
        },
    }


def _draw_figure(made: _SurveyRuns) -> Any:
    from jali.display.plots.mechanism_plots import survey as draw

    first = made.first
    axes = draw(
        first.estimate,
        tuple(made.asked.answers),
        truth=first.true_shares,
        plain=made.plain,
        confidence=made.asked.confidence,
        title=_format_title(made),
    )
    return axes.figure
