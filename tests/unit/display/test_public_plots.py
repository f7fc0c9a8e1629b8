"""Pictures: their data by independent formulas, their drawing by what matplotlib holds afterwards."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.depth import deep, thinned

from jali.display.plots.plot_labels import LabelBox, choose_boxes, densify, space_out
from jali.display.plots.privacy_plots import draw_composition, draw_profiles, merge_curves
from jali.errors import CatalogError, JaliError
from jali.plots import (
    composition,
    composition_curves,
    profile_curves,
    profiles,
    spending,
    spending_curves,
    trade_off_curves,
    trade_offs,
)
from jali.privacy import (
    Approximate,
    BoundedRange,
    Budget,
    Concentrated,
    Event,
    GaussianLoss,
    Profile,
    Pure,
    SubsampledLoss,
)

DOCS = Path(__file__).parents[3] / "docs"
LOSSES = {"pure": Pure(1), "range": BoundedRange(1), "normal": GaussianLoss(4)}
PICTURES = ("comparison", "composition", "profiles", "trade_offs", "spending", "errors", "survey")
ATTACKS = tuple(f"attack_{what}" for what in ("noise", "epsilon", "questions", "averaging", "roc"))
AUDITS = ("audits", "audit_broken")
DAY = "2026-01-{:02d}T10:00:00+00:00"


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    import matplotlib
    from matplotlib import pyplot

    matplotlib.use("Agg")
    yield
    pyplot.close("all")


def asked(*events: Event) -> list[tuple[str, Event]]:
    return [(DAY.format(day), event) for day, event in enumerate(events, 1)]


# Data.


def test_composition_curves_hold_every_theorem_that_applies_at_every_count() -> None:
    curves = composition_curves(Pure(0.1), (100, 1, 10), 1e-6)
    basic = curves["basic composition"]
    assert [k for k, _ in basic] == [1, 10, 100]
    assert [epsilon for _, epsilon in basic] == pytest.approx([0.1, 1, 10])
    simple = 0.5 + 2 * math.sqrt(0.5 * math.log(1e6))  # rho + 2 sqrt(rho ln 1/delta) at rho = 100 * 0.1^2 / 2
    assert dict(curves["zCDP with the simple conversion"])[100] == pytest.approx(simple)
    assert min(dict(points)[100] for points in curves.values() if len(points) == 3) == pytest.approx(4.774567588)


def test_composition_curves_leave_out_theorems_that_say_nothing() -> None:
    curves = composition_curves(Concentrated(0.01), (1, 10), 1e-6)
    assert "basic composition" not in curves
    assert all(math.isfinite(epsilon) for points in curves.values() for _, epsilon in points)


def test_profile_curves_are_the_formula_and_reach_the_floor() -> None:
    curve = profile_curves({"pure": Pure(1)}, floor=1e-6)["pure"]
    for epsilon, delta in zip(curve.epsilons, curve.deltas, strict=True):
        assert delta == pytest.approx(max(0.0, (math.e - math.exp(epsilon)) / (1 + math.e)), rel=1e-9, abs=1e-15)
    assert any(1e-7 < delta <= 1.1e-6 for delta in curve.deltas)
    assert list(curve.epsilons) == sorted(set(curve.epsilons))


def test_profile_curves_share_their_range() -> None:
    curves = profile_curves(LOSSES)
    assert {curve.epsilons[0] for curve in curves.values()} == {0.0}
    assert len({curve.epsilons[-1] for curve in curves.values()}) == 1


def test_trade_off_curves_are_the_formula_and_hold_the_bend() -> None:
    curve = trade_off_curves({"pure": Pure(1)}, count=11)["pure"]
    for fpr, fnr in zip(curve.fprs, curve.fnrs, strict=True):
        assert fnr == pytest.approx(max(0.0, 1 - math.e * fpr, (1 - fpr) / math.e), abs=1e-9)
    assert min(abs(fpr - 1 / (1 + math.e)) for fpr in curve.fprs) < 1e-8


def test_spending_adds_up_each_kind_against_its_limit() -> None:
    curves = spending_curves(asked(Pure(0.5).event, Approximate(1, 1e-7).event), Budget(3, 1e-6))
    epsilon, rho, delta = curves
    assert [curve.kind for curve in curves] == ["epsilon", "rho", "delta"]
    assert (epsilon.sums, epsilon.limit) == ((0.5, 1.5), 3.0)
    assert (rho.sums, delta.limit) == ((0.125, 0.625), 5e-7)
    assert delta.sums == pytest.approx((0, 1e-7))
    assert epsilon.shares == pytest.approx((1 / 6, 1 / 2))
    assert epsilon.times == (datetime(2026, 1, 1, 10, tzinfo=UTC), datetime(2026, 1, 2, 10, tzinfo=UTC))


def test_spending_of_a_pure_budget_has_one_limit() -> None:
    assert [curve.kind for curve in spending_curves(asked(Pure(1).event), Budget(3))] == ["epsilon"]


def test_sums_of_epsilon_end_where_gaussian_noise_comes_in() -> None:
    events = (Pure(0.5).event, Concentrated(0.01).event, Pure(0.5).event)
    epsilon, rho = spending_curves(asked(*events), Budget(3, 1e-6))
    assert epsilon.sums == (0.5,)
    assert rho.sums == pytest.approx((0.125, 0.135, 0.26))


def test_sums_round_up_and_limits_down() -> None:
    (curve,) = spending_curves(asked(Pure("1/3").event), Budget("2/3"))
    assert curve.sums[0] >= 1 / 3
    assert curve.limit <= 2 / 3
    assert spending_curves([], Budget(1)) == ()


def test_bad_input_is_named() -> None:
    with pytest.raises(CatalogError, match="losses must be a dictionary"):
        profile_curves(Pure(1))  # type: ignore[arg-type]
    with pytest.raises(CatalogError, match="losses must be a dictionary"):
        trade_off_curves({"one": 1})  # type: ignore[dict-item]
    with pytest.raises(CatalogError, match="floor"):
        profile_curves(LOSSES, floor=0)
    with pytest.raises(CatalogError, match="count"):
        composition_curves(Pure(1), [0])
    with pytest.raises(CatalogError, match="delta"):
        composition(Pure(1), delta=2)
    for debits, words in (
        ([("yesterday", Pure(1).event)], "debits contains a time that is not a date and time: 'yesterday'"),
        ([(5, Pure(1).event)], "debits contains a time that is not a date and time"),
        ([(DAY.format(1), 1)], "debits contains an event that is neither an Event nor a loss"),
        ([Pure(1).event], r"debits must be \(time, event\) pairs"),
        (5, r"debits must be \(time, event\) pairs"),
    ):
        with pytest.raises(CatalogError, match=f"^{words}"):
            spending_curves(debits, Budget(1))  # type: ignore[arg-type]
    with pytest.raises(CatalogError, match=r"^budget is not a Budget: 3"):
        spending_curves(asked(Pure(1).event), 3)  # type: ignore[arg-type]
    for counts in (5, None):
        with pytest.raises(CatalogError, match=r"^counts must be a list of whole numbers"):
            composition(Pure(1), counts)  # type: ignore[arg-type]
    for wrong in (["a"], [1, 2.5], [-1]):
        with pytest.raises(CatalogError, match=r"^counts "):
            composition(Pure(1), wrong)  # type: ignore[arg-type]


def test_times_are_datetimes_or_text_and_without_a_zone_they_are_utc() -> None:
    text, zoned, naive, elsewhere = (
        spending_curves([(at, Pure(1).event)], Budget(3))
        for at in (
            "2025-01-01T10:00:00",
            datetime(2025, 1, 1, 10, tzinfo=UTC),
            datetime(2025, 1, 1, 10),  # noqa: DTZ001 - a time without a zone is what is tested
            "2025-01-01T12:00:00+02:00",
        )
    )
    assert text == zoned == naive == elsewhere
    assert text[0].times == (datetime(2025, 1, 1, 10, tzinfo=UTC),)


def test_a_loss_stands_for_its_event() -> None:
    assert spending_curves([(DAY.format(1), Pure(1))], Budget(3)) == spending_curves(
        asked(Pure(1).event), Budget(3)
    )


def test_debits_are_sorted_by_their_times() -> None:
    events = asked(Pure("1/2").event, Pure("1/4").event, Pure(1).event)
    assert spending_curves(events[::-1], Budget(3)) == spending_curves(events, Budget(3))
    assert spending_curves(events[::-1], Budget(3))[0].sums == (0.5, 0.75, 1.75)


# Drawing.


def texts(axes: Any) -> dict[str, Any]:
    return {text.get_text(): text for text in axes.texts}


def test_without_matplotlib_data_is_there_and_drawing_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    curves = profile_curves(LOSSES)
    with pytest.raises(JaliError, match=r"pip install 'jali\[plots\]'"):
        draw_profiles(curves)


def test_profiles_are_drawn_on_a_logarithmic_axis_down_to_the_floor() -> None:
    axes = profiles(LOSSES, floor=1e-6)
    assert axes.get_yscale() == "log"
    assert axes.get_ylim() == (1e-6, 1)
    assert [line.get_label() for line in axes.lines] == list(LOSSES)
    assert min(axes.lines[0].get_ydata()) == 1e-8  # zero leaves through the floor
    assert set(texts(axes)) == set(LOSSES)
    assert axes.get_legend() is None


def test_trade_offs_are_drawn_below_the_diagonal() -> None:
    axes = trade_offs(LOSSES)
    diagonal, *curves = axes.lines
    assert [tuple(point) for point in diagonal.get_xydata()] == [(0, 1), (1, 0)]
    assert all(np.all(x + y <= 1 + 1e-12) for x, y in (curve.get_xydata().T for curve in curves))
    assert set(texts(axes)) == {"guessing", *LOSSES}


def test_composition_is_drawn_with_the_tightest_theorem_darkest() -> None:
    axes = composition(Pure(0.1), (1, 10, 50), delta=1e-6)
    ends = [line.get_ydata()[-1] for line in axes.lines]
    assert ends == sorted(ends)
    widths = [line.get_linewidth() for line in axes.lines]
    assert widths[0] > max(widths[1:])
    assert "Pure(0.1), at delta 1e-06" in axes.get_title(loc="left")
    assert "basic composition" in texts(axes)


def test_theorems_that_agree_share_a_line_and_a_label() -> None:
    curves = {"a": [(1, 1.0), (2, 2.0)], "b": [(1, 1.0), (2, 2.002)], "c": [(1, 1.0), (2, 3.0)], "d": [(1, 9.0)]}
    assert [names for names, _ in merge_curves(curves)] == [["a", "b"], ["c"]]
    assert set(texts(draw_composition(curves))) == {"a\n≈ b", "c"}
    assert [names for names, _ in merge_curves({"a": [(1, 1.0), (2, 2.0)], "b": [(1, 1.0), (3, 2.0)]})] == [
        ["a"],
        ["b"],
    ]


def test_spending_is_drawn_as_stairs_below_a_line_at_its_limit() -> None:
    axes = spending(asked(Pure(1).event, Pure(0.5).event), Budget(3), name="table visits")
    stairs, limit = axes.lines
    assert list(stairs.get_ydata()) == pytest.approx([0, 1 / 3, 1 / 3, 1 / 2, 1 / 2])
    assert list(limit.get_ydata()) == [1, 1]
    assert axes.get_title(loc="left") == "Spending of table visits"
    assert set(texts(axes)) == {"epsilon: 1.5 of 3"}


def test_spending_says_which_limits_there_are_and_where_epsilon_ends() -> None:
    axes = spending(asked(Pure(1).event, Concentrated(0.01).event, Pure(1).event), Budget(3, 1e-6))
    epsilon, rho, _ = axes.lines
    assert epsilon.get_xdata()[-1] == datetime(2026, 1, 2, 10, tzinfo=UTC)
    assert rho.get_xdata()[-1] > datetime(2026, 1, 3, 10, tzinfo=UTC)
    assert "granted while epsilon or rho is within its limit" in axes.get_title(loc="left")
    assert "epsilon: ends with the first Gaussian noise" in texts(axes)


def test_nothing_to_draw_is_an_error_and_no_empty_picture() -> None:
    from matplotlib import pyplot

    for draw in (profiles, trade_offs, profile_curves, trade_off_curves):
        with pytest.raises(CatalogError, match=r"^losses is empty"):
            draw({})
    for counts, words in (((), "^counts is empty"), ((7,), "^counts must have at least two numbers")):
        with pytest.raises(CatalogError, match=words):
            composition(Pure(1), counts)
    with pytest.raises(CatalogError, match=r"^curves has no theorem"):
        draw_composition({})
    for debits in ([], asked(Concentrated(0.01).event)):
        with pytest.raises(CatalogError, match=r"^debits spend nothing that the budget limits"):
            spending(debits, Budget(3))
    assert pyplot.get_fignums() == []


LONG = SubsampledLoss(GaussianLoss("1.1"), "0.005", sampling="poisson", adjacency="add-remove")


def test_theorems_far_above_the_tightest_leave_through_the_top_and_say_where_they_end() -> None:
    near, far = [(1, 0.5), (100, 2.0)], [(1, 1.0), (100, 16.1)]
    axes = draw_composition({"tight": near, "loose": far})
    assert axes.get_ylim() == pytest.approx((0, 2.1))
    assert set(texts(axes)) == {"tight", "loose\n↑ 16.1 at k = 100"}
    assert draw_composition({"tight": near, "loose": [(1, 1.0), (100, 15.9)]}).get_ylim()[1] > 15.9


@deep
def test_the_loss_of_private_training_is_drawn_to_be_read() -> None:
    axes = composition(LONG, (1, 500, 5000))
    axes.figure.draw_without_rendering()
    paper, edge = axes.figure.bbox, axes.get_window_extent()
    written = axes._left_title.get_window_extent()
    assert paper.x0 <= written.x0 < written.x1 <= paper.x1
    assert written.y1 <= paper.y1
    assert "poisson" in axes.get_title(loc="left")
    # The useful lines fill the axis: none of those that stay is flat.
    tightest = axes.lines[0].get_ydata()[-1]
    assert tightest > axes.get_ylim()[1] / 8
    for text in axes.texts:
        extent = text.get_window_extent()
        assert edge.y0 - 1 <= extent.y0 < extent.y1 <= edge.y1 + 1
        assert extent.x1 <= paper.x1
    assert len({text.get_color() for text in axes.texts if "↑" in text.get_text()}) == 1


def test_lines_that_cover_each_other_but_for_a_sliver_share_a_colour_and_a_label() -> None:
    one = [(1, 0.0), (2, 1.0), (1000, 100.0)]
    assert [names for names, _ in merge_curves({"a": one, "b": [(1, 5.0), (2, 1.0), (1000, 100.5)]})] == [
        ["a", "b"]
    ]
    assert len(merge_curves({"a": one, "b": [(1, 0.0), (2, 1.0), (1000, 102.0)]})) == 2
    assert (
        len(merge_curves({"a": [(1, 0.0), (99, 1.0), (1000, 100.0)], "b": [(1, 5.0), (99, 1.0), (1000, 100.0)]}))
        == 2
    )


@deep
def test_pictures_can_be_drawn_side_by_side() -> None:
    from matplotlib import pyplot

    _, (left, right) = pyplot.subplots(ncols=2, figsize=(12, 5), layout="constrained")
    assert profiles(LOSSES, axes=left) is left
    assert trade_offs(LOSSES, axes=right) is right


@thinned(2)
@pytest.mark.parametrize("dpi", [100, 200])
def test_labels_neither_overlap_nor_leave_the_axes(dpi: int) -> None:
    for axes in (profiles(LOSSES), trade_offs({"pure": Pure(2), "normal": GaussianLoss(2)})):
        axes.figure.set_dpi(dpi)
        axes.figure.draw_without_rendering()
        edge = axes.get_window_extent()
        extents = [text.get_window_extent() for text in axes.texts]
        for index, extent in enumerate(extents):
            assert edge.x0 <= extent.x0 < extent.x1 <= edge.x1
            assert edge.y0 <= extent.y0 < extent.y1 <= edge.y1
            if axes.get_yscale() == "log":  # turned labels have wide extents that may meet where the words do not
                assert not any(extent.overlaps(other) for other in extents[:index])


def test_a_curve_that_is_not_seen_has_no_label() -> None:
    axes = draw_profiles({"seen": Profile((0.0, 1.0), (0.5, 0.1)), "unseen": Profile((0.0, 1.0), (1e-12, 0.0))})
    assert set(texts(axes)) == {"seen"}


def test_a_label_that_fits_nowhere_is_written_in_the_middle() -> None:
    axes = draw_profiles({"a name of many words " * 9: Profile((0.0, 1.0), (0.5, 0.1))})
    x, y = axes.transAxes.inverted().transform(axes.transData.transform(axes.texts[0].get_position()))
    assert (x, y) == pytest.approx((0.5, 0.5), abs=0.01)


# Where labels go.


def test_spaced_boxes_keep_their_order_and_move_no_more_than_needed() -> None:
    assert space_out([0.1, 0.9], [0.2, 0.2]) == pytest.approx([0.1, 0.9])
    assert space_out([0.5, 0.5], [0.2, 0.2]) == pytest.approx([0.4, 0.6])
    assert space_out([3.0, 1.0, 1.0], [1.0, 2.0, 1.0]) == pytest.approx([3.0, 0.25, 1.75])
    assert space_out([], []) == []


def test_spaced_boxes_stay_within_bounds_while_there_is_room() -> None:
    assert space_out([0.0, 0.02], [0.2, 0.2], 0, 1) == pytest.approx([0.1, 0.3])
    assert space_out([1.0, 1.0, 0.5], [0.2, 0.4, 0.2], 0, 1) == pytest.approx([0.5, 0.8, 0.3])
    assert space_out([0.5, 0.5], [0.8, 0.8], 0, 1) == pytest.approx([0.1, 0.9])
    assert space_out([], [], 0, 1) == []


def test_a_box_knows_its_distance_also_when_it_is_turned() -> None:
    flat, steep = LabelBox(0, 0, 10, 2), LabelBox(0, 0, 10, 2, math.pi / 2)
    assert flat.distance(np.array([[8.0, 0.0], [0.0, 9.0]])) == pytest.approx(3)
    assert steep.distance(np.array([[8.0, 0.0], [0.0, 9.0]])) == pytest.approx(4)
    assert flat.distance(np.array([[4.0, 0.5]])) == 0
    assert flat.distance(np.empty((0, 2))) == math.inf
    assert np.abs(steep.list_points()).max(axis=0) == pytest.approx([1, 5])


def test_points_along_a_line_are_a_few_pixels_apart() -> None:
    points = densify(np.array([[0.0, 0.0], [30.0, 40.0], [30.0, 41.0]]))
    assert tuple(points[0]) == (0, 0)
    assert tuple(points[-1]) == (30, 41)
    assert np.hypot(*np.diff(points, axis=0).T).max() <= 4


def test_a_label_gives_way_to_another_that_has_no_other_place() -> None:
    here, there = LabelBox(0, 0, 10, 4), LabelBox(0, 50, 10, 4)
    assert choose_boxes([[(100.0, here), (90.0, there)], [(80.0, here)]]) == [there, here]


# The page.


def test_the_page_shows_every_picture_and_they_are_small() -> None:
    shown = {"pictures.md": PICTURES, "streams.md": ("counters",), "attacks.md": ATTACKS, "audit.md": AUDITS}
    drawn = {path.name for path in (DOCS / "pictures").glob("*.png")}
    assert drawn == {f"{name}.png" for names in shown.values() for name in names}
    for page, names in shown.items():
        for name in names:
            assert f"](pictures/{name}.png)" in (DOCS / page).read_text()
            # One has a row for everything that Jali has.
            most = 120_000 if name == "audits" else 60_000
            assert (DOCS / "pictures" / f"{name}.png").stat().st_size < most


@deep
def test_the_examples_of_the_page_run() -> None:
    page = (DOCS / "pictures.md").read_text()
    names: dict[str, Any] = {}
    spent: Any = None
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/pictures.md", "exec"), names)
        assert names["axes"].lines
        assert names["curves"]
        spent = names["curves"] if "spending" in block else spent
    assert spent[0].sums == pytest.approx((0.1, 0.2, 0.3))
    names["db"].close()


def test_profiles_can_be_drawn_from_plain_numbers() -> None:
    axes = draw_profiles({"mine": Profile((0.0, 1.0), (0.5, 0.0))})
    assert axes.lines[0].get_xydata().ravel() == pytest.approx([0, 0.5, 1, 1e-11], rel=1e-12, abs=0)
