"""Attack published tables: integer constraints, a solver, and a proof that there is no other solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.errors import CatalogError, settle
from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.attack_base import Attack, Exhibit, Facts, Guess, Prediction, Progress, Setting, silent
from jali.lab.attacks.tables.integer_program import (
    Solutions,
    build_constraints,
    find_likeliest_people,
    find_solutions,
)
from jali.lab.attacks.tables.published_tables import (
    MOST_IN_A_BLOCK,
    Agency,
    TableRelease,
    list_codes,
    list_commonest,
)
from jali.privacy.rationals import positive, positive_integer


@dataclass(frozen=True)
class Tables(Attack[Agency]):
    """Write published tables as constraints in integers, solve them, and prove that nobody else fits.

    The unknowns are how many people there are of each age, sex, race and marital status. Counts and rounded means
    are linear in them, medians nearly (see `build_constraints`); a withheld cell says that it is small. Then a
    block that misses somebody of the solution is sought. If there is none, the solution is the truth; otherwise
    the people that all solutions have in common are true, and the likeliest solution is the guess.

    Proof:
        The true block is a solution, so a unique solution is the true block. HiGHS decides in floating point, on
        integers below 2**20.

    Private tables contradict each other, so there is nothing to prove: the likeliest people are the guess.

    Attributes:
        threshold: The agency withholds cells of fewer people.
        limit: The most solutions to list.
        patience: How many seconds all searches together may take. What is not proved by then is not proved.
    """

    threshold: int = 3
    limit: int = 8
    patience: float = 20.0

    name: ClassVar[str] = "tables"
    statement: ClassVar[str] = (
        "exact tables, even without small cells, often fit a single block of people, which a solver finds and "
        "proves (Garfinkel, Abowd, Martindale 2019)"
    )
    exhibit: ClassVar[Exhibit] = Exhibit(n=7, noise="none")
    against: ClassVar[tuple[str, ...]] = ("simulator", "jali")
    attacks: ClassVar[str] = "published tables"
    noises: ClassVar[tuple[str, ...]] = ("none",)
    most: ClassVar[int] = MOST_IN_A_BLOCK
    things: ClassVar[str] = "people"

    def __post_init__(self) -> None:
        positive_integer(self.threshold, "threshold")
        positive_integer(self.limit, "limit")
        positive(self.patience, "patience")

    def guess(self, oracle: Agency, progress: Progress = silent) -> Guess:
        """Read the tables, and guess the people."""
        progress("reading the tables")
        release = oracle.publish()
        if release.weight is None:
            return self._solve_exact(release, progress)
        progress("solving for the least violation")
        return _guess_likeliest(release)

    def predict(self, _: Facts) -> Prediction | None:
        """Return nothing: how many blocks fit is known only after solving."""
        return None

    def opponent(self, setting: Setting) -> Agency:
        """Make an agency with a block of its own."""
        from jali.lab.attacks.oracles.census_block import PrivateAgency, SuppressingAgency

        if setting.against == "jali":
            return PrivateAgency.of(setting)
        if setting.noise.kind != "none":
            raise CatalogError("attack-tables-with-noise", noise=settle(setting.noise))
        return SuppressingAgency.of(setting.n, threshold=self.threshold, seed=setting.seed)

    def chance(self, oracle: Agency) -> float | None:
        """Return the share that is guessed right without a release, at most."""
        return oracle.prior

    def _solve_exact(self, release: TableRelease, progress: Progress) -> Guess:
        program = build_constraints(release)
        seconds = float(self.patience)
        try:
            found = find_solutions(program, release.people, limit=self.limit, seconds=seconds, progress=progress)
        except TimeoutError:
            return _give_up(release, seconds)
        if found is None:
            raise CatalogError("attack-tables-contradictory")
        block = list_codes(found.blocks[0])
        figures = {
            "solutions": len(found.blocks),
            "unique": int(found.unique),
            "people_determined": int(found.determined.sum()),
            "tables_withheld": sum(told.count is None for told in release.statistics),
            "variables": program.variables,
            "constraints": program.constraints,
        }
        return Guess(
            block, _find_confidence(found), len(release.statistics), figures, _describe_solutions(found, release)
        )


def _find_confidence(found: Solutions) -> Doubles:
    """Return 1 for people who are in all solutions, and for others less, by the share of solutions they are in."""
    block = found.blocks[0]
    shared = np.mean([np.minimum(block, other) for other in found.blocks], axis=0)
    share = np.where(found.determined == block, 1.0, np.clip(2 * shared / np.maximum(block, 1) - 1, 0.0, 0.99))
    return np.repeat(share, block)


def _describe_solutions(found: Solutions, release: TableRelease) -> dict[str, str]:
    """Describe what is proved, and from what."""
    withheld = sum(told.count is None for told in release.statistics)
    sure, number = int(found.determined.sum()), len(found.blocks)
    least = "" if found.complete else "at least "
    fitting = f"{least}{number} fit; {sure} of the {release.people} people are in every one"
    if not found.complete and number == 1:
        fitting = "1 was found; whether there are others is not known"
    return {
        "solutions": "1 fits, and it is proved that there is no other" if found.unique else fitting,
        "tables": f"{len(release.statistics) - withheld} published, {withheld} withheld",
    }


def _give_up(release: TableRelease, seconds: float) -> Guess:
    notes = {"solutions": f"none was found in {seconds:g} s; the guess is what anybody would guess"}
    block = list_codes(list_commonest(release.people))
    return Guess(block, np.zeros(release.people), len(release.statistics), notes=notes)


def _guess_likeliest(release: TableRelease) -> Guess:
    block = find_likeliest_people(release)
    return Guess(list_codes(block), np.zeros(release.people), len(release.statistics))
