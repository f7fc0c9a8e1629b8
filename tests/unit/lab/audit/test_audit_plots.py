"""Pictures of audits: their data, and what matplotlib holds after drawing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

from jali.lab.audit import Audit, Audits, Effort, Finding, Subject, Verdict, Witness
from jali.plots import AuditDot, audit_curves, audits
from jali.privacy import Adjacency, Pure


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    import matplotlib
    from matplotlib import pyplot

    matplotlib.use("Agg")
    yield
    pyplot.close("all")


def nothing(*_: Any) -> Any:
    raise AssertionError("a picture draws no samples")


def one(
    name: str, found: float, *, exact: bool = False, hits: tuple[int, int] = (0, 0), kind: str = "epsilon"
) -> Audit:
    finding = Finding(
        name,
        "add-remove",
        kind,
        0.5,
        found,
        Witness((0, 1), hits=hits, runs=(1000, 1000) if any(hits) else (0, 0)),
        Verdict.VIOLATION if found > 0.5 else Verdict.NOTHING_FOUND,
        confidence=1.0 if exact else 0.99,
    )
    subject = Subject(name, Pure("1/2"), Adjacency.ADD_REMOVE, ((0, 1),), nothing)
    return Audit(subject, (finding,), Effort(), 1.0)


def many(*made: Audit) -> Audits:
    return Audits(made, Effort(), 1.0)


FIVE = many(
    one("Laplace, epsilon 1/2", 0.5, exact=True),
    one("Laplace, epsilon 1/4", 0.25, exact=True),
    one("Noisy", 0.4, hits=(500, 300)),
    one("Curve", 0.1, kind="rho"),
    one("Broken", 0.75, hits=(500, 200)),
    one("Open", math.inf),
)


def test_the_data_are_shares_of_the_claim_a_row_for_each_group() -> None:
    rows = {dot.name: dot for dot in audit_curves(FIVE)}
    assert list(rows) == ["Laplace", "Noisy", "Curve", "Broken", "Open"]
    assert rows["Laplace"] == AuditDot("Laplace", "epsilon 0.5", "0.5", 1.0, 1.0, exact=True, violation=False)
    assert rows["Noisy"].share == pytest.approx(0.8)
    assert 1 < rows["Noisy"].most < 2
    assert rows["Curve"].most == math.inf
    assert rows["Broken"].violation
    assert (rows["Open"].share, rows["Open"].found) == (math.inf, "everything")


def labels(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_yticklabels()]


def test_every_group_has_a_row_and_every_claim_its_words() -> None:
    axes = audits(FIVE)
    assert labels(axes) == ["Laplace", "Noisy", "Curve", "Broken", "Open"]
    written = {text.get_text(): text.get_color() for text in axes.texts}
    assert set(written) >= {
        "0.5 of epsilon 0.5",
        "0.4 of epsilon 0.5",
        "0.1 of rho 0.5",
        "everything of epsilon 0.5",
    }
    assert written["0.75 of epsilon 0.5"] != written["0.4 of epsilon 0.5"]


def test_the_axis_reaches_the_claim_and_what_was_found() -> None:
    assert audits(many(one("a", 0.1))).get_xlim() == (0, 1.25)
    assert audits(FIVE).get_xlim() == (0, pytest.approx(1.25 * 1.5))
    assert audits(many(one("a", 50.0))).get_xlim() == (0, 4)


def test_violations_are_painted_apart() -> None:
    axes = audits(FIVE)
    paints = {
        line.get_ydata()[0]: line.get_color()
        for line in axes.lines
        if len(line.get_xdata()) == 1 and line.get_marker() in ("o", "|", ">")
    }
    assert paints[3] == paints[4]
    assert paints[3] not in (paints[0], paints[1])


def test_many_groups_stand_in_panels_side_by_side() -> None:
    axes = audits(many(*(one(f"subject {i}", 0.3) for i in range(80))))
    panels = axes.figure.axes
    assert len(panels) == 2
    assert [name for panel in panels for name in labels(panel)] == [f"subject {i}" for i in range(80)]


def test_axes_that_are_given_are_drawn_on() -> None:
    from matplotlib import pyplot

    _, given = pyplot.subplots()
    assert audits(FIVE, axes=given) is given
    assert FIVE.audits[0].plot(given) is given


def test_a_legend_says_what_the_signs_mean() -> None:
    (legend,) = audits(FIVE).figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "exact",
        "bound from below, and its interval",
        "violation",
        "claim",
    ]
