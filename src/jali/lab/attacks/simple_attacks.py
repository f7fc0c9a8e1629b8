"""Attack with few kinds of questions: repeated ones, differences, and single people.

Averaging asks the same question again and again, and takes the median. Difference counts a set of people with
somebody in it, and without. Singletons asks about single people: the strongest attack on a bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from jali.errors import CatalogError
from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.attack_base import Exhibit, Facts, Guess, Prediction, Progress, Setting, silent
from jali.lab.attacks.noise_models import Noise, find_crossing, find_difference_crossing
from jali.lab.attacks.opponents import Reconstruction
from jali.lab.attacks.oracle import Oracle, Refusal
from jali.lab.attacks.subsets.subset_operators import Repeated, Singles, WithAndWithout
from jali.local.binomial import upper_tail
from jali.numbers.search import bracket, least_integer
from jali.privacy.rationals import positive_integer

_MOST_ANSWERS = 20_000_000
_TRIED = 3
_NEVER = 1e-30
_WORTH = 10


@dataclass(frozen=True)
class Averaging(Reconstruction):
    """Ask about each person many times, and see on which side of 1/2 the median of the answers is.

    Error:
        With a = Pr[noise > 1/2], the median of m independent answers is wrong when a binomial of m and a is above
        m/2. The loss grows with m: without a ledger nobody counts it. The same words again are the same answer
        again, from a database that keeps its answers.

    Attributes:
        repeats: How often each question is asked; by default until 99 % of the medians are exact counts.
        same_words: Whether the question is repeated word by word, and not in new words each time.
    """

    repeats: int | None = None
    same_words: bool = False

    name: ClassVar[str] = "averaging"
    statement: ClassVar[str] = (
        "fresh noise averages out (Denning 1980): the median of 2,655 answers with epsilon 0.1 each is the exact "
        "count in 99 % of all cases; together they cost 265.5"
    )
    exhibit: ClassVar[Exhibit] = Exhibit(n=32, noise="geometric:10")

    def __post_init__(self) -> None:
        if self.repeats is not None:
            positive_integer(self.repeats, "repeats")

    def opponent(self, setting: Setting) -> Oracle:
        """Make what is attacked; a ledger is asked for useful answers, a tenth of the budget each."""
        if setting.against != "jali" or setting.each is not None:
            return super().opponent(setting)
        # In the same words everybody is asked about once, and again for nothing.
        shares = max(_WORTH, setting.n) if self.same_words else _WORTH
        return super().opponent(replace(setting, each=setting.epsilon / shares))

    def check(self, people: int) -> None:
        """Refuse more answers than fit."""
        super().check(people)
        if self.repeats is not None and people * self.repeats > _MOST_ANSWERS:
            raise CatalogError(
                "attack-repeats-too-many",
                most=_MOST_ANSWERS // people,
                people=people,
                repeats=self.repeats,
                name="repeats",
            )

    def refusal(self, oracle: Oracle, guess: Guess) -> Refusal | None:
        """Return where the oracle refused; with the same words, only if it refused one of these questions.

        It is not asked others to see that it does: that the same words cost nothing is the point.
        """
        return None if self.same_words and guess.questions >= oracle.n else super().refusal(oracle, guess)

    def guess(self, oracle: Oracle, progress: Progress = silent) -> Guess:
        """Ask, and guess the secret."""
        repeats = self.repeats or min(find_enough_answers(oracle.noise), max(1, _MOST_ANSWERS // oracle.n))
        progress("asking")
        rounds = self._ask_rounds(oracle, repeats)
        progress("counting")
        above, given = (rounds > 0.5).sum(axis=0), (~np.isnan(rounds)).sum(axis=0)
        bits = np.where(given, 2 * above > given, oracle.prior > 0.5).astype(np.int8)
        answers = int(given.sum())
        fresh = answers if _differ(rounds) else min(answers, oracle.n)
        confidence = 2 * _predict_each(Facts(oracle.n, oracle.noise, fresh)) - 1
        figures = {"repeats": float(repeats)} | ({} if answers == fresh else {"answers": float(answers)})
        return Guess(
            bits, confidence, fresh, figures, {"repeats": self._describe_repeats(repeats, answers, fresh)}
        )

    def _describe_repeats(self, repeats: int, answers: int, fresh: int) -> str:
        """Describe what asking again gained."""
        if answers > fresh:
            tried = f"{answers // fresh} of {repeats:,} for each person, in the same words"
            return f"{tried}: the same answer every time, charged once"
        return (
            f"{repeats:,} for each person, {'in the same words' if self.same_words else 'worded anew each time'}"
        )

    def _ask_rounds(self, oracle: Oracle, repeats: int) -> Doubles:
        """Ask round after round; the same words a few times first, to see whether it is any use."""
        singles = Singles(oracle.n)
        if not self.same_words:
            return _arrange_rounds(oracle.ask(Repeated(singles, repeats)), oracle.n)
        first = _arrange_rounds(oracle.ask(Repeated(singles, min(_TRIED, repeats), reworded=False)), oracle.n)
        if repeats <= _TRIED or not _differ(first):
            return first
        return np.vstack(
            (first, _arrange_rounds(oracle.ask(Repeated(singles, repeats - _TRIED, reworded=False)), oracle.n))
        )

    def predict(self, facts: Facts) -> Prediction | None:
        """Return Pr[Binomial(m, Pr[noise > 1/2]) < m/2], a tie being half right."""
        if find_crossing(facts.noise) is None:
            return None
        return Prediction(float(_predict_each(facts).mean()), "Pr[Binomial(m, Pr[noise > 1/2]) < m/2]")


@lru_cache(maxsize=1024)
def predict_median(noise: Noise, answers: int) -> float:
    """Return the probability that the median of independent answers is on the right side of 1/2.

    Example:
        >>> round(predict_median(Noise("geometric", 10), 2655), 4)
        0.995
    """
    above = find_crossing(noise)
    if above is None or answers == 0:
        return 0.5
    if above < _NEVER:
        return 1.0
    most, least = upper_tail([answers // 2 + 1, (answers + 1) // 2], answers, above)
    return max(0.5, float(1 - (most + least) / 2))


@lru_cache(maxsize=64)
def find_enough_answers(noise: Noise, share: float = 0.99) -> int:
    """Return the least odd number of answers whose median is the exact count with this probability.

    It is above it as often as below: on the wrong side of a bit it is half as often as it is not exact.

    Example:
        >>> find_enough_answers(Noise("geometric", 10)), find_enough_answers(Noise("geometric", 1))
        (2655, 29)
    """

    def suffices(half: int) -> bool:
        return predict_median(noise, 2 * half - 1) >= (1 + share) / 2

    return 2 * least_integer(suffices, *bracket(suffices, 0, 1, most=_MOST_ANSWERS)) - 1


def _arrange_rounds(answers: Doubles, people: int) -> Doubles:
    """Return the answers of each round in a row; those that were not given are NaN."""
    rounds = np.full((max(1, -(-len(answers) // people)), people), np.nan)
    rounds.flat[: len(answers)] = answers
    return rounds


def _predict_each(facts: Facts) -> Doubles:
    """Return, for each person, the probability of a right guess: the first ones may have one answer more."""
    rounds, more = divmod(facts.questions, facts.n)
    first, others = predict_median(facts.noise, rounds + 1), predict_median(facts.noise, rounds)
    return np.where(np.arange(facts.n) < more, first, others)


def _differ(rounds: Doubles) -> bool:
    """Return whether any answer came out otherwise when it was asked again; if none did, they are one answer."""
    return not bool(np.all((rounds == rounds[0]) | np.isnan(rounds)))


@dataclass(frozen=True)
class Difference(Reconstruction):
    """Ask for a large count with a person and without, and read a difference above 1/2 as a 1.

    No question is about few people: a rule against small counts does not help.

    Error:
        A bit is right with probability 1 - Pr[X - Y > 1/2] for the noises X and Y of the two answers, where they
        are independent.
    """

    name: ClassVar[str] = "difference"
    statement: ClassVar[str] = (
        "the counts of a set with and without somebody differ by that person's bit, however large the set is "
        "(Denning, Denning and Schwartz 1979 on trackers)"
    )
    exhibit: ClassVar[Exhibit] = Exhibit(n=1024, noise="geometric:0.25", few=64, each=8)

    def guess(self, oracle: Oracle, progress: Progress = silent) -> Guess:
        """Ask, and guess the secret."""
        progress("asking")
        answers = oracle.ask(WithAndWithout(oracle.n))
        pairs = len(answers) // 2
        differences = answers[0 : 2 * pairs : 2] - answers[1 : 2 * pairs : 2]
        return _read_each(oracle, differences, find_difference_crossing(oracle.noise), len(answers))

    def predict(self, facts: Facts) -> Prediction | None:
        """Return 1 - Pr[X - Y > 1/2] for who was asked about, and the likelier value for the others."""
        law, asked = "1 - Pr[noise - noise' > 1/2]", facts.questions // 2
        return _predict_asked(facts, asked, find_difference_crossing(facts.noise), law)


def _read_each(oracle: Oracle, counts: Doubles, wrong: float | None, questions: int) -> Guess:
    """Read a count above 1/2 as a 1, which is wrong so often; take the likelier value for who was not counted."""
    bits, confidence = np.full(oracle.n, oracle.prior > 0.5, np.int8), np.zeros(oracle.n)
    bits[: len(counts)] = counts > 0.5
    confidence[: len(counts)] = 0.0 if wrong is None else 1 - 2 * wrong
    return Guess(bits, confidence, questions)


def _predict_asked(facts: Facts, asked: int, wrong: float | None, law: str) -> Prediction | None:
    """Return the share that is right, of whom this many were asked about; None where no law says it."""
    if wrong is None:
        return None
    share = asked / facts.n
    others = (1 - share) * max(facts.prior, 1 - facts.prior)
    return Prediction(share * (1 - wrong) + others, law, any_prior=True)


@dataclass(frozen=True)
class Singletons(Reconstruction):
    """Ask for the count of each person alone, and read an answer above 1/2 as a 1.

    Error:
        A bit is right with probability 1 - Pr[noise > 1/2]. For discrete Laplace noise of the loss epsilon that is
        e^epsilon / (1 + e^epsilon), which no guess after any epsilon-private release exceeds: where one person is
        asked about with the whole budget, the ceiling is met. Nobody else's bit is learned then.

    Attributes:
        people: About how many people to ask; all of them by default.
    """

    people: int | None = None

    name: ClassVar[str] = "singletons"
    statement: ClassVar[str] = (
        "one count about one person with discrete Laplace noise tells its bit with probability e^eps/(1+e^eps), "
        "and nothing that is eps-private tells more (Wasserman, Zhou 2010)"
    )
    exhibit: ClassVar[Exhibit] = Exhibit(n=1024, noise="geometric:1", each=8)

    def __post_init__(self) -> None:
        if self.people is not None:
            positive_integer(self.people, "people")

    def guess(self, oracle: Oracle, progress: Progress = silent) -> Guess:
        """Ask, and guess the secret."""
        people = oracle.n if self.people is None else self.people
        if people > oracle.n:
            raise CatalogError("attack-singletons-too-many", n=oracle.n, people=people, name="people")
        progress("asking")
        answers = oracle.ask(Singles(oracle.n, people))
        return _read_each(oracle, answers, find_crossing(oracle.noise), len(answers))

    def predict(self, facts: Facts) -> Prediction | None:
        """Return 1 - Pr[noise > 1/2] for who was asked about, and the likelier value for the others."""
        return _predict_asked(facts, facts.questions, find_crossing(facts.noise), "1 - Pr[noise > 1/2]")
