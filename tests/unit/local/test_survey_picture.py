"""The picture of a survey: its data by hand, its drawing by what matplotlib holds afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from jali.display.plots.mechanism_plots import SurveyBar, draw_survey, survey, survey_curves
from jali.errors import CatalogError
from jali.local import AlmostRandom, KaryResponse


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    import matplotlib
    from matplotlib import pyplot

    matplotlib.use("Agg")
    yield
    pyplot.close("all")


def test_the_data_are_estimates_intervals_and_truths() -> None:
    estimate = AlmostRandom().estimate([0, 1] * 50)
    no, yes = survey_curves(estimate, ("no", "yes"), truth=(0.4, 0.6), plain=(0.1, 0.1), confidence=0.9)
    assert no == SurveyBar("no", 0.5, estimate.interval(0.9)[0], 0.4, 0.1)
    assert (yes.name, yes.truth) == ("yes", 0.6)
    assert survey_curves(estimate)[1] == SurveyBar("1", 0.5, estimate.interval(0.95)[1])


def test_what_does_not_fit_the_categories_is_refused_by_name() -> None:
    estimate = AlmostRandom().estimate([0, 1])
    with pytest.raises(CatalogError, match="names"):
        survey_curves(estimate, ("yes",))
    with pytest.raises(CatalogError, match="truth"):
        survey_curves(estimate, truth=(1.0,))
    with pytest.raises(CatalogError, match="plain"):
        survey_curves(estimate, plain=(0.1, 0.1, 0.1))


def test_every_category_has_its_place_and_every_sign_its_name() -> None:
    estimate = KaryResponse(categories=3, epsilon=1).estimate([0, 1, 2] * 30)
    axes = survey(estimate, ("bus", "car", "foot"), truth=(0.5, 0.3, 0.2), plain=(0.1, 0.1, 0.1))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["bus", "car", "foot"]
    named = [text.get_text() for text in axes.get_legend().get_texts()]
    assert named == ["estimate", "its interval", "truth among those asked", "interval, asked plainly"]
    assert axes.get_title(loc="left") == "Estimated shares, with 95 % intervals"


def test_a_survey_without_truth_is_drawn_on_axes_that_are_given() -> None:
    from matplotlib import pyplot

    _, axes = pyplot.subplots()
    bars = survey_curves(AlmostRandom().estimate([0, 0, 1]))
    assert draw_survey(bars, title="three people", axes=axes) is axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["estimate", "its interval"]
