"""docs/data_dependent.md is true: every block runs and prints what the page shows, and its proofs exist."""

from __future__ import annotations

import re

import pytest
from tests.docs.sessions import DOCS, blocks, failures

from jali.lab.compare.measure_errors import SHAPES, generate_column
from jali.mechanisms import PiecewiseLaplace, QuantileExponential
from jali.mechanisms.quantiles.private_quantile import RankQuantile

PAGE = (DOCS / "data_dependent.md").read_text()


def test_every_block_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(blocks("data_dependent.md")) >= 10
    assert failures("data_dependent.md") == 0, capsys.readouterr().out


@pytest.mark.parametrize("page", sorted(set(re.findall(r"proofs/(\w+)\.md", PAGE))))
def test_the_proofs_it_leads_to_exist(page: str) -> None:
    assert (DOCS / "proofs" / f"{page}.md").is_file()


@pytest.mark.parametrize(
    ("name", "kind"), [("piecewise Laplace", PiecewiseLaplace), ("exponential", QuantileExponential)]
)
def test_the_table_of_medians_is_that_of_the_laws(name: str, kind: type[RankQuantile]) -> None:
    """The page shows the means of 20,000 releases on seeded data; the laws have closed forms."""
    line = next(line for line in PAGE.splitlines() if line.startswith(name))
    shown = [float(cell.rstrip("*")) for cell in line.removeprefix(name).split()[: len(SHAPES)]]
    mechanism = kind(at="1/2", low=0, high=100, epsilon=1, adjacency="replace-one")
    for shape, error in zip(SHAPES, shown, strict=True):
        assert error == pytest.approx(
            mechanism.expected_error(generate_column(shape, 201, seed=1)), rel=0.04, abs=1e-6
        )
