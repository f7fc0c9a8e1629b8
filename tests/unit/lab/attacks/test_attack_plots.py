"""Pictures of attacks: their data by independent formulas, their drawing by what matplotlib holds afterwards."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from tests.depth import deep, thinned

from jali.errors import CatalogError
from jali.lab.attacks.attack_result import CalibrationBin, Sense
from jali.lab.attacks.staging import stage
from jali.lab.attacks.sweeps import Sweep, SweepLine, SweepPoint, Tour, TourStop
from jali.lab.attacks.tracing import Roc
from jali.plots import (
    ConfidenceDot,
    ShareDot,
    TourDot,
    attack_calibration,
    attack_roc,
    attack_sweep,
    attack_tour,
    calibration_curves,
    roc_curves,
    share_curves,
    sweep_curves,
    tour_curves,
)
from jali.privacy import Adjacency


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    import matplotlib
    from matplotlib import pyplot

    matplotlib.use("Agg")
    yield
    pyplot.close("all")


def point(at: float, share: float, law: float | None, sense: Sense = "equal") -> SweepPoint:
    return SweepPoint(at, share, (share - 0.02, min(1.0, share + 0.02)), law, sense, 64, False)


GOOD = SweepLine("one", "kind noise", (point(0.1, 0.98, 1.0), point(1, 0.8, 0.82), point(10, 0.51, 0.52)))
BAD = SweepLine("one", "worst noise", tuple(point(at, 0.3, 0.1, "at least") for at in (0.1, 1.0, 10.0)))
SILENT = SweepLine("two", "kind noise", (point(0.1, 0.7, None), point(10, 0.6, None)))
NOISE = Sweep("noise", 64, 1, (GOOD, BAD, SILENT), marks={"sqrt(n)": 1.0, "n": 8.0})
COUNTED = Sweep("questions", 64, 1, (GOOD,), marks={"refused": 4.0}, ceiling=((0.1, 0.55), (10, 0.73)), each=0.25)
RESULT = stage("hadamard", n=256, noise="uniform:8", seed=1).run()


def texts(axes: Any) -> set[str]:
    return {text.get_text() for text in axes.texts}


def seen(axes: Any) -> list[Any]:
    """Return the lines that can be seen."""
    return [line for line in axes.lines if line.get_alpha() != 0]


def test_sweep_curves_are_plain_numbers() -> None:
    curves = sweep_curves(NOISE)
    assert list(curves) == ["one, kind noise", "one, worst noise", "two, kind noise"]
    assert [(dot.at, dot.fraction, dot.law) for dot in curves["one, kind noise"]] == [
        (0.1, 0.98, 1.0),
        (1, 0.8, 0.82),
        (10, 0.51, 0.52),
    ]
    assert not curves["one, worst noise"][0].exact
    assert curves["two, kind noise"][1].law is None


@deep
def test_a_sweep_shows_what_was_measured_beside_the_law_and_both_thresholds() -> None:
    axes = attack_sweep(NOISE)
    assert axes.get_xscale() == "log"
    drawn = {tuple(map(float, line.get_ydata())): line for line in seen(axes)}
    assert drawn[(0.98, 0.8, 0.51)].get_marker() == "o"
    assert drawn[(1.0, 0.82, 0.52)].get_linestyle() == "-"
    assert drawn[(0.1, 0.1, 0.1)].get_linestyle() == "--"  # a bound
    places = [line.get_xdata()[0] for line in seen(axes) if line.get_xdata()[0] == line.get_xdata()[-1]]
    assert places == [1.0, 8.0]
    assert texts(axes) == {"one, kind noise", "one, worst noise", "two, kind noise", r"$\sqrt{n}$", "$n$"}
    assert axes.get_title(loc="left").replace("\n", " ").endswith("Lines: the law (dashed: at least).")
    assert axes.get_ylim()[0] < 0.2


@deep
def test_a_sweep_by_questions_has_the_spent_epsilon_above_and_the_ceiling() -> None:
    axes = attack_sweep(COUNTED)
    (above,) = axes.child_axes
    low, high = axes.get_xlim()
    axes.figure.draw_without_rendering()
    assert above.get_xlim() == pytest.approx((0.25 * low, 0.25 * high))
    assert above.get_xlabel() == "epsilon spent"
    assert any(tuple(line.get_ydata()) == (0.55, 0.73) for line in seen(axes))
    assert {"the ledger refuses", "with a ledger no chance is above this"} <= texts(axes)


@thinned(2)
@pytest.mark.parametrize("sweep", [NOISE, COUNTED])
def test_labels_of_a_sweep_neither_overlap_nor_leave_the_axes(sweep: Sweep) -> None:
    axes = attack_sweep(sweep)
    axes.figure.draw_without_rendering()
    edge = axes.get_window_extent()
    extents = [text.get_window_extent() for text in axes.texts]
    for index, extent in enumerate(extents):
        assert edge.x0 <= extent.x0 < extent.x1 <= edge.x1
        assert edge.y0 <= extent.y0 < extent.y1 <= edge.y1
        assert not any(extent.overlaps(other) for other in extents[:index])


def test_calibration_curves_are_shares_of_the_bits() -> None:
    class Marked:
        """Ten sure bits and thirty doubtful ones."""

        attack, oracle, fraction, baseline, ceiling = "one", "nobody", 0.75, 0.5, None
        calibration = (CalibrationBin(1, 18.0, 20, 30), CalibrationBin(9, 9.5, 10, 10))

    doubtful, sure = calibration_curves(cast(Any, Marked()))
    assert (doubtful.claim, doubtful.fraction, doubtful.share) == pytest.approx((0.6, 2 / 3, 0.75))
    assert sure == ConfidenceDot(0.95, 1.0, sure.interval, 0.25)
    assert sure.interval == pytest.approx((0.025**0.1, 1.0))


def test_a_result_is_drawn_with_its_levels() -> None:
    axes = attack_calibration(RESULT)
    (dots,) = [held for held in axes.collections if len(held.get_offsets()) > 1]
    assert np.allclose(dots.get_offsets(), [(one.claim, one.fraction) for one in RESULT.calibration])
    assert texts(axes) == {
        "right as often as it says",
        f"all bits: {100 * RESULT.fraction:.1f} %",
        "without a release: 50.0 %",
    }
    assert axes.get_title(loc="left") == "hadamard against a simulator with noise uniform:8"
    assert RESULT.plot() is not axes


def test_a_result_without_bits_is_drawn_by_its_shares() -> None:
    people = replace(RESULT, calibration=(), things="people", chance=0.1, predicted=0.5)
    assert share_curves(people) == {
        "right": ShareDot(people.fraction, people.interval),
        "without a release": ShareDot(0.1, (0.1, 0.1)),
        "the law": ShareDot(0.5, (0.5, 0.5)),
    }
    axes = people.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        f"right: {100 * people.fraction:.1f} %",
        "without a release: 10.0 %",
        "the law: 50.0 %",
    ]
    assert axes.get_xlim() == pytest.approx((-0.02, 1.02))
    assert axes.get_xlabel() == "share of people"
    assert [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"] == [people.fraction, 0.1, 0.5]
    spent = replace(people, spent=Fraction(1), adjacency=Adjacency.REPLACE_ONE)
    assert share_curves(spent)["the ceiling"].share == spent.ceiling
    attack_calibration(people)


@thinned(3)
@pytest.mark.parametrize("sweep", [NOISE, COUNTED, replace(NOISE, n=1_000_000)])
def test_the_title_of_a_sweep_is_a_line(sweep: Sweep) -> None:
    assert "\n" not in attack_sweep(sweep).get_title(loc="left")


def test_a_tour_has_a_row_for_each_attack_and_a_dot_for_each_opponent() -> None:
    tour = Tour((TourStop("simulator", RESULT), TourStop("unledgered", RESULT)))
    assert tour_curves(tour) == {
        "hadamard": tuple(
            TourDot(foe, RESULT.fraction, RESULT.interval, 0.5, None) for foe in ("simulator", "unledgered")
        )
    }
    axes = attack_tour(tour)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["hadamard"]
    named = [text.get_text() for text in axes.get_legend().get_texts()]
    assert named == ["a simulator", "Jali without a ledger", "without a release"]


def test_the_ceiling_of_a_spent_loss_is_drawn_in_its_row() -> None:
    spent = stage("singletons", n=4, against="jali").run()
    axes = attack_tour(Tour((TourStop("jali", spent),)))
    assert "ceiling of Jali's loss" in [text.get_text() for text in axes.get_legend().get_texts()]
    assert any(line.get_xdata()[0] == pytest.approx(math.e / (1 + math.e)) for line in axes.lines)


def test_roc_curves_hold_what_an_epsilon_allows() -> None:
    curves = roc_curves({}, epsilon=0.5)
    (bound,) = (curve for name, curve in curves.items() if name != "guessing")
    for false, true in bound:
        # The trade-off of a pure loss: both errors weigh against each other by e^epsilon.
        assert true <= math.exp(0.5) * false + 1e-12
        assert 1 - false <= math.exp(0.5) * (1 - true) + 1e-12
        assert min(math.exp(0.5) * false - true, math.exp(0.5) * (1 - true) - (1 - false)) < 1e-12
    assert all(false == true for false, true in curves["guessing"])
    with pytest.raises(CatalogError, match="epsilon must be 0 or more"):
        roc_curves({}, epsilon=-1)


def test_a_roc_is_drawn_in_stairs_over_a_logarithmic_axis() -> None:
    random = np.random.default_rng(1)
    measured = Roc.of(random.normal(2, 1, 50), random.normal(0, 1, 50))
    axes = attack_roc({"exact means": measured}, epsilon=1)
    assert axes.get_xscale() == "log"
    (line,) = (line for line in axes.lines if line.get_label() == "exact means")
    assert line.get_drawstyle() == "steps-post"
    assert list(line.get_ydata()) == list(measured.true_positives)
    assert min(line.get_xdata()) > 0
    assert {"exact means", "guessing", "no test of an epsilon of 1 is above this"} == texts(axes)
